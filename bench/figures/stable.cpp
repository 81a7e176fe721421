// SPDX-License-Identifier: MIT
#include <handlepool/recycling_pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <bench/tools/colony.hpp>
#include <bench/tools/comparison.hpp>
#include <bench/tools/object.hpp>
#include <bench/tools/population.hpp>
#include <bench/tools/registration.hpp>
#include <bench/tools/suite.hpp>
#include <bench/tools/table.hpp>
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <random>
#include <ranges>
#include <string>
#include <type_traits>
#include <vector>

namespace handlepool_bench {

namespace {

class our_stable_pool {
public:
    using handle_type = handlepool::handle<object>;

    explicit our_stable_pool(std::size_t alive) : pool_({.name = "bench", .capacity = alive + alive / 4}) {}

    handle_type emplace(std::uint64_t seed) { return pool_.emplace(seed); }
    bool erase(handle_type handle) noexcept { return pool_.erase(handle); }
    void end_frame() { pool_.compact(); }

private:
    handlepool::stable_pool<object> pool_;
};

void churn(benchmark::State& state, table& results, std::size_t alive) {
    population<our_stable_pool> pool(alive);
    population<colony> other(alive);
    const std::size_t frames = 10 * 100'000 / alive + 1;
    const comparison outcome = compare(
        state, [&] { return pool.frames(frames).total(); }, [&] { return other.frames(frames).total(); });
    results.record(figure::stable_churn, outcome.ratio.median, outcome.ratio.spread());
}

/// In a store that is full but for the places of one object in `part`.
void create(benchmark::State& state, table& results, figure row, std::size_t part) {
    constexpr std::size_t alive = 100'000;
    population<our_stable_pool> pool(alive, 1, part);
    population<colony> other(alive, 1, part);
    const std::size_t frames = part / 10; // short rounds, most of which nothing interrupts
    const comparison outcome = compare(
        state, [&] { return pool.frames(frames).create; }, [&] { return other.frames(frames).create; });
    results.record(row, outcome.ours, outcome.ratio.spread());
    results.remark(
        fmt::format("create where one in {} of {} is replaced: {:.0f} ns in a stable_pool, {:.0f} ns in a "
                    "plf::colony",
                    part, alive, outcome.ours, outcome.theirs));
}

/// Vectors of numbers, all of one size: made anew, or filled again.
template <class Pool>
class vectors {
public:
    using handle_type = typename Pool::handle_type;

    explicit vectors(std::size_t alive) : pool_({.name = "bench", .capacity = alive + alive / 4}) {}

    handle_type emplace(std::uint64_t seed) {
        constexpr std::size_t size = 100;
        const int value = static_cast<int>(seed);
        if constexpr (std::is_same_v<Pool, handlepool::recycling_pool<std::vector<int>>>) {
            return pool_.emplace_with([&](auto, std::vector<int>& made) { made.assign(size, value); });
        } else {
            return pool_.emplace(size, value);
        }
    }
    bool erase(handle_type handle) noexcept { return pool_.erase(handle); }
    void end_frame() { pool_.compact(); }

private:
    Pool pool_;
};

void vector_churn(benchmark::State& state, table& results, std::size_t alive) {
    population<vectors<handlepool::recycling_pool<std::vector<int>>>> kept(alive);
    population<vectors<handlepool::stable_pool<std::vector<int>>>> made_anew(alive);
    const std::size_t frames = 10 * 100'000 / alive + 1;
    const comparison outcome = compare(
        state, [&] { return kept.frames(frames).total(); }, [&] { return made_anew.frames(frames).total(); });
    results.record(figure::recycling_churn, outcome.ratio.median, outcome.ratio.spread());
}

template <class Objects>
[[gnu::noinline]] double iterate(const Objects& objects, std::size_t count, std::size_t passes) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t pass = 0; pass != passes; ++pass) {
        std::uint64_t sum = 0;
        for (const object& each : objects) {
            sum += each.words[0];
        }
        benchmark::DoNotOptimize(sum);
    }
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() /
           static_cast<double>(passes * count);
}

/// Of a pool with a hole in every second place, chosen by chance, and a full vector of as many objects.
void iteration(benchmark::State& state, table& results, std::size_t alive) {
    handlepool::stable_pool<object> pool({.name = "bench", .capacity = 2 * alive});
    std::vector<handlepool::handle<object>> handles;
    pool.emplace_n(2 * alive, std::back_inserter(handles), std::uint64_t{7});
    std::shuffle(handles.begin(), handles.end(), std::mt19937_64(1));
    for (std::size_t i = 0; i != alive; ++i) {
        pool.erase(handles[i]);
    }
    pool.compact();
    const std::vector<object> vector(alive, object(7));
    const std::size_t passes = 5'000'000 / alive;
    const comparison outcome = compare(
        state, [&] { return iterate(pool, alive, passes); }, [&] { return iterate(vector, alive, passes); });
    results.record(figure::stable_iteration, outcome.ratio.median, outcome.ratio.spread());
}

/// The same places, by a list of the living ones: what remains when nothing must be found out about holes.
void listed_iteration(benchmark::State& state, table& results, std::size_t alive) {
    const std::vector<object> places(2 * alive, object(7));
    std::vector<std::uint32_t> living(2 * alive);
    std::iota(living.begin(), living.end(), std::uint32_t{0});
    std::shuffle(living.begin(), living.end(), std::mt19937_64(1));
    living.resize(alive);
    std::sort(living.begin(), living.end());
    const auto objects = living | std::views::transform([&places](std::uint32_t place) -> const object& {
                             return places[place];
                         });
    const std::vector<object> vector(alive, object(7));
    const std::size_t passes = 5'000'000 / alive;
    const comparison outcome = compare(
        state, [&] { return iterate(objects, alive, passes); },
        [&] { return iterate(vector, alive, passes); });
    results.remark(fmt::format(
        "every second of {} places, by a list that says which: {:.2f} × a full std::vector; nothing "
        "else must be found out about holes",
        2 * alive, outcome.ratio.median));
}

} // namespace

void register_stable(table& results, std::size_t rounds) {
    const auto add = register_with(rounds);
    for (const std::size_t alive : {10'000U, 100'000U, 1'000'000U}) {
        add(fmt::format("stable churn/{}", alive),
            [&results, alive](auto& state) { churn(state, results, alive); });
        add(fmt::format("stable iteration/{}", alive),
            [&results, alive](auto& state) { iteration(state, results, alive); });
        add(fmt::format("stable iteration by a list/{}", alive),
            [&results, alive](auto& state) { listed_iteration(state, results, alive); });
    }
    add("stable create/10",
        [&results](auto& state) { create(state, results, figure::stable_create_10, 10); });
    add("stable create/100",
        [&results](auto& state) { create(state, results, figure::stable_create_100, 100); });
    for (const std::size_t alive : {10'000U, 100'000U}) {
        add(fmt::format("recycling churn/{}", alive),
            [&results, alive](auto& state) { vector_churn(state, results, alive); });
    }
}

} // namespace handlepool_bench
