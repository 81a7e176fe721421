// SPDX-License-Identifier: MIT
#pragma once

#include "contender.hpp"
#include "figures.hpp"
#include "latencies.hpp"
#include "random.hpp"
#include "resident.hpp"

#include <bench/tools/timed_team.hpp>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace handlepool_bench::peers {

/// The tasks of the comparison, on one contender, with the handles of all objects in an order that random
/// numbers make: the same for each contender. Times are wall time divided by what all threads did in it. What
/// does not do what it says ends the workload by std::logic_error: it must not be measured.
///
/// First construct(), then load() or fill(), then the others.
template <contender Contender>
class workload {
public:
    workload(std::size_t alive, unsigned threads)
        : alive_(alive),
          replaced_(std::max<std::size_t>(alive / 10, threads)),
          handles_(alive),
          team_(threads) {
        std::ranges::fill(handles_, handle_type{}); // what was never written may not be resident
        resident_before_ = resident_bytes();
    }

    /// Makes the container, without objects.
    figures construct();
    bool is_constructed() const { return contender_.has_value(); }
    /// Creates all objects in one frame, by one thread.
    figures load();
    /// Creates all objects, a tenth a frame, and then replaces a tenth in each of `frames` frames.
    figures fill(std::size_t frames);
    /// Bytes resident beside each object.
    figures memory();
    /// Replaces a tenth in each frame, until at least `objects` are replaced. Choosing them is not measured.
    figures churn(std::size_t objects);
    /// Finds and reads at least `objects`, chosen at random, all before any is found again.
    figures find(std::size_t objects);
    /// One thread reads all, until at least `objects` are read.
    figures iterate(std::size_t objects);
    /// Times each operation of frames in which threads erase, create and find in turn, until at least
    /// `objects` are replaced; also the ends of the frames, and the clock itself.
    figures latency(std::size_t objects);

private:
    using handle_type = typename Contender::handle_type;
    using clock = std::chrono::steady_clock;

    static double nanoseconds(clock::time_point start, clock::time_point end) {
        return std::chrono::duration<double, std::nano>(end - start).count();
    }
    static double quotient(double sum, std::size_t count) { return sum / static_cast<double>(count); }
    static std::size_t times_to_reach(std::size_t wanted, std::size_t each) {
        return std::max<std::size_t>(1, wanted / each);
    }
    static void require(bool holds, const char* otherwise) {
        if (!holds) {
            throw std::logic_error(otherwise);
        }
    }

    /// Puts random handles into the first `count` places (Fisher and Yates).
    void shuffle(std::size_t count) {
        for (std::size_t i = 0; i != count; ++i) {
            std::swap(handles_[i], handles_[i + random_.below(handles_.size() - i)]);
        }
    }
    std::span<handle_type> part(unsigned thread, std::size_t count) {
        const std::size_t size = count / team_.size();
        return {handles_.data() + thread * size, size};
    }
    /// Nanoseconds of a frame's phases.
    double erase_tenth();
    double create_tenth(std::uint64_t seed);
    double end_frame();

    std::size_t alive_;
    std::size_t replaced_;
    std::vector<handle_type> handles_;
    random_numbers random_{20240229};
    timed_team team_;
    std::size_t resident_before_ = 0;
    std::optional<Contender> contender_;
};

// ---------------------------------------------------------------------------------------------------------------

template <contender Contender>
figures workload<Contender>::construct() {
    const auto start = clock::now();
    contender_.emplace(alive_, team_.size());
    return {{"construct", nanoseconds(start, clock::now())}};
}

template <contender Contender>
figures workload<Contender>::load() {
    const auto start = clock::now();
    std::uint64_t seed = 0;
    for (handle_type& each : handles_) {
        each = contender_->create(0, ++seed);
    }
    const auto created = clock::now();
    contender_->end_frame();
    const auto end = clock::now();
    contender_->end_frame(); // gives back what only the load needed
    require(contender_->size() == alive_, "objects are missing");
    return {{"load", quotient(nanoseconds(start, end), alive_)},
            {"load_create", quotient(nanoseconds(start, created), alive_)}};
}

template <contender Contender>
figures workload<Contender>::fill(std::size_t frames) {
    std::uint64_t seed = 0;
    for (std::size_t first = 0; first < alive_; first += replaced_) {
        const std::size_t last = std::min(first + replaced_, alive_);
        for (std::size_t i = first; i != last; ++i) {
            handles_[i] = contender_->create(0, ++seed);
        }
        contender_->end_frame();
    }
    for (std::size_t frame = 0; frame != frames; ++frame) {
        shuffle(replaced_);
        erase_tenth();
        create_tenth(frame);
        contender_->end_frame();
    }
    require(contender_->size() == alive_, "objects are missing");
    return {};
}

template <contender Contender>
figures workload<Contender>::memory() {
    const auto all = static_cast<double>(resident_bytes()) - static_cast<double>(resident_before_);
    return {{"beside", all / static_cast<double>(alive_) - sizeof(object)}};
}

template <contender Contender>
double workload<Contender>::erase_tenth() {
    std::vector<char> done(team_.size());
    const double spent = team_.run([&](unsigned thread) {
        Contender& contender = *contender_; // in a register, not read anew for each object
        const auto victims = part(thread, replaced_);
        std::size_t erased = 0;
        for (const handle_type& victim : victims) {
            erased += contender.erase(thread, victim) ? 1 : 0;
        }
        done[thread] = erased == victims.size();
    });
    require(std::ranges::all_of(done, [](char each) { return each != 0; }), "living objects were not erased");
    return spent;
}

template <contender Contender>
double workload<Contender>::create_tenth(std::uint64_t seed) {
    return team_.run([&](unsigned thread) {
        Contender& contender = *contender_;
        std::uint64_t next = seed;
        for (handle_type& born : part(thread, replaced_)) {
            born = contender.create(thread, ++next);
        }
        benchmark::ClobberMemory();
    });
}

template <contender Contender>
double workload<Contender>::end_frame() {
    const auto start = clock::now();
    contender_->end_frame();
    return nanoseconds(start, clock::now());
}

template <contender Contender>
figures workload<Contender>::churn(std::size_t objects) {
    const std::size_t frames = times_to_reach(objects, replaced_);
    double erase = 0;
    double create = 0;
    double frame_end = 0;
    for (std::size_t frame = 0; frame != frames; ++frame) {
        shuffle(replaced_);
        erase += erase_tenth();
        create += create_tenth(frame);
        frame_end += end_frame();
    }
    const std::size_t replaced = frames * (replaced_ / team_.size()) * team_.size();
    require(contender_->size() == alive_, "objects are missing");
    return {{"churn", quotient(erase + create + frame_end, replaced)},
            {"erase", quotient(erase, replaced)},
            {"create", quotient(create, replaced)},
            {"frame_end", quotient(frame_end, replaced)}};
}

template <contender Contender>
figures workload<Contender>::find(std::size_t objects) {
    const std::size_t chosen = std::min(objects, alive_);
    const std::size_t passes = times_to_reach(objects, alive_);
    shuffle(chosen);
    std::vector<char> done(team_.size());
    const double spent = team_.run([&](unsigned thread) {
        Contender& contender = *contender_;
        std::uint64_t sum = 0;
        std::size_t found = 0;
        for (std::size_t pass = 0; pass != passes; ++pass) {
            for (const handle_type& wanted : part(thread, chosen)) {
                found += contender.find(wanted, [&](const auto& one) { sum += one.words[0]; }) ? 1 : 0;
            }
        }
        benchmark::DoNotOptimize(sum);
        done[thread] = found == passes * part(thread, chosen).size();
    });
    require(std::ranges::all_of(done, [](char each) { return each != 0; }), "living objects were not found");
    return {{"find", quotient(spent, passes * (chosen / team_.size()) * team_.size())}};
}

template <contender Contender>
figures workload<Contender>::iterate(std::size_t objects) {
    const std::size_t passes = times_to_reach(objects, alive_);
    std::size_t visited = 0;
    const auto start = clock::now();
    for (std::size_t pass = 0; pass != passes; ++pass) {
        std::uint64_t sum = 0;
        std::size_t count = 0;
        contender_->for_each([&](const auto& one) {
            sum += one.words[0];
            ++count;
        });
        benchmark::DoNotOptimize(sum);
        visited += count;
    }
    const auto end = clock::now();
    require(visited == passes * alive_, "an iteration visited another number of objects than there are");
    return {{"iterate", quotient(nanoseconds(start, end), visited)}};
}

template <contender Contender>
figures workload<Contender>::latency(std::size_t objects) {
    struct alignas(128) times { // away from its neighbours
        explicit times(std::size_t most) : erase(most), create(most), find(most), clock(most) {}

        latencies erase, create, find, clock;
    };
    const std::size_t frames = times_to_reach(objects, replaced_);
    std::vector<times> of_thread(team_.size(), times(frames * (replaced_ / team_.size())));
    std::vector<random_numbers> random;
    for (unsigned thread = 0; thread != team_.size(); ++thread) {
        random.emplace_back(random_.next());
    }
    latencies frame_end(frames);
    std::vector<char> done(team_.size(), 1);
    for (std::size_t frame = 0; frame != frames; ++frame) {
        shuffle(handles_.size()); // so that threads erase what others created
        team_.run([&](unsigned thread) {
            Contender& contender = *contender_;
            times& mine = of_thread[thread];
            const auto all_of_mine = part(thread, handles_.size());
            std::uint64_t seed = frame;
            for (handle_type& victim : all_of_mine.first(replaced_ / team_.size())) {
                const handle_type& wanted = all_of_mine[random[thread].below(all_of_mine.size())];
                reader visit;
                const auto before = clock::now();
                const bool erased = contender.erase(thread, victim);
                const auto after_erase = clock::now();
                victim = contender.create(thread, ++seed);
                const auto after_create = clock::now();
                const bool found = contender.find(wanted, [&](const auto& one) { visit(one); });
                benchmark::DoNotOptimize(visit.first_word);
                const auto after_find = clock::now();
                const auto after_nothing = clock::now();
                mine.erase.record(before, after_erase);
                mine.create.record(after_erase, after_create);
                mine.find.record(after_create, after_find);
                mine.clock.record(after_find, after_nothing);
                done[thread] = erased && found ? done[thread] : 0;
            }
        });
        const auto start = clock::now();
        contender_->end_frame();
        frame_end.record(start, clock::now());
    }
    require(std::ranges::all_of(done, [](char each) { return each != 0; }), "an operation failed");
    figures found;
    const auto add = [&](const char* name, latencies times::* kind) {
        std::vector<std::uint32_t> all;
        for (const times& each : of_thread) {
            (each.*kind).append_to(all);
        }
        add_quantiles(found, name, std::move(all));
    };
    add("erase", &times::erase);
    add("create", &times::create);
    add("find", &times::find);
    add("clock", &times::clock);
    std::vector<std::uint32_t> ends;
    frame_end.append_to(ends);
    add_quantiles(found, "frame_end", std::move(ends));
    return found;
}

} // namespace handlepool_bench::peers
