// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/columns.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/spawner.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/thread_executor.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// Frames of random steps by spawners, and a transcript of all that can be seen of them.
namespace handlepool::test {

/// What tasks, hooks and the store tell, in an order that must not depend on threads.
using transcript = std::vector<std::uint64_t>;

struct refused_object : std::runtime_error {
    refused_object() : std::runtime_error("refused") {}
};

/// Whether this thread runs a task: what fails in one is destroyed there.
inline thread_local bool in_task = false;

/// Its end may end another object, or make one: what a compaction calls may use the pool.
template <class Pool>
struct spawned_object {
    using handle_type = handle<spawned_object, typename Pool::layout>;

    explicit spawned_object(std::uint64_t number) : value(number) {
        if (number % 17 == 5) {
            throw refused_object();
        }
    }
    spawned_object(spawned_object&& other) noexcept
        : value(std::exchange(other.value, 0)), heir(std::exchange(other.heir, handle_type())) {}
    spawned_object& operator=(spawned_object&&) = delete;
    ~spawned_object();

    std::uint64_t value;
    handle_type heir;
};

/// A pool of such objects, with the traits that a case chooses.
template <class Traits>
struct cascading_pool {
    using layout = default_layout;
    using object = spawned_object<cascading_pool>;
    using type = pool<object, Traits>;
    static inline type* current = nullptr;
};

template <class Pool>
spawned_object<Pool>::~spawned_object() {
    if (value == 0 || Pool::current == nullptr || in_task) {
        return;
    }
    if (value % 7 == 3) {
        Pool::current->erase(heir);
    } else if (value % 7 == 4 && value < 1'000'000'000) {
        try {
            Pool::current->try_emplace(value + 1'000'000'000);
        } catch (const refused_object&) {
        }
    }
}

/// Objects that can be copied, or only moved, and end without a sound.
struct copied_number {
    explicit copied_number(std::uint64_t number) : value(number) {
        if (number % 17 == 5) {
            throw refused_object();
        }
    }
    std::uint64_t value;
};
struct moved_number : copied_number {
    using copied_number::copied_number;
    moved_number(moved_number&&) = default;
    moved_number& operator=(moved_number&&) = default;
};

struct dense_case {
    using family = cascading_pool<default_traits>;
    using pool_type = family::type;
    static pool_options options() { return {.name = "dense"}; }
};
struct ordered_case : dense_case {
    static pool_options options() { return {.name = "ordered", .keep_order = true}; }
};
struct stable_case {
    using family = cascading_pool<with_placement<stable_placement, default_traits>>;
    using pool_type = family::type;
    static pool_options options() { return {.name = "stable"}; }
};

struct tiny_claims : default_policy {
    static constexpr std::size_t claim_size = 4;
    static constexpr std::size_t freelist_block = 8;
    static constexpr std::size_t nursery_chunk = 4;
    static constexpr std::size_t removal_chunk = 4;
    static constexpr std::size_t compaction_grain = 4;
};
struct tiny_case {
    using family = cascading_pool<with_policy<tiny_claims, default_traits>>;
    using pool_type = family::type;
    static pool_options options() { return {.name = "tiny"}; }
};

struct recycled_number {
    recycled_number() = default;
    explicit recycled_number(std::uint64_t number) { *this = number; }
    recycled_number& operator=(std::uint64_t number) {
        if (number % 17 == 5) {
            throw refused_object();
        }
        value = number;
        return *this;
    }
    void clear() noexcept { ++lives; }

    std::uint64_t value = 0;
    std::uint64_t lives = 0; // of all objects that were here
};
struct recycling_case {
    using pool_type = recycling_pool<recycled_number>;
    static pool_options options() { return {.name = "recycling"}; }
};
/// What is left in a place of former objects is not looked at.
struct cleared_case : recycling_case {};
struct row_case {
    using pool_type = pool<columns<std::uint64_t, std::uint32_t>>;
    static pool_options options() { return {.name = "rows"}; }
};
template <class Object, class Traits = default_traits>
struct plain_case {
    using pool_type = pool<Object, Traits>;
    static constexpr bool extracts = std::is_copy_constructible_v<Object>; // else no restore brings it back
    static pool_options options() { return {.name = "plain"}; }
};
struct raw_case {
    using pool_type = raw_pool<>;
    static pool_options options() { return {.name = "raw"}; }
};

/// The functions that differ between kinds of pools.
template <class Case>
struct spawned_pool {
    using pool_type = typename Case::pool_type;
    using handle_type = typename pool_type::handle_type;
    static constexpr bool cascades = requires { typename Case::family; };
    static constexpr bool extracts = [] {
        if constexpr (requires { Case::extracts; }) {
            return Case::extracts;
        } else {
            return true;
        }
    }();
    static constexpr bool raw = std::is_same_v<Case, raw_case>;

    static pool_type make(pool_options options) {
        if constexpr (raw) {
            return pool_type(options,
                             raw_type{.size = sizeof(std::uint64_t), .alignment = alignof(std::uint64_t)});
        } else {
            return pool_type(options);
        }
    }
    template <class Target>
    static handle_type emplace(Target& target, std::uint64_t value) {
        if constexpr (raw) {
            return target.try_emplace([&](void* memory) {
                if (value % 17 == 5) {
                    throw refused_object();
                }
                new (memory) std::uint64_t(value);
            });
        } else {
            return target.try_emplace(value);
        }
    }
    template <class Target>
    static bool fulfill(Target& target, handle_type reserved, std::uint64_t value) {
        if constexpr (raw) {
            return target.try_fulfill(reserved, [&](void* memory) { new (memory) std::uint64_t(value); });
        } else {
            return target.try_fulfill(reserved, value);
        }
    }
    /// From which one of several objects is made.
    static auto maker_of(std::uint64_t value) {
        if constexpr (std::is_same_v<Case, row_case>) {
            return std::tuple(value);
        } else {
            return value;
        }
    }
    template <class Object>
    static std::uint64_t value_of(Object&& object) {
        if constexpr (raw) {
            return *static_cast<const std::uint64_t*>(object);
        } else if constexpr (std::is_same_v<Case, row_case>) {
            return object.template get<std::uint64_t>();
        } else if constexpr (std::is_same_v<Case, recycling_case>) {
            return object.value * 1000 + object.lives;
        } else {
            return object.value;
        }
    }
};

/// How a run goes through the tasks of a frame; what they do is the same in all.
struct schedule {
    unsigned threads = 1;
    std::uint64_t seed = 0; // of the order of the tasks, and of when threads are delayed
};

/// Calls `task(k)` for each of `count` in threads that take one after the other, in an order of their own.
template <class Task>
void run_tasks(const schedule& by, std::uint64_t frame, std::size_t count, Task task) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937_64 random(by.seed * 1000 + frame);
    std::shuffle(order.begin(), order.end(), random);
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        in_task = true;
        for (std::size_t i = next++; i < count; i = next++) {
            task(order[i]);
        }
        in_task = false;
    };
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < by.threads; ++i) {
        others.emplace_back(work);
    }
    work();
}

/// A pool that goes from frame to frame, in each of which tasks make random steps, and what they and the
/// hooks have to tell of it.
///
/// @tparam Case the pool, and what its objects are
template <class Case>
class spawned_frames {
    using kind = spawned_pool<Case>;

    static constexpr std::size_t most_spawners = 8;

public:
    using handle_type = typename kind::handle_type;
    using pool_type = typename kind::pool_type;

    spawned_frames(std::uint64_t seed, const schedule& by, std::optional<unsigned> pool_id = std::nullopt)
        : seed_(seed),
          by_(by),
          pool_(kind::make(options_by(seed, pool_id))),
          memory_{std::mt19937_64(seed), {}, {}, 0} {
        set_current(&pool_);
        {
            auto view = pool_.exclusive_access();
            const handle_type first = kind::emplace(view, 1);
            memory_.first_generation = first.generation();
            view.erase(first);
        }
        births_ = pool_.on_birth(
            [this](handle_type handle, auto&& object) { tell(1, handle, kind::value_of(object)); });
        deaths_ = pool_.on_destroy(
            [this](handle_type handle, auto&& object) { tell(2, handle, kind::value_of(object)); });
    }
    ~spawned_frames() {
        births_ = {};
        deaths_ = {};
        set_current(nullptr);
    }

    /// What the program knows from former frames: part of the state that a restore takes back.
    struct memory {
        std::mt19937_64 random; // for what the frames decide
        std::vector<handle_type> known;
        std::vector<handle_type> reserved;
        std::uint32_t first_generation = 0; // of the pool
    };
    const memory& remembered() const noexcept { return memory_; }
    void remember(const memory& then) { memory_ = then; }

    pool_type& pool() noexcept { return pool_; }

    /// From here on leaves out what gives slots back in an order that a snapshot doesn't keep: exclusive
    /// access, and compactions with a budget.
    void do_only_what_follows_from_a_snapshot() noexcept { only_what_follows_ = true; }

    /// Plays a frame, and returns what was told of it.
    transcript play(std::uint64_t frame) {
        told_.clear();
        const std::uint64_t what = memory_.random() % 10;
        if (what == 0 && !only_what_follows_) {
            alone();
        } else if (what != 1) { // then without spawners
            with_spawners(frame);
        }
        compact();
        tell_store();
        return told_;
    }

private:
    static pool_options options_by(std::uint64_t seed, std::optional<unsigned> pool_id) {
        pool_options options = Case::options();
        options.capacity = seed % 3 == 0 ? 100 : 2000;
        options.reuse_delay = seed % 2 == 0 ? 0 : 40;
        options.record_lives = seed % 4 == 0 ? 2 : 0;
        options.remember_frames = seed % 5 == 0;
        options.spawners = most_spawners;
        options.pool_id = pool_id;
        return options;
    }
    static void set_current(pool_type* pool) {
        if constexpr (kind::cascades) {
            Case::family::current = pool;
        } else {
            static_cast<void>(pool);
        }
    }

    /// The same for pools of other ids, and for those that have had a pool of their id before.
    std::uint64_t number_of(handle_type handle) const {
        return handle ? (std::uint64_t{handle.index()} << 24) +
                            (handle.generation() - memory_.first_generation) + 1
                      : 0;
    }
    void tell(std::uint64_t what, handle_type handle, std::uint64_t value) {
        told_.insert(told_.end(), {what, number_of(handle), value});
    }

    /// What a task has done, known to the others in the next frame.
    struct outcome {
        transcript told;
        std::vector<handle_type> made;
        std::vector<handle_type> reserved;
    };

    void with_spawners(std::uint64_t frame) {
        const std::size_t count = 1 + memory_.random() % most_spawners;
        std::vector<std::uint32_t> weights;
        for (std::size_t i = 0; i != count; ++i) {
            weights.push_back(
                static_cast<std::uint32_t>(1 + (memory_.random() % 3 == 0 ? memory_.random() % 5 : 0)));
        }
        const std::size_t greedy =
            memory_.random() % 4 == 0 ? memory_.random() % count : count; // makes nearly everything
        auto spawners = pool_.spawners(weights);
        std::vector<outcome> outcomes(count);
        const std::size_t rounds = 1 + memory_.random() % 2; // in the second one spawners go to other threads
        for (std::size_t round = 0; round != rounds; ++round) {
            run_tasks(by_, frame * 2 + round, count, [&](std::size_t k) {
                std::mt19937_64 random(seed_ * 1'000'003 + frame * 1009 + k * 17 + round);
                const std::size_t steps = k == greedy ? 200 : random() % 12;
                for (std::size_t i = 0; i != steps; ++i) {
                    step(spawners[k], count, random, outcomes[k]);
                }
            });
        }
        spawners.close();
        for (outcome& each : outcomes) {
            told_.insert(told_.end(), each.told.begin(), each.told.end());
            memory_.known.insert(memory_.known.end(), each.made.begin(), each.made.end());
            memory_.reserved.insert(memory_.reserved.end(), each.reserved.begin(), each.reserved.end());
        }
        if (memory_.known.size() > 1000) {
            memory_.known.erase(memory_.known.begin(), memory_.known.begin() + 500);
        }
    }

    template <class Spawner>
    void step(Spawner& spawner, std::size_t count, std::mt19937_64& random, outcome& mine) {
        const std::uint64_t value = 1 + random() % 100'000;
        switch (random() % 12) {
        case 0:
        case 1:
        case 2:
        case 3:
            note_made(mine, made_or_refused([&] { return kind::emplace(spawner, value); }));
            break;
        case 4:
            make_several(spawner, random, mine);
            break;
        case 5: {
            const handle_type reserved = spawner.try_reserve_handle();
            mine.told.push_back(number_of(reserved));
            if (reserved) {
                mine.reserved.push_back(reserved);
            }
            break;
        }
        case 6: { // of reserved handles each belongs to one task
            const auto found =
                std::find_if(memory_.reserved.begin(), memory_.reserved.end(), [&](handle_type each) {
                    return each.index() % count == spawner.number() && each.index() % 7 == random() % 7;
                });
            if (found == memory_.reserved.end()) {
                break;
            }
            if (random() % 3 == 0) {
                mine.told.push_back(spawner.cancel(*found) ? 1 : 0);
            } else {
                mine.told.push_back(
                    made_or_refused([&] { return kind::fulfill(spawner, *found, value); }) ? 1 : 0);
            }
            break;
        }
        case 7:
            mine.told.push_back(spawner.erase(any_known(random)) ? 1 : 0);
            break;
        case 8:
            mine.told.push_back(spawner.erase(any_made(random, mine)) ? 1 : 0);
            break;
        case 9: {
            const handle_type handle = kind::extracts ? any_known(random) : handle_type();
            mine.told.push_back(spawner.extract(handle,
                                                [this, handle, value](auto&& object) {
                                                    tell(3, handle, kind::value_of(object) + value);
                                                })
                                    ? 1
                                    : 0);
            break;
        }
        case 10: {
            const handle_type given = spawner.revoke(any_known(random));
            mine.told.push_back(number_of(given));
            if (given) {
                mine.made.push_back(given);
            }
            break;
        }
        default:
            spawner.defer(
                [this, value, number = spawner.number()] { tell(4, handle_type(), value * 100 + number); });
        }
    }

    template <class Spawner>
    void make_several(Spawner& spawner, std::mt19937_64& random, outcome& mine) {
        const std::size_t count = random() % 20;
        const std::uint64_t first = 1 + random() % 100'000;
        if constexpr (!kind::raw) {
            std::vector<handle_type> made;
            const bool done = made_or_refused([&] {
                return bool(spawner.try_emplace_n(count, std::back_inserter(made),
                                                  [&](std::size_t i) { return kind::maker_of(first + i); }));
            });
            mine.told.push_back(done ? 1 : 0);
            for (const handle_type each : made) {
                note_made(mine, each);
            }
        } else {
            for (std::size_t i = 0; i != count; ++i) {
                note_made(mine, made_or_refused([&] { return kind::emplace(spawner, first + i); }));
            }
        }
    }

    template <class Make>
    static auto made_or_refused(Make make) -> decltype(make()) {
        try {
            return make();
        } catch (const refused_object&) {
            return {};
        }
    }
    void note_made(outcome& mine, handle_type made) const {
        mine.told.push_back(number_of(made));
        if (made) {
            mine.made.push_back(made);
        }
    }
    handle_type any_known(std::mt19937_64& random) const {
        return memory_.known.empty() ? handle_type() : memory_.known[random() % memory_.known.size()];
    }
    static handle_type any_made(std::mt19937_64& random, const outcome& mine) {
        return mine.made.empty() ? handle_type() : mine.made[random() % mine.made.size()];
    }

    /// By one thread, another one each time.
    void alone() {
        const std::uint64_t seed = memory_.random();
        std::jthread([&] {
            std::mt19937_64 random(seed);
            auto view = pool_.exclusive_access();
            for (int i = 0; i != 10; ++i) {
                const handle_type made =
                    made_or_refused([&] { return kind::emplace(view, 1 + random() % 100'000); });
                told_.push_back(number_of(made));
                if (made) {
                    memory_.known.push_back(made);
                }
                told_.push_back(view.erase(any_known(random)) ? 1 : 0);
            }
        });
    }

    /// By another thread than the one before, and by an executor if there are several threads.
    void compact() {
        const std::uint64_t how = memory_.random() % 4;
        std::jthread([&] {
            if (how == 0 && !only_what_follows_) {
                told_.push_back(pool_.compact_some(20).removed);
            } else if (by_.threads == 1) {
                told_.push_back(pool_.compact().removed);
            } else {
                thread_executor executor(by_.threads);
                told_.push_back(pool_.compact(executor).removed);
            }
        });
        if (how == 1) {
            pool_.shrink_to_fit();
        }
    }

    void tell_store() {
        for (const auto& each : pool_.entries()) {
            tell(5, each.handle, kind::value_of(each.object));
        }
        told_.push_back(pool_.size());
    }

    const std::uint64_t seed_;
    const schedule by_;
    pool_type pool_;
    memory memory_;
    transcript told_;
    bool only_what_follows_ = false;
    scoped_hook births_;
    scoped_hook deaths_;
};

} // namespace handlepool::test
