// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/snapshots/block_kind.hpp>
#include <handlepool/detail/snapshots/snapshot_entry.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace handlepool::detail {

/// What a replica has under a name. It begins with what a snapshot has of it; then all of a delta go through
/// its steps together:
///
/// ```
///   read() of all ─▶ require_fit() of all ─▶ lock() of all ─▶ make_room() of all ─▶ end_those_gone() of all
///               until here, nothing has changed when one throws                               │
///                             unlock() of all ◀─ tell() of all ◀─ apply() of all ◀────────────┘
/// ```
class HANDLEPOOL_EXPORT replicated_entry {
public:
    replicated_entry(block_kind kind, std::string name) : kind_(kind), name_(std::move(name)) {}
    virtual ~replicated_entry();
    replicated_entry(const replicated_entry&) = delete;
    replicated_entry& operator=(const replicated_entry&) = delete;

    /// Of its block in a delta.
    block_kind kind() const noexcept { return kind_; }
    const std::string& name() const noexcept { return name_; }

    /// Reads its block of a snapshot, which was loaded. Throws std::bad_alloc.
    virtual void begin(block_reader&) {}
    /// Reads its block of a delta, whose bytes stay until unlock(). Throws invalid_snapshot and
    /// std::bad_alloc; std::logic_error where others have changed what there is, here and below.
    virtual void read(block_reader& from) = 0;
    /// What the pool that was read will have, if this is one.
    virtual const future_objects* future() const noexcept { return nullptr; }
    /// Whether what was read fits the pools that were read. Throws invalid_snapshot and std::bad_alloc.
    virtual void require_fit(std::span<const future_objects* const>) {}
    /// Keeps others away. Throws compaction_conflict and the like.
    virtual void lock() {}
    /// Throws std::bad_alloc.
    virtual void make_room() {}
    /// Ends what is no more, with hooks. Throws compaction_conflict, where hooks create or erase.
    virtual void end_those_gone() {}
    virtual void apply() noexcept = 0;
    virtual void tell() noexcept {}
    /// Also when something was thrown before; `applied` says whether apply() was called.
    virtual void unlock(bool applied) noexcept = 0;

private:
    block_kind kind_;
    std::string name_;
};

/// A container or a value, which each delta has as a whole: it is loaded from there as from a snapshot.
class HANDLEPOOL_EXPORT replicated_whole final : public replicated_entry {
public:
    explicit replicated_whole(std::unique_ptr<snapshot_entry> whole)
        : replicated_entry(whole->kind(), whole->name()), whole_(std::move(whole)) {}
    ~replicated_whole() override;

    void read(block_reader& from) override { whole_->read(from); }
    void require_fit(std::span<const future_objects* const> pools) override { whole_->require_fit(pools); }
    void lock() override { whole_->lock(); }
    void apply() noexcept override { whole_->apply(); }
    void unlock(bool applied) noexcept override { whole_->unlock(applied); }

private:
    std::unique_ptr<snapshot_entry> whole_;
};

/// Others than the replica have used the pool.
[[noreturn]] HANDLEPOOL_EXPORT void throw_used_by_others(std::string_view pool);

} // namespace handlepool::detail
