#pragma once

#include <handlepool/policy.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <semaphore>
#include <string>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

/// A machine that is weaker than the one that the tests run on: a load may return any value that the C++
/// memory model lets it see, not only the last one that was stored.
namespace handlepool::test {

/// One run of a few threads. They take turns at their atomic accesses, in an order that follows from the
/// seed, as does the choice of what each load sees. Every store is remembered, with the view of its thread if
/// it is a release; an acquire load adds that view to the loading thread's own, which says how old the values
/// may be that it still gets.
///
/// Left out is what the model allows beyond that: a store never moves before an earlier access of its thread,
/// and a weak exchange never fails without a reason. Instead of the first, `keep_reads` tells when a store is
/// not ordered behind a read that it must not disturb.
class weak_run {
public:
    explicit weak_run(std::uint64_t seed) : random_(seed), patience_(std::size_t{2} << below(5)) {}

    weak_run(const weak_run&) = delete;
    weak_run& operator=(const weak_run&) = delete;

    /// Runs all bodies to their ends. Ordinary variables that they share are safe: only one runs at a time,
    /// and gives way at atomic accesses alone.
    void threads(const std::vector<std::function<void()>>& bodies) {
        for (std::size_t i = 0; i != bodies.size(); ++i) {
            workers_.emplace_back();
        }
        {
            std::vector<std::jthread> running;
            for (std::size_t i = 0; i != bodies.size(); ++i) {
                running.emplace_back([this, i, &bodies] {
                    workers_.at(i).turn.acquire();
                    current = this;
                    mine = i;
                    bodies[i]();
                    current = nullptr;
                    workers_.at(i).ended = true;
                    pass_on();
                });
            }
            pass_on();
            all_ended_.acquire();
        }
        check_reads();
    }

    /// Gives way to another thread.
    static void yield() {
        if (current != nullptr) {
            current->give_way();
        }
    }

    /// Calls `claim`, and if it returns true, its reads of 32-bit words must happen before whoever overwrites
    /// them.
    template <class Claim>
    static void keep_reads(Claim claim) {
        worker& self = current->workers_.at(mine);
        self.reads.clear();
        self.recording = true;
        const bool kept = claim();
        self.recording = false;
        if (kept) {
            current->kept_.insert(current->kept_.end(), self.reads.begin(), self.reads.end());
        }
    }
    /// Kept reads whose word was overwritten by a thread that need not have waited for them.
    std::size_t disturbed_reads() const { return disturbed_; }

    template <class T>
    static T load(const T& word, std::memory_order order) {
        if (current == nullptr) {
            return word;
        }
        current->may_give_way();
        return static_cast<T>(current->see(&word, to_bits(word), order, sizeof(T)));
    }

    template <class T>
    static void store(T& word, T value, std::memory_order order) {
        if (current != nullptr) {
            current->may_give_way();
            current->put(&word, to_bits(word), to_bits(value), order, nullptr);
        }
        word = value;
    }

    /// Reads the last value and replaces it by `change(value)`, unless `wanted(value)` is false: then it is a
    /// load.
    template <class T, class Wanted, class Change>
    static T modify(T& word, std::memory_order success, std::memory_order failure, Wanted wanted,
                    Change change) {
        if (current != nullptr) {
            current->may_give_way();
        }
        const T before = word;
        if (!wanted(before)) {
            if (current != nullptr) {
                current->see_last(&word, to_bits(before), failure);
            }
            return before;
        }
        const T after = change(before);
        if (current != nullptr) {
            current->see_last(&word, to_bits(before), success);
            const view passed_on = current->at(&word, to_bits(before)).history.back().released;
            current->put(&word, to_bits(before), to_bits(after), success, &passed_on);
        }
        word = after;
        return before;
    }

private:
    // How far into each location's history, and into each thread's reads, something is known.
    struct view {
        std::map<std::size_t, std::size_t> stores;  // by location
        std::map<std::size_t, std::size_t> threads; // by thread

        void join(const view& other) {
            for (const auto& [where, known] : other.stores) {
                stores[where] = std::max(stores[where], known);
            }
            for (const auto& [who, known] : other.threads) {
                threads[who] = std::max(threads[who], known);
            }
        }
    };
    struct message {
        std::uint64_t value = 0;
        view released;
        view seen; // what its thread knew
        std::size_t from = 0;
    };
    struct location {
        std::size_t number = 0;
        std::size_t last_seq_cst = 0;
        std::vector<message> history;
    };
    struct read {
        const void* where = nullptr;
        std::size_t store = 0;
        std::size_t thread = 0;
        std::size_t time = 0;
    };
    struct worker {
        std::binary_semaphore turn{0};
        view known;
        std::size_t time = 0;
        bool ended = false;
        bool recording = false;
        std::vector<read> reads;
    };

    static bool acquires(std::memory_order order) {
        return order == std::memory_order::acquire || order == std::memory_order::acq_rel ||
               order == std::memory_order::seq_cst;
    }
    static bool releases(std::memory_order order) {
        return order == std::memory_order::release || order == std::memory_order::acq_rel ||
               order == std::memory_order::seq_cst;
    }
    template <class T>
    static std::uint64_t to_bits(T value) {
        static_assert(std::is_unsigned_v<T>);
        return value;
    }

    location& at(const void* where, std::uint64_t initial) {
        const auto [found, is_new] = locations_.try_emplace(where);
        if (is_new) {
            found->second.number = locations_.size();
            found->second.history.push_back({initial, {}, {}, 0});
        }
        return found->second;
    }

    std::uint64_t see(const void* where, std::uint64_t initial, std::memory_order order, std::size_t width) {
        location& place = at(where, initial);
        worker& self = workers_.at(mine);
        std::size_t oldest = self.known.stores[place.number];
        if (order == std::memory_order::seq_cst) {
            oldest = std::max(oldest, place.last_seq_cst);
        }
        const std::size_t last = place.history.size() - 1;
        const std::size_t seen = below(2) == 0 ? last : oldest + below(last - oldest + 1);
        take(place, seen, order);
        if (self.recording && width == sizeof(std::uint32_t)) {
            self.known.threads[mine] = ++self.time;
            self.reads.push_back({where, seen, mine, self.time});
        }
        return place.history[seen].value;
    }
    void see_last(const void* where, std::uint64_t initial, std::memory_order order) {
        location& place = at(where, initial);
        take(place, place.history.size() - 1, order);
    }
    void take(const location& place, std::size_t seen, std::memory_order order) {
        worker& self = workers_.at(mine);
        self.known.stores[place.number] = std::max(self.known.stores[place.number], seen);
        if (acquires(order)) {
            self.known.join(place.history[seen].released);
        }
    }

    /// @param before what a read-modify-write passes on of the store that it follows
    void put(const void* where, std::uint64_t initial, std::uint64_t value, std::memory_order order,
             const view* before) {
        location& place = at(where, initial);
        worker& self = workers_.at(mine);
        message put{value, {}, {}, mine};
        if (before != nullptr) {
            put.released = *before;
        }
        self.known.stores[place.number] = place.history.size();
        put.seen = self.known;
        if (releases(order)) {
            put.released.join(self.known);
        } else {
            put.released.stores[place.number] = place.history.size();
        }
        if (order == std::memory_order::seq_cst) {
            place.last_seq_cst = place.history.size();
        }
        place.history.push_back(std::move(put));
    }

    void check_reads() {
        for (const read& kept : kept_) {
            const auto& history = locations_.at(kept.where).history;
            for (std::size_t store = kept.store + 1; store < history.size(); ++store) {
                const message& by = history[store];
                const auto known = by.seen.threads.find(kept.thread);
                const bool ordered =
                    by.from == kept.thread || (known != by.seen.threads.end() && known->second >= kept.time);
                disturbed_ += ordered ? 0 : 1;
            }
        }
    }

    std::size_t below(std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
    }

    void may_give_way() {
        if (below(patience_) == 0) {
            give_way();
        }
    }
    void give_way() {
        const std::size_t self = mine;
        pass_on();
        workers_.at(self).turn.acquire();
    }
    void pass_on() {
        std::vector<std::size_t> ready;
        for (std::size_t i = 0; i != workers_.size(); ++i) {
            if (!workers_.at(i).ended) {
                ready.push_back(i);
            }
        }
        if (ready.empty()) {
            all_ended_.release();
        } else {
            workers_.at(ready[below(ready.size())]).turn.release();
        }
    }

    inline static thread_local weak_run* current = nullptr;
    inline static thread_local std::size_t mine = 0;

    std::mt19937_64 random_;
    std::size_t patience_; // how many accesses a thread makes in its turn, or about so many
    std::deque<worker> workers_;
    std::binary_semaphore all_ended_{0};
    std::unordered_map<const void*, location> locations_;
    std::vector<read> kept_;
    std::size_t disturbed_ = 0;
};

/// std::atomic on that machine. Outside of a run it is an ordinary word. All zero bytes are its initial
/// state.
template <class T>
class weak_atomic {
public:
    weak_atomic() noexcept = default;
    constexpr weak_atomic(T value) noexcept : value_(value) {} // NOLINT: implicit, like std::atomic's

    T load(std::memory_order order = std::memory_order::seq_cst) const noexcept {
        return weak_run::load(value_, order);
    }
    void store(T value, std::memory_order order = std::memory_order::seq_cst) noexcept {
        weak_run::store(value_, value, order);
    }
    T exchange(T value, std::memory_order order = std::memory_order::seq_cst) noexcept {
        return weak_run::modify(value_, order, order, [](T) { return true; }, [value](T) { return value; });
    }
    T fetch_add(T value, std::memory_order order = std::memory_order::seq_cst) noexcept {
        return weak_run::modify(
            value_, order, order, [](T) { return true; },
            [value](T before) { return static_cast<T>(before + value); });
    }
    T fetch_sub(T value, std::memory_order order = std::memory_order::seq_cst) noexcept {
        return fetch_add(static_cast<T>(T{} - value), order);
    }
    T fetch_or(T value, std::memory_order order = std::memory_order::seq_cst) noexcept {
        return weak_run::modify(
            value_, order, order, [](T) { return true; },
            [value](T before) { return static_cast<T>(before | value); });
    }
    bool compare_exchange_strong(T& expected, T value, std::memory_order success,
                                 std::memory_order failure) noexcept {
        const T before = weak_run::modify(
            value_, success, failure, [expected](T is) { return is == expected; },
            [value](T) { return value; });
        const bool done = before == expected;
        expected = before;
        return done;
    }
    bool compare_exchange_weak(T& expected, T value, std::memory_order success,
                               std::memory_order failure) noexcept {
        return compare_exchange_strong(expected, value, success, failure);
    }
    bool compare_exchange_weak(T& expected, T value, std::memory_order order) noexcept {
        return compare_exchange_strong(expected, value, order, std::memory_order::relaxed);
    }

private:
    T value_{};
};

/// Policy of pools and parts on that machine. Combine it with others as in tiny_policy<2, weak_policy>.
struct weak_policy : default_policy {
    template <class T>
    using atomic = weak_atomic<T>;

    static void wait() noexcept { weak_run::yield(); }
};

/// Calls `body(run)` with so many seeds, each of which makes another run, or until the test has failed.
template <class Body>
void in_weak_runs(std::uint64_t runs, Body body) {
    for (std::uint64_t seed = 0; seed != runs && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        weak_run run(seed);
        body(run);
    }
}

} // namespace handlepool::test
