// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/snapshots/snapshot_entry.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>

#include <memory>
#include <string>
#include <utility>

namespace handlepool::detail {

/// What a delta_recorder tells of under a name. When one of them can't be recorded, all take back what they
/// have recorded of that frame:
///
/// ```
///   begin() of all ─▶ record() of all ─┬─▶ commit() of all ─▶ record() ...
///                                      └─▶ undo() of those that have
/// ```
class HANDLEPOOL_EXPORT recorded_entry {
public:
    explicit recorded_entry(std::string name) : name_(std::move(name)) {}
    virtual ~recorded_entry();
    recorded_entry(const recorded_entry&) = delete;
    recorded_entry& operator=(const recorded_entry&) = delete;

    const std::string& name() const noexcept { return name_; }

    /// What there is now is what the first delta differs from. Throws compaction_conflict and the like,
    /// and std::bad_alloc; then record() is not called before another begin().
    virtual void begin() {}
    /// Writes its block. Throws the same, and what archives throw; then nothing is to be taken back.
    virtual void record(snapshot_writer& to) = 0;
    virtual void commit() noexcept {}
    virtual void undo() noexcept {}

private:
    std::string name_;
};

/// A value, which each delta has as a whole: as a snapshot has it.
class HANDLEPOOL_EXPORT recorded_value final : public recorded_entry {
public:
    explicit recorded_value(std::unique_ptr<snapshot_entry> value)
        : recorded_entry(value->name()), value_(std::move(value)) {}
    ~recorded_value() override;

    void record(snapshot_writer& to) override { value_->save(to); }

private:
    std::unique_ptr<snapshot_entry> value_;
};

} // namespace handlepool::detail
