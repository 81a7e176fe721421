// SPDX-License-Identifier: MIT

// Threads create, erase and mark; what the records of a log tell, frame by frame, makes the same objects at
// the same positions as the pool has.

#include "run/scenarios.hpp"
#include "watched/watched_pool.hpp"

#include <handlepool/time/change_log.hpp>

#include <fmt/format.h>
#include <support/steps/tiny_policy.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace handlepool::stress {

namespace {

constexpr std::size_t objects_of_a_thread_that_marks = 200;

// Knows the pool from the records alone.
template <class Pool>
class mirror {
public:
    using handle_type = typename Pool::handle_type;
    using log_type = change_log<Pool>;

    mirror(test_run& run, Pool& pool, log_type& log) : run_(run), pool_(pool), log_(log) {}

    // Reads what has happened since the last time, and compares.
    void follow(const std::set<handle_type>& marked) {
        const auto records = log_.changes_since(seen_);
        require(records.has_value(), "the log has lost a frame");
        if (!records) {
            return;
        }
        std::set<handle_type> edited;
        for (const auto& record : *records) {
            apply(record);
            for (const auto& each : record.edited) {
                edited.insert(each.handle);
                require(known_[each.handle] == each.position, "an edited object is somewhere else");
            }
            for (const auto& each : record.born) {
                edited.insert(each.handle);
            }
            require(known_.size() == record.size, "a record has another number of objects");
        }
        seen_ = log_.frame();
        compare();
        for (const handle_type each : marked) {
            require(!known_.contains(each) || edited.contains(each), "a mark was lost");
        }
    }

private:
    void apply(const typename log_type::record_type& record) {
        for (const auto& each : record.destroyed) {
            require(known_.erase(each.handle) == 1, "an object ends that no record has told of");
        }
        for (const auto& each : record.moved) {
            require(known_.contains(each.handle), "an object moves that no record has told of");
            known_[each.handle] = each.to;
        }
        for (const auto& each : record.born) {
            require(known_.emplace(each.handle, each.position).second, "an object is born twice");
        }
    }
    void compare() {
        std::size_t living = 0;
        for (const auto& [handle, object] : pool_.living()) {
            const auto found = known_.find(handle);
            require(found != known_.end(), "an object lives that no record has told of");
            require(found == known_.end() || log_.position_of(handle) == found->second,
                    "an object is not where the records say");
            ++living;
        }
        require(living == known_.size(), "the records tell of objects that don't live");
    }
    void require(bool holds, const char* what) {
        if (!holds) {
            run_.violate(fmt::format("pool '{}', frame {} of its log: {}", pool_.name(), log_.frame(), what));
        }
    }

    test_run& run_;
    Pool& pool_;
    log_type& log_;
    std::map<handle_type, std::size_t> known_; // and where it is
    std::uint64_t seen_ = 0;
};

template <class Placement, class Policy>
void run_followed(test_run& run, double part, std::uint64_t& frames) {
    using watched_type = watched_pool<Placement, Policy>;
    using pool_type = typename watched_type::pool_type;
    using handle_type = typename watched_type::handle_type;
    // Erased objects need their places until the frame ends.
    const std::size_t capacity = run.threads() * 2 * objects_of_a_thread_that_marks;
    watched_type pool(run, {.name = "changes", .capacity = capacity, .reuse_delay = 16});
    change_log<pool_type> log(pool.get(), {.frames = 2});
    mirror<pool_type> mirrored(run, pool.get(), log);
    std::vector<std::vector<handle_type>> living(run.threads());
    std::vector<std::vector<handle_type>> marked(run.threads());
    while (run.more(part)) {
        run.together([&](std::size_t thread) {
            std::vector<handle_type>& mine = living[thread];
            auto& by = pool.by(thread);
            std::mt19937_64& random = run.random(thread);
            marked[thread].clear();
            for (int i = 0; i != 200; ++i) {
                if (mine.size() < objects_of_a_thread_that_marks && random() % 3 == 0) {
                    mine.push_back(by.create());
                } else if (!mine.empty() && random() % 2 == 0) {
                    by.erase_any_of(mine, random);
                } else if (!mine.empty()) {
                    const handle_type each = mine[random() % mine.size()];
                    if (log.mark(each)) {
                        marked[thread].push_back(each);
                    }
                }
            }
        });
        pool.end_frame();
        std::set<handle_type> all_marked;
        for (const auto& each : marked) {
            all_marked.insert(each.begin(), each.end());
        }
        mirrored.follow(all_marked);
    }
    for (std::vector<handle_type>& mine : living) {
        while (!mine.empty()) {
            pool.by_main().erase_any_of(mine, run.random(0));
        }
    }
    pool.end_frame();
    mirrored.follow({});
    frames += log.frame();
    pool.finish();
}

} // namespace

void run_changes(test_run& run) {
    with_placement(run, [&run]<class Placement>(Placement) {
        std::uint64_t frames = 0;
        run_followed<Placement, default_policy>(run, 0.5, frames);
        run_followed<Placement, support::tiny_policy<1>>(run, 1, frames);
        run.add_fact("frames told", frames);
    });
}

} // namespace handlepool::stress
