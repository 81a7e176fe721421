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
    /// was written. All or nothing: when it throws, no object exists and nothing was written. Throws like
    /// emplace, and std::bad_alloc. Linear, with one allocation of working memory.
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
        expect(contains(handle), name_, "operator[] was given a stale handle");
        return *dense_.at(slots_.location(handle.index()));
    }
    const T& operator[](handle_type handle) const noexcept { return const_cast<pool&>(*this)[handle]; }

    /// The dense store: the objects that were alive at the last compaction, contiguous. Those erased since
    /// are still among them, those created since are not yet.
    std::span<T> items() noexcept { return {dense_.at(0), dense_.size()}; }
    std::span<const T> items() const noexcept { return {dense_.at(0), dense_.size()}; }
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

    /// Holds compaction off while it lives. Waits for a running one. Throws too_many_threads, and
    /// compaction_conflict when the calling thread is compacting. Blocking; constant.
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
        expect(in_use_ == in_use_mark, "?", "an operation was called after the pool's destruction");
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

template <class T, class Layout, class Policy, template <class> class Freelist>
pool<T, Layout, Policy, Freelist>::pool(const pool_options& options)
    : name_(options.name),
      geometry_(plan_geometry(options, {.index_count = std::uint64_t{1} << Layout::index_bits,
                                        .nursery_chunk = Policy::nursery_chunk,
                                        .removal_chunk = Policy::removal_chunk})),
      id_(pool_id_registry::of_layout(Layout::index_bits, Layout::generation_bits, Layout::pool_id_bits),
          options.pool_id, name_),
      fresh_tag_(Layout::make_tag(id_.id(), id_.first_generation())),
      slots_(quoted_pool(name_) + " slots", geometry_.slot_limit, geometry_.capacity),
      dense_(quoted_pool(name_), geometry_.object_limit, geometry_.nursery_chunks * Policy::nursery_chunk,
             geometry_.capacity),
      lanes_(quoted_pool(name_) + " lanes", geometry_.max_threads),
      supply_(quoted_pool(name_) + " freelist", geometry_, slots_, lanes_),
      nursery_(quoted_pool(name_) + " nursery", geometry_.nursery_chunks, Policy::nursery_chunk),
      removals_(quoted_pool(name_) + " removal queues", geometry_.removal_chunks, Policy::removal_chunk,
                geometry_.removal_queue_size),
      compactor_(quoted_pool(name_) + " compaction", geometry_, slots_, supply_, nursery_, removals_, dense_,
                 lanes_),
      gate_(lanes_) {}

template <class T, class Layout, class Policy, template <class> class Freelist>
pool<T, Layout, Policy, Freelist>::~pool() {
    // Closed, so that a destructor that compacts or asks for a guard is refused like in a compaction.
    expect(gate_.try_close(), name_, "destroyed while an access guard is held or a compaction runs");
    destroy_all();
    id_.set_next_generation(next_generation());
    in_use_ = 0;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
auto pool<T, Layout, Policy, Freelist>::lane_or_throw() -> lane_type& {
    expect_in_use();
    lane_type* const mine = lanes_.mine();
    if (mine == nullptr) {
        throw too_many_threads(name_, geometry_.max_threads);
    }
    return *mine;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
bool pool<T, Layout, Policy, Freelist>::take_place(lane_type& mine, place& taken) noexcept {
    if (!supply_.take(mine, taken.slot)) {
        return false;
    }
    if (!nursery_.take(mine.newborns, taken.position)) {
        supply_.give_back(mine, taken.slot);
        return false;
    }
    dense_.prefetch_object(dense_.capacity() + taken.position + newborns_ahead);
    return true;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
void pool<T, Layout, Policy, Freelist>::give_back(lane_type& mine, const place& taken) noexcept {
    nursery_.give_back(mine.newborns, taken.position);
    supply_.give_back(mine, taken.slot);
}

/// Builds the object; when its constructor throws, the place is given back.
template <class T, class Layout, class Policy, template <class> class Freelist>
template <class... Args>
void pool<T, Layout, Policy, Freelist>::construct(lane_type& mine, const place& taken, Args&&... args) {
    void* const memory = dense_.memory(dense_.capacity() + taken.position);
    unpoison(static_cast<T*>(memory));
    if constexpr (std::is_nothrow_constructible_v<T, Args...>) {
        ::new (memory) T(std::forward<Args>(args)...);
    } else {
        try {
            ::new (memory) T(std::forward<Args>(args)...);
        } catch (...) {
            poison(static_cast<T*>(memory));
            give_back(mine, taken);
            throw;
        }
    }
}

template <class T, class Layout, class Policy, template <class> class Freelist>
auto pool<T, Layout, Policy, Freelist>::publish(lane_type& mine, const place& taken) noexcept -> handle_type {
    const tag_type tag = slots_.next_tag(taken.slot, fresh_tag_);
    const auto handle = handle_type::from_value(Layout::value_of(taken.slot, tag));
    nursery_.own(taken.position, handle.value());
    slots_.publish(taken.slot, tag, dense_.capacity() + taken.position);
    add(mine.created, 1);
    return handle;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
template <class... Args>
    requires std::constructible_from<T, Args...>
auto pool<T, Layout, Policy, Freelist>::try_emplace(Args&&... args) -> handle_type {
    lane_type& mine = lane_or_throw();
    place taken;
    if (!take_place(mine, taken)) {
        return {};
    }
    construct(mine, taken, std::forward<Args>(args)...);
    return publish(mine, taken);
}

template <class T, class Layout, class Policy, template <class> class Freelist>
template <class... Args>
    requires std::constructible_from<T, Args...>
auto pool<T, Layout, Policy, Freelist>::emplace(Args&&... args) -> handle_type {
    const handle_type handle = try_emplace(std::forward<Args>(args)...);
    if (!handle) {
        throw_exhausted();
    }
    return handle;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
template <class OutputIt, class... Args>
    requires std::constructible_from<T, const Args&...> && std::output_iterator<OutputIt, handle<T, Layout>>
OutputIt pool<T, Layout, Policy, Freelist>::emplace_n(std::size_t count, OutputIt out, const Args&... args) {
    lane_type& mine = lane_or_throw();
    std::vector<place> places;
    places.reserve(count);
    // Constructs all before it publishes any, so that nobody sees objects that are taken back.
    const auto undo = [&] {
        for (const place& taken : places | std::views::reverse) {
            dense_.destroy(dense_.capacity() + taken.position);
            give_back(mine, taken);
        }
    };
    for (std::size_t i = 0; i != count; ++i) {
        place taken;
        if (!take_place(mine, taken)) {
            undo();
            throw_exhausted();
        }
        try {
            construct(mine, taken, args...);
        } catch (...) {
            undo();
            throw;
        }
        places.push_back(taken);
    }
    for (const place& taken : places) {
        *out = publish(mine, taken);
        ++out;
    }
    return out;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
bool pool<T, Layout, Policy, Freelist>::erase(handle_type handle) noexcept {
    expect_in_use();
    if (!slots_.kill(handle.value())) {
        return false;
    }
    lane_type* const mine = lanes_.mine();
    if (mine == nullptr) {
        erased_without_lane_.fetch_add(1, std::memory_order::relaxed);
        compactor_.demand_sweep();
        return true;
    }
    if (!removals_.push(mine->removals, handle.value())) {
        compactor_.demand_sweep();
    }
    add(mine->erased, 1);
    return true;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
template <std::ranges::input_range Range>
    requires std::convertible_to<std::ranges::range_reference_t<Range>, handle<T, Layout>>
std::size_t pool<T, Layout, Policy, Freelist>::erase(Range&& handles) {
    std::size_t erased = 0;
    for (const handle_type handle : handles) {
        erased += erase(handle) ? 1 : 0;
    }
    return erased;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
void pool<T, Layout, Policy, Freelist>::clear() noexcept {
    for (std::size_t index = 0, last = slots_in_service(); index < last; ++index) {
        const tag_type tag = slots_.tag(index);
        erase(handle_type::from_value(Layout::value_of(index, tag)));
    }
}

template <class T, class Layout, class Policy, template <class> class Freelist>
std::size_t pool<T, Layout, Policy, Freelist>::size() const noexcept {
    expect_in_use();
    // Erased ones first: none of them can then be missing among those created.
    const std::uint64_t erased = lanes_.sum([](const lane_type& one) {
        return one.erased.load(std::memory_order::relaxed);
    }) + erased_without_lane_.load(std::memory_order::relaxed);
    const std::uint64_t created =
        lanes_.sum([](const lane_type& one) { return one.created.load(std::memory_order::relaxed); });
    return created > erased ? static_cast<std::size_t>(created - erased) : 0;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
T& pool<T, Layout, Policy, Freelist>::at(handle_type handle) {
    T* const found = find(handle);
    if (found == nullptr) {
        const bool known = handle.index() < slots_.size();
        throw stale_handle(describe_refusal(
            name_, {.null = !handle,
                    .index = handle.index(),
                    .generation = handle.generation(),
                    .pool_id = handle.pool_id(),
                    .own_pool_id = id(),
                    .first_generation = Layout::generation_of(fresh_tag_),
                    .slots_in_service = slots_in_service(),
                    .slot_generation = known ? Layout::generation_of(slots_.known_tag(handle.index())) : 0}));
    }
    return *found;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
auto pool<T, Layout, Policy, Freelist>::handle_in_slot(std::uint32_t slot) const noexcept -> handle_type {
    if (slot == no_slot) {
        return {};
    }
    // The object's own tag, be it erased or not: compaction alone lets a slot go further.
    const tag_type tag = (slots_.known_tag(slot) - 1) | 1U;
    return handle_type::from_value(Layout::value_of(slot, tag));
}

template <class T, class Layout, class Policy, template <class> class Freelist>
auto pool<T, Layout, Policy, Freelist>::handle_at(std::size_t position) const -> handle_type {
    if (position >= dense_.size()) {
        throw std::out_of_range(quoted_pool(name_) + ": there is no position " + std::to_string(position) +
                                "; the dense store has " + std::to_string(dense_.size()));
    }
    return handle_in_slot(dense_.owner(static_cast<std::uint32_t>(position)));
}

template <class T, class Layout, class Policy, template <class> class Freelist>
auto pool<T, Layout, Policy, Freelist>::handle_of(const T& object) const noexcept -> handle_type {
    const std::size_t location = dense_.location_of(object);
    if (location < dense_.size()) {
        return handle_in_slot(dense_.owner(static_cast<std::uint32_t>(location)));
    }
    if (location < dense_.capacity() || location >= dense_.locations()) {
        return {};
    }
    const auto owner = nursery_.owner(static_cast<std::uint32_t>(location) - dense_.capacity());
    return Layout::generation_of(Layout::tag_of(owner)) <= Layout::last_generation
               ? handle_type::from_value(owner)
               : handle_type{};
}

template <class T, class Layout, class Policy, template <class> class Freelist>
template <executor Executor>
compaction_stats pool<T, Layout, Policy, Freelist>::compact(Executor&& executor) {
    expect_in_use();
    gate_.close(name_);
    const compaction_stats done = compactor_.run(executor);
    gate_.open();
    return done;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
template <executor Executor>
std::optional<compaction_stats> pool<T, Layout, Policy, Freelist>::try_compact(Executor&& executor) {
    expect_in_use();
    if (!gate_.try_close()) {
        return std::nullopt;
    }
    const compaction_stats done = compactor_.run(executor);
    gate_.open();
    return done;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
void pool<T, Layout, Policy, Freelist>::destroy_all() noexcept {
    if constexpr (!std::is_trivially_destructible_v<T>) {
        inline_executor executor;
        // Again as long as destructors make new objects.
        do {
            clear();
            compactor_.run(executor);
        } while (size() != 0 || dense_.size() != 0);
    }
}

/// Even, and above the generations of all handles that were given out.
template <class T, class Layout, class Policy, template <class> class Freelist>
std::uint32_t pool<T, Layout, Policy, Freelist>::next_generation() const noexcept {
    std::uint32_t highest = Layout::generation_of(fresh_tag_);
    for (std::size_t index = 0, last = slots_in_service(); index < last; ++index) {
        highest = std::max<std::uint32_t>(highest, Layout::generation_of(slots_.tag(index)));
    }
    return (highest + 1) & ~1U;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
void pool<T, Layout, Policy, Freelist>::reset() {
    expect_in_use();
    gate_.close(name_);
    destroy_all();
    const std::uint32_t generation = next_generation();
    const bool used_up = generation + 1 > Layout::last_generation;
    fresh_tag_ = Layout::make_tag(id(), generation);

    const std::uint64_t created =
        lanes_.sum([](const lane_type& one) { return one.created.load(std::memory_order::relaxed); });
    compactor_.account_for(static_cast<std::size_t>(created - compactor_.destroyed()),
                           static_cast<std::size_t>(created - compactor_.left_nursery()));
    erased_without_lane_.store(0, std::memory_order::relaxed);
    for (std::size_t i = 0, last = lanes_.count(); i < last; ++i) {
        lanes_[i].forget_objects();
    }
    slots_.discard();
    dense_.discard();
    nursery_.reset();
    removals_.reset();
    supply_.reset(used_up);
    gate_.open();
}

template <class T, class Layout, class Policy, template <class> class Freelist>
void pool<T, Layout, Policy, Freelist>::shrink_to_fit() {
    expect_in_use();
    gate_.close(name_);
    dense_.shrink();
    compactor_.shrink();
    gate_.open();
}

template <class T, class Layout, class Policy, template <class> class Freelist>
void pool<T, Layout, Policy, Freelist>::throw_exhausted() const {
    if (supply_.used_up()) {
        throw pool_used_up(name_, geometry_.slot_limit);
    }
    throw pool_exhausted(name_, geometry_.capacity);
}

template <class T, class Layout, class Policy, template <class> class Freelist>
pool_stats pool<T, Layout, Policy, Freelist>::stats() const {
    expect_in_use();
    const auto sum = [this](auto counter) {
        return lanes_.sum(
            [counter](const lane_type& one) { return (one.*counter).load(std::memory_order::relaxed); });
    };
    const auto difference = [](std::uint64_t more, std::uint64_t less) {
        return more > less ? static_cast<std::size_t>(more - less) : 0;
    };
    pool_stats view;
    view.name = name_;
    view.pool_id = id();
    view.capacity = geometry_.capacity;
    view.alive = size();
    view.dense = dense_.size();
    view.destroyed = compactor_.destroyed();
    view.created = sum(&lane_type::created);
    view.newborn = difference(view.created, compactor_.left_nursery());
    view.waiting_removals = difference(view.created, view.alive + view.destroyed);
    view.slots_in_service = slots_in_service();
    view.slots_free = supply_.list().waiting();
    view.slots_claimed = supply_.held();
    view.slots_retired = supply_.retired();
    view.slot_limit = geometry_.slot_limit;
    view.smallest_reuse_distance = supply_.list().smallest_reuse_distance();
    view.lanes = lanes_.count();
    view.compactions = compactor_.runs();
    view.sweeps = compactor_.sweeps();
    view.bytes_resident_in_objects = dense_.object_bytes_resident();
    view.bytes_reserved = slots_.bytes_reserved() + dense_.bytes_reserved() + lanes_.bytes_reserved() +
                          supply_.bytes_reserved() + nursery_.bytes_reserved() + removals_.bytes_reserved() +
                          compactor_.bytes_reserved();
    view.bytes_resident = slots_.bytes_resident() + view.bytes_resident_in_objects +
                          dense_.owner_bytes_resident() + lanes_.bytes_resident() + supply_.bytes_resident() +
                          nursery_.bytes_resident() + removals_.bytes_resident() +
                          compactor_.bytes_resident();
    return view;
}

} // namespace handlepool
