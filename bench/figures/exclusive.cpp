// SPDX-License-Identifier: MIT

// One thread alone with a pool, by exclusive_access(), against containers for one thread.

#include <handlepool/columns.hpp>
#include <handlepool/detail/base/config.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <bench/tools/capacity.hpp>
#include <bench/tools/colony.hpp>
#include <bench/tools/comparison.hpp>
#include <bench/tools/contenders.hpp>
#include <bench/tools/object.hpp>
#include <bench/tools/population.hpp>
#include <bench/tools/registration.hpp>
#include <bench/tools/suite.hpp>
#include <bench/tools/table.hpp>
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace handlepool_bench {

namespace {

enum class entered { once, each_frame };

/// A pool, and the view that the only thread has of it.
template <class Pool, entered When>
class exclusive_contender {
public:
    using pool_type = Pool;
    using view_type = decltype(std::declval<Pool&>().exclusive_access());
    using handle_type = typename Pool::handle_type;

    explicit exclusive_contender(std::size_t alive)
        : pool_({.name = "bench", .capacity = capacity_for(alive)}) {
        enter();
    }

    // As in a loop that calls the view itself.
    HANDLEPOOL_ALWAYS_INLINE handle_type emplace(std::uint64_t seed) { return view_->emplace(seed); }
    HANDLEPOOL_ALWAYS_INLINE bool erase(handle_type handle) noexcept { return view_->erase(handle); }
    auto find(handle_type handle) noexcept { return view_->find(handle); }
    void end_frame() {
        if constexpr (When == entered::each_frame) {
            view_.reset();
            enter();
        }
    }
    view_type& view() noexcept { return *view_; }

private:
    /// A view can't be moved, but made in place.
    struct entry {
        operator view_type() const { return pool.exclusive_access(); } // NOLINT: what emplace() converts
        Pool& pool;
    };
    void enter() { view_.emplace(entry{pool_}); }

    Pool pool_;
    std::optional<view_type> view_;
};

using objects = handlepool::pool<object>;
using alone = exclusive_contender<objects, entered::once>;
using alone_each_frame = exclusive_contender<objects, entered::each_frame>;

template <class Ours, class Theirs>
void churn(benchmark::State& state, table& results, figure place, std::size_t alive) {
    population<Ours> pool(alive);
    population<Theirs> other(alive);
    const std::size_t frames = 10 * std::max<std::size_t>(1, 100'000 / alive);
    const comparison outcome = compare(
        state, [&] { return pool.frames(frames).total(); }, [&] { return other.frames(frames).total(); });
    results.record(place, outcome.ratio.median, outcome.ratio.spread());
}

void find(benchmark::State& state, table& results, figure place, std::size_t alive) {
    population<exclusive_contender<objects, entered::once>> pool(alive);
    population<bare_array> array(alive);
    const std::size_t passes = 1'000'000 / alive;
    const comparison outcome =
        compare(state, [&] { return pool.finds(passes); }, [&] { return array.finds(passes); });
    results.record(place, outcome.ratio.median, outcome.ratio.spread());
}

/// All objects at once, made and gone, in containers that had as many before.
void bulk(benchmark::State& state, table& results, std::size_t count) {
    alone pool(count);
    bare_array array(count);
    std::vector<alone::handle_type> handles;
    std::vector<bare_array::handle_type> others;
    handles.reserve(count);
    others.reserve(count);
    const comparison outcome = compare(
        state,
        [&] {
            handles.clear();
            const double spent = nanoseconds_of(
                [&] { pool.view().emplace_n(count, std::back_inserter(handles), std::uint64_t{7}); });
            pool.view().clear();
            return spent;
        },
        [&] {
            others.clear();
            const double spent = nanoseconds_of([&] {
                for (std::size_t i = 0; i != count; ++i) {
                    others.push_back(array.emplace(7));
                }
            });
            array.clear();
            return spent;
        });
    results.record(figure::exclusive_bulk, outcome.ratio.median, outcome.ratio.spread());
}
void clearing(benchmark::State& state, table& results, std::size_t count) {
    alone pool(count);
    bare_array array(count);
    const auto time = [count](auto& container, auto clear) {
        for (std::size_t i = 0; i != count; ++i) {
            container.emplace(i);
        }
        return nanoseconds_of(clear);
    };
    const comparison outcome = compare(
        state, [&] { return time(pool, [&] { pool.view().clear(); }); },
        [&] { return time(array, [&] { array.clear(); }); });
    results.record(figure::exclusive_clearing, outcome.ratio.median, outcome.ratio.spread());
}

/// Entering and leaving: an idle pool, and one with newborns.
void entering(benchmark::State& state, table& results) {
    objects idle({.name = "idle", .capacity = 1000});
    idle.emplace(1U);
    idle.compact();
    constexpr int calls = 100'000;
    std::vector<double> times;
    for ([[maybe_unused]] const auto round : state) {
        times.push_back(nanoseconds_of([&] {
                            for (int i = 0; i != calls; ++i) {
                                const auto view = idle.exclusive_access();
                                benchmark::ClobberMemory();
                            }
                        }) /
                        calls);
        state.SetIterationTime(times.back() * 1e-9);
    }
    const quartiles found(times);
    results.record(figure::exclusive_entry, found.median, found.spread());
}
void entering_with_newborns(benchmark::State& state, table& results, std::size_t count) {
    objects entered_pool({.name = "entered", .capacity = count});
    objects compacted_pool({.name = "compacted", .capacity = count});
    const auto time = [count](objects& pool, auto take_in) {
        for (std::size_t i = 0; i != count; ++i) {
            pool.emplace(i);
        }
        const double spent = nanoseconds_of(take_in);
        pool.clear();
        pool.compact();
        return spent;
    };
    const comparison outcome = compare(
        state,
        [&] { return time(entered_pool, [&] { static_cast<void>(entered_pool.exclusive_access()); }); },
        [&] { return time(compacted_pool, [&] { compacted_pool.compact(); }); });
    results.record(figure::exclusive_entry_newborns, outcome.ratio.median, outcome.ratio.spread());
}

/// The words of an object, each in a column of its own size.
struct first_words {
    explicit first_words(std::uint64_t seed) : words{seed, seed + 1, seed + 2, seed + 3} {}
    std::uint64_t words[4];
};
struct last_words {
    explicit last_words(std::uint64_t seed) : words{seed + 4, seed + 5, seed + 6, seed + 7} {}
    std::uint64_t words[4];
};
using rows = handlepool::pool<handlepool::columns<first_words, last_words>>;
class alone_with_rows : public exclusive_contender<rows, entered::once> {
public:
    using exclusive_contender::exclusive_contender;
    handle_type emplace(std::uint64_t seed) { return view().emplace(first_words(seed), last_words(seed)); }
};

} // namespace

void register_exclusive(table& results, std::size_t rounds) {
    const auto add = register_with(rounds);
    struct size {
        std::size_t alive;
        figure once;
        figure each_frame;
    };
    for (const size& each : {size{1000, figure::exclusive_churn_1k, figure::exclusive_anew_1k},
                             size{10'000, figure::exclusive_churn_10k, figure::exclusive_anew_10k},
                             size{100'000, figure::exclusive_churn_100k, figure::exclusive_anew_100k},
                             size{1'000'000, figure::exclusive_churn_1m, figure::exclusive_anew_1m}}) {
        add(fmt::format("exclusive churn/{}", each.alive), [&results, each](auto& state) {
            churn<alone, bare_array>(state, results, each.once, each.alive);
        });
        add(fmt::format("exclusive churn, entered each frame/{}", each.alive), [&results, each](auto& state) {
            churn<alone_each_frame, bare_array>(state, results, each.each_frame, each.alive);
        });
    }
    for (const auto& [alive, row] : {std::pair{std::size_t{10'000}, figure::exclusive_find_10k},
                                     std::pair{std::size_t{100'000}, figure::exclusive_find_100k},
                                     std::pair{std::size_t{1'000'000}, figure::exclusive_find_1m}}) {
        add(fmt::format("exclusive find/{}", alive),
            [&results, alive, row](auto& state) { find(state, results, row, alive); });
    }
    add("exclusive bulk/100000", [&results](auto& state) { bulk(state, results, 100'000); });
    add("exclusive clear/100000", [&results](auto& state) { clearing(state, results, 100'000); });
    add("exclusive entry", [&results](auto& state) { entering(state, results); });
    add("exclusive entry with newborns/10000",
        [&results](auto& state) { entering_with_newborns(state, results, 10'000); });
    for (const auto& [alive, row] : {std::pair{std::size_t{10'000}, figure::exclusive_stable_10k},
                                     std::pair{std::size_t{100'000}, figure::exclusive_stable_100k},
                                     std::pair{std::size_t{1'000'000}, figure::exclusive_stable_1m}}) {
        add(fmt::format("exclusive churn of a stable pool/{}", alive), [&results, alive, row](auto& state) {
            churn<exclusive_contender<handlepool::stable_pool<object>, entered::once>, colony>(state, results,
                                                                                               row, alive);
        });
    }
    add("exclusive churn of rows/100000", [&results](auto& state) {
        churn<alone_with_rows, alone>(state, results, figure::exclusive_rows, 100'000);
    });
}

} // namespace handlepool_bench
