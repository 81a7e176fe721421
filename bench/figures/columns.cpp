// SPDX-License-Identifier: MIT
#include <handlepool/columns.hpp>
#include <handlepool/pool.hpp>

#include <bench/tools/comparison.hpp>
#include <bench/tools/contenders.hpp>
#include <bench/tools/population.hpp>
#include <bench/tools/registration.hpp>
#include <bench/tools/suite.hpp>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

/// Rows of 64 bytes as columns, against the same as structures.
namespace handlepool_bench {

namespace {

struct position {
    float x, y, z;
};
struct velocity {
    float x, y, z;
};
struct orientation {
    std::array<float, 4> parts;
};
struct bounds {
    std::array<float, 5> edges;
};
struct health {
    std::uint32_t points;
};

struct mover_parts {
    explicit mover_parts(std::uint64_t seed)
        : value(static_cast<float>(seed)),
          where{value, value + 1, value + 2},
          speed{value + 3, value + 4, value + 5},
          turned{{value + 6, value + 7, value + 8, value + 9}},
          size{{value + 10, value + 11, value + 12, value + 13, value + 14}},
          left{static_cast<std::uint32_t>(seed)} {}

    float value;
    position where;
    velocity speed;
    orientation turned;
    bounds size;
    health left;
};

struct alignas(64) mover {
    explicit mover(const mover_parts& parts)
        : where(parts.where), speed(parts.speed), turned(parts.turned), size(parts.size), left(parts.left) {}

    position where;
    velocity speed;
    orientation turned;
    bounds size;
    health left;
};
static_assert(sizeof(mover) == 64);

class structures {
public:
    using handle_type = handlepool::handle<mover>;

    explicit structures(std::size_t alive) : pool_({.name = "structures", .capacity = capacity_for(alive)}) {}

    handle_type emplace(std::uint64_t seed) { return pool_.emplace(mover_parts(seed)); }
    bool erase(handle_type handle) noexcept { return pool_.erase(handle); }
    void end_frame() { pool_.compact(); }

    std::span<const mover> items() const noexcept { return pool_.items(); }

private:
    handlepool::pool<mover> pool_;
};

class five_columns {
public:
    using pool_type = handlepool::pool<handlepool::columns<position, velocity, orientation, bounds, health>>;
    using handle_type = pool_type::handle_type;

    explicit five_columns(std::size_t alive) : pool_({.name = "columns", .capacity = capacity_for(alive)}) {}

    handle_type emplace(std::uint64_t seed) {
        const mover_parts parts(seed);
        return pool_.emplace(parts.where, parts.speed, parts.turned, parts.size, parts.left);
    }
    bool erase(handle_type handle) noexcept { return pool_.erase(handle); }
    void end_frame() { pool_.compact(); }

    std::span<const health> items() const noexcept { return pool_.items<health>(); }

private:
    pool_type pool_;
};

/// Nanoseconds a row, to sum up what `part` returns.
template <class Element, class Part>
[[gnu::noinline]] double sum_up(std::span<const Element> elements, std::size_t passes, Part part) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t pass = 0; pass != passes; ++pass) {
        std::uint32_t sum = 0;
        for (const Element& each : elements) {
            sum += part(each);
        }
        benchmark::DoNotOptimize(sum);
        benchmark::ClobberMemory();
    }
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() /
           static_cast<double>(passes * elements.size());
}

/// How much faster a loop over one column is.
void iteration(benchmark::State& state, table& results, figure place, std::size_t alive) {
    population<five_columns> columns(alive);
    population<structures> objects(alive);
    const std::size_t passes = 10'000'000 / alive;
    const comparison outcome = compare(
        state,
        [&] {
            return sum_up(objects.contender().items(), passes,
                          [](const mover& each) { return each.left.points; });
        },
        [&] {
            return sum_up(columns.contender().items(), passes,
                          [](const health& each) { return each.points; });
        });
    results.record(place, outcome.ratio.median, outcome.ratio.spread());
}

void churn(benchmark::State& state, table& results, figure place, std::size_t alive) {
    population<five_columns> columns(alive);
    population<structures> objects(alive);
    const std::size_t frames = 1'000'000 / alive;
    frame_times last;
    const comparison outcome = compare(
        state, [&] { return (last = columns.frames(frames)).total(); },
        [&] { return objects.frames(frames).total(); });
    state.counters["create"] = last.create;
    state.counters["erase"] = last.erase;
    state.counters["compact"] = last.compact;
    results.record(place, outcome.ratio.median, outcome.ratio.spread());
}

} // namespace

void register_columns(table& results, std::size_t rounds) {
    const auto add = register_with(rounds);
    struct size {
        std::size_t alive;
        figure iteration;
        figure churn;
    };
    for (const size& each : {size{100'000, figure::column_iteration_100k, figure::column_churn_100k},
                             size{1'000'000, figure::column_iteration_1m, figure::column_churn_1m}}) {
        const std::string alive = fmt::format("/{}", each.alive);
        add("iteration of a column" + alive,
            [&results, each](auto& state) { iteration(state, results, each.iteration, each.alive); });
        add("churn of rows" + alive,
            [&results, each](auto& state) { churn(state, results, each.churn, each.alive); });
    }
}

} // namespace handlepool_bench
