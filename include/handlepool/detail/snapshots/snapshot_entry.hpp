// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/snapshots/handle_renaming.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// What handles say of their pool: those with other layouts can have the same id.
struct pool_of_handles {
    std::uint32_t widths = 0; // of their layout, as widths_of_layout() has them
    std::uint32_t id = 0;

    friend bool operator==(const pool_of_handles&, const pool_of_handles&) = default;
};

/// Which objects a pool will have when all that was read is there: what a container can have for members.
class future_objects {
public:
    virtual pool_of_handles pool() const noexcept = 0;
    virtual bool include(std::uint64_t slot, std::uint32_t generation) const noexcept = 0;

protected:
    ~future_objects() = default;
};

/// What a snapshot saves and loads under a name. Both go through all entries step by step: so the parts of a
/// snapshot are of one moment, and nothing has changed when an entry refuses what it reads.
///
/// ```
///   lock() of all ─▶ settle() of all, until nothing waits ─▶ save() of all ─▶ unlock() of all
///
///   room_for_end() of some ─▶ read() of all ─▶ require_fit() of all ─▶ lock() of all ─▶ clear() of all,
///                                                                              │      until nothing is left
///   unlock() of all ◀─ tell() of all ◀─ apply() of all ◀─ make_room() of all
///
///   read_to_merge() of all ─▶ reserve() of all ─▶ merge() of pools, then of all else ─▶ keep() of all ─▶
///   unlock() of all
///                                   └─ if anything throws: undo_merge() of all, in the other order ──────┘
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
    /// Where the end of its block's payload can be copied to before it is read, if that is a gain: nobody
    /// sees what is there before apply(). The block may be damaged. Throws too_many_threads and the like.
    virtual std::span<std::byte> room_for_end(const snapshot_block&) { return {}; }
    /// Reads its block, whose bytes stay until unlock(). Throws invalid_snapshot and std::bad_alloc.
    virtual void read(block_reader& from) = 0;
    /// Adds what its block has that was not added here, and is passed over. Throws std::bad_alloc.
    virtual void add_unknown(std::vector<std::string>&) const {}
    /// What the pool that was read will have, if this is one.
    virtual const future_objects* future() const noexcept { return nullptr; }
    /// Whether what was read fits the pools that were read. Throws invalid_snapshot and std::bad_alloc.
    virtual void require_fit(std::span<const future_objects* const>) {}
    /// Keeps others away. Throws compaction_conflict and the like.
    virtual void lock() {}
    /// Takes in what waits. Returns whether anything did. Throws compaction_conflict.
    virtual bool settle() { return false; }
    /// Ends what is there, with hooks that may make more. Returns whether there was anything. Throws
    /// compaction_conflict.
    virtual bool clear() { return false; }
    /// Throws std::bad_alloc.
    virtual void make_room() {}
    virtual void apply() noexcept = 0;
    virtual void tell() noexcept {}

    /// Reads its block, whatever pools it is of. Throws like read().
    virtual void read_to_merge(block_reader& from) { read(from); }
    /// Sees to handles for the objects that were read, and adds them. Throws what creating throws.
    virtual void reserve(handle_renaming&) {}
    /// Adds what was read, with other handles. Throws what that throws.
    virtual void merge(const handle_mapper& map) = 0;
    /// Takes back whatever merge() and reserve() have added.
    virtual void undo_merge() noexcept {}
    /// All are merged.
    virtual void keep(const merge_options&) noexcept {}

    /// Also when something was thrown before; `loaded` says whether apply() was called.
    virtual void unlock(bool loaded) noexcept = 0;

private:
    block_kind kind_;
    std::string name_;
};

} // namespace handlepool::detail
