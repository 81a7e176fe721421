// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/agreement.hpp>

namespace handlepool::detail {

template <bool Exceptions>
void library_built_with_exceptions() noexcept {}
template void library_built_with_exceptions<exceptions>() noexcept;

template <bool Checked>
void library_built_with_HANDLEPOOL_CHECKED() noexcept {}
template void library_built_with_HANDLEPOOL_CHECKED<checked>() noexcept;

template <bool DebugContainers>
void library_built_with_GLIBCXX_DEBUG() noexcept {}
template void library_built_with_GLIBCXX_DEBUG<debug_containers>() noexcept;

} // namespace handlepool::detail
