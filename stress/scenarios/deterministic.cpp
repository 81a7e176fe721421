// SPDX-License-Identifier: MIT

// Tasks with spawners, by one thread in their order, and by many threads in any order and with delays: each
// frame must have the same outcome.

#include "run/scenarios.hpp"
#include "watched/watched_pool.hpp"

#include <handlepool/pool.hpp>
#include <handlepool/spawner.hpp>

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
          beside_(run, {.name = "beside", .capacity = run.threads() * 200, .reuse_delay = 16}),
          living_(run.threads()) {
        std::iota(order_.begin(), order_.end(), std::size_t{0});
    }

    void run_frame() {
        expected_.begin_frame();
        for (std::size_t task = 0; task != tasks; ++task) {
            expected_.work(task);
        }
        const std::uint64_t expected = expected_.end_frame(inline_executor());

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
        beside_.end_frame();
    }
    void finish() { beside_.finish(); }

private:
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
    std::array<std::size_t, tasks> order_{};
    std::size_t threads_ = 1;
    std::atomic<std::size_t> next_{0};
    beside_type beside_;
    std::vector<std::vector<typename beside_type::handle_type>> living_;
};

template <class Placement, class Policy>
std::uint64_t run_frames(test_run& run, double part, std::size_t alive) {
    two_worlds<Placement, Policy> worlds(run, alive);
    std::uint64_t frames = 0;
    for (; run.more(part); ++frames) {
        worlds.run_frame();
    }
    worlds.finish();
    return frames;
}

} // namespace

void run_deterministic(test_run& run) {
    with_placement(run, [&run]<class Placement>(Placement) {
        std::uint64_t frames = run_frames<Placement, default_policy>(run, 0.5, run.alive(2000));
        frames += run_frames<Placement, support::tiny_policy<1>>(run, 0.8, 100);
        frames += run_frames<Placement, support::tiny_policy<2>>(run, 1, 400);
        run.add_fact("frames compared", frames);
    });
}

} // namespace handlepool::stress
