#pragma once

#include <handlepool/detail/config.hpp>

#include <string_view>

namespace handlepool::detail {

/// Ends the program with "handlepool: pool 'NAME': MESSAGE"; see failure.hpp.
[[noreturn]] HANDLEPOOL_EXPORT void contract_violated(std::string_view pool,
                                                      std::string_view message) noexcept;

/// The library has this for its own value of HANDLEPOOL_CHECKED only: what is compiled with the other one
/// does not link.
template <bool Checked>
HANDLEPOOL_EXPORT void library_built_with_HANDLEPOOL_CHECKED() noexcept;
extern template void library_built_with_HANDLEPOOL_CHECKED<checked>() noexcept;

/// The reference to it in each object file.
HANDLEPOOL_KEEP static void (*const library_agrees)() noexcept =
    &library_built_with_HANDLEPOOL_CHECKED<checked>;

/// In a checked build, aborts with the message unless the condition holds; else does nothing.
inline void expects(bool condition, std::string_view pool, std::string_view message) noexcept {
    if constexpr (checked) {
        if (!condition) {
            contract_violated(pool, message);
        }
    }
}

} // namespace handlepool::detail
