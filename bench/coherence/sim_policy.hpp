// SPDX-License-Identifier: MIT
#pragma once

#include "machine.hpp"

#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/virtual_array.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/memory_use.hpp>
#include <handlepool/policy.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <source_location>

/// What pools are made of on the simulated machine. Everything has the size that it has in a program, so that
/// the same words share a line.
namespace handlepool::coherence {

/// Reports an access to the machine, if there is one.
inline void report(const void* address, std::size_t bytes, access_kind kind,
                   const std::source_location* site = nullptr) {
    if (machine* const simulated = machine::current()) {
        simulated->access(address, bytes, kind, site);
    }
}

/// std::atomic on the machine. Its threads take turns in one thread, so that the word needs no atomicity of
/// its own, and no order. All zero bytes are its initial state.
template <class T>
class sim_atomic {
    using site_type = std::source_location;

public:
    sim_atomic() noexcept = default;
    constexpr sim_atomic(T value) noexcept : value_(value) {} // NOLINT: implicit, like std::atomic's

    sim_atomic(const sim_atomic&) = delete;
    sim_atomic& operator=(const sim_atomic&) = delete;

    T load(std::memory_order = std::memory_order::seq_cst,
           const site_type& site = site_type::current()) const noexcept {
        accessed(access_kind::read, site);
        return value_;
    }
    void store(T value, std::memory_order = std::memory_order::seq_cst,
               const site_type& site = site_type::current()) noexcept {
        accessed(access_kind::write, site);
        value_ = value;
    }
    T exchange(T value, std::memory_order = std::memory_order::seq_cst,
               const site_type& site = site_type::current()) noexcept {
        return update([value](T) { return value; }, site);
    }
    T fetch_add(T value, std::memory_order = std::memory_order::seq_cst,
                const site_type& site = site_type::current()) noexcept {
        return update([value](T before) { return static_cast<T>(before + value); }, site);
    }
    T fetch_sub(T value, std::memory_order = std::memory_order::seq_cst,
                const site_type& site = site_type::current()) noexcept {
        return update([value](T before) { return static_cast<T>(before - value); }, site);
    }
    T fetch_and(T value, std::memory_order = std::memory_order::seq_cst,
                const site_type& site = site_type::current()) noexcept {
        return update([value](T before) { return static_cast<T>(before & value); }, site);
    }
    T fetch_or(T value, std::memory_order = std::memory_order::seq_cst,
               const site_type& site = site_type::current()) noexcept {
        return update([value](T before) { return static_cast<T>(before | value); }, site);
    }
    /// A failure also takes the line, as it does on x86.
    bool compare_exchange_strong(T& expected, T value, std::memory_order, std::memory_order,
                                 const site_type& site = site_type::current()) noexcept {
        accessed(access_kind::write, site);
        if (value_ != expected) {
            expected = value_;
            return false;
        }
        value_ = value;
        return true;
    }
    bool compare_exchange_weak(T& expected, T value, std::memory_order success, std::memory_order failure,
                               const site_type& site = site_type::current()) noexcept {
        return compare_exchange_strong(expected, value, success, failure, site);
    }
    bool compare_exchange_weak(T& expected, T value, std::memory_order order,
                               const site_type& site = site_type::current()) noexcept {
        return compare_exchange_strong(expected, value, order, order, site);
    }

private:
    void accessed(access_kind kind, const site_type& site) const noexcept {
        report(this, sizeof(T), kind, &site);
    }
    template <class Change>
    T update(Change change, const site_type& site) noexcept {
        accessed(access_kind::write, site);
        const T before = value_;
        value_ = change(before);
        return before;
    }

    alignas(std::atomic<T>) T value_{};
};

static_assert(sizeof(sim_atomic<std::uint32_t>) == 4 && sizeof(sim_atomic<std::uint64_t>) == 8);

/// Data that is handed from thread to thread.
template <class T>
class sim_plain {
public:
    sim_plain() noexcept = default;
    constexpr sim_plain(T value) noexcept : value_(value) {} // NOLINT: implicit, so that it stands for a T
    sim_plain(const sim_plain& other) noexcept : value_(other) {}
    sim_plain& operator=(const sim_plain& other) noexcept { return *this = static_cast<T>(other); }
    sim_plain& operator=(T value) noexcept {
        report(this, sizeof(T), access_kind::write);
        value_ = value;
        return *this;
    }
    T operator++(int) noexcept {
        const T before = *this;
        *this = static_cast<T>(before + 1);
        return before;
    }
    operator T() const noexcept { // NOLINT: implicit, so that it stands for a T
        report(this, sizeof(T), access_kind::read);
        return value_;
    }

private:
    T value_{};
};

static_assert(sizeof(sim_plain<std::uint32_t>) == 4);

/// virtual_array on the machine, which knows its memory by its name. Whoever uses it reads where its memory
/// is: an access to the line in which the array itself lies.
template <class Element>
class sim_array {
public:
    // A mapping of its own, not one of a plan: its address is known at once.
    sim_array(const detail::allocation_label& what_for, std::size_t size, std::size_t expected,
              std::size_t alignment = line_size)
        : sim_array(what_for.text(), size, expected, alignment) {}
    ~sim_array() {
        if (machine* const simulated = machine::current(); simulated != nullptr && elements_.size() != 0) {
            simulated->memory().remove(elements_.data());
        }
    }

    sim_array(const sim_array&) = delete;
    sim_array& operator=(const sim_array&) = delete;

    Element& operator[](std::size_t position) noexcept { return data()[position]; }
    const Element& operator[](std::size_t position) const noexcept { return data()[position]; }
    Element* data() noexcept {
        read();
        return elements_.data();
    }
    const Element* data() const noexcept {
        read();
        return elements_.data();
    }
    std::size_t size() const noexcept {
        read();
        return elements_.size();
    }

    void discard(std::size_t first, std::size_t last) noexcept { elements_.discard(first, last); }
    void discard() noexcept { elements_.discard(); }
    void release(std::size_t first, std::size_t last) noexcept { elements_.release(first, last); }
    static void prefer_huge_pages(std::size_t, std::size_t) noexcept {}
    static std::size_t end_of_huge_page(std::size_t, std::size_t, std::size_t at) noexcept { return at; }

    memory_use memory() const noexcept { return elements_.memory(); }

private:
    sim_array(const detail::fixed_message& name, std::size_t size, std::size_t expected,
              std::size_t alignment)
        : elements_(name.c_str(), size, expected, alignment < line_size ? line_size : alignment) {
        if (machine* const simulated = machine::current(); simulated != nullptr && size != 0) {
            simulated->memory().add_array(this, sizeof(*this), elements_.data(), size * sizeof(Element),
                                          name.c_str());
        }
    }

    void read() const noexcept {
        if (machine* const simulated = machine::current()) {
            simulated->touch(this, sizeof(*this), access_kind::read);
        }
    }

    detail::virtual_array<Element> elements_;
};

/// The batch sizes of programs.
struct sim_policy : default_policy {
    template <class T>
    using atomic = sim_atomic<T>;
    template <class T>
    using plain = sim_plain<T>;
    template <class T>
    using array = sim_array<T>;

    static std::uint64_t numbering() noexcept { return 0; }
    /// Outside of virtual threads the number of the first one.
    static std::uint32_t thread_index(std::uint64_t) noexcept {
        const machine* const simulated = machine::current();
        return simulated == nullptr || simulated->running() == virtual_threads::none ? 0
                                                                                     : simulated->running();
    }
    static std::uint64_t now() noexcept {
        machine* const simulated = machine::current();
        return simulated == nullptr ? 1 : simulated->now();
    }
    static void wait(std::uint64_t = 0) noexcept {
        if (machine* const simulated = machine::current()) {
            simulated->turn();
        }
    }
};

} // namespace handlepool::coherence
