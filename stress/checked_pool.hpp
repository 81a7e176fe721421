#pragma once

#include "payload.hpp"
#include "tally.hpp"

#include <handlepool/fmt.hpp>
#include <handlepool/pool.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace handlepool::stress {

// A pool of payloads whose every answer is checked against what its caller knows.
class checked_pool {
public:
    using pool_type = pool<payload>;
    using handle_type = pool_type::handle_type;

    explicit checked_pool(const pool_options& options) : pool_(options) {}

    pool_type& get() noexcept { return pool_; }

    // Creates the object with this id.
    handle_type create(std::uint64_t id, tally& mine) {
        const handle_type handle = pool_.emplace(id);
        ++mine.operations;
        ++mine.created;
        return handle;
    }

    // Looks a living object up and compares its content.
    void look_up(handle_type handle, std::uint64_t id, tally& mine) {
        ++mine.operations;
        ++mine.live_lookups;
        const payload* const found = pool_.find(handle);
        if (found == nullptr) {
            mine.violate(fmt::format("living object {} was not found by its handle {}", id, handle));
        } else if (!found->is(id)) {
            ++mine.content_mismatches;
            mine.violate(fmt::format("handle {} of object {} found object {}, or a torn one", handle, id,
                                     found->id()));
        }
    }

    // Erases a living object that nobody else erases, and compares its content before.
    void erase(handle_type handle, std::uint64_t id, tally& mine) {
        look_up(handle, id, mine);
        ++mine.operations;
        if (!pool_.erase(handle)) {
            mine.violate(fmt::format("erase of living object {} by its handle {} was refused", id, handle));
            return;
        }
        ++mine.erased;
        try_stale(handle, id, mine);
    }

    // Asks for an object that was erased, in each way that there is.
    void try_stale(handle_type handle, std::uint64_t id, tally& mine) {
        ++mine.operations;
        ++mine.stale_lookups;
        if (pool_.contains(handle) || pool_.find(handle) != nullptr || pool_.erase(handle)) {
            ++mine.stale_accepted;
            mine.violate(fmt::format("stale handle {} of erased object {} was accepted", handle, id));
        }
    }

    // Compacts, at the end of a frame, and notes how long it took and how many objects are alive then. Only
    // between the frames' work.
    void compact() {
        compaction_times_.push_back(pool_.compact().duration);
        alive_peak_ = std::max(alive_peak_, pool_.size());
    }

    // Compacts once more, and compares the whole pool with what all threads did together. Only when no thread
    // is at work.
    void check_all(std::size_t expected_alive, tally& all);

    const std::vector<std::chrono::nanoseconds>& compaction_times() const noexcept {
        return compaction_times_;
    }
    std::size_t alive_peak() const noexcept { return alive_peak_; }

private:
    pool_type pool_;
    std::vector<std::chrono::nanoseconds> compaction_times_;
    std::size_t alive_peak_ = 0;
};

} // namespace handlepool::stress
