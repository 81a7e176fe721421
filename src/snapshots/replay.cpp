// SPDX-License-Identifier: MIT
#include "delta_frames.hpp"
#include "replayed_pool.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/snapshots/content_hash.hpp>
#include <handlepool/detail/snapshots/snapshot_entry.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/detail/text/text.hpp>
#include <handlepool/snapshots/replay.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace handlepool {

/// A block of the snapshot: a pool, or what deltas have as a whole.
struct replay::part {
    detail::block_kind kind = detail::block_kind::value;
    std::uint32_t version = 0;
    std::string name;
    std::optional<detail::replayed_pool> pool;
    std::vector<std::byte> payload; // of what is no pool

    /// Of what is no pool, deltas have all.
    std::string layout() const {
        std::string text = std::to_string(static_cast<std::uint32_t>(kind)) + ' ' + std::to_string(version) +
                           " '" + detail::printable(name) + "'\n";
        if (pool) {
            text += pool->layout();
        }
        return text;
    }
    void write(detail::snapshot_writer& to) const {
        if (pool) {
            pool->write(to, version, name);
        } else {
            to.begin_block(kind, version, name, payload.size());
            to.bytes(payload.data(), payload.size());
            to.end_block();
        }
    }
};

replay::replay(std::span<const std::byte> snapshot, std::uint64_t frame, std::string_view origin)
    : frame_(frame) {
    const detail::snapshot_blocks blocks(snapshot, origin);
    for (const detail::snapshot_block& block : blocks.all()) {
        auto next = std::make_unique<part>();
        next->kind = block.kind;
        next->version = block.version;
        next->name = block.name;
        detail::block_reader from(block);
        from.require_that(block.kind != detail::block_kind::frames &&
                              block.kind != detail::block_kind::pool_delta &&
                              block.kind != detail::block_kind::lives,
                          0, "this is a delta; a snapshot is expected");
        if (block.kind == detail::block_kind::pool) {
            from.require_that(block.version == detail::snapshot_entry::version, 0,
                              "the block has version " + std::to_string(block.version) + "; known is " +
                                  std::to_string(detail::snapshot_entry::version));
            next->pool.emplace(from);
        } else {
            next->payload.assign(block.payload.begin(), block.payload.end());
        }
        parts_.push_back(std::move(next));
    }
}

replay::~replay() = default;

/// A delta that is applied to all parts, or to none.
class replay::step {
public:
    step() = default;
    ~step() {
        for (detail::replayed_pool* const each : pools_) {
            each->undo();
        }
    }
    step(const step&) = delete;
    step& operator=(const step&) = delete;

    void apply(part& to, const detail::snapshot_block& block) {
        detail::block_reader from(block);
        if (to.pool) {
            from.require_that(block.kind == detail::block_kind::pool_delta, 0,
                              "the delta of a pool is expected");
            detail::require_delta_version(from, block);
            pools_.reserve(pools_.size() + 1);
            to.pool->apply(from);
            pools_.push_back(&*to.pool);
        } else {
            from.require_that(block.kind == to.kind && block.version == to.version, 0,
                              "the block is of another kind or version than that of the snapshot");
            wholes_.reserve(wholes_.size() + 1);
            wholes_.push_back({&to, {block.payload.begin(), block.payload.end()}});
        }
    }
    void commit() noexcept {
        pools_.clear();
        for (auto& [to, payload] : wholes_) {
            to->payload = std::move(payload);
        }
    }

private:
    std::vector<detail::replayed_pool*> pools_;
    std::vector<std::pair<part*, std::vector<std::byte>>> wholes_;
};

void replay::apply(std::span<const std::byte> delta, std::string_view origin) {
    const detail::snapshot_blocks blocks = detail::blocks_of_delta(delta, origin);
    const detail::delta_frames frames = detail::read_frames(blocks, frame_);
    step next;
    for (const detail::snapshot_block& block : blocks.all()) {
        if (block.kind == detail::block_kind::frames || block.kind == detail::block_kind::lives) {
            continue; // nothing of the world
        }
        const auto to = std::find_if(parts_.begin(), parts_.end(),
                                     [&block](const auto& each) { return each->name == block.name; });
        if (to == parts_.end()) {
            detail::block_reader(block).refuse(0, "the snapshot has nothing of this name");
        }
        next.apply(**to, block);
    }
    next.commit();
    frame_ = frames.after;
}

std::uint64_t replay::layout() const {
    std::string text;
    for (const auto& each : parts_) {
        text += each->layout();
    }
    return detail::content_hash_of(std::as_bytes(std::span(text)));
}

void replay::save(std::vector<std::byte>& out) const {
    detail::snapshot_writer to(out, detail::former_bytes::replaced);
    for (const auto& each : parts_) {
        each->write(to);
    }
    to.finish();
}

} // namespace handlepool
