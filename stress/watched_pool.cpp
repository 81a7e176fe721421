#include "watched_pool.hpp"

namespace handlepool::stress {

template class watched_pool<>;
template class watched_pool<support::tiny_policy<1>>;
template class watched_pool<support::tiny_policy<2>>;
template class client<watched_pool<>::pool_type>;
template class client<watched_pool<support::tiny_policy<1>>::pool_type>;
template class client<watched_pool<support::tiny_policy<2>>::pool_type>;

} // namespace handlepool::stress
