#pragma once

#include <handlepool/access_guard.hpp>
#include <handlepool/detail/compactor.hpp>
#include <handlepool/detail/contract.hpp>
#include <handlepool/detail/dense_store.hpp>
#include <handlepool/detail/lane.hpp>
#include <handlepool/detail/nursery.hpp>
#include <handlepool/detail/object_type.hpp>
#include <handlepool/detail/pool_geometry.hpp>
#include <handlepool/detail/pool_id_registry.hpp>
#include <handlepool/detail/removal_queue.hpp>
#include <handlepool/detail/slot_supply.hpp>
#include <handlepool/detail/slot_table.hpp>
#include <handlepool/detail/stale_reason.hpp>
#include <handlepool/error.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/fifo_freelist.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/policy.hpp>
#include <handlepool/stats.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// What pools do with handles and frames, whatever their objects are. Users meet it as the base of pool and
/// raw_pool, whose documentation has the frame contract.
///
/// @tparam T object type, or void when it is known at run time only
/// @tparam Layout how the bits of a handle are divided
/// @tparam Policy atomics, memory and batch sizes
/// @tparam Freelist where slots wait for their next use: fifo_freelist, or boost_freelist
template <class T, class Layout, class Policy, template <class> class Freelist>
class pool_core {
    static_assert(freelist<Freelist<Policy>>);

public:
    using layout = Layout;
    using policy = Policy;
    using handle_type = handle<T, Layout>;
    using guard_type = access_guard<Policy>;
    using erase_hook = std::function<void(handle_type handle, T* object)>;

    pool_core(const pool_core&) = delete;
    pool_core& operator=(const pool_core&) = delete;

    /// Why no pool can have these options; empty when one can. Only the pool's making tells whether the
    /// system has the address space, and whether the pool id is free.
    static std::string refusal_of(const pool_options& options) {
        std::string error;
        try_plan_geometry(options, limits_of_options, error);
        return error;
    }

    // ---- Handles: any thread, at any time, also while a compaction runs

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

    /// Handles of objects that are alive, `most` at the most, the oldest first: by the frames in which they
    /// were created with the option `remember_frames`, else by generation and slot, which is the order of
    /// creation as long as no slot is used again. Any thread; throws std::bad_alloc; linear in the slots ever
    /// used.
    std::vector<handle_type> oldest(std::size_t most) const;

    /// What is known of a handle, for people: "ships #1021 generation 7: erased 3 frames ago". How long ago
    /// is known only with the option `remember_frames`. Lock-free.
    std::string describe(handle_type handle) const;

    /// A moment's view of the pool. Lock-free; asks the system for resident memory, so not for the inner
    /// loop.
    pool_stats stats() const;

    // ---- Objects: within the frame contract

    /// The handle of the object at a position of the dense store; stale when the object was erased since the
    /// last compaction. Throws std::out_of_range when there is no such position. Wait-free, constant.
    handle_type handle_at(std::size_t position) const;

    /// Holds compaction off while the guard lives, which may be moved and may end in any thread. Waits for a
    /// running compaction, and some tens of milliseconds for one that itself waits for guards: guards of
    /// several pools and services may be taken in any order. Not for destructors, which a compaction waits
    /// for. Throws too_many_threads, foreign_module, and compaction_conflict when the calling thread is
    /// compacting. Blocking; constant.
    [[nodiscard]] guard_type access() { return guard_type(gate_, lane_or_throw()); }
    /// The same, but returns an empty guard where access() would wait or throw. Wait-free.
    [[nodiscard]] guard_type try_access() noexcept {
        expect_in_use();
        lane_type* const mine = lanes_.mine();
        return mine == nullptr ? guard_type() : guard_type::attempt(gate_, *mine);
    }

    // ---- Frames: one thread at a time

    /// Destroys erased objects, takes newborns into the dense store and closes the holes. Handle operations
    /// may go on meanwhile; what they do then may have to wait for the next compaction. Waits for access
    /// guards. Linear in removals and newborns, not in the pool's size. Throws compaction_conflict when a
    /// compaction is running, or a guard lives that the calling thread has made.
    compaction_stats compact() {
        inline_executor executor;
        return compact(executor);
    }
    template <executor Executor>
    compaction_stats compact(Executor&& executor);
    /// The same, as a part of what another gate keeps guards from: while it waits for guards of this pool,
    /// those of `outer` may pass. Says why instead of throwing.
    template <executor Executor>
    compaction_attempt compact_inside(outer_gate* outer, Executor& executor);

    /// The same, but does nothing and returns nothing when it can't start at once. Never waits.
    std::optional<compaction_stats> try_compact() {
        inline_executor executor;
        return try_compact(executor);
    }
    template <executor Executor>
    std::optional<compaction_stats> try_compact(Executor&& executor);

    /// Has nothing happened since the last compaction that another one would act on? Any thread, at any time;
    /// exact for what happened before the call. Wait-free, linear in the lanes.
    bool idle() const noexcept {
        expect_in_use();
        return compactor_.idle();
    }

    /// Instead of a compaction, when the pool is idle: counts the frame, and does nothing.
    void skip_frame() noexcept { compactor_.skip(); }

    // ---- The whole pool: while no other thread uses it

    /// Destroys all objects, and forgets all slots in one step: generations start above all that were handed
    /// out, so that old handles stay dead. Faster than clear() and compact() for objects that need no
    /// destructor. Throws compaction_conflict like compact().
    void reset();

    /// Gives memory that the objects don't need now back to the system. Old handles stay dead. Other threads
    /// may use handles meanwhile. Throws compaction_conflict like compact().
    void shrink_to_fit();

protected:
    /// An empty pool. Throws as the pools' constructors say.
    explicit pool_core(const pool_options& options, const object_type<T>& type = {});
    ~pool_core() = default;

    // Destroys all objects: for the destructor of the class that users see, while it is whole, because
    // objects may use it.
    void shut_down() noexcept;

    using lane_type = lane<Policy>;
    using tag_type = typename Layout::tag_type;

    lane_type& lane_or_throw();
    // Creates an object that `construct(memory)` makes. Null when there is no room, or no lane.
    template <class Construct>
    handle_type create(Construct construct);
    // Creates `count` objects, each made by `construct(memory)`, before it publishes any. Empty when there is
    // no room, or no lane.
    template <class Construct>
    std::vector<handle_type> create_many(std::size_t count, Construct construct);
    // Why nothing could be created.
    [[noreturn]] void throw_refusal();

    T* find_object(handle_type handle) noexcept {
        expect_in_use();
        return slots_.find(handle.value(), dense_);
    }
    T* object_or_throw(handle_type handle);
    // The handle is known to be alive.
    T* living_object(handle_type handle) noexcept {
        if constexpr (checked) {
            expect(contains(handle), name_, "operator[] was given a stale handle");
        }
        return dense_.at(slots_.location(handle.index()));
    }
    T* first_object() noexcept {
        expect_in_use();
        return dense_.at(0);
    }
    std::size_t dense_size() const noexcept { return dense_.size(); }
    handle_type handle_of_address(const void* object) const noexcept;
    const object_type<T>& type() const noexcept { return dense_.type(); }

    void add_hook(erase_hook hook);

private:
    // A slot and a nursery position for an object; at its end, those of an object that was not published are
    // given back.
    class place;
    class place_batch;

    std::uint32_t location_of(std::uint32_t position) const noexcept { return dense_.capacity() + position; }
    handle_type publish(std::uint32_t slot, std::uint32_t position) noexcept;
    template <executor Executor>
    compaction_stats compact_alone(Executor& executor);
    refused_handle examine(handle_type handle) const;
    handle_type handle_in_slot(std::uint32_t slot) const noexcept;
    std::size_t slots_in_service() const noexcept { return supply_.list().fresh(); }
    std::uint32_t next_generation() const noexcept;
    void destroy_all() noexcept;
    void expect_in_use() const noexcept {
        if constexpr (checked) {
            expect(in_use_ == in_use_mark, "?", "an operation was called after the pool's destruction");
        }
    }

    static constexpr geometry_limits limits_of_options{.index_count = std::uint64_t{1} << Layout::index_bits,
                                                       .nursery_chunk = Policy::nursery_chunk,
                                                       .removal_chunk = Policy::removal_chunk};
    static constexpr std::uint32_t in_use_mark = 0x6c6f6f70;
    // How many objects ahead of one that is made the memory of the nursery is asked for.
    static constexpr std::uint32_t newborns_ahead = 8;

    std::string name_;
    pool_geometry geometry_;
    pool_id_holder id_;
    typename Policy::template plain<tag_type> fresh_tag_; // what a slot starts from, not alive

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

} // namespace handlepool::detail

#include <handlepool/detail/pool_core_members.hpp>
