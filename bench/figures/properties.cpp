// SPDX-License-Identifier: MIT
#include <handlepool/property_bag.hpp>
#include <handlepool/property_store.hpp>

#include <bench/tools/comparison.hpp>
#include <bench/tools/suite.hpp>
#include <bench/tools/table.hpp>
#include <bench/tools/timed_team.hpp>
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace handlepool_bench {

namespace {

using handlepool::property_path;

struct named_path {
    std::string_view name; // as a program without paths writes it
    property_path path;
};

constexpr named_path path_of(std::string_view name, std::string_view group, std::string_view key) {
    return {name, property_path(group) / key};
}

constexpr std::array<named_path, 10> paths{
    path_of("stats.health", "stats", "health"),
    path_of("stats.mana", "stats", "mana"),
    path_of("stats.luck", "stats", "luck"),
    path_of("flags.awake", "flags", "awake"),
    path_of("flags.met_the_king", "flags", "met_the_king"),
    path_of("inventory.gold", "inventory", "gold"),
    path_of("inventory.weight", "inventory", "weight"),
    path_of("position.x", "position", "x"),
    path_of("position.y", "position", "y"),
    path_of("position.z", "position", "z"),
};

class bags {
public:
    explicit bags(std::size_t count) : all_(count) {
        for (handlepool::property_bag& bag : all_) {
            for (std::size_t i = 0; i != paths.size(); ++i) {
                bag.set(paths[i].path, i);
            }
            bag.shrink_to_fit();
        }
    }
    float find(std::size_t object, std::size_t key) const {
        return *all_[object].get<float>(paths[key].path);
    }

private:
    std::vector<handlepool::property_bag> all_;
};

class maps {
public:
    explicit maps(std::size_t count) : all_(count) {
        for (auto& map : all_) {
            for (std::size_t i = 0; i != paths.size(); ++i) {
                map.emplace(paths[i].name, static_cast<float>(i));
            }
        }
    }
    float find(std::size_t object, std::size_t key) const {
        return std::get<float>(all_[object].find(paths[key].name)->second);
    }

private:
    using value = std::variant<bool, float, std::string, std::vector<float>>;
    std::vector<std::map<std::string, value, std::less<>>> all_; // no string is made for a look-up
};

struct look_up {
    std::uint32_t object;
    std::uint32_t key;
};

template <class Objects>
[[gnu::noinline]] double time_of(const Objects& objects, const std::vector<look_up>& wanted) {
    const auto start = std::chrono::steady_clock::now();
    float sum = 0;
    for (const look_up& each : wanted) {
        sum += objects.find(each.object, each.key);
    }
    benchmark::DoNotOptimize(sum);
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() /
           static_cast<double>(wanted.size());
}

/// Any value of any object, in random order.
void look_ups(benchmark::State& state, table& results, std::size_t objects) {
    const bags ours(objects);
    const maps theirs(objects);
    std::mt19937 random(1);
    std::vector<look_up> wanted(200'000);
    for (look_up& each : wanted) {
        each = {.object = static_cast<std::uint32_t>(random() % objects),
                .key = static_cast<std::uint32_t>(random() % paths.size())};
    }
    const comparison outcome =
        compare(state, [&] { return time_of(ours, wanted); }, [&] { return time_of(theirs, wanted); });
    results.record(figure::property_look_up, 1 / outcome.ratio.median, outcome.ratio.spread());
}

/// The bags of 100,000 objects, each of which is given 5 values, one after the other. All threads build in
/// one store, or each in one of its own.
class built_bags {
public:
    enum class stores { shared, own };

    explicit built_bags(stores each) : each_(each) {}

    /// Nanoseconds a bag.
    double build(timed_team& team) {
        for (store_type& store : stores_) {
            store.clear();
        }
        const double spent = team.run([&](unsigned thread) {
            store_type& store = stores_.at(each_ == stores::own ? thread : 0);
            for (std::uint64_t slot = objects * thread / team.size();
                 slot != objects * (thread + 1) / team.size(); ++slot) {
                const auto owner = owner_type::from_value(
                    handlepool::default_layout::value_of(slot, handlepool::default_layout::make_tag(1, 1)));
                for (std::size_t i = 0; i != 5; ++i) {
                    store.set(owner, paths[i].path, slot);
                }
            }
        });
        return spent / static_cast<double>(objects);
    }

private:
    using owner_type = handlepool::handle<int>;
    using store_type = handlepool::property_store<int>;
    static constexpr std::uint64_t objects = 100'000;

    stores each_;
    std::array<store_type, 2> stores_;
};

comparison two_against_one(benchmark::State& state, built_bags::stores each) {
    built_bags bags(each);
    timed_team one(1);
    timed_team two(2);
    return compare(state, [&] { return bags.build(two); }, [&] { return bags.build(one); });
}

void building(benchmark::State& state, table& results) {
    const comparison outcome = two_against_one(state, built_bags::stores::shared);
    results.record(figure::property_building, 1 / outcome.ratio.median, outcome.ratio.spread());
}

/// What the machine lets the threads of the same work gain at most.
void building_apart(benchmark::State& state, table& results) {
    const comparison outcome = two_against_one(state, built_bags::stores::own);
    results.remark(fmt::format("two threads that build bags in a store each are {:.2f} times as fast as one, "
                               "half of the time {:.2f} to {:.2f}",
                               1 / outcome.ratio.median, 1 / outcome.ratio.upper, 1 / outcome.ratio.lower));
}

} // namespace

void register_properties(table& results, std::size_t rounds) {
    for (const std::size_t objects : {1U, 1'000U, 100'000U}) {
        benchmark::RegisterBenchmark(fmt::format("properties/{}", objects).c_str(),
                                     [&results, objects](auto& state) { look_ups(state, results, objects); })
            ->UseManualTime()
            ->Iterations(static_cast<benchmark::IterationCount>(rounds))
            ->Unit(benchmark::kNanosecond);
    }
    using measurement = void (*)(benchmark::State&, table&);
    const auto add = [&results, rounds](const char* name, measurement measure) {
        benchmark::RegisterBenchmark(name, [&results, measure](auto& state) { measure(state, results); })
            ->UseManualTime()
            ->Iterations(static_cast<benchmark::IterationCount>(rounds))
            ->Unit(benchmark::kNanosecond);
    };
    add("properties/building", building);
    add("properties/building apart", building_apart);
}

} // namespace handlepool_bench
