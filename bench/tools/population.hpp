// SPDX-License-Identifier: MIT
#pragma once

#include "timed_team.hpp"

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace handlepool_bench {

/// Nanoseconds that a thread spends on each object, by phase of a frame.
struct frame_times {
    double create = 0;
    double erase = 0;
    double compact = 0;

    double total() const { return create + erase + compact; }
};

/// A container with objects in it, some threads that work on it, and the handles of all objects in random
/// order. Two populations of one size and number of threads go through the same sequence of random numbers.
template <class Contender>
class population {
public:
    /// Of which a frame replaces one in `part`, a divisor of `alive`.
    explicit population(std::size_t alive, unsigned threads = 1, std::size_t part = 10)
        : contender_(alive), handles_(alive), replaced_(alive / part), team_(threads) {
        // In frames like those that come later.
        for (std::size_t first = 0; first < alive; first += replaced_) {
            for (std::size_t i = first; i != first + replaced_; ++i) {
                handles_[i] = contender_.emplace(i);
            }
            contender_.end_frame();
        }
        // Until nothing lies as it was created.
        frames(3 * part);
        shuffle(alive);
    }

    /// Replaces that part in each of `count` frames. Choosing the victims is not measured.
    frame_times frames(std::size_t count);

    /// Finds all objects `passes` times, each thread its part; nanoseconds a look-up.
    double finds(std::size_t passes);

    Contender& contender() { return contender_; }
    /// Of all objects, in random order.
    std::span<const typename Contender::handle_type> handles() const { return handles_; }

private:
    using handle_type = typename Contender::handle_type;

    /// Puts random handles into the first `count` places (Fisher and Yates).
    void shuffle(std::size_t count) {
        for (std::size_t i = 0; i != count; ++i) {
            std::swap(handles_[i], handles_[i + random_() % (handles_.size() - i)]);
        }
    }

    /// With what a thread creates and erases.
    auto& worker([[maybe_unused]] unsigned thread) {
        if constexpr (requires { contender_.worker(thread); }) {
            return contender_.worker(thread);
        } else {
            return contender_;
        }
    }

    std::span<handle_type> part(unsigned thread, std::size_t count) {
        const std::size_t size = count / team_.size();
        return {handles_.data() + thread * size, size};
    }

    /// A benchmark that doesn't do what it says must not go on.
    static void require(bool done) {
        if (!done) {
            std::abort();
        }
    }

    Contender contender_;
    std::vector<handle_type> handles_;
    std::size_t replaced_;
    std::mt19937_64 random_{20240229};
    timed_team team_;
};

template <class Contender>
frame_times population<Contender>::frames(std::size_t count) {
    frame_times spent;
    for (std::size_t frame = 0; frame != count; ++frame) {
        shuffle(replaced_);
        spent.erase += team_.run([this](unsigned thread) {
            auto& contender = worker(thread);
            const auto victims = part(thread, replaced_);
            std::size_t erased = 0;
            for (const handle_type& victim : victims) {
                erased += contender.erase(victim) ? 1 : 0;
            }
            require(erased == victims.size());
        });
        spent.create += team_.run([this, frame](unsigned thread) {
            auto& contender = worker(thread);
            std::uint64_t seed = frame;
            for (handle_type& born : part(thread, replaced_)) {
                born = contender.emplace(++seed);
            }
            benchmark::ClobberMemory();
        });
        const auto start = std::chrono::steady_clock::now();
        contender_.end_frame();
        spent.compact +=
            std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
    }
    const auto objects = static_cast<double>(count * replaced_);
    const auto objects_a_thread = objects / team_.size();
    return {spent.create / objects_a_thread, spent.erase / objects_a_thread, spent.compact / objects};
}

template <class Contender>
double population<Contender>::finds(std::size_t passes) {
    const double spent = team_.run([this, passes](unsigned thread) {
        Contender& contender = contender_; // in a register, not read anew for each look-up
        std::uint64_t sum = 0;
        for (std::size_t pass = 0; pass != passes; ++pass) {
            for (const handle_type wanted : part(thread, handles_.size())) {
                sum += contender.find(wanted)->words[0];
            }
        }
        benchmark::DoNotOptimize(sum);
    });
    return spent / static_cast<double>(passes * (handles_.size() / team_.size()));
}

} // namespace handlepool_bench
