#include "watched_pool.hpp"

namespace handlepool::stress {

template class watched_pool<>;
template class watched_pool<observed, default_layout, tiny_policy<1>>;
template class watched_pool<observed, default_layout, tiny_policy<2>>;
template class actor<watched_pool<>::pool_type>;
template class actor<watched_pool<observed, default_layout, tiny_policy<1>>::pool_type>;
template class actor<watched_pool<observed, default_layout, tiny_policy<2>>::pool_type>;

} // namespace handlepool::stress
