// SPDX-License-Identifier: MIT
#include <handlepool/service.hpp>

namespace handlepool {

template class detail::pool_directory<default_layout, default_policy>;
template class detail::service_compactor<default_layout, default_policy>;
template class basic_service<default_layout>;

} // namespace handlepool
