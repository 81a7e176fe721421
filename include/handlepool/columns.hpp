// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/columns/column_arrays.hpp>
#include <handlepool/detail/columns/row_iterator.hpp>
#include <handlepool/detail/columns/row_making.hpp>
#include <handlepool/detail/columns/type_list.hpp>
#include <handlepool/detail/pool/emplace_n.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/placement.hpp>
#include <handlepool/pool_frames.hpp>
#include <handlepool/pool_options.hpp>
#include <handlepool/row.hpp>
#include <handlepool/traits.hpp>

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
template <class... Cs, class Traits>
class pool<columns<Cs...>, Traits> : public detail::interface_of<columns<Cs...>, Traits> {
    static_assert(std::is_same_v<typename Traits::placement, dense_placement>,
                  "rows have no stable pool: columns are contiguous, so that compaction moves rows");
    static_assert(sizeof...(Cs) != 0, "a row needs a column");
    static_assert((std::is_same_v<Cs, std::remove_cvref_t<Cs>> && ...),
                  "columns have elements, which can't be const, volatile or references");
    static_assert(
        (std::is_nothrow_move_constructible_v<Cs> && ...),
        "compaction moves rows and can't fail half-way: columns must be nothrow move constructible");
    static_assert((std::is_nothrow_destructible_v<Cs> && ...),
                  "compaction destroys rows and can't fail half-way: columns must be nothrow destructible");

    using base = detail::interface_of<columns<Cs...>, Traits>;
    using base::core;
    using base::from_here;

    /// Whether it is the type of exactly one column.
    template <class C>
    static constexpr bool is_column = detail::occurrences_of<std::remove_const_t<C>, Cs...> == 1;
    template <class C>
    static constexpr std::size_t index_of = detail::index_of<std::remove_const_t<C>, Cs...>();

    /// Whether it returns arguments from which a row can be made.
    template <class Make>
    static constexpr bool can_make = detail::row_factory_of<Make, columns<Cs...>, typename base::handle_type>;

public:
    /// The types that the functions of the pool take and return.
    using typename base::const_pointer;
    using typename base::const_reference;
    using typename base::entry_type;
    using typename base::handle_type;
    using typename base::pointer;
    using typename base::reference;
    /// Iterators over the rows of the dense store.
    using iterator = detail::row_iterator<Cs...>;
    using const_iterator = detail::row_iterator<const Cs...>;

    /// The type of the column of this index.
    template <std::size_t Index>
    using column_type = detail::type_at<Index, Cs...>;

    /// An empty pool. Throws like the constructor of pool.
    explicit pool(const pool_options& options)
        requires(!base::is_view)
        : base(options) {}

    /// Destroys all rows. No other thread may be using the pool.
    ~pool() = default;

    /// For exclusive_access(), and for a spawner.
    explicit pool(typename base::view_origin of)
        requires(base::is_view)
        : base(of) {}

    /// Explains why no pool can have these options; empty when one can.
    static std::string validate(const pool_options& options) { return base::core_type::validate(options); }

    // ---- Handles: any thread, at any time, also while a compaction runs

    /// Creates a row, each element from one argument, and returns its handle. Where each argument has the
    /// type of exactly one column, and no two the same, they are matched by type, in any order; otherwise
    /// they are for the first columns, in order. Elements without an argument are value-initialized.
    ///
    /// Elements are made in the order of the columns, and destroyed in the opposite one. When one throws,
    /// those before it are destroyed, and nothing has changed.
    template <class... Args>
        requires(detail::row_arguments<columns<Cs...>, Args && ...>::suffice())
    HANDLEPOOL_ALWAYS_INLINE handle_type emplace(Args&&... args) {
        return base::made_or_throw(try_emplace(std::forward<Args>(args)...));
    }

    /// Like emplace(), but returns the null handle where that throws an error of its own; then `args` were
    /// not touched.
    template <class... Args>
        requires(detail::row_arguments<columns<Cs...>, Args && ...>::suffice())
    HANDLEPOOL_ALWAYS_INLINE handle_type try_emplace(Args&&... args) {
        return handle_type::from_value(
            core().create(detail::row_maker_from<columns<Cs...>>(std::forward<Args>(args)...), from_here()));
    }

    /// Like emplace(), but returns the row too, which is valid within the frame contract.
    template <class... Args>
        requires(detail::row_arguments<columns<Cs...>, Args && ...>::suffice())
    HANDLEPOOL_ALWAYS_INLINE entry_type emplace_entry(Args&&... args) {
        return base::entry_of(emplace(std::forward<Args>(args)...));
    }

    /// Creates a row from the arguments that `make(handle)` returns as a std::tuple, so that it can know its
    /// own handle. The handle is reserved until the row is complete; when `make` or an element throws, it
    /// never resolves. try_emplace_with() returns the null handle where emplace_with() throws an error of the
    /// pool.
    template <class Make>
        requires(can_make<Make>)
    HANDLEPOOL_ALWAYS_INLINE handle_type emplace_with(Make&& make) {
        return base::made_or_throw(try_emplace_with(std::forward<Make>(make)));
    }
    template <class Make>
        requires(can_make<Make>)
    HANDLEPOOL_ALWAYS_INLINE handle_type try_emplace_with(Make&& make) {
        return handle_type::from_value(core().create_with(
            [&](detail::row_address place, auto value) {
                detail::make_row_by<columns<Cs...>>(
                    place, [&] { return std::forward<Make>(make)(handle_type::from_value(value)); });
            },
            from_here()));
    }

    /// Creates `count` rows, each like emplace, and writes their handles to `out`; returns the end of what
    /// was written. All or nothing; try_emplace_n() returns nothing where emplace_n throws an error of the
    /// pool.
    template <class OutputIt, class... Args>
        requires(detail::row_arguments<columns<Cs...>, const Args&...>::suffice() &&
                 std::output_iterator<OutputIt, handle_type>)
    HANDLEPOOL_ALWAYS_INLINE OutputIt emplace_n(std::size_t count, OutputIt out, const Args&... args) {
        return base::made_or_throw(try_emplace_n(count, std::move(out), args...));
    }
    template <class OutputIt, class... Args>
        requires(detail::row_arguments<columns<Cs...>, const Args&...>::suffice() &&
                 std::output_iterator<OutputIt, handle_type>)
    HANDLEPOOL_ALWAYS_INLINE std::optional<OutputIt> try_emplace_n(std::size_t count, OutputIt out,
                                                                   const Args&... args) {
        return detail::emplace_n<handle_type>(core(), from_here(), count, std::move(out),
                                              detail::row_maker_from<columns<Cs...>>(args...));
    }

    /// Creates `count` different rows: `make(i)`, for i from 0 on, returns the arguments of each as a
    /// std::tuple. For functions from which no element can be made itself. Otherwise like emplace_n() with
    /// arguments.
    template <class OutputIt, class Make>
        requires(detail::row_factory_of<Make, columns<Cs...>, std::size_t> &&
                 !detail::row_arguments<columns<Cs...>, const Make&>::suffice() &&
                 std::output_iterator<OutputIt, handle_type>)
    HANDLEPOOL_ALWAYS_INLINE OutputIt emplace_n(std::size_t count, OutputIt out, Make make) {
        return base::made_or_throw(try_emplace_n(count, std::move(out), std::move(make)));
    }
    template <class OutputIt, class Make>
        requires(detail::row_factory_of<Make, columns<Cs...>, std::size_t> &&
                 !detail::row_arguments<columns<Cs...>, const Make&>::suffice() &&
                 std::output_iterator<OutputIt, handle_type>)
    HANDLEPOOL_ALWAYS_INLINE std::optional<OutputIt> try_emplace_n(std::size_t count, OutputIt out,
                                                                   Make make) {
        return detail::emplace_n<handle_type>(core(), from_here(), count, std::move(out),
                                              [&make, i = std::size_t{0}](detail::row_address place) mutable {
                                                  detail::make_row_by<columns<Cs...>>(
                                                      place, [&] { return make(i++); });
                                              });
    }

    // ---- Handles before rows: any thread, at any time, also while a compaction runs

    /// Creates the row of a reserved handle from the arguments of emplace(). When an element throws, the
    /// handle is still reserved. try_fulfill() returns false where fulfill() throws an error of its own.
    template <class... Args>
        requires(detail::row_arguments<columns<Cs...>, Args && ...>::suffice())
    HANDLEPOOL_ALWAYS_INLINE void fulfill(handle_type handle, Args&&... args) {
        base::fulfill_or_throw(handle, detail::row_maker_from<columns<Cs...>>(std::forward<Args>(args)...),
                               from_here());
    }
    template <class... Args>
        requires(detail::row_arguments<columns<Cs...>, Args && ...>::suffice())
    HANDLEPOOL_ALWAYS_INLINE bool try_fulfill(handle_type handle, Args&&... args) {
        return base::fulfilled(handle, detail::row_maker_from<columns<Cs...>>(std::forward<Args>(args)...),
                               from_here());
    }

    // ---- Rows: within the frame contract

    /// A column of the dense store: its elements in the rows that were alive at the last compaction,
    /// contiguous. A row has the same position in all columns.
    template <std::size_t Index>
        requires(Index < sizeof...(Cs))
    std::span<const column_type<Index>> items() const noexcept {
        return {first<Index>(), core().store().dense_size()};
    }
    template <class C>
        requires is_column<C>
    std::span<const C> items() const noexcept {
        return items<index_of<C>>();
    }

    /// A column of the dense store, for loops that change elements. Handles name positions: elements must
    /// never be reordered except by sort().
    template <std::size_t Index>
        requires(Index < sizeof...(Cs))
    std::span<column_type<Index>> mutable_items() noexcept {
        return {first<Index>(), core().store().dense_size()};
    }
    template <class C>
        requires is_column<C>
    std::span<C> mutable_items() noexcept {
        return mutable_items<index_of<C>>();
    }

    /// Iterators over the rows of the dense store, which may be changed but not reordered.
    iterator begin() noexcept { return iterator(place_at(0)); }
    iterator end() noexcept { return iterator(place_at(core().store().dense_size())); }
    const_iterator begin() const noexcept { return const_iterator(place_at(0)); }
    const_iterator end() const noexcept { return const_iterator(place_at(core().store().dense_size())); }
    const_iterator cbegin() const noexcept { return begin(); }
    const_iterator cend() const noexcept { return end(); }

    /// Calls `body(element...)` for each row of the dense store, with its elements in the columns named, or
    /// in all columns when none is. A column named as `const C`, and every column of a const pool, is passed
    /// as `const C&`. Reads no column but those. The body may create and erase.
    /// Progress: linear.
    /// Throws what the body throws.
    template <class... Columns, class Body>
        requires((is_column<Columns> && ...))
    void for_each(Body body) {
        loop_over<Columns...>(*this, body)(0, core().store().dense_size());
    }
    template <class... Columns, class Body>
        requires((is_column<Columns> && ...))
    void for_each(Body body) const {
        loop_over<Columns...>(*this, body)(0, core().store().dense_size());
    }

    /// Like for_each(body), run by an executor, which may call `body` in several threads at once; the first
    /// exception of these reaches the caller. Parts of the loop never share a cache line.
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

    /// The handle of the row that has this element, in whatever column, whether it is in items() yet or not;
    /// stale when the row was erased since. Null for an object that is not in the pool.
    template <class C>
        requires(detail::occurrences_of<C, Cs...> != 0)
    handle_type handle_of(const C& element) const noexcept {
        return handle_type::from_value(core().store().handle_of(std::addressof(element)));
    }

private:
    /// The place of a row of the dense store, or of its end.
    detail::row_address place_at(std::size_t position) const noexcept {
        detail::row_address place = core().store().first().place();
        place.position += position;
        return place;
    }

    /// The first element of a column.
    template <std::size_t Index>
    column_type<Index>* first() const noexcept {
        return std::addressof(core().store().first()->template get<Index>());
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
        const std::size_t size = core().store().dense_size();
        detail::for_ranges_or_throw<typename base::policy>(
            executor, (size + group - 1) / group, (base::policy::compaction_grain + group - 1) / group,
            [loop, size](std::size_t begin, std::size_t end) {
                loop(begin * group, detail::least(end * group, size));
            });
    }
};

} // namespace handlepool

/// size() counts all living rows, iteration goes over those of the dense store.
template <class... Cs, class Traits>
inline constexpr bool std::ranges::disable_sized_range<handlepool::pool<handlepool::columns<Cs...>, Traits>> =
    true;
