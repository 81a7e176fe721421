// SPDX-License-Identifier: MIT
#include <handlepool/object_lookup.hpp>

#include <bench/tools/comparison.hpp>
#include <bench/tools/contenders.hpp>
#include <bench/tools/population.hpp>
#include <bench/tools/suite.hpp>
#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

/// Look-ups of all objects in random order, by one thread, against those in the bare packed array.
namespace handlepool_bench {

namespace {

using lookup = handlepool::pool<object>::lookup_type;
using our_handles = std::span<const our_pool::handle_type>;
using their_handles = std::span<const bare_array::handle_type>;

/// What is done with an object once it is found, when it is more than reading a word: some 60
/// multiplications, each of which waits for the one before.
std::uint64_t work_on(std::uint64_t word) {
    for (int i = 0; i != 60; ++i) {
        word = word * 0x9e37'79b9'7f4a'7c15U + 1;
    }
    return word;
}

struct read_word {
    std::uint64_t operator()(const object& found) const { return found.words[0]; }
};
struct read_and_work {
    std::uint64_t operator()(const object& found) const { return work_on(found.words[0]); }
};

[[gnu::noinline]] std::uint64_t one_by_one(lookup look, our_handles handles) {
    std::uint64_t sum = 0;
    for (const auto handle : handles) {
        sum += look.find(handle)->words[0];
    }
    return sum;
}

template <class Use>
[[gnu::noinline]] std::uint64_t together(lookup look, our_handles handles, Use use) {
    std::uint64_t sum = 0;
    look.for_each(handles, [&](const object& found) { sum += use(found); });
    return sum;
}

template <class Use>
[[gnu::noinline]] std::uint64_t in_array(bare_array& array, their_handles handles, Use use) {
    std::uint64_t sum = 0;
    for (const auto handle : handles) {
        sum += use(*array.find(handle));
    }
    return sum;
}

/// Nanoseconds a look-up.
template <class Pass>
double time(std::size_t passes, std::size_t handles, Pass pass) {
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i != passes; ++i) {
        sum += pass();
    }
    benchmark::DoNotOptimize(sum);
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() /
           static_cast<double>(passes * handles);
}

template <class Ours, class Use>
void compare_look_ups(benchmark::State& state, table& results, figure place, std::size_t alive, Ours ours,
                      Use use) {
    population<our_pool> pool(alive);
    population<bare_array> array(alive);
    const lookup look = pool.contender().pool().lookup();
    const std::size_t passes = 1'000'000 / alive;
    const comparison outcome = compare(
        state, [&] { return time(passes, alive, [&] { return ours(look, pool.handles()); }); },
        [&] {
            return time(passes, alive, [&] { return in_array(array.contender(), array.handles(), use); });
        });
    results.record(place, outcome.ratio.median, outcome.ratio.spread());
}

} // namespace

void register_look_up(table& results, std::size_t rounds) {
    const auto add = [&results, rounds](const std::string& name, figure place, std::size_t alive, auto ours,
                                        auto use) {
        benchmark::RegisterBenchmark(
            fmt::format("look up/{}/{}", name, alive).c_str(),
            [=, &results](auto& state) { compare_look_ups(state, results, place, alive, ours, use); })
            ->UseManualTime()
            ->Iterations(static_cast<benchmark::IterationCount>(rounds))
            ->Unit(benchmark::kNanosecond);
    };
    const auto batch = [](lookup look, our_handles handles) { return together(look, handles, read_word()); };
    const auto batch_with_work = [](lookup look, our_handles handles) {
        return together(look, handles, read_and_work());
    };
    add("one by one", figure::look_up_10k, 10'000, one_by_one, read_word());
    add("one by one", figure::look_up_100k, 100'000, one_by_one, read_word());
    add("one by one", figure::look_up_1m, 1'000'000, one_by_one, read_word());
    add("batch", figure::batch_1m, 1'000'000, batch, read_word());
    add("batch with work", figure::batch_work_100k, 100'000, batch_with_work, read_and_work());
    add("batch with work", figure::batch_work_1m, 1'000'000, batch_with_work, read_and_work());
}

} // namespace handlepool_bench
