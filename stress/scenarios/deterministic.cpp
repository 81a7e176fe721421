// SPDX-License-Identifier: MIT

// Tasks with spawners, by one thread in their order, and by many threads in any order and with delays: each
// frame must have the same outcome. Now and then some frames are taken back and played again, to the same
// end.

#include "run/scenarios.hpp"
#include "watched/watched_pool.hpp"

#include <handlepool/pool.hpp>
#include <handlepool/spawner.hpp>
#include <handlepool/time/capture_ring.hpp>
#include <handlepool/time/change_log.hpp>

#include <fmt/format.h>
#include <support/steps/tiny_policy.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::stress {

namespace {

constexpr std::size_t tasks = 16;
constexpr std::array<std::size_t, 5> numbers_of_threads{1, 2, 4, 8, 64};
constexpr std::size_t most_frames_back = 3;

struct spawned_number {
    std::uint64_t number;
};

// The order in which the numbers are mixed in counts.
class fingerprint {
public:
    void add(std::uint64_t number) noexcept {
        sum_ = (sum_ ^ number) * 0x9e37'79b9'7f4a'7c15;
        sum_ ^= sum_ >> 29;
    }
    std::uint64_t value() const noexcept { return sum_; }

private:
    std::uint64_t sum_ = 1;
};

template <class Placement, class Policy>
class past_of_world;

// A pool, and what its tasks do in each frame, which follows from the seed.
template <class Placement, class Policy>
class spawned_world {
public:
    using pool_type = pool_with<Placement, spawned_number, default_layout, Policy>;
    using handle_type = typename pool_type::handle_type;

    spawned_world(std::uint64_t seed, std::size_t alive)
        : seed_(seed),
          alive_(alive),
          pool_({.name = "deterministic",
                 .capacity = 4 * alive + 64 * tasks,
                 .reuse_delay = 16,
                 .spawners = tasks}) {
        auto alone = pool_.exclusive_access();
        const handle_type first = alone.emplace(spawned_number{0});
        first_generation_ = first.generation();
        alone.erase(first);
    }

    void begin_frame() { spawners_.emplace(pool_.spawners(tasks)); }
    // By any thread, each task once.
    void work(std::size_t task) {
        std::mt19937_64 random(seed_ * 1'000'003 + frame_ * tasks + task);
        auto& spawner = (*spawners_)[task];
        task_notes& mine = notes_[task];
        const std::size_t share = alive_ / tasks;
        for (std::size_t i = 0; i != share / 4 + 4; ++i) {
            const std::uint64_t number = random();
            if (mine.living.size() < share || number % 3 == 0) {
                const handle_type made = spawner.try_emplace(spawned_number{number});
                mine.outcome.add(position_of(made));
                if (made) {
                    mine.living.push_back(made);
                }
            } else {
                handle_type& any = mine.living[random() % mine.living.size()];
                if (number % 7 == 0) {
                    any = spawner.revoke(any);
                    mine.outcome.add(position_of(any));
                } else {
                    spawner.erase(any);
                }
                if (!any || number % 7 != 0) {
                    any = mine.living.back();
                    mine.living.pop_back();
                }
            }
        }
        // One that others may choose, too.
        if (!shared_.empty()) {
            mine.outcome.add(spawner.erase(shared_[random() % shared_.size()]) ? 1 : 0);
        }
    }
    // Returns what there is to see of the frame.
    template <class Executor>
    std::uint64_t end_frame(Executor&& executor) {
        spawners_->close();
        pool_.compact(executor);
        fingerprint all;
        for (task_notes& each : notes_) {
            std::erase_if(each.living, [this](handle_type handle) { return !pool_.contains(handle); });
            all.add(each.living.size());
            all.add(each.outcome.value());
        }
        for (const auto& each : pool_.entries()) {
            all.add(position_of(each.handle));
            all.add(number_of(each.object));
        }
        shared_.clear();
        for (const auto& each : pool_.handles()) {
            if (shared_.size() < tasks) {
                shared_.push_back(each);
            }
        }
        ++frame_;
        return all.value();
    }
    std::uint64_t frame() const noexcept { return frame_; }

private:
    friend class past_of_world<Placement, Policy>;

    struct task_notes {
        std::vector<handle_type> living;
        fingerprint outcome;
    };

    template <class Object>
    static std::uint64_t number_of(const Object& object) {
        if constexpr (std::is_same_v<Placement, columns_placement>) {
            return object.template get<spawned_number>().number;
        } else {
            return object.number;
        }
    }
    // The same in pools of other ids.
    std::uint64_t position_of(handle_type handle) const {
        return handle ? (std::uint64_t{handle.index()} << 32 | (handle.generation() - first_generation_)) + 1
                      : 0;
    }

    const std::uint64_t seed_;
    const std::size_t alive_;
    pool_type pool_;
    std::uint32_t first_generation_ = 0;
    std::uint64_t frame_ = 0;
    std::array<task_notes, tasks> notes_;
    std::vector<handle_type> shared_;
    std::optional<decltype(std::declval<pool_type&>().spawners(tasks))> spawners_;
};

// The last frames of a world, to which it can be taken back.
template <class Placement, class Policy>
class past_of_world {
    using world_type = spawned_world<Placement, Policy>;
    using pool_type = typename world_type::pool_type;

public:
    explicit past_of_world(world_type& world) : world_(world), log_(world.pool_) { keep(); }

    // The frame that has just ended.
    void keep() {
        ring_.capture(world_.frame_);
        kept_[world_.frame_ % kept_.size()] = {world_.notes_, world_.shared_};
    }
    void take_back(std::uint64_t frames) {
        world_.frame_ -= frames;
        ring_.restore(world_.frame_);
        const kept_frame& then = kept_[world_.frame_ % kept_.size()];
        world_.notes_ = then.notes;
        world_.shared_ = then.shared;
    }

private:
    struct kept_frame { // what is beside the pool
        decltype(world_type::notes_) notes;
        decltype(world_type::shared_) shared;
    };

    world_type& world_;
    change_log<pool_type> log_;
    capture_ring<pool_type> ring_{log_, {.frames = most_frames_back + 1}};
    std::array<kept_frame, most_frames_back + 1> kept_;
};

// Both worlds, the order in which the tasks of the one are taken, and a pool beside them that threads use as
// they come.
template <class Placement, class Policy>
class two_worlds {
    using beside_type = watched_pool<Placement, Policy>;

public:
    two_worlds(test_run& run, std::size_t alive)
        : run_(run),
          expected_(run.options().seed, alive),
          tried_(run.options().seed, alive),
          past_(tried_),
          beside_(run, {.name = "beside", .capacity = run.threads() * 200, .reuse_delay = 16}),
          living_(run.threads()) {
        std::iota(order_.begin(), order_.end(), std::size_t{0});
    }

    void run_frame() {
        expected_.begin_frame();
        for (std::size_t task = 0; task != tasks; ++task) {
            expected_.work(task);
        }
        const std::uint64_t frame = expected_.frame();
        outcomes_[frame % outcomes_.size()] = expected_.end_frame(inline_executor());
        try_frame();
        if (run_.random(0)() % 8 == 0 && tried_.frame() >= most_frames_back) {
            const std::uint64_t frames = 1 + run_.random(0)() % most_frames_back;
            past_.take_back(frames);
            for (std::uint64_t i = 0; i != frames; ++i) {
                try_frame();
            }
            played_again_ += frames;
        }
    }
    void finish() { beside_.finish(); }
    std::uint64_t played_again() const noexcept { return played_again_; }

private:
    void try_frame() {
        const std::uint64_t expected = outcomes_[tried_.frame() % outcomes_.size()];
        std::shuffle(order_.begin(), order_.end(), run_.random(0));
        threads_ = numbers_of_threads[run_.random(0)() % numbers_of_threads.size()];
        next_.store(0, std::memory_order::relaxed);
        tried_.begin_frame();
        run_.together([this](std::size_t thread) { take_tasks(thread); });
        const std::uint64_t tried = tried_.end_frame(run_.executor());
        if (tried != expected) {
            run_.violate(
                fmt::format("pool 'deterministic', frame {}: the outcome of {} threads is another one than "
                            "that of one thread",
                            tried_.frame(), std::min(threads_, run_.threads())));
        }
        past_.keep();
        beside_.end_frame();
    }
    void take_tasks(std::size_t thread) {
        std::mt19937_64& random = run_.random(thread);
        auto& by = beside_.by(thread);
        for (int i = 0; i != 20; ++i) {
            if (living_[thread].size() < 50) {
                living_[thread].push_back(by.create());
            } else {
                by.erase_any_of(living_[thread], random);
            }
        }
        if (thread >= threads_) {
            return;
        }
        for (std::size_t i = next_.fetch_add(1); i < tasks; i = next_.fetch_add(1)) {
            if (random() % 8 == 0) { // as if the system had taken its processor
                std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
            }
            tried_.work(order_[i]);
        }
    }

    test_run& run_;
    spawned_world<Placement, Policy> expected_;
    spawned_world<Placement, Policy> tried_;
    past_of_world<Placement, Policy> past_;
    std::array<std::uint64_t, most_frames_back> outcomes_{}; // of the last frames
    std::uint64_t played_again_ = 0;
    std::array<std::size_t, tasks> order_{};
    std::size_t threads_ = 1;
    std::atomic<std::size_t> next_{0};
    beside_type beside_;
    std::vector<std::vector<typename beside_type::handle_type>> living_;
};

struct frame_counts {
    std::uint64_t compared = 0;
    std::uint64_t played_again = 0;
};

template <class Placement, class Policy>
void run_frames(test_run& run, double part, std::size_t alive, frame_counts& counts) {
    two_worlds<Placement, Policy> worlds(run, alive);
    for (; run.more(part); ++counts.compared) {
        worlds.run_frame();
    }
    worlds.finish();
    counts.played_again += worlds.played_again();
}

} // namespace

void run_deterministic(test_run& run) {
    with_placement(run, [&run]<class Placement>(Placement) {
        frame_counts counts;
        run_frames<Placement, default_policy>(run, 0.5, run.alive(2000), counts);
        run_frames<Placement, support::tiny_policy<1>>(run, 0.8, 100, counts);
        run_frames<Placement, support::tiny_policy<2>>(run, 1, 400, counts);
        run.add_fact("frames compared", counts.compared);
        run.add_fact("frames played again", counts.played_again);
    });
}

} // namespace handlepool::stress
