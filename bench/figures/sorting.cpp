// SPDX-License-Identifier: MIT
#include <handlepool/pool.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/thread_executor.hpp>

#include <bench/tools/comparison.hpp>
#include <bench/tools/object.hpp>
#include <bench/tools/registration.hpp>
#include <bench/tools/suite.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace handlepool_bench {

namespace {

constexpr std::size_t count = 100'000;

/// 64 bytes, by whose key they are sorted.
struct alignas(64) keyed_object {
    float key;
    std::uint32_t rest[15]{};
};
static_assert(sizeof(keyed_object) == sizeof(object));

using sorted_pool = handlepool::pool<keyed_object>;

constexpr auto key_of = [](const keyed_object& one) noexcept { return one.key; };
constexpr auto smaller = [](const keyed_object& a, const keyed_object& b) noexcept { return a.key < b.key; };

/// A pool of objects with random keys, and new ones each time.
class shuffled_objects {
public:
    shuffled_objects() : pool_({.name = "shuffled", .capacity = count + count / 50}) {
        while (pool_.size() < count) {
            pool_.emplace(next_key());
        }
        pool_.compact();
    }

    sorted_pool& pool() { return pool_; }

    void shuffle() {
        for (keyed_object& each : pool_) {
            each.key = next_key();
        }
    }

    /// A part of them is removed, and as many are created.
    void replace(std::size_t part) {
        for (std::size_t i = 0; i != part; ++i) {
            while (!pool_.erase(pool_.handle_at(random_() % pool_.items().size()))) {
            }
            pool_.emplace(next_key());
        }
        pool_.compact();
    }

private:
    float next_key() { return std::uniform_real_distribution<float>(0, 1)(random_); }

    std::mt19937_64 random_;
    sorted_pool pool_;
};

/// Nanoseconds an object.
template <class Action>
double time(Action action) {
    const auto start = std::chrono::steady_clock::now();
    action();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() /
           static_cast<double>(count);
}

/// `sort(pool)` against std::sort of a vector of the same objects.
template <class Sort>
comparison against_vector(benchmark::State& state, Sort sort) {
    shuffled_objects ours;
    std::vector<keyed_object> theirs;
    return compare(
        state,
        [&] {
            ours.shuffle();
            theirs.assign(ours.pool().items().begin(), ours.pool().items().end());
            return time([&] { sort(ours.pool()); });
        },
        [&] { return time([&] { std::sort(theirs.begin(), theirs.end(), smaller); }); });
}

void shuffled(benchmark::State& state, table& results) {
    const comparison outcome = against_vector(state, [](sorted_pool& pool) { sort_by(pool, key_of); });
    results.record(figure::sort_shuffled, outcome.ratio.median, outcome.ratio.spread());
    results.record(figure::sort_time, outcome.ours * static_cast<double>(count) * 1e-6);
}

[[gnu::noinline]] void pass_over(const sorted_pool& pool) {
    float sum = 0;
    for (const keyed_object& each : pool.items()) {
        sum += each.key;
    }
    benchmark::DoNotOptimize(sum);
}

/// Objects in order: `sort(pool)` against a pass that adds the keys.
template <class Sort>
comparison in_order(benchmark::State& state, Sort sort) {
    shuffled_objects objects;
    sort_by(objects.pool(), key_of);
    return compare(
        state, [&] { return time([&] { sort(objects.pool()); }); },
        [&] { return time([&] { pass_over(objects.pool()); }); });
}

/// Percent of the pairs of neighbours that are out of order after twenty frames.
void sorted_in_parts(benchmark::State& state, table& results) {
    std::vector<double> parts;
    std::vector<double> times;
    for ([[maybe_unused]] const auto round : state) {
        shuffled_objects objects;
        double spent = 0;
        for (int frame = 0; frame != 20; ++frame) {
            objects.replace(count / 100);
            spent += time([&] { sort_some_by(objects.pool(), key_of, count / 4); });
        }
        std::size_t wrong = 0;
        const auto items = objects.pool().items();
        for (std::size_t i = 1; i != items.size(); ++i) {
            wrong += smaller(items[i], items[i - 1]) ? 1U : 0U;
        }
        parts.push_back(100.0 * static_cast<double>(wrong) / static_cast<double>(items.size() - 1));
        times.push_back(spent / 20);
        state.SetIterationTime(times.back() * 1e-9);
    }
    const quartiles found(parts);
    results.record(figure::sort_some, found.median, found.spread());
    results.remark(
        fmt::format("sort_some_by of 100,000 objects, a quarter of them at most: {:.2f} ms a frame",
                    quartiles(times).median * static_cast<double>(count) * 1e-6));
}

} // namespace

void register_sorting(table& results, std::size_t rounds) {
    const auto add = register_with(rounds);
    add("sort/shuffled", [&results](auto& state) { shuffled(state, results); });
    add("sort/in order", [&results](auto& state) {
        const comparison outcome = in_order(state, [](sorted_pool& pool) { sort_by(pool, key_of); });
        results.record(figure::sort_in_order, outcome.ratio.median, outcome.ratio.spread());
    });
    add("sort/in parts", [&results](auto& state) { sorted_in_parts(state, results); });

    // Nobody judges these.
    add("sort/shuffled, by comparison",
        [](auto& state) { against_vector(state, [](sorted_pool& pool) { sort(pool, smaller); }); });
    add("sort/in order, by comparison",
        [](auto& state) { in_order(state, [](sorted_pool& pool) { sort(pool, smaller); }); });
    add("sort/shuffled, 2 threads", [](auto& state) {
        handlepool::thread_executor executor(2);
        against_vector(state, [&](sorted_pool& pool) { sort_by(pool, key_of, executor); });
    });
    add("sort/shuffled, by comparison, 2 threads", [](auto& state) {
        handlepool::thread_executor executor(2);
        against_vector(state, [&](sorted_pool& pool) { sort(pool, smaller, executor); });
    });
}

} // namespace handlepool_bench
