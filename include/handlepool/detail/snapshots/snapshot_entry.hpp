// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// What a snapshot saves and loads under a name. A load goes through all entries step by step, so that
/// nothing has changed when one of them refuses:
///
/// ```
///   read() of all ─▶ lock() of all ─▶ clear() of all, until nothing is left ─▶ make_room() of all
///                                                                                       │
///   unlock() of all ◀─ tell() of all ◀─ apply() of all, which can't fail ◀──────────────┘
/// ```
class HANDLEPOOL_EXPORT snapshot_entry {
public:
    static constexpr std::uint32_t version = 1; // of what a block has

    snapshot_entry(block_kind kind, std::string name) : kind_(kind), name_(std::move(name)) {}
    virtual ~snapshot_entry();
    snapshot_entry(const snapshot_entry&) = delete;
    snapshot_entry& operator=(const snapshot_entry&) = delete;

    block_kind kind() const noexcept { return kind_; }
    const std::string& name() const noexcept { return name_; }

    /// Writes its block. Throws std::bad_alloc, and what its parts throw.
    virtual void save(snapshot_writer& to) = 0;
    /// Reads its block, whose bytes stay until unlock(). Throws invalid_snapshot and std::bad_alloc.
    virtual void read(block_reader& from) = 0;
    /// Adds what its block has that was not added here, and is passed over. Throws std::bad_alloc.
    virtual void add_unknown(std::vector<std::string>&) const {}
    /// Keeps others away. Throws compaction_conflict and the like.
    virtual void lock() {}
    /// Ends what is there, with hooks that may make more. Returns whether there was anything. Throws
    /// compaction_conflict.
    virtual bool clear() { return false; }
    /// Throws std::bad_alloc.
    virtual void make_room() {}
    virtual void apply() noexcept = 0;
    virtual void tell() noexcept {}
    /// Also when something was thrown before; `loaded` says whether apply() was called.
    virtual void unlock(bool loaded) noexcept = 0;

private:
    block_kind kind_;
    std::string name_;
};

} // namespace handlepool::detail
