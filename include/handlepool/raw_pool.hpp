// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/access_guard.hpp>
#include <handlepool/detail/base/apply_to.hpp>
#include <handlepool/detail/base/range_of.hpp>
#include <handlepool/detail/objects/object_type.hpp>
#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/detail/pool/pool_core.hpp>
#include <handlepool/detail/pool/position_range.hpp>
#include <handlepool/error.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/failure.hpp>
#include <handlepool/fifo_freelist.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/object_lookup.hpp>
#include <handlepool/pinned_object.hpp>
#include <handlepool/policy.hpp>
#include <handlepool/pool_entry.hpp>
#include <handlepool/pool_options.hpp>
#include <handlepool/raw_type.hpp>
#include <handlepool/scoped_hook.hpp>
#include <handlepool/stats.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool {

/// Objects in a row, each `stride` bytes after the one before, like a span. Void is void or const void.
template <class Void>
class basic_raw_items {
    using byte = std::conditional_t<std::is_const_v<Void>, const std::byte, std::byte>;

public:
    /// `count` objects, of which `first` is the first.
    basic_raw_items(Void* first, std::size_t stride, std::size_t count) noexcept
        : first_(static_cast<byte*>(first)), stride_(stride), count_(count) {}

    /// The object at a position, which must be below size().
    Void* operator[](std::size_t position) const noexcept { return first_ + position * stride_; }

    /// The first object.
    Void* data() const noexcept { return first_; }

    /// Bytes from one object to the next.
    std::size_t stride() const noexcept { return stride_; }

    /// The number of objects, and whether it is 0.
    std::size_t size() const noexcept { return count_; }
    bool empty() const noexcept { return count_ == 0; }

private:
    byte* first_;
    std::size_t stride_;
    std::size_t count_;
};

/// What items() and mutable_items() of a raw_pool return.
using raw_items = basic_raw_items<const void>;
using mutable_raw_items = basic_raw_items<void>;

/// A pool whose objects are of a type that the program learns of at run time: pool, with `void*` for
/// references and untyped handles. Results, threads, progress, errors and costs are those of pool's function
/// of the same name. It has no insert, emplace_n, operator[] and iterators of its own, which need the type.
template <class Layout, class Policy, template <class> class Freelist, class Placement>
class raw_pool {
    static_assert(!std::is_same_v<Placement, recycling_placement>,
                  "a type that is known at run time says how objects end, not how they are cleared");
    static constexpr bool dense = std::is_same_v<Placement, dense_placement>;
    using config = detail::pool_config<typename Layout::unkeyed, Policy, Freelist, Placement>;
    using core = detail::pool_core<void, config>;

public:
    /// What the pool is made of, and what its functions take and return.
    using layout = Layout;
    using policy = Policy;
    using handle_type = handle<void, Layout>;
    using guard_type = access_guard<Policy>;
    using lookup_type = object_lookup<handle_type, void, config>;
    using const_lookup_type = object_lookup<handle_type, const void, config>;
    using entry_type = raw_pool_entry<void, Layout>;
    using const_entry_type = raw_pool_entry<const void, Layout>;

    /// An empty pool. Throws like the constructor of pool, and std::invalid_argument for a type that can't
    /// have objects.
    raw_pool(const pool_options& options, const raw_type& type)
        : core_(options, detail::object_type<void>(detail::checked_raw_type(type, options.name))) {}

    /// Destroys all objects. No other thread may be using the pool.
    ~raw_pool() = default;

    raw_pool(const raw_pool&) = delete;
    raw_pool& operator=(const raw_pool&) = delete;

    /// Why no pool can have these options, or objects of this type; empty when one can.
    static std::string refusal_of(const pool_options& options, const raw_type& type) {
        std::string error = detail::refusal_of(type, options.name);
        return error.empty() ? core::refusal_of(options) : error;
    }

    /// The type that the pool was made with. Any thread, at any time; wait-free, constant.
    const raw_type& object_type_description() const noexcept { return core_.type().description(); }

    // ---- Handles: any thread, at any time, also while a compaction runs

    /// Creates an object by `construct(memory)` and returns its handle. `construct` may throw, and then
    /// nothing has changed.
    template <class Construct>
        requires std::invocable<Construct&, void*>
    handle_type emplace(Construct&& construct) {
        const handle_type made = try_emplace(std::forward<Construct>(construct));
        if (!made) {
            core_.throw_refusal();
        }
        return made;
    }
    /// The same, with all bytes zero.
    handle_type emplace() {
        return emplace(
            [this](void* memory) noexcept { std::memset(memory, 0, object_type_description().size); });
    }

    /// The same, but returns the null handle where emplace throws an error of its own; then `construct` was
    /// not called.
    template <class Construct>
        requires std::invocable<Construct&, void*>
    handle_type try_emplace(Construct&& construct) {
        return handle_type::from_value(core_.create([&](void* memory) { construct(memory); }));
    }

    /// Creates an object by `construct(memory, handle)`, where the handle is the one that it will have.
    template <class Construct>
        requires std::invocable<Construct&, void*, handle<void, Layout>>
    handle_type emplace_with(Construct&& construct) {
        const handle_type made = try_emplace_with(std::forward<Construct>(construct));
        if (!made) {
            core_.throw_refusal();
        }
        return made;
    }
    template <class Construct>
        requires std::invocable<Construct&, void*, handle<void, Layout>>
    handle_type try_emplace_with(Construct&& construct) {
        return handle_type::from_value(core_.create_with(
            [&](void* memory, auto value) { construct(memory, handle_type::from_value(value)); }));
    }

    /// Ends the life of the handle's object. True for exactly one of all calls with a handle.
    bool erase(handle_type handle) noexcept { return core_.erase(handle.value()); }

    /// Erases each handle of a range; returns how many were alive.
    template <detail::range_of<handle<void, Layout>> Range>
    std::size_t erase(Range&& handles) {
        return core_.template erase_each<handle_type>(handles);
    }

    /// Ends the life of the handle's object like erase, but the next compaction passes it to `sink(object)`,
    /// a pointer, instead of destroying it: the sink must end the object, by moving it away with the type's
    /// relocate, say, or by destroying it.
    template <class Sink>
        requires std::invocable<Sink&, void*>
    bool take(handle_type handle, Sink sink) {
        return core_.take(handle.value(), [sink = std::move(sink)](void* object) mutable {
            static_cast<void>(sink(object));
        });
    }

    /// Erases all objects that are alive when the call begins.
    void clear() noexcept { core_.clear(); }

    /// Is the handle's object alive?
    bool contains(handle_type handle) const noexcept { return core_.contains(handle.value()); }

    /// Is the handle stale, reserved, or that of a living object?
    handle_state state(handle_type handle) const noexcept { return core_.state(handle.value()); }

    /// Returns a new handle for the handle's object, and makes the old one stale; null when it is stale, or
    /// the last one that its slot can have.
    handle_type revoke(handle_type handle) noexcept {
        return handle_type::from_value(core_.revoke(handle.value()));
    }

    /// The number of objects whose handles resolve, and whether it is 0.
    std::size_t size() const noexcept { return core_.size(); }
    bool empty() const noexcept { return size() == 0; }

    /// Objects that the pool has room for, guaranteed.
    std::size_t capacity() const noexcept { return core_.capacity(); }

    /// How many handles the pool gives out before it is used up, at least; and how many other objects are
    /// destroyed, at least, before the slot of a destroyed one is used again.
    std::uint64_t lifetime() const noexcept { return core_.lifetime(); }
    std::size_t reuse_guarantee() const noexcept { return core_.reuse_guarantee(); }

    // ---- Handles before objects: any thread, at any time, also while a compaction runs

    /// Gives out a handle whose object comes later, by fulfil(); try_reserve() returns null instead of
    /// throwing.
    handle_type reserve() {
        const handle_type reserved = try_reserve();
        if (!reserved) {
            core_.throw_refusal();
        }
        return reserved;
    }
    handle_type try_reserve() noexcept { return handle_type::from_value(core_.reserve()); }

    /// Creates the object of a reserved handle by `construct(memory)`, or with all bytes zero. When
    /// `construct` throws, the handle is still reserved.
    template <class Construct>
        requires std::invocable<Construct&, void*>
    void fulfil(handle_type handle, Construct&& construct) {
        const detail::fulfil_outcome outcome = fulfil_or_say_why(handle, construct);
        if (outcome != detail::fulfil_outcome::done) {
            core_.throw_unfulfilled(outcome, handle.value());
        }
    }
    void fulfil(handle_type handle) {
        fulfil(handle,
               [this](void* memory) noexcept { std::memset(memory, 0, object_type_description().size); });
    }

    /// The same, but returns false where fulfil throws an error of its own; then `construct` was not called.
    template <class Construct>
        requires std::invocable<Construct&, void*>
    bool try_fulfil(handle_type handle, Construct&& construct) {
        return fulfil_or_say_why(handle, construct) == detail::fulfil_outcome::done;
    }

    /// Gives up a reserved handle. False when it is not reserved, or another thread is fulfilling it.
    bool cancel(handle_type handle) noexcept { return core_.cancel(handle.value()); }

    // ---- Objects: within the frame contract

    /// The handle's object, or null when the handle is stale.
    void* find(handle_type handle) noexcept { return core_.find(handle.value()); }
    const void* find(handle_type handle) const noexcept { return core_.find(handle.value()); }

    /// What looks handles up in a loop, faster than the pool itself: see object_lookup.hpp.
    lookup_type look_up() noexcept { return core_.template look_up<lookup_type>(); }
    const_lookup_type look_up() const noexcept { return core_.template look_up<const_lookup_type>(); }

    /// The handle's object. Throws stale_handle.
    void* at(handle_type handle) { return core_.at(handle.value()); }

    /// The objects of several handles, if all are alive and no two are the same; else nothing.
    template <std::same_as<handle_type>... Handles>
        requires(sizeof...(Handles) != 0)
    std::optional<std::array<void*, sizeof...(Handles)>> find_disjoint(Handles... handles) noexcept {
        return core_.find_disjoint(std::array{handles.value()...});
    }

    /// Erases the objects for which `predicate(object)`, given a pointer, is true, or false; returns how
    /// many.
    template <class Predicate>
        requires std::predicate<Predicate&, void*>
    std::size_t erase_if(Predicate predicate) {
        return erase_if(std::move(predicate), inline_executor());
    }
    template <class Predicate>
        requires std::predicate<Predicate&, void*>
    std::size_t retain(Predicate predicate) {
        return retain(std::move(predicate), inline_executor());
    }
    /// The same in parallel, by an executor.
    template <class Predicate, executor Executor>
        requires std::predicate<Predicate&, void*>
    std::size_t erase_if(Predicate predicate, Executor&& executor) {
        return core_.erase_if(executor, [&](void* object) -> bool { return predicate(object); });
    }
    template <class Predicate, executor Executor>
        requires std::predicate<Predicate&, void*>
    std::size_t retain(Predicate predicate, Executor&& executor) {
        return core_.erase_if(executor, [&](void* object) -> bool { return !predicate(object); });
    }

    /// The dense store: the objects that were alive at the last compaction. To change them, mutable_items().
    raw_items items() const noexcept
        requires dense
    {
        return {core_.first(), core_.type().stride(), core_.dense_size()};
    }
    mutable_raw_items mutable_items() noexcept
        requires dense
    {
        return {core_.first(), core_.type().stride(), core_.dense_size()};
    }

    /// The dense store as its handles, and as entries of handle and pointer; and the entries whose objects
    /// are alive.
    auto handles() const noexcept { return view<detail::look_at_handles<handle_type, core>>(); }
    auto entries() noexcept { return view<detail::look_at_entries<entry_type, core>>(); }
    auto entries() const noexcept { return view<detail::look_at_entries<const_entry_type, core>>(); }
    auto living() noexcept { return detail::filtered_range(detail::look_at_living<entry_type, core>(core_)); }
    auto living() const noexcept {
        return detail::filtered_range(detail::look_at_living<const_entry_type, core>(core_));
    }

    /// The handle of the object at a position of the dense store. Throws std::out_of_range.
    handle_type handle_at(std::size_t position) const
        requires dense
    {
        return handle_type::from_value(core_.handle_at(position));
    }

    /// The handle of an object of this pool; null for an address that is not in the pool.
    handle_type handle_of(const void* object) const noexcept {
        return handle_type::from_value(core_.handle_of(object));
    }

    /// Calls `visit(object)` for each object of the store; with an executor for ranges of them at the same
    /// time.
    template <std::invocable<void*> Visit>
    void for_each(Visit visit) {
        core_.for_each(inline_executor(), visit);
    }
    template <std::invocable<void*> Visit, executor Executor>
    void for_each(Visit visit, Executor&& executor) {
        core_.for_each(executor, visit);
    }

    // ---- Guards: any thread, at any time

    /// Holds compaction off while the guard lives; try_access() returns an empty one instead of waiting or
    /// throwing.
    [[nodiscard]] guard_type access() { return core_.access(); }
    [[nodiscard]] guard_type try_access() noexcept { return core_.try_access(); }

    /// The handle's object together with a guard, which keeps compactions from moving or destroying it; or
    /// nothing when the handle is stale, with try_pin() also instead of waiting or throwing. It holds off
    /// compactions and nothing else: other threads may pin, write and erase the same object.
    pinned_object<void, Policy> pin(handle_type handle) {
        guard_type guard = access();
        return {find(handle), std::move(guard)};
    }
    pinned_object<void, Policy> try_pin(handle_type handle) noexcept {
        guard_type guard = try_access();
        void* const object = guard ? find(handle) : nullptr;
        return {object, std::move(guard)};
    }

    // ---- Frames: one thread at a time

    /// Destroys erased objects, takes newborns into the dense store and closes the holes.
    compaction_stats compact() { return compact(inline_executor()); }
    template <executor Executor>
    compaction_stats compact(Executor&& executor) {
        return core_.compact(executor);
    }
    /// The same, or nothing when it can't start at once.
    std::optional<compaction_stats> try_compact() { return try_compact(inline_executor()); }
    template <executor Executor>
    std::optional<compaction_stats> try_compact(Executor&& executor) {
        return core_.try_compact(executor);
    }
    /// Takes at most `budget` removals and newborns, and leaves the others to the next compactions.
    template <executor Executor = inline_executor>
    compaction_stats compact_some(std::size_t budget, Executor&& executor = Executor()) {
        return core_.compact(executor, budget);
    }

    /// Sorts the dense store: `compare(a, b)` says of two objects, `const void*`, whether a comes before b.
    template <class Compare, executor Executor = inline_executor>
        requires detail::comparison_of<Compare, void> && dense
    sort_stats sort(Compare compare, Executor&& executor = Executor()) {
        return core_.sort_alone([&](auto& sorter) { return sorter.sort(executor, compare); });
    }
    /// The same by keys: `key(object)` is called once for each object.
    template <class Key, executor Executor = inline_executor>
        requires detail::key_of<Key, void> && dense
    sort_stats sort_by(Key key, Executor&& executor = Executor()) {
        return core_.sort_alone([&](auto& sorter) { return sorter.sort_by(executor, key); });
    }
    /// The same, but at most `budget` objects change their places: goes on where the last call stopped.
    template <class Compare, executor Executor = inline_executor>
        requires detail::comparison_of<Compare, void> && dense
    sort_stats sort_some(Compare compare, std::size_t budget, Executor&& executor = Executor()) {
        return core_.sort_alone([&](auto& sorter) { return sorter.sort_some(executor, compare, budget); });
    }
    template <class Key, executor Executor = inline_executor>
        requires detail::key_of<Key, void> && dense
    sort_stats sort_some_by(Key key, std::size_t budget, Executor&& executor = Executor()) {
        return core_.sort_alone([&](auto& sorter) { return sorter.sort_some_by(executor, key, budget); });
    }

    /// Would a compaction find nothing to do?
    bool idle() const noexcept { return core_.idle(); }

    /// In place of a compaction, when the pool is idle: only counts the frame.
    void skip_frame() noexcept { core_.skip_frame(); }

    // ---- The whole pool: while no compaction runs

    /// From here on, `hook(handle, object)` is called for each object just before it is destroyed, with a
    /// pointer to the object. What pool::on_erase says of the pool's end holds here.
    template <class Hook>
        requires std::invocable<Hook&, handle<void, Layout>, void*>
    scoped_hook on_erase(Hook hook, hook_order order = hook_order::early) {
        return core_.add_erase_hook(with_handles(std::move(hook)), order);
    }

    /// From here on, `hook(handle, object)` is called for each object that a compaction takes into the dense
    /// store, with a pointer to the object.
    template <class Hook>
        requires std::invocable<Hook&, handle<void, Layout>, void*>
    scoped_hook on_birth(Hook hook) {
        return core_.add_birth_hook(with_handles(std::move(hook)));
    }

    /// Takes all living objects out by `sink(handle, object)`, with a pointer; what the sink must do is said
    /// at take(). Returns how many.
    template <class Sink>
        requires std::invocable<Sink&, handle<void, Layout>, void*>
    std::size_t drain(Sink&& sink) {
        return core_.drain([&](auto value, void* object) {
            static_cast<void>(sink(handle_type::from_value(value), object));
        });
    }

    /// Destroys all objects and starts all slots anew; old handles stay dead.
    void reset() { core_.reset(); }

    /// Returns memory that the objects don't need now to the system.
    void shrink_to_fit() { core_.shrink_to_fit(); }
    /// The same, but returns false, and does nothing, where it would wait or throw.
    bool try_shrink_to_fit() noexcept { return core_.try_shrink_to_fit(); }

    // ---- Views for people: any thread, at any time

    /// The pool id in its handles, and its name.
    std::uint32_t id() const noexcept { return core_.id(); }
    const std::string& name() const noexcept { return core_.name(); }

    /// A moment's view of the pool.
    pool_stats stats() const { return core_.stats(); }

    /// What is known of a handle, for people.
    std::string describe(handle_type handle) const { return core_.describe(handle.value()); }

    /// Handles of at most `most` living objects, the oldest first.
    std::vector<handle_type> oldest(std::size_t most) const {
        return core_.template oldest<handle_type>(most);
    }

private:
    friend class detail::pool_as_any<raw_pool>;

    template <class Hook>
    static auto with_handles(Hook hook) {
        return detail::make_typed_hook<handle_type>(
            std::move(hook),
            [](Hook& user, handle_type handle, void* object) { static_cast<void>(user(handle, object)); });
    }

    template <class Construct>
    detail::fulfil_outcome fulfil_or_say_why(handle_type handle, Construct& construct) {
        return core_.fulfil(handle.value(), [&](void* memory) { construct(memory); });
    }

    template <class Look>
    auto view() const noexcept {
        return detail::range_of_positions<dense, Look>(Look(core_));
    }

    core core_;
};

} // namespace handlepool
