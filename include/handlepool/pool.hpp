#pragma once

#include <handlepool/pool_core.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool {

/// A concurrent handle pool: objects that lie contiguously in memory, and handles to them that are never
/// wrong.
///
/// Any thread may create, look up and erase at any time, without a lock. Once a frame one thread calls
/// compact(): it destroys what was erased, and makes the storage dense again. Between two compactions, a
/// *frame*, no object moves.
///
/// *Frame contract.* Handles may be used at any time. Pointers, references and items() may be used until the
/// next compaction starts; a thread that the program does not order with its compactions takes an access
/// guard, which holds them off. What is passed from thread to thread needs the usual happens-before.
///
/// What does not depend on T is inherited: erase, contains, clear, size, describe, stats, access, compact,
/// reset and others stand in pool_core.
///
/// @tparam T object type; nothrow move constructible and nothrow destructible, of any size and alignment
/// @tparam Layout how the bits of a handle are divided
/// @tparam Policy atomics, memory and batch sizes
/// @tparam Freelist where slots wait for their next use: fifo_freelist, or boost_freelist
template <class T, class Layout, class Policy, template <class> class Freelist>
class pool : public pool_core<T, Layout, Policy, Freelist> {
    static_assert(std::is_nothrow_move_constructible_v<T>,
                  "compaction moves objects and can't fail half-way: T must be nothrow move constructible");
    static_assert(std::is_nothrow_destructible_v<T>,
                  "compaction destroys objects and can't fail half-way: T must be nothrow destructible");

    using core = pool_core<T, Layout, Policy, Freelist>;

public:
    using value_type = T;
    using typename core::handle_type;
    using iterator = T*;
    using const_iterator = const T*;

    /// An empty pool. Throws std::invalid_argument for options that can't be, reservation_failed when the
    /// system refuses the address space, std::runtime_error when no pool id is left; each says what was asked
    /// for.
    explicit pool(const pool_options& options) : core(options) {}

    /// Destroys all objects. No thread may be using the pool.
    ~pool() { this->shut_down(); }

    // ---- Handles: any thread, at any time, also while a compaction runs

    /// Creates an object from `args` and returns its handle, which resolves from here on in every thread.
    /// Lock-free; wait-free but for one in `Policy::claim_size` calls. Amortized constant.
    /// Throws pool_exhausted (or, derived from it, pool_used_up), too_many_threads, and what T's constructor
    /// throws; then nothing has changed.
    template <class... Args>
        requires std::constructible_from<T, Args...>
    handle_type emplace(Args&&... args);

    /// The same, but the null handle instead of pool_exhausted; then `args` were not touched.
    template <class... Args>
        requires std::constructible_from<T, Args...>
    handle_type try_emplace(Args&&... args);

    /// Creates an object by moving `object`. Otherwise like emplace.
    handle_type insert(T object) { return emplace(std::move(object)); }

    /// Creates `count` objects, each from `args`, and writes their handles to `out`; returns the end of what
    /// was written. All or nothing: when a constructor throws or there is no room, no object was ever visible
    /// and nothing was written; when writing throws, the objects are erased. Throws like emplace,
    /// std::bad_alloc, and what writing throws. Linear, with working memory for the handles.
    template <class OutputIt, class... Args>
        requires std::constructible_from<T, const Args&...> &&
                 std::output_iterator<OutputIt, handle<T, Layout>>
    OutputIt emplace_n(std::size_t count, OutputIt out, const Args&... args);

    // ---- Objects: within the frame contract

    /// The handle's object, or null when the handle is stale. Wait-free, constant.
    T* find(handle_type handle) noexcept { return this->find_object(handle); }
    const T* find(handle_type handle) const noexcept { return const_cast<pool*>(this)->find(handle); }

    /// The handle's object. Throws stale_handle, which prints the handle's parts and says why it was refused.
    T& at(handle_type handle) { return *this->object_or_throw(handle); }
    const T& at(handle_type handle) const { return const_cast<pool*>(this)->at(handle); }

    /// The object of a handle that is known to be alive; looked at only in checked builds. Wait-free,
    /// constant.
    T& operator[](handle_type handle) noexcept { return *this->living_object(handle); }
    const T& operator[](handle_type handle) const noexcept { return const_cast<pool&>(*this)[handle]; }

    /// The dense store: the objects that were alive at the last compaction, contiguous. Those erased since
    /// are still among them, those created since are not yet.
    std::span<T> items() noexcept { return {this->first_object(), this->dense_size()}; }
    std::span<const T> items() const noexcept { return const_cast<pool*>(this)->items(); }
    iterator begin() noexcept { return items().data(); }
    iterator end() noexcept { return begin() + this->dense_size(); }
    const_iterator begin() const noexcept { return items().data(); }
    const_iterator end() const noexcept { return begin() + this->dense_size(); }

    /// The handle of an object of this pool, be it in items() or not; stale when it was erased since. Null
    /// for an object that is not in the pool. Wait-free, constant.
    handle_type handle_of(const T& object) const noexcept {
        return this->handle_of_address(std::addressof(object));
    }

    // ---- The whole pool: while no compaction runs

    /// From here on, `hook(handle, object)` is called for each object that was erased, or is alive when the
    /// pool ends, just before it is destroyed: by the compacting thread, one object after the other, in the
    /// order of the hooks. What it refers to must outlive the pool. The handle is stale by then. A hook may
    /// use the pool like a destructor, and must not throw. Throws compaction_conflict like compact().
    void on_erase(std::function<void(handle_type, T&)> hook) {
        this->add_hook([hook = std::move(hook)](handle_type handle, T* object) { hook(handle, *object); });
    }
};

template <class T, class Layout, class Policy, template <class> class Freelist>
template <class... Args>
    requires std::constructible_from<T, Args...>
auto pool<T, Layout, Policy, Freelist>::try_emplace(Args&&... args) -> handle_type {
    auto& mine = this->lane_or_throw();
    typename core::place taken;
    if (!this->take_place(mine, taken)) {
        return {};
    }
    this->construct(mine, taken, [&](void* memory) noexcept(std::is_nothrow_constructible_v<T, Args...>) {
        ::new (memory) T(std::forward<Args>(args)...);
    });
    return this->publish(mine, taken);
}

template <class T, class Layout, class Policy, template <class> class Freelist>
template <class... Args>
    requires std::constructible_from<T, Args...>
auto pool<T, Layout, Policy, Freelist>::emplace(Args&&... args) -> handle_type {
    const handle_type handle = try_emplace(std::forward<Args>(args)...);
    if (!handle) {
        this->throw_exhausted();
    }
    return handle;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
template <class OutputIt, class... Args>
    requires std::constructible_from<T, const Args&...> && std::output_iterator<OutputIt, handle<T, Layout>>
OutputIt pool<T, Layout, Policy, Freelist>::emplace_n(std::size_t count, OutputIt out, const Args&... args) {
    auto& mine = this->lane_or_throw();
    if (count > this->object_limit()) {
        this->throw_exhausted();
    }
    std::vector<typename core::place> places;
    places.reserve(count);
    std::vector<handle_type> made;
    made.reserve(count);
    // Constructs all before it publishes any, so that nobody sees objects that are taken back.
    const auto undo = [&] {
        for (const auto& taken : places | std::views::reverse) {
            this->destroy(taken);
            this->give_back(mine, taken);
        }
    };
    for (std::size_t i = 0; i != count; ++i) {
        typename core::place taken;
        if (!this->take_place(mine, taken)) {
            undo();
            this->throw_exhausted();
        }
        try {
            this->construct(mine, taken, [&](void* memory) { ::new (memory) T(args...); });
        } catch (...) {
            undo();
            throw;
        }
        places.push_back(taken);
    }
    for (const auto& taken : places) {
        made.push_back(this->publish(mine, taken));
    }
    try {
        return std::ranges::copy(made, std::move(out)).out;
    } catch (...) {
        this->erase(made);
        throw;
    }
}

} // namespace handlepool
