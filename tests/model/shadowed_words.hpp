// SPDX-License-Identifier: MIT
#pragma once

#include "model_policy.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <vector>

/// Words whose reading must be over before somebody else writes them again, although they are atomic: those
/// of a freelist, which a claim reads before its exchange or before it counts them as read. The checker makes
/// all loads in the order of the program, and so would never see one that happens after the exchange or the
/// count. A shadow tells: a variable that is read once more just before that, and written by each store.
namespace handlepool::model {

class shadowed_word {
public:
    shadowed_word() = default;
    shadowed_word(std::uint32_t value) : word_(value) {} // NOLINT: implicit, like std::atomic's

    std::uint32_t load(std::memory_order order,
                       const std::source_location& where = std::source_location::current()) const noexcept {
        read_[rl::thread_index()].push_back(this);
        return word_.load(order, where);
    }
    void store(std::uint32_t value, std::memory_order order,
               const std::source_location& where = std::source_location::current()) noexcept {
        read_[rl::thread_index()].clear(); // the producer's own reads need no claim
        shadow_ = value;
        word_.store(value, order, where);
    }

    /// Of a count: ends the reads before it.
    std::uint32_t fetch_add(std::uint32_t value, std::memory_order order,
                            const std::source_location& where = std::source_location::current()) noexcept {
        end_reads(true);
        return word_.fetch_add(value, order, where);
    }

    /// The calling thread's reads since the last call count when `kept`, or else never happened.
    static void end_reads(bool kept) {
        std::vector<const shadowed_word*>& mine = read_[rl::thread_index()];
        for (const shadowed_word* word : mine) {
            if (kept) {
                static_cast<void>(std::uint32_t{word->shadow_});
            }
        }
        mine.clear();
    }

    /// Forgets the reads of an execution that ended in the middle. Before the first claim.
    static void forget_reads() {
        for (auto& each : read_) {
            each.clear();
        }
    }

private:
    model_atomic<std::uint32_t> word_;
    model_plain<std::uint32_t> shadow_;

    inline static std::array<std::vector<const shadowed_word*>, most_threads> read_;
};

/// A counter whose exchange ends the reads before it.
class claiming_counter : public model_atomic<std::uint64_t> {
public:
    using model_atomic::compare_exchange_weak;
    using model_atomic::model_atomic;

    bool compare_exchange_weak(std::uint64_t& expected, std::uint64_t value, std::memory_order success,
                               std::memory_order failure,
                               const std::source_location& where = std::source_location::current()) noexcept {
        give_way();
        const rl::preemption_disabler alone(rl::ctx());
        shadowed_word::end_reads(latest() == expected);
        return compare_exchange_strong(expected, value, success, failure, where);
    }

private:
    static void give_way() {
        const own_exceptions exceptions;
        rl::ctx().sched();
    }
};

/// Policy of a freelist whose entries are shadowed.
struct shadowed_policy : model_policy {
    template <class T>
    using atomic = std::conditional_t<
        std::is_same_v<T, std::uint32_t>, shadowed_word,
        std::conditional_t<std::is_same_v<T, std::uint64_t>, claiming_counter, model_atomic<T>>>;
};

} // namespace handlepool::model
