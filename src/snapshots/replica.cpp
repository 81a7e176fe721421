// SPDX-License-Identifier: MIT
#include "delta_frames.hpp"
#include "read_entries.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/recorder/caller.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/detail/text/text.hpp>
#include <handlepool/snapshots/replica.hpp>

#include <stdexcept>
#include <utility>

namespace handlepool {

// Here, so that a program has one table of its functions.
detail::replicated_entry::~replicated_entry() = default;
detail::replicated_whole::~replicated_whole() = default;

void detail::throw_used_by_others(std::string_view pool) {
    throw_exception(std::logic_error(quoted_pool(pool) +
                                     ": others than its replica, or hooks, have changed which objects there "
                                     "are, or where; a snapshot must be loaded"));
}

/// A delta that goes to all parts, or to none.
class replica::step {
public:
    step() = default;
    ~step() {
        for (detail::replicated_entry* const each : told_) {
            each->unlock(applied_);
        }
    }
    step(const step&) = delete;
    step& operator=(const step&) = delete;

    /// Throws what replica::apply() throws; then nothing has changed.
    void prepare(const std::vector<std::unique_ptr<detail::replicated_entry>>& parts,
                 const detail::snapshot_blocks& blocks) {
        told_.reserve(parts.size());
        for (const auto& each : parts) {
            const detail::snapshot_block* const block = blocks.find(each->name());
            if (block != nullptr &&
                block->kind != detail::block_kind::lives) { // which are nothing of the world
                detail::block_reader from = detail::reader_of(*block, each->kind(),
                                                              each->kind() == detail::block_kind::pool_delta
                                                                  ? detail::delta_version
                                                                  : detail::snapshot_entry::version);
                told_.push_back(each.get());
                each->read(from);
            }
        }
        detail::require_fit(told_);
        for_all(&detail::replicated_entry::lock);
        for_all(&detail::replicated_entry::make_room);
    }
    /// Throws std::logic_error, compaction_conflict and std::bad_alloc; then some objects have ended.
    void apply() {
        for_all(&detail::replicated_entry::end_those_gone);
        for_all(&detail::replicated_entry::apply);
        applied_ = true;
        for_all(&detail::replicated_entry::tell);
    }

private:
    void for_all(void (detail::replicated_entry::*action)()) const {
        for (detail::replicated_entry* const each : told_) {
            (each->*action)();
        }
    }

    std::vector<detail::replicated_entry*> told_;
    bool applied_ = false;
};

replica::replica() = default;
replica::~replica() = default;

void replica::require_begin(std::string_view name) const {
    if (has_begun_) {
        detail::throw_exception(std::logic_error("replica, '" + detail::printable(name) +
                                                 "': nothing can be added after load()"));
    }
}

HANDLEPOOL_NOINLINE const std::vector<std::string>&
replica::load(std::span<const std::byte> snapshot, std::uint64_t frame, std::string_view origin) {
    const auto from = detail::caller_scope::within(detail::return_site());
    const detail::snapshot_blocks blocks(snapshot, origin);
    for (const detail::snapshot_block& each : blocks.all()) {
        detail::block_reader(each).require_that(each.kind != detail::block_kind::frames, 0,
                                                "this is a delta; a snapshot is expected");
    }
    has_begun_ = true;
    frame_.reset();
    passed_over_ = whole_.load(blocks);
    for (const auto& each : parts_) {
        detail::block_reader saved(*blocks.find(each->name()));
        each->begin(saved);
    }
    frame_ = frame;
    return passed_over_;
}

HANDLEPOOL_NOINLINE void replica::apply(std::span<const std::byte> delta, std::string_view origin) {
    const auto from = detail::caller_scope::within(detail::return_site());
    if (!frame_) {
        detail::throw_exception(std::logic_error(
            "replica: apply() is called before load(), after one that has failed, or after take_over()"));
    }
    const detail::snapshot_blocks blocks = detail::blocks_of_delta(delta, origin);
    const detail::delta_frames frames = detail::read_frames(blocks, *frame_);
    step next;
    next.prepare(parts_, blocks);
    frame_.reset(); // until all is done
    next.apply();
    frame_ = frames.after;
}

void replica::take_over() noexcept {
    frame_.reset();
}

} // namespace handlepool
