// SPDX-License-Identifier: MIT
#include "watched_pool.hpp"

namespace handlepool::stress {

template class watched_pool<dense_placement>;
template class watched_pool<dense_placement, support::tiny_policy<1>>;
template class watched_pool<dense_placement, support::tiny_policy<2>>;
template class client<watched_pool<dense_placement>::pool_type>;
template class client<watched_pool<dense_placement, support::tiny_policy<1>>::pool_type>;
template class client<watched_pool<dense_placement, support::tiny_policy<2>>::pool_type>;

} // namespace handlepool::stress
