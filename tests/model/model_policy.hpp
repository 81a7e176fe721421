// SPDX-License-Identifier: MIT
#pragma once

#include "model_atomic.hpp"
#include "own_exceptions.hpp"
#include "relacy.hpp"
#include "require.hpp"
#include "steps.hpp"

#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/memory_use.hpp>
#include <handlepool/policy.hpp>

#include <support/steps/tiny_policy.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

/// What pools and their parts are made of under the model checker.
namespace handlepool::model {

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
    bool try_lock() {
        const own_exceptions exceptions;
        return mutex_.try_lock({"", "mutex", 0});
    }
    void unlock() {
        const own_exceptions exceptions;
        mutex_.unlock({"", "mutex", 0});
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
    model_array(const detail::allocation_label&, std::size_t size, std::size_t,
                std::size_t alignment = alignof(Element))
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
    static void release(std::size_t, std::size_t) noexcept {}
    static void prefer_huge_pages(std::size_t, std::size_t) noexcept {}
    static std::size_t end_of_huge_page(std::size_t, std::size_t, std::size_t at) noexcept { return at; }

    memory_use memory() const noexcept {
        return {.reserved = size_ * sizeof(Element), .resident = size_ * sizeof(Element)};
    }

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

/// Policy of pools and parts under the checker. With batches of one, claims, chunks and blocks end all the
/// time.
struct model_policy : support::tiny_policy<1> {
    template <class T>
    using atomic = model_atomic<T>;
    template <class T>
    using plain = model_plain<T>;
    template <class T>
    using array = model_array<T>;
    using mutex = model_mutex;

    // Those of most models are few. See nursery_that_gives_memory_back.
    static constexpr std::size_t warm_chunks = 16;
    // Two, so that a try that fails is followed by another and by giving up; more tries repeat that.
    static constexpr std::size_t removal_claim_tries = 2;

    // Out after one wait.
    static constexpr std::uint64_t guard_patience = 0;
    static std::uint64_t now() noexcept { return 1; }

    static std::uint64_t numbering() noexcept { return 0; }
    // Before the threads and after them, whatever is done is done by the first of them.
    static std::uint32_t thread_index(std::uint64_t) noexcept {
        return all_steps.threads_run() ? rl::thread_index() : 0;
    }
    static std::uint32_t thread_generation() noexcept { return 0; }
    static constexpr std::size_t turns_for_guards = 1;
    static void wait(std::uint64_t = 0) noexcept {
        const own_exceptions exceptions;
        rl::ctx().yield(1, {"", "wait", 0});
    }
};

/// The same with batches of two, so that claims, chunks and blocks are left half used.
struct pair_policy : model_policy {
    static constexpr std::size_t claim_size = 2;
    static constexpr std::size_t claim_divisor = 1;
    static constexpr std::size_t nursery_chunk = 2;
    static constexpr std::size_t claim_groups = 2;
    static constexpr std::size_t removal_chunk = 2;
    static constexpr std::size_t freelist_block = 2;
};

} // namespace handlepool::model
