#pragma once

#include "relacy.hpp"
#include "steps.hpp"
#include "weakening.hpp"

#include <handlepool/policy.hpp>

#include <cxxabi.h>
#include <stress/tiny_policy.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

/// What pools and their parts are made of under the model checker.
namespace handlepool::model {

/// What the last requirement that did not hold was about.
inline std::string last_requirement;

/// Ends the execution as a failed one, unless the condition holds.
inline void require(bool condition, const char* what,
                    const std::source_location& where = std::source_location::current()) {
    if (!condition) {
        last_requirement = what;
        rl::ctx().fail_test(what, rl::test_result_user_assert_failed,
                            {where.function_name(), where.file_name(), where.line()});
    }
}

/// Keeps the exceptions that the calling fiber is handling: the language has one list of them for each
/// thread, and the checker's fibers share a thread.
class own_exceptions {
public:
    own_exceptions() noexcept { std::memcpy(saved_, abi::__cxa_get_globals(), sizeof saved_); }
    ~own_exceptions() { std::memcpy(abi::__cxa_get_globals(), saved_, sizeof saved_); }

    own_exceptions(const own_exceptions&) = delete;
    own_exceptions& operator=(const own_exceptions&) = delete;

    static void forget() noexcept { std::memset(abi::__cxa_get_globals(), 0, 2 * sizeof(void*)); }

private:
    void* saved_[2]; // the list, and the count of exceptions in flight
};

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

/// A variable that the checker watches for data races.
template <class T>
class model_plain {
public:
    model_plain() : model_plain(T{}) {}
    model_plain(T value) : variable_(value) {} // NOLINT: implicit, so that it stands for a T
    model_plain(const model_plain& other) : variable_(static_cast<T>(other)) {}
    model_plain& operator=(const model_plain& other) { return *this = static_cast<T>(other); }
    model_plain& operator=(T value) {
        variable_({"", "plain", 0}).store(value);
        return *this;
    }
    T operator++(int) {
        const T before = *this;
        *this = before + 1;
        return before;
    }
    operator T() const {
        return variable_({"", "plain", 0}).load();
    } // NOLINT: implicit, so that it stands for a T

private:
    rl::var<T> variable_;
};

/// A mutex under the checker, which sees who waits for whom.
class model_mutex {
public:
    void lock() {
        const own_exceptions exceptions;
        mutex_.lock({"", "mutex", 0});
    }
    void unlock() {
        const own_exceptions exceptions;
        mutex_.unlock({"", "mutex", 0});
    }
    bool try_lock() {
        const own_exceptions exceptions;
        return mutex_.try_lock({"", "mutex", 0});
    }

private:
    rl::mutex mutex_;
};

/// virtual_array under the checker: elements are made one by one, and positions outside of the array are
/// told. To drop pages means to make the elements anew, so that who still looks at them is told too.
template <class Element>
class model_array {
    static constexpr bool bytes = std::is_same_v<Element, std::byte>;

public:
    model_array(std::string_view, std::size_t size, std::size_t, std::size_t alignment = alignof(Element))
        : size_(size),
          alignment_{std::max(alignment, alignof(std::max_align_t))},
          data_(static_cast<Element*>(::operator new(size * sizeof(Element), alignment_))) {
        make(0, size);
    }
    ~model_array() {
        end(0, size_);
        ::operator delete(data_, alignment_);
    }

    model_array(const model_array&) = delete;
    model_array& operator=(const model_array&) = delete;

    Element& operator[](std::size_t position) noexcept {
        require(position < size_, "a position outside of an array");
        return data_[position];
    }
    const Element& operator[](std::size_t position) const noexcept {
        require(position < size_, "a position outside of an array");
        return data_[position];
    }
    Element* data() noexcept { return data_; }
    const Element* data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }

    void discard(std::size_t first, std::size_t last) noexcept {
        end(first, last);
        make(first, last);
    }
    void discard() noexcept { discard(0, size_); }

    std::size_t bytes_reserved() const noexcept { return size_ * sizeof(Element); }
    std::size_t bytes_resident() const noexcept { return size_ * sizeof(Element); }

private:
    void make(std::size_t first, std::size_t last) {
        if constexpr (bytes) {
            std::memset(data_ + first, 0, last - first);
        } else {
            std::uninitialized_value_construct(data_ + first, data_ + last);
        }
    }
    void end(std::size_t first, std::size_t last) noexcept { std::destroy(data_ + first, data_ + last); }

    std::size_t size_;
    std::align_val_t alignment_;
    Element* data_;
};

/// Policy of pools and parts under the checker. With batches of one, claims, chunks and rings end all the
/// time.
struct model_policy : stress::tiny_policy<1> {
    template <class T>
    using atomic = model_atomic<T>;
    template <class T>
    using plain = model_plain<T>;
    template <class T>
    using array = model_array<T>;
    using mutex = model_mutex;

    // After a failed try nothing else can happen than what happens after two.
    static constexpr std::size_t removal_claim_tries = 2;

    // Before the threads and after them, whatever is done is done by the first of them.
    static std::uint32_t thread_index() noexcept { return all_steps.threads_run() ? rl::thread_index() : 0; }
    static void wait() noexcept {
        const own_exceptions exceptions;
        rl::ctx().yield(1, {"", "wait", 0});
    }
};

/// The same with batches of two, so that claims, chunks and blocks are left half used.
struct pair_policy : model_policy {
    static constexpr std::size_t claim_size = 2;
    static constexpr std::size_t claim_divisor = 1;
    static constexpr std::size_t nursery_chunk = 2;
    static constexpr std::size_t removal_chunk = 2;
    static constexpr std::size_t freelist_block = 2;
};

} // namespace handlepool::model
