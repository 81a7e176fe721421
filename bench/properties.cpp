#include "comparison.hpp"
#include "suite.hpp"
#include "table.hpp"
#include "timed_team.hpp"

#include <handlepool/property_bag.hpp>
#include <handlepool/property_store.hpp>

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

/// The bags of 100,000 objects, each of which is given 5 values, one after the other.
class built_store {
public:
    double build(timed_team& team) {
        store_.clear();
        return team.run([&](unsigned thread) {
            for (std::uint64_t slot = objects * thread / team.size();
                 slot != objects * (thread + 1) / team.size(); ++slot) {
                const auto owner = owner_type::from_value(
                    handlepool::default_layout::value_of(slot, handlepool::default_layout::make_tag(1, 1)));
                for (std::size_t i = 0; i != 5; ++i) {
                    store_.set(owner, paths[i].path, slot);
                }
            }
        });
    }

private:
    using owner_type = handlepool::handle<int>;
    static constexpr std::uint64_t objects = 100'000;

    handlepool::property_store<int> store_;
};

void building(benchmark::State& state, table& results) {
    built_store store;
    timed_team one(1);
    timed_team two(2);
    const comparison outcome = compare(
        state, [&] { return store.build(two) / 100'000; }, [&] { return store.build(one) / 100'000; });
    results.record(figure::property_building, 1 / outcome.ratio.median, outcome.ratio.spread());
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
    benchmark::RegisterBenchmark("properties/building", [&results](auto& state) { building(state, results); })
        ->UseManualTime()
        ->Iterations(static_cast<benchmark::IterationCount>(rounds))
        ->Unit(benchmark::kNanosecond);
}

} // namespace handlepool_bench
