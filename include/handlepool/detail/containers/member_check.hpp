// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/handle.hpp>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace handlepool::detail {

/// Raises std::invalid_argument: what can't be a member.
[[noreturn]] inline void refuse_member(const char* container, const std::string& what) {
    throw_exception(std::invalid_argument(std::string(container) + ": " + what));
}

/// Raises std::invalid_argument unless this is the pool whose objects a container has, or there is none yet.
inline void require_pool(std::optional<std::uint32_t> own, std::uint32_t pool_id, const char* container) {
    if (own && *own != pool_id) {
        std::string what = "an object of the pool with id ";
        what += std::to_string(pool_id);
        what += " can't be a member beside those of the pool with id ";
        what += std::to_string(*own);
        refuse_member(container, what);
    }
}

/// Raises std::invalid_argument for a handle that a pool says is reserved: if it was cancelled, no compaction
/// would take it out.
template <class T, class Layout>
void refuse_reserved(handle_state state, handle<T, Layout> handle, const char* container) {
    if (state == handle_state::reserved) {
        refuse_member(container, name_of_handle(handle.index(), handle.generation()) +
                                     " is reserved, and can't be a member of what is attached to its pool "
                                     "before its object is made");
    }
}

/// Raises std::invalid_argument unless the handle can name an object of that pool.
template <class T, class Layout>
void require_own(std::optional<std::uint32_t> own, handle<T, Layout> handle, const char* container) {
    if (!handle) {
        refuse_member(container, "the null handle can't be a member");
    }
    if (!Layout::fits(handle.value())) {
        refuse_member(container, "a handle with bits that its layout doesn't use can't be a member");
    }
    if (!Layout::can_be_alive(handle.tag())) {
        refuse_member(container, "a handle of generation " + std::to_string(handle.generation()) +
                                     ", which names no object, can't be a member");
    }
    require_pool(own, handle.pool_id(), container);
}

} // namespace handlepool::detail
