#pragma once

#include <handlepool/detail/raise.hpp>
#include <handlepool/handle.hpp>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace handlepool::detail {

/// Raises std::invalid_argument unless this is the pool whose objects a container has, or there is none yet.
inline void require_pool(std::optional<std::uint32_t> own, std::uint32_t pool_id, const char* container) {
    if (own && *own != pool_id) {
        raise(std::invalid_argument(
            std::string(container) + ": an object of the pool with id " + std::to_string(pool_id) +
            " can't be a member beside those of the pool with id " + std::to_string(*own)));
    }
}

/// The same unless the handle can name an object of that pool.
template <class T, class Layout>
void require_own(std::optional<std::uint32_t> own, handle<T, Layout> handle, const char* container) {
    if (!Layout::is_alive(handle.tag())) {
        raise(std::invalid_argument(std::string(container) +
                                    (handle
                                         ? ": a handle of generation " + std::to_string(handle.generation()) +
                                               ", which names no object, can't be a member"
                                         : ": the null handle can't be a member")));
    }
    require_pool(own, handle.pool_id(), container);
}

} // namespace handlepool::detail
