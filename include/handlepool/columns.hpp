// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/access_guard.hpp>
#include <handlepool/detail/base/apply_to.hpp>
#include <handlepool/detail/base/range_of.hpp>
#include <handlepool/detail/base/type_list.hpp>
#include <handlepool/detail/columns/column_arrays.hpp>
#include <handlepool/detail/columns/row_iterator.hpp>
#include <handlepool/detail/columns/row_making.hpp>
#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/detail/pool/emplace_n.hpp>
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
#include <handlepool/placement.hpp>
#include <handlepool/policy.hpp>
#include <handlepool/pool_entry.hpp>
#include <handlepool/pool_options.hpp>
#include <handlepool/row.hpp>
#include <handlepool/scoped_hook.hpp>
#include <handlepool/stats.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool {

/// A pool whose objects are rows, each with one element in every column: a structure of arrays. A column is
/// contiguous, so that a loop reads nothing but the columns that it needs; a handle names a row, whose
/// elements have the same position in all columns, and compaction moves whole rows.
///
///     pool<columns<position, velocity, health>> movers({.name = "movers", .capacity = 100'000});
///     const auto mover = movers.emplace(position{1, 2}, health{100}); // with a velocity of zero
///     movers.for_each<position, const velocity>([](position& where, const velocity& speed) {
///         where.x += speed.x;
///     });
///
/// Results, threads, progress, errors and costs are those of pool's function of the same name, with rows for
/// objects: a row_pointer stands for a `T*`, a row for a `T&`. Costs are linear in the columns, too. It has
/// no insert, for which emplace serves, and there is no stable_pool of rows.
///
/// @tparam Cs types of the columns; nothrow move constructible and nothrow destructible, of any size and
/// alignment. Several columns may have the same type; such columns are named by their index only. An
/// empty type without a constructor of its own costs no memory.
template <class... Cs, class Layout, class Policy, template <class> class Freelist, class Placement>
class pool<columns<Cs...>, Layout, Policy, Freelist, Placement> {
    static_assert(std::is_same_v<Placement, dense_placement>,
                  "rows have no stable pool: columns are contiguous, so that compaction moves rows");
    static_assert(sizeof...(Cs) != 0, "a row needs a column");
    static_assert((std::is_same_v<Cs, std::remove_cvref_t<Cs>> && ...),
                  "columns have elements, which can't be const, volatile or references");
    static_assert(
        (std::is_nothrow_move_constructible_v<Cs> && ...),
        "compaction moves rows and can't fail half-way: columns must be nothrow move constructible");
    static_assert((std::is_nothrow_destructible_v<Cs> && ...),
                  "compaction destroys rows and can't fail half-way: columns must be nothrow destructible");

    using config = detail::pool_config<typename Layout::unkeyed, Policy, Freelist>;
    using core = detail::pool_core<columns<Cs...>, config>;
    template <class... Args>
    using arguments = detail::row_arguments<columns<Cs...>, Args...>;

    /// Is it the type of one column, and no other?
    template <class C>
    static constexpr bool is_column = detail::occurrences_of<std::remove_const_t<C>, Cs...> == 1;
    template <class C>
    static constexpr std::size_t index_of = detail::index_of<std::remove_const_t<C>, Cs...>();

    /// Does it return what a row can be made from?
    template <class Make>
    static constexpr bool can_make =
        detail::row_maker_of<Make, columns<Cs...>, handle<columns<Cs...>, Layout>>;

public:
    /// What the pool is made of, and what its functions take and return.
    using layout = Layout;
    using policy = Policy;
    using handle_type = handle<columns<Cs...>, Layout>;
    using guard_type = access_guard<Policy>;
    using lookup_type = object_lookup<handle_type, columns<Cs...>, config>;
    using const_lookup_type = object_lookup<handle_type, const columns<Cs...>, config>;
    using pointer = row_pointer<Cs...>;
    using const_pointer = row_pointer<const Cs...>;
    using reference = row<Cs...>;
    using const_reference = row<const Cs...>;
    using iterator = detail::row_iterator<Cs...>;
    using const_iterator = detail::row_iterator<const Cs...>;
    using entry_type = pool_entry<columns<Cs...>, Layout>;
    using const_entry_type = pool_entry<const columns<Cs...>, Layout>;

    /// The type of the column of this index.
    template <std::size_t Index>
    using column_type = detail::type_at<Index, Cs...>;

    /// An empty pool. Throws like the constructor of pool.
    explicit pool(const pool_options& options) : core_(options) {}

    /// Destroys all rows. No other thread may be using the pool.
    ~pool() = default;

    pool(const pool&) = delete;
    pool& operator=(const pool&) = delete;

    /// Why no pool can have these options; empty when one can.
    static std::string refusal_of(const pool_options& options) { return core::refusal_of(options); }

    // ---- Handles: any thread, at any time, also while a compaction runs

    /// Creates a row, each element from one argument, and returns its handle. Where each argument has the
    /// type of exactly one column, and no two the same, they are matched by type, in any order; otherwise
    /// they are for the first columns, in order. Elements without an argument are value-initialized.
    ///
    /// Elements are made in the order of the columns, and destroyed in the opposite one. When one throws,
    /// those before it are destroyed, and nothing has changed.
    template <class... Args>
        requires(detail::row_arguments<columns<Cs...>, Args && ...>::suffice())
    handle_type emplace(Args&&... args) {
        const handle_type made = try_emplace(std::forward<Args>(args)...);
        if (!made) {
            core_.throw_refusal();
        }
        return made;
    }

    /// The same, but returns the null handle where emplace throws an error of its own; then `args` were not
    /// touched.
    template <class... Args>
        requires(detail::row_arguments<columns<Cs...>, Args && ...>::suffice())
    handle_type try_emplace(Args&&... args) {
        return handle_type::from_value(
            core_.create([&](detail::row_place place) noexcept(arguments<Args&&...>::suffice_nothrow()) {
                arguments<Args&&...>::make_row(place, std::forward<Args>(args)...);
            }));
    }

    /// Creates the row that `make(handle)` returns, a std::tuple of what emplace takes: so a row can know its
    /// own handle. The handle is reserved meanwhile; when `make` or an element throws, it never resolves.
    /// try_emplace_with() returns the null handle where emplace_with throws an error of the pool.
    template <class Make>
        requires(can_make<Make>)
    handle_type emplace_with(Make&& make) {
        const handle_type made = try_emplace_with(std::forward<Make>(make));
        if (!made) {
            core_.throw_refusal();
        }
        return made;
    }
    template <class Make>
        requires(can_make<Make>)
    handle_type try_emplace_with(Make&& make) {
        return handle_type::from_value(core_.create_with([&](detail::row_place place, auto value) {
            auto all = std::forward<Make>(make)(handle_type::from_value(value));
            detail::row_arguments_in<columns<Cs...>, decltype(all)>::make_row(place, std::move(all));
        }));
    }

    /// Creates `count` rows, each like emplace, and writes their handles to `out`; returns the end of what
    /// was written. All or nothing; try_emplace_n() returns nothing where emplace_n throws an error of the
    /// pool.
    template <class OutputIt, class... Args>
        requires(detail::row_arguments<columns<Cs...>, const Args&...>::suffice() &&
                 std::output_iterator<OutputIt, handle<columns<Cs...>, Layout>>)
    OutputIt emplace_n(std::size_t count, OutputIt out, const Args&... args) {
        if (auto end = try_emplace_n(count, std::move(out), args...)) {
            return *std::move(end);
        }
        core_.throw_refusal();
    }
    template <class OutputIt, class... Args>
        requires(detail::row_arguments<columns<Cs...>, const Args&...>::suffice() &&
                 std::output_iterator<OutputIt, handle<columns<Cs...>, Layout>>)
    std::optional<OutputIt> try_emplace_n(std::size_t count, OutputIt out, const Args&... args) {
        return detail::emplace_n<handle_type>(
            core_, count, std::move(out),
            [&](detail::row_place place) noexcept(arguments<const Args&...>::suffice_nothrow()) {
                arguments<const Args&...>::make_row(place, args...);
            });
    }

    /// The same with different rows: `make(i)`, for i from 0 on, returns a std::tuple of what emplace takes.
    /// For functions from which no element can be made itself.
    template <class OutputIt, class Make>
        requires(detail::row_maker_of<Make, columns<Cs...>, std::size_t> &&
                 !detail::row_arguments<columns<Cs...>, const Make&>::suffice() &&
                 std::output_iterator<OutputIt, handle<columns<Cs...>, Layout>>)
    OutputIt emplace_n(std::size_t count, OutputIt out, Make make) {
        if (auto end = try_emplace_n(count, std::move(out), std::move(make))) {
            return *std::move(end);
        }
        core_.throw_refusal();
    }
    template <class OutputIt, class Make>
        requires(detail::row_maker_of<Make, columns<Cs...>, std::size_t> &&
                 !detail::row_arguments<columns<Cs...>, const Make&>::suffice() &&
                 std::output_iterator<OutputIt, handle<columns<Cs...>, Layout>>)
    std::optional<OutputIt> try_emplace_n(std::size_t count, OutputIt out, Make make) {
        return detail::emplace_n<handle_type>(
            core_, count, std::move(out), [&make, i = std::size_t{0}](detail::row_place place) mutable {
                auto all = make(i++);
                detail::row_arguments_in<columns<Cs...>, decltype(all)>::make_row(place, std::move(all));
            });
    }

    /// Ends the life of the handle's row. True for exactly one of all calls with a handle.
    bool erase(handle_type handle) noexcept { return core_.erase(handle.value()); }

    /// Erases each handle of a range; returns how many were alive.
    template <detail::range_of<handle<columns<Cs...>, Layout>> Range>
    std::size_t erase(Range&& handles) {
        return core_.template erase_each<handle_type>(handles);
    }

    /// Ends the life of the handle's row like erase, but the next compaction passes it to `sink(row)`, which
    /// may move its elements away, before it destroys it.
    template <class Sink>
        requires std::invocable<Sink&, row<Cs...>>
    bool take(handle_type handle, Sink sink) {
        return core_.take(handle.value(), [sink = std::move(sink)](pointer taken) mutable {
            static_cast<void>(sink(*taken));
        });
    }

    /// Erases all rows that are alive when the call begins.
    void clear() noexcept { core_.clear(); }

    /// Is the handle's row alive?
    bool contains(handle_type handle) const noexcept { return core_.contains(handle.value()); }

    /// Is the handle stale, reserved, or that of a living row?
    handle_state state(handle_type handle) const noexcept { return core_.state(handle.value()); }

    /// Returns a new handle for the handle's row, and the old one is stale. Null when it was stale before,
    /// or is the last one that its slot can have.
    handle_type revoke(handle_type handle) noexcept {
        return handle_type::from_value(core_.revoke(handle.value()));
    }

    /// The number of rows whose handles resolve, and whether it is 0.
    std::size_t size() const noexcept { return core_.size(); }
    bool empty() const noexcept { return size() == 0; }

    /// Rows that the pool has room for, guaranteed.
    std::size_t capacity() const noexcept { return core_.capacity(); }

    /// How many handles the pool gives out before it is used up, at least, and how many other rows are
    /// destroyed, at least, between two uses of a slot.
    std::uint64_t lifetime() const noexcept { return core_.lifetime(); }
    std::size_t reuse_guarantee() const noexcept { return core_.reuse_guarantee(); }

    // ---- Handles before rows: any thread, at any time, also while a compaction runs

    /// Gives out a handle whose row comes later, by fulfil(); try_reserve() returns the null handle where
    /// reserve throws.
    handle_type reserve() {
        const handle_type reserved = try_reserve();
        if (!reserved) {
            core_.throw_refusal();
        }
        return reserved;
    }
    handle_type try_reserve() noexcept { return handle_type::from_value(core_.reserve()); }

    /// Creates the row of a reserved handle from what emplace takes. When an element throws, it is still
    /// reserved. try_fulfil() returns false where fulfil throws an error of its own.
    template <class... Args>
        requires(detail::row_arguments<columns<Cs...>, Args && ...>::suffice())
    void fulfil(handle_type handle, Args&&... args) {
        const detail::fulfil_outcome outcome = fulfil_or_say_why(handle, std::forward<Args>(args)...);
        if (outcome != detail::fulfil_outcome::done) {
            core_.throw_unfulfilled(outcome, handle.value());
        }
    }
    template <class... Args>
        requires(detail::row_arguments<columns<Cs...>, Args && ...>::suffice())
    bool try_fulfil(handle_type handle, Args&&... args) {
        return fulfil_or_say_why(handle, std::forward<Args>(args)...) == detail::fulfil_outcome::done;
    }

    /// Gives up a reserved handle. True for exactly one of all calls with a handle, unless it is fulfilled.
    bool cancel(handle_type handle) noexcept { return core_.cancel(handle.value()); }

    // ---- Rows: within the frame contract

    /// The handle's row, or null when the handle is stale.
    pointer find(handle_type handle) noexcept { return core_.find(handle.value()); }
    const_pointer find(handle_type handle) const noexcept { return core_.find(handle.value()); }

    /// What looks handles up in a loop, faster than the pool itself: see object_lookup.hpp.
    lookup_type look_up() noexcept { return core_.template look_up<lookup_type>(); }
    const_lookup_type look_up() const noexcept { return core_.template look_up<const_lookup_type>(); }

    /// The handle's row. Throws stale_handle.
    reference at(handle_type handle) { return *core_.at(handle.value()); }
    const_reference at(handle_type handle) const { return *core_.at(handle.value()); }

    /// The row of a handle that is known to be alive, which only a checked build verifies.
    reference operator[](handle_type handle) noexcept { return *core_.living(handle.value()); }
    const_reference operator[](handle_type handle) const noexcept { return *core_.living(handle.value()); }

    /// The rows of several handles, if all are alive and no two are the same; else nothing.
    template <std::same_as<handle_type>... Handles>
        requires(sizeof...(Handles) != 0)
    std::optional<std::array<pointer, sizeof...(Handles)>> find_disjoint(Handles... handles) noexcept {
        return core_.find_disjoint(std::array{handles.value()...});
    }

    /// Erases the rows for which `predicate(row)` is true, or false; returns how many. With an executor in
    /// parallel.
    template <class Predicate, executor Executor = inline_executor>
        requires std::predicate<Predicate&, row<Cs...>>
    std::size_t erase_if(Predicate predicate, Executor&& executor = Executor()) {
        return core_.erase_if(executor, [&](pointer found) -> bool { return predicate(*found); });
    }
    template <class Predicate, executor Executor = inline_executor>
        requires std::predicate<Predicate&, row<Cs...>>
    std::size_t retain(Predicate predicate, Executor&& executor = Executor()) {
        return core_.erase_if(executor, [&](pointer found) -> bool { return !predicate(*found); });
    }

    /// A column of the dense store: its elements in the rows that were alive at the last compaction,
    /// contiguous. A row has the same position in all columns.
    template <std::size_t Index>
        requires(Index < sizeof...(Cs))
    std::span<const column_type<Index>> items() const noexcept {
        return {first<Index>(), core_.dense_size()};
    }
    template <class C>
        requires is_column<C>
    std::span<const C> items() const noexcept {
        return items<index_of<C>>();
    }

    /// The same, for loops that change elements. Handles name places: never reorder the elements but by
    /// sort().
    template <std::size_t Index>
        requires(Index < sizeof...(Cs))
    std::span<column_type<Index>> mutable_items() noexcept {
        return {first<Index>(), core_.dense_size()};
    }
    template <class C>
        requires is_column<C>
    std::span<C> mutable_items() noexcept {
        return mutable_items<index_of<C>>();
    }

    /// The same as iterators over rows, which may be changed but not reordered.
    iterator begin() noexcept { return iterator(place_at(0)); }
    iterator end() noexcept { return iterator(place_at(core_.dense_size())); }
    const_iterator begin() const noexcept { return const_iterator(place_at(0)); }
    const_iterator end() const noexcept { return const_iterator(place_at(core_.dense_size())); }

    /// Calls `body(element...)` for each row of the dense store, with its elements in the columns named, or
    /// in all columns when none is. A column named as `const C`, and every column of a const pool, is passed
    /// as `const C&`. Reads no column but those. The body may create and erase.
    /// Progress: linear. Throws what the body throws.
    template <class... Columns, class Body>
        requires((is_column<Columns> && ...))
    void for_each(Body body) {
        loop_over<Columns...>(*this, body)(0, core_.dense_size());
    }
    template <class... Columns, class Body>
        requires((is_column<Columns> && ...))
    void for_each(Body body) const {
        loop_over<Columns...>(*this, body)(0, core_.dense_size());
    }

    /// The same, run by an executor, which may call `body` in several threads at once; of what it throws in
    /// them the first reaches the caller. Parts of the loop never share a cache line.
    template <class... Columns, class Body, executor Executor>
        requires((is_column<Columns> && ...))
    void for_each(Body body, Executor&& executor) {
        run_parts(loop_over<Columns...>(*this, body), executor);
    }
    template <class... Columns, class Body, executor Executor>
        requires((is_column<Columns> && ...))
    void for_each(Body body, Executor&& executor) const {
        run_parts(loop_over<Columns...>(*this, body), executor);
    }

    /// The dense store as its handles, and as entries of handle and row; and the entries whose rows are
    /// alive.
    auto handles() const noexcept { return view<detail::look_at_handles<handle_type, core>>(); }
    auto entries() noexcept { return view<detail::look_at_entries<entry_type, core>>(); }
    auto entries() const noexcept { return view<detail::look_at_entries<const_entry_type, core>>(); }
    auto living() noexcept { return detail::filtered_range(detail::look_at_living<entry_type, core>(core_)); }
    auto living() const noexcept {
        return detail::filtered_range(detail::look_at_living<const_entry_type, core>(core_));
    }

    /// The handle of the row at a position of the dense store. Throws std::out_of_range.
    handle_type handle_at(std::size_t position) const {
        return handle_type::from_value(core_.handle_at(position));
    }

    /// The handle of the row that has this element, in whatever column, whether it is in items() yet or not;
    /// stale when the row was erased since. Null for an object that is not in the pool.
    template <class C>
        requires(detail::occurrences_of<C, Cs...> != 0)
    handle_type handle_of(const C& element) const noexcept {
        return handle_type::from_value(core_.handle_of(std::addressof(element)));
    }

    // ---- Guards: any thread, at any time

    /// Holds compaction off while the guard lives; try_access() returns an empty one instead of waiting or
    /// throwing.
    [[nodiscard]] guard_type access() { return core_.access(); }
    [[nodiscard]] guard_type try_access() noexcept { return core_.try_access(); }

    /// The handle's row together with a guard, which keeps compactions from moving or destroying it; or
    /// nothing when the handle is stale. It holds off compactions and nothing else: other threads may pin,
    /// write and erase the same row.
    pinned_object<columns<Cs...>, Policy> pin(handle_type handle) {
        guard_type guard = access();
        return {find(handle), std::move(guard)};
    }
    pinned_object<const columns<Cs...>, Policy> pin(handle_type handle) const {
        return const_cast<pool*>(this)->pin(handle);
    }

    /// The same, but also empty where pin() would wait or throw.
    pinned_object<columns<Cs...>, Policy> try_pin(handle_type handle) noexcept {
        guard_type guard = try_access();
        const pointer found = guard ? find(handle) : nullptr;
        return {found, std::move(guard)};
    }
    pinned_object<const columns<Cs...>, Policy> try_pin(handle_type handle) const noexcept {
        return const_cast<pool*>(this)->try_pin(handle);
    }

    // ---- Frames: one thread at a time

    /// Destroys erased rows, takes newborns into the dense store and closes the holes.
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

    /// Sorts the dense store: `compare(a, b)` says of two rows, each a const_reference, whether a comes
    /// before b. All columns get the same order.
    template <class Compare, executor Executor = inline_executor>
        requires detail::comparison_of<Compare, columns<Cs...>>
    sort_stats sort(Compare compare, Executor&& executor = Executor()) {
        return core_.sort_alone([&](auto& sorter) { return sorter.sort(executor, compare); });
    }

    /// The same by keys: `key(row)` is called once for each row; or, for keys that one column has,
    /// `key(element)`, which reads that column alone. A pointer to a member will do.
    ///
    ///     movers.sort_by<position>(&position::x);
    template <class Key, executor Executor = inline_executor>
        requires detail::key_of<Key, columns<Cs...>>
    sort_stats sort_by(Key key, Executor&& executor = Executor()) {
        return core_.sort_alone([&](auto& sorter) { return sorter.sort_by(executor, key); });
    }
    template <class C, class Key, executor Executor = inline_executor>
        requires(is_column<C> && detail::key_of<Key, C>)
    sort_stats sort_by(Key key, Executor&& executor = Executor()) {
        return sort_by(key_in<C>(key), executor);
    }

    /// A part of a sort: at most `budget` rows change their places, from where the last call stopped.
    template <class Compare, executor Executor = inline_executor>
        requires detail::comparison_of<Compare, columns<Cs...>>
    sort_stats sort_some(Compare compare, std::size_t budget, Executor&& executor = Executor()) {
        return core_.sort_alone([&](auto& sorter) { return sorter.sort_some(executor, compare, budget); });
    }

    /// The same by keys.
    template <class Key, executor Executor = inline_executor>
        requires detail::key_of<Key, columns<Cs...>>
    sort_stats sort_some_by(Key key, std::size_t budget, Executor&& executor = Executor()) {
        return core_.sort_alone([&](auto& sorter) { return sorter.sort_some_by(executor, key, budget); });
    }
    template <class C, class Key, executor Executor = inline_executor>
        requires(is_column<C> && detail::key_of<Key, C>)
    sort_stats sort_some_by(Key key, std::size_t budget, Executor&& executor = Executor()) {
        return sort_some_by(key_in<C>(key), budget, executor);
    }

    /// Would a compaction find nothing to do?
    bool idle() const noexcept { return core_.idle(); }

    /// In place of a compaction, when the pool is idle: only counts the frame.
    void skip_frame() noexcept { core_.skip_frame(); }

    // ---- The whole pool: while no compaction runs

    /// From here on, `hook(handle, row)` is called for each row just before it is destroyed, or for each row
    /// that a compaction takes into the dense store. What pool::on_erase says of the pool's end holds here.
    template <class Hook>
        requires std::invocable<Hook&, handle<columns<Cs...>, Layout>, row<Cs...>>
    scoped_hook on_erase(Hook hook, hook_order order = hook_order::early) {
        return core_.add_erase_hook(with_rows(std::move(hook)), order);
    }
    template <class Hook>
        requires std::invocable<Hook&, handle<columns<Cs...>, Layout>, row<Cs...>>
    scoped_hook on_birth(Hook hook) {
        return core_.add_birth_hook(with_rows(std::move(hook)));
    }

    /// Takes all living rows out: erases them, and compacts, which passes each to `sink(handle, row)`.
    /// Returns how many.
    template <class Sink>
        requires std::invocable<Sink&, handle<columns<Cs...>, Layout>, row<Cs...>>
    std::size_t drain(Sink&& sink) {
        return core_.drain([&](auto value, pointer taken) {
            static_cast<void>(sink(handle_type::from_value(value), *taken));
        });
    }

    /// Destroys all rows and starts all slots anew; old handles stay dead.
    void reset() { core_.reset(); }

    /// Returns memory that the rows don't need now to the system.
    void shrink_to_fit() { core_.shrink_to_fit(); }
    /// The same, but returns false, and does nothing, where it would wait or throw.
    bool try_shrink_to_fit() noexcept { return core_.try_shrink_to_fit(); }

    // ---- Views for people: any thread, at any time

    /// The pool id in its handles, and its name.
    std::uint32_t id() const noexcept { return core_.id(); }
    const std::string& name() const noexcept { return core_.name(); }

    /// A moment's view of the pool; its bytes are those of all columns together.
    pool_stats stats() const { return core_.stats(); }

    /// What is known of a handle, for people.
    std::string describe(handle_type handle) const { return core_.describe(handle.value()); }

    /// Handles of at most `most` living rows, the oldest first.
    std::vector<handle_type> oldest(std::size_t most) const {
        return core_.template oldest<handle_type>(most);
    }

private:
    friend class detail::pool_as_any<pool>;

    template <class... Args>
    detail::fulfil_outcome fulfil_or_say_why(handle_type handle, Args&&... args) {
        return core_.fulfil(handle.value(),
                            [&](detail::row_place place) noexcept(arguments<Args&&...>::suffice_nothrow()) {
                                arguments<Args&&...>::make_row(place, std::forward<Args>(args)...);
                            });
    }

    template <class Hook>
    static auto with_rows(Hook hook) {
        return detail::make_typed_hook<handle_type>(
            std::move(hook),
            [](Hook& user, handle_type handle, pointer found) { static_cast<void>(user(handle, *found)); });
    }

    template <class Look>
    auto view() const noexcept {
        return detail::position_range<Look>(Look(core_));
    }

    /// The place of a row of the dense store, or of its end.
    detail::row_place place_at(std::size_t position) const noexcept {
        detail::row_place place = core_.first().place();
        place.position += position;
        return place;
    }

    /// The function of rows that reads a key from the element of one column.
    template <class C, class Key>
    static auto key_in(Key& key) noexcept {
        return [&key](const_reference row) -> decltype(auto) {
            return detail::apply_to(key, row.template get<index_of<C>>());
        };
    }

    /// The first element of a column.
    template <std::size_t Index>
    column_type<Index>* first() const noexcept {
        return std::addressof(core_.first()->template get<Index>());
    }

    /// A function that calls `body` for the rows from one position to before another.
    template <class... Columns, class Self, class Body>
    static auto loop_over(Self& self, Body& body) {
        if constexpr (sizeof...(Columns) == 0) {
            return [&]<std::size_t... Is>(std::index_sequence<Is...>) {
                return loop_over_elements(body, self.template elements<Self, column_type<Is>, Is>()...);
            }(std::index_sequence_for<Cs...>());
        } else {
            return loop_over_elements(body, self.template elements<Self, Columns, index_of<Columns>>()...);
        }
    }
    template <class Self, class C, std::size_t Index>
    auto elements() const noexcept {
        using element = std::conditional_t<std::is_const_v<Self>, const C, C>;
        return static_cast<element*>(first<Index>());
    }
    template <class Body, class... Elements>
    static auto loop_over_elements(Body& body, Elements*... elements) {
        return [&body, elements...](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i != end; ++i) {
                body(elements[i]...);
            }
        };
    }

    /// As many rows as fill whole cache lines of any column.
    static constexpr std::size_t group = detail::cache_line;

    template <class Loop, class Executor>
    void run_parts(Loop loop, Executor& executor) const {
        const std::size_t size = core_.dense_size();
        detail::for_ranges_or_throw<Policy>(executor, (size + group - 1) / group,
                                            (Policy::compaction_grain + group - 1) / group,
                                            [loop, size](std::size_t begin, std::size_t end) {
                                                loop(begin * group, detail::least(end * group, size));
                                            });
    }

    core core_;
};

} // namespace handlepool

/// size() counts all living rows, iteration goes over those of the dense store.
template <class... Cs, class Layout, class Policy, template <class> class Freelist, class Placement>
inline constexpr bool std::ranges::disable_sized_range<
    handlepool::pool<handlepool::columns<Cs...>, Layout, Policy, Freelist, Placement>> = true;
