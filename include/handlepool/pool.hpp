#pragma once

#include <handlepool/access_gate.hpp>
#include <handlepool/compactor.hpp>
#include <handlepool/contract.hpp>
#include <handlepool/dense_store.hpp>
#include <handlepool/error.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/fifo_freelist.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/lane.hpp>
#include <handlepool/nursery.hpp>
#include <handlepool/policy.hpp>
#include <handlepool/pool_id_lease.hpp>
#include <handlepool/pool_options.hpp>
#include <handlepool/removal_queue.hpp>
#include <handlepool/slot_supply.hpp>
#include <handlepool/slot_table.hpp>
#include <handlepool/stale_reason.hpp>
#include <handlepool/stats.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
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
/// @tparam T object type; nothrow move constructible and nothrow destructible, of any size and alignment
/// @tparam Layout how the bits of a handle are divided
/// @tparam Policy atomics, memory and batch sizes
/// @tparam Freelist where slots wait for their next use: fifo_freelist, or boost_freelist
template <class T, class Layout, class Policy, template <class> class Freelist>
class pool {
    static_assert(std::is_nothrow_move_constructible_v<T>,
                  "compaction moves objects and can't fail half-way: T must be nothrow move constructible");
    static_assert(std::is_nothrow_destructible_v<T>,
                  "compaction destroys objects and can't fail half-way: T must be nothrow destructible");
    static_assert(freelist<Freelist<Policy>>);

public:
    using value_type = T;
    using layout = Layout;
    using policy = Policy;
    using handle_type = handle<T, Layout>;
    using guard_type = access_guard<Policy>;
    using iterator = T*;
    using const_iterator = const T*;

    /// An empty pool. Throws std::invalid_argument for options that can't be, reservation_failed when the
    /// system refuses the address space, std::runtime_error when no pool id is left; each says what was asked
    /// for.
    explicit pool(const pool_options& options);

    /// Destroys all objects. No thread may be using the pool.
    ~pool();

    pool(const pool&) = delete;
    pool& operator=(const pool&) = delete;

    // ---- Handles: any thread, at any time, also while a compaction runs
    // ----------------------------------------

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

    /// Ends the life of the handle's object: from here on the handle is stale in every thread. Returns true
    /// for exactly one of all calls with a handle, false when it is stale. The object stays in memory,
    /// readable through pointers that were got before, until the next compaction destroys it. Wait-free,
    /// constant.
    bool erase(handle_type handle) noexcept;

    /// Erases each handle of a range; returns how many were alive. Linear; each erase is wait-free.
    template <std::ranges::input_range Range>
        requires std::convertible_to<std::ranges::range_reference_t<Range>, handle<T, Layout>>
    std::size_t erase(Range&& handles);

    /// Is the handle's object alive? Wait-free, constant.
    bool contains(handle_type handle) const noexcept {
        expect_in_use();
        return slots_.is_alive(handle.value());
    }

    /// Erases all objects that are alive when the call begins. Their slots are not forgotten: old handles
    /// stay dead. Lock-free; linear in the slots ever used.
    void clear() noexcept;

    /// Objects whose handles resolve. Exact while nobody creates or erases. Wait-free, linear in the lanes.
    std::size_t size() const noexcept;
    bool empty() const noexcept { return size() == 0; }

    /// Objects that the pool has room for, guaranteed.
    std::size_t capacity() const noexcept { return geometry_.capacity; }

    std::uint32_t id() const noexcept { return id_.id(); }
    const std::string& name() const noexcept { return name_; }

    /// A moment's view of the pool. Lock-free; asks the system for resident memory, so not for the inner
    /// loop.
    pool_stats stats() const;

    // ---- Objects: within the frame contract
    // ------------------------------------------------------------------------

    /// The handle's object, or null when the handle is stale. Wait-free, constant.
    T* find(handle_type handle) noexcept {
        expect_in_use();
        return slots_.find(handle.value(), dense_.at(0));
    }
    const T* find(handle_type handle) const noexcept { return const_cast<pool*>(this)->find(handle); }

    /// The handle's object. Throws stale_handle, which prints the handle's parts and says why it was refused.
    T& at(handle_type handle);
    const T& at(handle_type handle) const { return const_cast<pool*>(this)->at(handle); }

    /// The object of a handle that is known to be alive; looked at only in checked builds. Wait-free,
    /// constant.
    T& operator[](handle_type handle) noexcept {
        if constexpr (checked) {
            expect(contains(handle), name_, "operator[] was given a stale handle");
        }
        return *dense_.at(slots_.location(handle.index()));
    }
    const T& operator[](handle_type handle) const noexcept { return const_cast<pool&>(*this)[handle]; }

    /// The dense store: the objects that were alive at the last compaction, contiguous. Those erased since
    /// are still among them, those created since are not yet.
    std::span<T> items() noexcept {
        expect_in_use();
        return {dense_.at(0), dense_.size()};
    }
    std::span<const T> items() const noexcept { return const_cast<pool*>(this)->items(); }
    iterator begin() noexcept { return items().data(); }
    iterator end() noexcept { return begin() + dense_.size(); }
    const_iterator begin() const noexcept { return items().data(); }
    const_iterator end() const noexcept { return begin() + dense_.size(); }

    /// The handle of items()[position]; stale when the object was erased since the last compaction. Throws
    /// std::out_of_range when there is no such position. Wait-free, constant.
    handle_type handle_at(std::size_t position) const;

    /// The handle of an object of this pool, be it in items() or not; stale when it was erased since. Null
    /// for an object that is not in the pool. Wait-free, constant.
    handle_type handle_of(const T& object) const noexcept;

    /// Holds compaction off while it lives. Waits for a running one: not for destructors, which a compaction
    /// waits for. Throws too_many_threads, and compaction_conflict when the calling thread is compacting.
    /// Blocking; constant.
    [[nodiscard]] guard_type access() { return guard_type(gate_, lane_or_throw()); }

    // ---- Frames: one thread at a time
    // ------------------------------------------------------------------------------

    /// Destroys erased objects, takes newborns into the dense store and closes the holes. Handle operations
    /// may go on meanwhile; what they do then may have to wait for the next compaction. Waits for access
    /// guards. Linear in removals and newborns, not in the pool's size. Throws compaction_conflict when a
    /// compaction is running or the calling thread holds a guard.
    compaction_stats compact() {
        inline_executor executor;
        return compact(executor);
    }
    template <executor Executor>
    compaction_stats compact(Executor&& executor);

    /// The same, but does nothing and returns nothing when it can't start at once. Never waits.
    std::optional<compaction_stats> try_compact() {
        inline_executor executor;
        return try_compact(executor);
    }
    template <executor Executor>
    std::optional<compaction_stats> try_compact(Executor&& executor);

    // ---- The whole pool: while no other thread uses it
    // -----------------------------------------------------------

    /// Destroys all objects, and forgets all slots in one step: generations start above all that were handed
    /// out, so that old handles stay dead. Faster than clear() and compact() for objects that need no
    /// destructor. Throws compaction_conflict like compact().
    void reset();

    /// Gives memory that the objects don't need now back to the system. Old handles stay dead. Other threads
    /// may use handles meanwhile. Throws compaction_conflict like compact().
    void shrink_to_fit();

private:
    using lane_type = lane<Policy>;
    using tag_type = typename Layout::tag_type;

    // A slot and a nursery position that belong to one emplace.
    struct place {
        std::uint32_t slot;
        std::uint32_t position;
    };

    lane_type& lane_or_throw();
    bool take_place(lane_type& mine, place& taken) noexcept;
    void give_back(lane_type& mine, const place& taken) noexcept;
    template <class... Args>
    void construct(lane_type& mine, const place& taken, Args&&... args);
    handle_type publish(lane_type& mine, const place& taken) noexcept;
    [[noreturn]] void throw_exhausted() const;
    handle_type handle_in_slot(std::uint32_t slot) const noexcept;
    std::size_t slots_in_service() const noexcept { return supply_.list().fresh(); }
    std::uint32_t next_generation() const noexcept;
    void destroy_all() noexcept;
    void expect_in_use() const noexcept {
        if constexpr (checked) {
            expect(in_use_ == in_use_mark, "?", "an operation was called after the pool's destruction");
        }
    }

    static constexpr std::uint32_t in_use_mark = 0x6c6f6f70;
    // How many objects ahead of one that is made the memory of the nursery is asked for.
    static constexpr std::uint32_t newborns_ahead = 8;

    std::string name_;
    pool_geometry geometry_;
    pool_id_holder id_;
    tag_type fresh_tag_; // what a slot starts from, not alive

    slot_table<Layout, Policy> slots_;
    dense_store<T, Policy> dense_;
    lane_table<Policy> lanes_;
    slot_supply<Layout, Policy, Freelist> supply_;
    nursery<Layout, Policy, Freelist> nursery_;
    removal_queue<typename Layout::value_type, Policy, Freelist> removals_;
    compactor<T, Layout, Policy, Freelist> compactor_;
    access_gate<Policy> gate_;
    // Erasures by threads that found no lane.
    typename Policy::template atomic<std::uint64_t> erased_without_lane_{0};
    std::uint32_t in_use_ = in_use_mark;
};

} // namespace handlepool

#include <handlepool/pool_members.hpp>
