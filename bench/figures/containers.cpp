// SPDX-License-Identifier: MIT
#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/pool.hpp>

#include <bench/tools/comparison.hpp>
#include <bench/tools/registration.hpp>
#include <bench/tools/suite.hpp>
#include <bench/tools/table.hpp>
#include <benchmark/benchmark.h>
#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace handlepool_bench {

namespace {

using handlepool::handle;

template <class Work>
double nanoseconds_of(Work&& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

/// Objects that live in slots in no order, and their handles in another order.
struct shuffled_objects {
    explicit shuffled_objects(std::size_t count) : pool({.name = "bench", .capacity = count}) {
        pool.emplace_n(count, std::back_inserter(handles), std::uint64_t{7});
        shuffle();
        pool.compact();
    }
    void shuffle() { std::shuffle(handles.begin(), handles.end(), random); }

    handlepool::pool<std::uint64_t> pool;
    std::vector<handle<std::uint64_t>> handles;
    std::mt19937_64 random{1};
};

struct in_handle_map {
    handlepool::handle_map<std::uint64_t, std::uint64_t> map;
    void insert(handle<std::uint64_t> key, std::uint64_t value) { map.try_emplace(key, value); }
    std::uint64_t operator[](handle<std::uint64_t> key) const { return *map.find(key); }
};
template <class Map>
struct in_hash_map {
    Map map;
    void insert(handle<std::uint64_t> key, std::uint64_t value) { map.try_emplace(key, value); }
    std::uint64_t operator[](handle<std::uint64_t> key) const { return map.find(key)->second; }
};

template <class Map>
double find_all(const Map& map, const std::vector<handle<std::uint64_t>>& handles) {
    std::uint64_t sum = 0;
    const double spent = nanoseconds_of([&] {
        for (const handle<std::uint64_t> each : handles) {
            sum += map[each];
        }
    });
    benchmark::DoNotOptimize(sum);
    return spent / static_cast<double>(handles.size());
}

template <class Theirs>
void look_up(benchmark::State& state, table& results, figure place) {
    shuffled_objects objects(100'000);
    in_handle_map ours;
    in_hash_map<Theirs> theirs;
    for (const handle<std::uint64_t> each : objects.handles) {
        ours.insert(each, each.index());
        theirs.insert(each, each.index());
    }
    objects.shuffle();
    const comparison outcome = compare(
        state, [&] { return find_all(ours, objects.handles); },
        [&] { return find_all(theirs, objects.handles); });
    results.record(place, 1 / outcome.ratio.median, outcome.ratio.spread());
}

/// Objects by network ids, which are random numbers.
void look_up_by_key(benchmark::State& state, table& results) {
    shuffled_objects objects(100'000);
    handlepool::handle_index<std::uint64_t, std::uint64_t> ours;
    std::unordered_multimap<std::uint64_t, handle<std::uint64_t>> theirs;
    std::vector<std::uint64_t> keys;
    for (const handle<std::uint64_t> each : objects.handles) {
        keys.push_back(objects.random());
        ours.insert(each, keys.back());
        theirs.emplace(keys.back(), each);
    }
    std::shuffle(keys.begin(), keys.end(), objects.random);
    const auto find_all_by = [&keys](auto find) {
        std::uint64_t sum = 0;
        const double spent = nanoseconds_of([&] {
            for (const std::uint64_t key : keys) {
                sum += find(key).value();
            }
        });
        benchmark::DoNotOptimize(sum);
        return spent / static_cast<double>(keys.size());
    };
    const comparison outcome = compare(
        state, [&] { return find_all_by([&ours](std::uint64_t key) { return ours.find(key); }); },
        [&] { return find_all_by([&theirs](std::uint64_t key) { return theirs.find(key)->second; }); });
    results.record(figure::index_look_up, outcome.ratio.median, outcome.ratio.spread());
}

/// 10,000 children, in parents of as many each.
class family {
public:
    explicit family(std::size_t children_of_each) : objects_(children + children / children_of_each) {
        for (std::size_t i = 0; i != children; ++i) {
            tree_.set_parent(objects_.handles[i], objects_.handles[children + i / children_of_each]);
        }
        objects_.handles.resize(children);
        objects_.shuffle();
    }

    /// Takes each from its parent and gives it back; nanoseconds a child.
    double move_all() {
        return nanoseconds_of([&] {
                   for (const handle<std::uint64_t> child : objects_.handles) {
                       const handle<std::uint64_t> parent = tree_.parent(child);
                       tree_.clear_parent(child);
                       tree_.set_parent(child, parent);
                   }
               }) /
               children;
    }

private:
    static constexpr std::size_t children = 10'000;

    shuffled_objects objects_;
    handlepool::hierarchy<std::uint64_t> tree_;
};

void move_children(benchmark::State& state, table& results) {
    family large(10'000);
    family small(10);
    const comparison outcome =
        compare(state, [&] { return large.move_all(); }, [&] { return small.move_all(); });
    results.record(figure::hierarchy_children, outcome.ratio.median, outcome.ratio.spread());
}

/// 1,000 dead of 1,000,000 members, by the compaction, against a pass over the members.
void pruning(benchmark::State& state, table& results) {
    constexpr std::size_t members = 1'000'000;
    constexpr std::size_t dead = 1000;
    shuffled_objects objects(members);
    handlepool::handle_set<std::uint64_t> set;
    for (const handle<std::uint64_t> each : objects.handles) {
        set.insert(each);
    }
    std::size_t next = 0;
    // The microseconds of one that destroys some, which are then replaced.
    const auto compact = [&] {
        for (std::size_t i = 0; i != dead; ++i) {
            objects.pool.erase(objects.handles[next + i]);
        }
        const double spent = nanoseconds_of([&] { objects.pool.compact(); }) / 1000;
        for (std::size_t i = 0; i != dead; ++i) {
            const handle<std::uint64_t> before = objects.handles[next + i];
            set.erase(before); // if it still is there
            objects.handles[next + i] = objects.pool.emplace(7U);
            set.insert(objects.handles[next + i]);
        }
        objects.pool.compact();
        next = (next + dead) % members;
        return spent;
    };
    constexpr std::size_t in_a_row = 10; // attaching and passes leave other things in the caches
    std::vector<double> alone;
    std::vector<double> pruned;
    std::vector<double> passes;
    for ([[maybe_unused]] const auto round : state) {
        set.attach(objects.pool);
        for (std::size_t i = 0; i != in_a_row; ++i) {
            pruned.push_back(compact());
        }
        set.detach();
        passes.push_back(nanoseconds_of([&] { benchmark::DoNotOptimize(set.prune(objects.pool)); }) / 1000);
        for (std::size_t i = 0; i != in_a_row; ++i) {
            alone.push_back(compact());
        }
        state.SetIterationTime(pruned.back() * 1e-6);
    }
    const double added = quartiles(pruned).median - quartiles(alone).median;
    const quartiles pass(passes);
    state.counters["added_us"] = added;
    state.counters["pass_us"] = pass.median;
    results.record(figure::set_pruning, 100 * added / pass.median, pass.spread());
}

} // namespace

void register_containers(table& results, std::size_t rounds) {
    const auto add = register_with(rounds);
    add("handle_map look-up, std::unordered_map", [&results](auto& state) {
        look_up<std::unordered_map<handle<std::uint64_t>, std::uint64_t>>(state, results, figure::map_std);
    });
    add("handle_map look-up, boost::unordered_flat_map", [&results](auto& state) {
        look_up<boost::unordered_flat_map<handle<std::uint64_t>, std::uint64_t,
                                          std::hash<handle<std::uint64_t>>>>(state, results,
                                                                             figure::map_boost);
    });
    add("handle_index look-up", [&results](auto& state) { look_up_by_key(state, results); });
    add("hierarchy, one of many children", [&results](auto& state) { move_children(state, results); });
    add("handle_set pruning", [&results](auto& state) { pruning(state, results); });
}

} // namespace handlepool_bench
