// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/snapshots/snapshot_entry.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>

#include <memory>
#include <string>
#include <utility>

namespace handlepool::detail {

/// What a delta_recorder tells of under a name. As in a snapshot, all are of one moment: so begin() and
/// record() come when nothing waits in any of them. When one of them can't be recorded, all take back what
/// they have recorded of that frame:
///
/// ```
///   lock() of all ─▶ settle() of all, until nothing waits ─┬─▶ begin() of all ──────────────────────────┐
///                                                          ├─▶ record() of all ─▶ commit() of all ──────┤
///                                                          └─▶ record() of some ─▶ undo() of those ─────┤
///                                                                                   unlock() of all ◀───┘
/// ```
class HANDLEPOOL_EXPORT recorded_entry {
public:
    explicit recorded_entry(std::string name) : name_(std::move(name)) {}
    virtual ~recorded_entry();
    recorded_entry(const recorded_entry&) = delete;
    recorded_entry& operator=(const recorded_entry&) = delete;

    const std::string& name() const noexcept { return name_; }

    /// Keeps others away. Throws compaction_conflict and the like.
    virtual void lock() {}
    /// Takes in what waits. Returns whether anything did. Throws compaction_conflict.
    virtual bool settle() { return false; }
    /// What there is now is what the first delta differs from. Throws std::bad_alloc; then record() is not
    /// called before another begin().
    virtual void begin() {}
    /// Writes its block. Throws std::bad_alloc, and what archives throw; then nothing is to be taken back.
    virtual void record(snapshot_writer& to) = 0;
    virtual void commit() noexcept {}
    virtual void undo() noexcept {}
    /// Also when something was thrown before.
    virtual void unlock() noexcept {}

private:
    std::string name_;
};

/// A container or a value, which each delta has as a whole: as a snapshot has it.
class HANDLEPOOL_EXPORT recorded_whole final : public recorded_entry {
public:
    explicit recorded_whole(std::unique_ptr<snapshot_entry> whole)
        : recorded_entry(whole->name()), whole_(std::move(whole)) {}
    ~recorded_whole() override;

    void record(snapshot_writer& to) override { whole_->save(to); }

private:
    std::unique_ptr<snapshot_entry> whole_;
};

} // namespace handlepool::detail
