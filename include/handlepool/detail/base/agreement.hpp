// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

namespace handlepool::detail {

/// The library has each of these for its own value only: what is compiled with the other one does not link,
/// and the linker names what differs. True is built with
/// exceptions, with contracts checked, or with the debug mode of libstdc++.
template <bool Exceptions>
HANDLEPOOL_EXPORT void library_built_with_exceptions() noexcept;
extern template void library_built_with_exceptions<exceptions>() noexcept;
template <bool Checked>
HANDLEPOOL_EXPORT void library_built_with_HANDLEPOOL_CHECKED() noexcept;
extern template void library_built_with_HANDLEPOOL_CHECKED<checked>() noexcept;

template <bool DebugContainers>
HANDLEPOOL_EXPORT void library_built_with_GLIBCXX_DEBUG() noexcept;
extern template void library_built_with_GLIBCXX_DEBUG<debug_containers>() noexcept;

/// The references to them in each object file.
HANDLEPOOL_KEEP static void (*const library_agrees[])() noexcept = {
    &library_built_with_exceptions<exceptions>, &library_built_with_HANDLEPOOL_CHECKED<checked>,
    &library_built_with_GLIBCXX_DEBUG<debug_containers>};

} // namespace handlepool::detail
