// SPDX-License-Identifier: MIT

// Threads create, erase, revoke and edit in a pool that goes back some frames again and again, together with
// what each thread knows of it; beside it they use a pool that doesn't.

#include "run/scenarios.hpp"
#include "watched/watched_pool.hpp"

#include <handlepool/pool.hpp>
#include <handlepool/time/world.hpp>

#include <fmt/format.h>
#include <support/steps/tiny_policy.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace handlepool::stress {

namespace {

constexpr std::size_t objects_that_go_back = 100;
constexpr std::size_t frames_kept = 6;

struct numbered {
    std::uint64_t number;
    std::uint64_t edits = 0;
};

// What a thread knows of the pool. It goes back with it.
template <class Handle>
struct notes_of_a_thread {
    struct entry {
        Handle handle;
        numbered object;
    };
    std::vector<entry> living;
    std::vector<Handle> dead;
    std::uint64_t created = 0;
};

template <class Policy>
class captured_scene {
public:
    using pool_type = pool<numbered, with_policy<Policy>>;
    using handle_type = typename pool_type::handle_type;

    explicit captured_scene(test_run& run)
        : run_(run),
          pool_({.name = "rollback", .capacity = run.threads() * 2 * objects_that_go_back, .reuse_delay = 4}),
          notes_(run.threads()) {
        world_.add(ring_);
        for (auto& each : notes_) {
            world_.add(each);
        }
        world_.capture(frame_);
    }

    void work(std::size_t thread) {
        notes_of_a_thread<handle_type>& mine = notes_[thread];
        std::mt19937_64& random = run_.random(thread);
        for (int i = 0; i != 100; ++i) {
            if (mine.living.size() < objects_that_go_back && random() % 3 == 0) {
                const numbered made{.number = thread << 32 | mine.created++};
                if (const handle_type handle = pool_.try_emplace(made)) {
                    mine.living.push_back({handle, made});
                }
            } else if (!mine.living.empty()) {
                auto& any = mine.living[random() % mine.living.size()];
                switch (random() % 4) {
                case 0:
                    require(pool_.erase(any.handle), "an object can't be erased");
                    mine.dead.push_back(any.handle);
                    std::swap(any, mine.living.back());
                    mine.living.pop_back();
                    break;
                case 1:
                    if (const handle_type given = pool_.revoke(any.handle)) {
                        mine.dead.push_back(std::exchange(any.handle, given));
                    }
                    break;
                default:
                    if (numbered* const found = log_.edit(any.handle)) {
                        any.object.edits = ++found->edits;
                    } else {
                        require(false, "an object is not found");
                    }
                }
            }
        }
        if (mine.dead.size() > 1000) {
            mine.dead.erase(mine.dead.begin(), mine.dead.end() - 500);
        }
    }
    // Each of what the thread knows.
    void check(std::size_t thread) {
        for (const auto& [handle, object] : notes_[thread].living) {
            const numbered* const found = pool_.find(handle);
            require(found != nullptr && found->number == object.number && found->edits == object.edits,
                    "an object is another one than its thread knows");
        }
        for (const handle_type each : notes_[thread].dead) {
            require(!pool_.contains(each), "an object lives that its thread has erased");
        }
    }
    // Between the threads' parts.
    void end_frame(std::mt19937_64& random) {
        if (random() % 3 == 0) {
            const std::vector<std::uint64_t>& kept = world_.frames();
            frame_ = kept[random() % kept.size()];
            world_.restore(frame_);
            ++restores_;
        } else {
            world_.capture(++frame_);
        }
        std::size_t living = 0;
        for (const auto& each : notes_) {
            living += each.living.size();
        }
        require(pool_.size() == living, "the pool has another number of objects than its threads know");
        require(pool_.items().size() == living, "the store has another number of objects");
    }

    // After the threads' parts: adds what they have found.
    void report() {
        if (const std::uint64_t found = violations_.exchange(0); found != 0) {
            run_.violate(
                fmt::format("pool 'rollback', frame {}: {} ({} times)", frame_, first_.load(), found));
        }
    }
    std::uint64_t restores() const noexcept { return restores_; }

private:
    // By any thread.
    void require(bool holds, const char* what) {
        if (!holds) {
            violations_.fetch_add(1, std::memory_order::relaxed);
            first_.store(what, std::memory_order::relaxed);
        }
    }

    test_run& run_;
    pool_type pool_;
    change_log<pool_type> log_{pool_, {.frames = 2}};
    capture_ring<pool_type> ring_{log_, {.frames = frames_kept + 1}};
    std::vector<notes_of_a_thread<handle_type>> notes_;
    world world_{{.frames = frames_kept}};
    std::uint64_t frame_ = 0;
    std::uint64_t restores_ = 0;
    std::atomic<std::uint64_t> violations_ = 0;
    std::atomic<const char*> first_ = "";
};

template <class Placement, class Policy>
void run_captured(test_run& run, double part, std::uint64_t& restores) {
    using watched_type = watched_pool<Placement, Policy>;
    watched_type pool(run, {.name = "beside", .capacity = run.threads() * 200, .reuse_delay = 16});
    captured_scene<Policy> captured(run);
    std::vector<std::vector<typename watched_type::handle_type>> living(run.threads());
    while (run.more(part)) {
        run.together([&](std::size_t thread) {
            captured.check(thread); // what the last frame, or a restore, has left
            captured.work(thread);
            auto& by = pool.by(thread);
            for (int i = 0; i != 50; ++i) {
                if (living[thread].size() < 50) {
                    living[thread].push_back(by.create());
                } else {
                    by.erase_any_of(living[thread], run.random(thread));
                }
            }
        });
        captured.report();
        captured.end_frame(run.random(0));
        captured.report();
        pool.end_frame();
    }
    restores += captured.restores();
    pool.finish();
}

} // namespace

void run_rollback(test_run& run) {
    with_placement(run, [&run]<class Placement>(Placement) {
        std::uint64_t restores = 0;
        run_captured<Placement, default_policy>(run, 0.5, restores);
        run_captured<Placement, support::tiny_policy<1>>(run, 1, restores);
        run.add_fact("restores", restores);
    });
}

} // namespace handlepool::stress
