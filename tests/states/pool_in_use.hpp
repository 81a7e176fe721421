// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/policy.hpp>
#include <handlepool/pool_options.hpp>
#include <handlepool/scoped_hook.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/stats.hpp>

#include <support/threads/thread_team.hpp>
#include <tests/support/hostile_types.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {

/// For a constructor that calls `before(in)`, and then fails.
struct failing_construction {
    [[noreturn]] void fail() const {
        before(in);
        throw construction_failure();
    }
    void* in;
    void (*before)(void* in);
};

/// A number that owns memory, fills some, and is counted. Negative ones can't be made.
class tracked {
public:
    static std::int64_t alive() { return alive_.load(); }

    tracked() noexcept { ++alive_; }
    explicit tracked(int number) : text_(text_of(number)) {
        numbers_.fill(number);
        ++alive_;
    }
    explicit tracked(const failing_construction& fails) { fails.fail(); }
    tracked(tracked&& other) noexcept : text_(std::move(other.text_)), numbers_(other.numbers_) { ++alive_; }
    tracked& operator=(tracked&& other) noexcept {
        text_ = std::move(other.text_);
        numbers_ = other.numbers_;
        return *this;
    }
    tracked& operator=(int number) {
        text_ = text_of(number);
        numbers_.fill(number);
        return *this;
    }
    tracked& operator=(const failing_construction& fails) { fails.fail(); }
    ~tracked() { --alive_; }
    void clear() noexcept { text_.clear(); }

    int number() const { return numbers_[0]; }
    bool is_whole() const {
        return text_ == text_of(number()) && std::ranges::count(numbers_, number()) == std::ssize(numbers_);
    }

private:
    static std::string text_of(int number) {
        if (number < 0) {
            throw construction_failure();
        }
        return std::to_string(number) + " with memory of its own";
    }
    inline static std::atomic<std::int64_t> alive_{0};
    std::string text_;
    std::array<int, 100> numbers_{}; // a few objects fill a page, which may be given back
};

/// A number whose end nobody notices: a reset drops its memory.
class untracked {
public:
    explicit untracked(int number) : number_(number) {
        if (number < 0) {
            throw construction_failure();
        }
    }

    explicit untracked(const failing_construction& fails) : number_(0) { fails.fail(); }

    int number() const { return number_; }
    bool is_whole() const { return true; }

private:
    int number_;
};

inline const untracked& object_in(const untracked& object) {
    return object;
}
inline const tracked& object_in(const tracked& object) {
    return object;
}
inline const tracked& object_in(const void* object) {
    return *static_cast<const tracked*>(object);
}
template <class Row>
    requires requires(const Row& row) { row.template get<0>(); }
const tracked& object_in(const Row& row) {
    return row.template get<0>();
}

/// A pool with hooks, and what they were told.
template <class Kind>
class pool_in_use {
public:
    using pool_type = typename Kind::pool_type;
    using handle_type = typename pool_type::handle_type;

    static pool_options options() {
        return {.name = "in use",
                .capacity = 3000,
                .reuse_delay = 50,
                .removal_queue_size = 100,
                .max_threads = 2,
                .remember_frames = true,
                .record_lives = 2,
                .keep_order = Kind::keep_order};
    }

    pool_in_use() {
        told.reserve(20'000); // hooks must not throw
        Kind::make(made, options());
        if constexpr (Kind::is_watched) {
            deaths = pool().on_destroy([this](auto, auto&& object) { told.push_back(-number_in(object)); });
        }
        births = pool().on_birth([this](auto, auto&& object) { told.push_back(number_in(object)); });
    }

    pool_type& pool() { return *made; }

    handle_type make_one(int number) {
        if constexpr (requires { made->emplace(tracked(number), number); }) {
            return made->emplace(tracked(number), number);
        } else if constexpr (requires { made->emplace(number); }) {
            return made->emplace(number);
        } else {
            return made->emplace([number](void* memory) { ::new (memory) tracked(number); });
        }
    }
    /// The constructor of an object creates another one, and throws: a place is left between others.
    void fail_after_another() {
        const failing_construction fails{
            .in = this, .before = [](void* in) { static_cast<pool_in_use*>(in)->make_one(1); }};
        if constexpr (requires { made->emplace(tracked(1), 1); }) {
            throw construction_failure(); // the constructor is not called in the pool
        } else if constexpr (requires { made->emplace(fails); }) {
            made->emplace(fails);
        } else {
            made->emplace([&fails](void* memory) { ::new (memory) tracked(fails); });
        }
    }
    void fulfill(handle_type handle, int number) {
        if constexpr (requires { made->fulfill(handle, tracked(number), number); }) {
            made->fulfill(handle, tracked(number), number);
        } else if constexpr (requires { made->fulfill(handle, number); }) {
            made->fulfill(handle, number);
        } else {
            made->fulfill(handle, [number](void* memory) { ::new (memory) tracked(number); });
        }
    }
    auto find(handle_type handle) {
        const auto found = made->find(handle);
        using object = std::remove_reference_t<decltype(object_in(dereferenced(found)))>;
        return found == nullptr ? static_cast<object*>(nullptr) : &object_in(dereferenced(found));
    }

    /// Of what compactions have taken in, in its order.
    std::vector<int> numbers() {
        std::vector<int> all;
        for (const handle_type each : made->handles()) {
            const auto* const found = find(each);
            all.push_back(found == nullptr ? -1 : found->number());
        }
        return all;
    }

    /// Of all living objects, in ascending order.
    std::vector<int> living_numbers() {
        std::vector<int> all;
        for (const handle_type each : made->oldest(made->size())) {
            all.push_back(find(each)->number());
        }
        std::ranges::sort(all);
        return all;
    }

    /// Descending, at most `budget` moves; nothing where objects never move.
    std::optional<sort_stats> sort_some(std::size_t budget) {
        const auto key = [](auto&& object) { return -number_in(object); };
        if constexpr (requires { sort_some_by(*made, key, budget); }) {
            return sort_some_by(*made, key, budget);
        } else {
            return std::nullopt;
        }
    }

    /// For what takes an object out of the pool: of a raw pool's, nobody else ends the life.
    static int take_number(auto&& object) {
        const int number = number_in(object);
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(object)>, void*>) {
            static_cast<tracked*>(object)->~tracked();
        }
        return number;
    }
    static int number_in(const auto& object) { return object_in(object).number(); }

    std::optional<pool_type> made;
    std::vector<int> told; // of deaths below 0
    scoped_hook deaths;
    scoped_hook births;

private:
    template <class Pointer>
    static decltype(auto) dereferenced(const Pointer& found) {
        if constexpr (std::is_void_v<std::remove_pointer_t<Pointer>>) {
            return found;
        } else {
            return *found;
        }
    }
};

/// Threads beside the first: one that has a shard in such a pool, too, and one that finds none.
class helpers {
public:
    /// The calling thread has the first number, if no other one is alive.
    helpers() {
        static_cast<void>(default_policy::thread_index(default_policy::numbering()));
        for (support::thread_team* each : {&second_, &third_}) {
            each->run([](std::size_t) {
                static_cast<void>(default_policy::thread_index(default_policy::numbering()));
            });
        }
    }
    template <class Work>
    void with_shard(const Work& work) {
        second_.run([&work](std::size_t) { work(); });
    }
    template <class Work>
    void without_shard(const Work& work) {
        third_.run([&work](std::size_t) { work(); });
    }

    /// The one with a shard is number 0, the calling thread is number 1.
    template <class Work>
    void with_shard_and_caller(const Work& work) {
        second_.run_with_caller([&work](std::size_t thread) { work(thread); });
    }

private:
    support::thread_team second_{1};
    support::thread_team third_{1};
};

/// Runs it in pieces, so that compactions collect in lists what they do.
struct in_pieces {
    template <class Body>
    void for_ranges(std::size_t count, std::size_t grain, Body&& body) const {
        const std::size_t piece = std::max<std::size_t>(grain, 1);
        for (std::size_t i = 0; i < count; i += piece) {
            body(i, std::min(i + piece, count));
        }
    }
};

} // namespace handlepool::test
