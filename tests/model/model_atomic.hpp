// SPDX-License-Identifier: MIT
#pragma once

#include "own_exceptions.hpp"
#include "relacy.hpp"
#include "steps.hpp"
#include "weakening.hpp"

#include <atomic>
#include <source_location>

namespace handlepool::model {

/// std::atomic under the checker.
template <class T>
class model_atomic {
public:
    model_atomic() : model_atomic(T{}) {}
    model_atomic(T value) { word_.store(value, rl::mo_relaxed, {}); } // NOLINT: implicit, like std::atomic's

    T load(std::memory_order order,
           const std::source_location& where = std::source_location::current()) const noexcept {
        const access turn;
        return word_.load(checkers(effective(order, where)), at(where));
    }
    void store(T value, std::memory_order order,
               const std::source_location& where = std::source_location::current()) noexcept {
        const access turn;
        word_.store(value, checkers(effective(order, where)), at(where));
    }
    T exchange(T value, std::memory_order order,
               const std::source_location& where = std::source_location::current()) noexcept {
        const access turn;
        return word_.exchange(value, checkers(effective(order, where)), at(where));
    }
    T fetch_add(T value, std::memory_order order,
                const std::source_location& where = std::source_location::current()) noexcept {
        const access turn;
        return word_.fetch_add(value, checkers(effective(order, where)), at(where));
    }
    T fetch_sub(T value, std::memory_order order,
                const std::source_location& where = std::source_location::current()) noexcept {
        const access turn;
        return word_.fetch_sub(value, checkers(effective(order, where)), at(where));
    }
    T fetch_and(T value, std::memory_order order,
                const std::source_location& where = std::source_location::current()) noexcept {
        const access turn;
        return word_.fetch_and(value, checkers(effective(order, where)), at(where));
    }
    T fetch_or(T value, std::memory_order order,
               const std::source_location& where = std::source_location::current()) noexcept {
        const access turn;
        return word_.fetch_or(value, checkers(effective(order, where)), at(where));
    }
    bool
    compare_exchange_strong(T& expected, T value, std::memory_order success, std::memory_order failure,
                            const std::source_location& where = std::source_location::current()) noexcept {
        const access turn;
        return exchange_if<false>(expected, value, success, failure, where);
    }
    bool compare_exchange_weak(T& expected, T value, std::memory_order success, std::memory_order failure,
                               const std::source_location& where = std::source_location::current()) noexcept {
        const access turn;
        // Before the threads and after them, a failure without a reason would show nothing but that there is
        // a loop.
        return all_steps.threads_run() ? exchange_if<true>(expected, value, success, failure, where)
                                       : exchange_if<false>(expected, value, success, failure, where);
    }
    bool compare_exchange_weak(T& expected, T value, std::memory_order order,
                               const std::source_location& where = std::source_location::current()) noexcept {
        return compare_exchange_weak(expected, value, order, order, where);
    }

    /// The last value that was stored, for a model's own use.
    T latest() const noexcept { return word_.debug_value(); }

private:
    struct access {
        access() { all_steps.take(); }
        own_exceptions exceptions;
    };

    template <bool Weak>
    bool exchange_if(T& expected, T value, std::memory_order success, std::memory_order failure,
                     const std::source_location& where) {
        const std::memory_order real = effective(success, where);
        // The checker has no failure that is stronger than the success.
        const std::memory_order real_failure =
            real == success ? effective(failure, where, true) : load_part(real);
        return word_.compare_exchange(rl::bool_t<Weak>(), expected, value, checkers(real),
                                      checkers(real_failure), at(where));
    }

    static std::memory_order load_part(std::memory_order order) noexcept {
        const bool acquires = order == std::memory_order::acquire || order == std::memory_order::acq_rel;
        return acquires ? std::memory_order::acquire : std::memory_order::relaxed;
    }
    static rl::memory_order checkers(std::memory_order order) noexcept {
        switch (order) {
        case std::memory_order::relaxed:
            return rl::mo_relaxed;
        case std::memory_order::consume:
            return rl::mo_consume;
        case std::memory_order::acquire:
            return rl::mo_acquire;
        case std::memory_order::release:
            return rl::mo_release;
        case std::memory_order::acq_rel:
            return rl::mo_acq_rel;
        case std::memory_order::seq_cst:
            break;
        }
        return rl::mo_seq_cst;
    }
    static rl::debug_info at(const std::source_location& where) noexcept {
        return {where.function_name(), where.file_name(), where.line()};
    }

    rl::atomic<T> word_;
};

} // namespace handlepool::model
