#pragma once

#include <handlepool/detail/dense_iterator.hpp>
#include <handlepool/detail/pool_core.hpp>
#include <handlepool/locked_object.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
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
class pool : public detail::pool_core<T, Layout, Policy, Freelist> {
    static_assert(std::is_nothrow_move_constructible_v<T>,
                  "compaction moves objects and can't fail half-way: T must be nothrow move constructible");
    static_assert(std::is_nothrow_destructible_v<T>,
                  "compaction destroys objects and can't fail half-way: T must be nothrow destructible");

    using core = detail::pool_core<T, Layout, Policy, Freelist>;

public:
    using value_type = T;
    using typename core::handle_type;
    using iterator = detail::dense_iterator<T>;
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

    /// The same, but returns the null handle where emplace throws an error of its own: the pool is exhausted
    /// or used up, or the process has too many threads. Then `args` were not touched.
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
    OutputIt emplace_n(std::size_t count, OutputIt out, const Args&... args) {
        if (auto end = try_emplace_n(count, std::move(out), args...)) {
            return *std::move(end);
        }
        this->throw_refusal();
    }

    /// The same, but returns nothing where emplace_n throws an error of the pool.
    template <class OutputIt, class... Args>
        requires std::constructible_from<T, const Args&...> &&
                 std::output_iterator<OutputIt, handle<T, Layout>>
    std::optional<OutputIt> try_emplace_n(std::size_t count, OutputIt out, const Args&... args);

    // ---- Objects: within the frame contract

    /// The handle's object, or null when the handle is stale. Wait-free, constant.
    T* find(handle_type handle) noexcept { return this->find_object(handle); }
    const T* find(handle_type handle) const noexcept { return const_cast<pool*>(this)->find(handle); }

    /// The handle's object. Throws stale_handle, which prints the handle's parts and says why it was refused.
    T& at(handle_type handle) { return *this->object_or_throw(handle); }
    const T& at(handle_type handle) const { return const_cast<pool*>(this)->at(handle); }

    /// The handle's object together with a guard that keeps it where it is, or nothing when the handle is
    /// stale: for threads that are not ordered with the compactions, and for coroutines. Waits and throws
    /// like access().
    locked_object<T, Policy> lock(handle_type handle) {
        auto guard = this->access();
        return {find(handle), std::move(guard)};
    }
    locked_object<const T, Policy> lock(handle_type handle) const {
        auto guard = const_cast<pool*>(this)->access();
        return {find(handle), std::move(guard)};
    }

    /// The same, but also empty where lock() would wait or throw. Wait-free.
    locked_object<T, Policy> try_lock(handle_type handle) noexcept {
        auto guard = this->try_access();
        T* const object = guard ? find(handle) : nullptr;
        return {object, std::move(guard)};
    }
    locked_object<const T, Policy> try_lock(handle_type handle) const noexcept {
        auto guard = const_cast<pool*>(this)->try_access();
        const T* const object = guard ? find(handle) : nullptr;
        return {object, std::move(guard)};
    }

    /// The object of a handle that is known to be alive; looked at only in checked builds. Wait-free,
    /// constant.
    T& operator[](handle_type handle) noexcept { return *this->living_object(handle); }
    const T& operator[](handle_type handle) const noexcept { return const_cast<pool&>(*this)[handle]; }

    /// The dense store: the objects that were alive at the last compaction, contiguous. Those erased since
    /// are still among them, those created since are not yet.
    std::span<const T> items() const noexcept {
        return {const_cast<pool*>(this)->first_object(), this->dense_size()};
    }
    /// The same, for loops that need pointers to objects that they change. What is exchanged here changes
    /// what handles name: never sort it.
    std::span<T> mutable_items() noexcept { return {this->first_object(), this->dense_size()}; }
    /// The same, one object after the other, which may be changed but not exchanged.
    iterator begin() noexcept { return iterator(this->first_object()); }
    iterator end() noexcept { return iterator(this->first_object() + this->dense_size()); }
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
    return this->create([&](void* memory) noexcept(std::is_nothrow_constructible_v<T, Args...>) {
        ::new (memory) T(std::forward<Args>(args)...);
    });
}

template <class T, class Layout, class Policy, template <class> class Freelist>
template <class... Args>
    requires std::constructible_from<T, Args...>
auto pool<T, Layout, Policy, Freelist>::emplace(Args&&... args) -> handle_type {
    const handle_type handle = try_emplace(std::forward<Args>(args)...);
    if (!handle) {
        this->throw_refusal();
    }
    return handle;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
template <class OutputIt, class... Args>
    requires std::constructible_from<T, const Args&...> && std::output_iterator<OutputIt, handle<T, Layout>>
std::optional<OutputIt> pool<T, Layout, Policy, Freelist>::try_emplace_n(std::size_t count, OutputIt out,
                                                                         const Args&... args) {
    const std::vector<handle_type> made = this->create_many(
        count, [&](void* memory) noexcept(std::is_nothrow_constructible_v<T, const Args&...>) {
            ::new (memory) T(args...);
        });
    if (made.size() != count) {
        return std::nullopt;
    }
    struct erase_unless_written {
        ~erase_unless_written() {
            if (!written) {
                self.erase(made);
            }
        }
        pool& self;
        const std::vector<handle_type>& made;
        bool written = false;
    } undo{*this, made};
    out = std::ranges::copy(made, std::move(out)).out;
    undo.written = true;
    return out;
}

} // namespace handlepool

/// size() counts all living objects, iteration goes over those of the dense store.
template <class T, class Layout, class Policy, template <class> class Freelist>
inline constexpr bool std::ranges::disable_sized_range<handlepool::pool<T, Layout, Policy, Freelist>> = true;
