// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/memory_use.hpp>

#include <cstdint>

namespace handlepool {

/// What a world captures and restores together with others. Calls come from one thread at a time, and only
/// from the world that it was added to; it calls nothing of that world meanwhile.
class HANDLEPOOL_EXPORT world_participant {
public:
    /// After the last use of the world to which it was added.
    virtual ~world_participant();

    /// Keeps what it is now, under a number that is larger than those before. Throws what it likes; then it
    /// has no such capture.
    virtual void capture(std::uint64_t frame) = 0;
    /// Forgets the newest capture, because that of another participant failed.
    virtual void drop_newest() noexcept = 0;
    /// Becomes what it was, and forgets the captures after it, if there are any left. Throws what it likes;
    /// then it is called again, for this frame or an earlier one, before anything else but confirm(). It is
    /// also called again when another participant has thrown.
    virtual void restore(std::uint64_t frame) = 0;
    /// Forgets the captures before this one, if there are any.
    virtual void confirm(std::uint64_t frame) noexcept = 0;
    /// Bytes of memory that its captures have reserved and use; none unless it says so.
    virtual memory_use memory() const noexcept { return {}; }

protected:
    /// As any value; of no use to others.
    world_participant() = default;
    world_participant(const world_participant&) = default;
    world_participant& operator=(const world_participant&) = default;
};

} // namespace handlepool
