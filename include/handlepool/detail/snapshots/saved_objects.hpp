// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/columns/row_making.hpp>
#include <handlepool/detail/objects/construction.hpp>
#include <handlepool/detail/objects/object_type.hpp>
#include <handlepool/detail/objects/row_address.hpp>
#include <handlepool/detail/snapshots/archive_stream.hpp>
#include <handlepool/detail/snapshots/saved_elements.hpp>
#include <handlepool/detail/snapshots/saved_type.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/row.hpp>
#include <handlepool/snapshots/handle_renaming.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

/// The objects of a pool in its block: how many columns there are, and each of these. Objects that are no
/// rows are one column without a name.
namespace handlepool::detail {

/// Those of the objects of a dense pool, by position.
struct consecutive_locations {
    location operator()(std::size_t i) const noexcept { return location{static_cast<std::uint32_t>(i)}; }
};

/// Calls `visit(first, count)` for locations that follow each other, of `count` in all.
template <class LocationAt, class Visit>
void for_each_run(std::size_t count, LocationAt location_at, Visit visit) {
    if constexpr (std::is_same_v<LocationAt, consecutive_locations>) {
        if (count != 0) {
            visit(location_at(0), count); // without a look at each
        }
    } else {
        for (std::size_t i = 0, next = 0; i != count; i = next) {
            const location first = location_at(i);
            do {
                ++next;
            } while (next != count && raw(location_at(next)) == raw(first) + (next - i));
            visit(first, next - i);
        }
    }
}

/// Throws invalid_snapshot unless the column, whose header was read last, is one of rows or is none.
HANDLEPOOL_EXPORT void require_rows(const block_reader& from, const elements_header& there, bool here);

/// Objects that are no rows.
template <class T, class Archive, class... Steps>
class saved_objects {
public:
    /// Whether each can be looked into for handles, and moved.
    static constexpr bool mergeable = std::is_move_constructible_v<T>;
    /// Whether they can be the end of a payload, and lie there as in memory.
    static constexpr bool may_lie_as_in_memory = saved_elements<T, Archive, Steps...>::may_lie_as_in_memory;

    saved_objects(const object_type<T>& type, Archive archive, std::tuple<Steps...> steps)
        : elements_(type, element_names::of_objects(), std::move(archive), std::move(steps)) {}

    /// Looks at the objects at these locations, which stay as they are until write(). Throws std::bad_alloc,
    /// and what archives throw.
    template <class Parts, class LocationAt>
    void prepare(const Parts& parts, std::size_t count, LocationAt location_at) {
        count_ = count;
        elements_.prepare(count, runs_of(parts, location_at));
    }
    std::uint64_t bytes() const noexcept { return sizeof(std::uint32_t) + elements_.bytes({}); }
    template <class Parts, class LocationAt>
    void write(snapshot_writer& to, const Parts& parts, LocationAt location_at) {
        to.number(std::uint32_t{1});
        elements_.write(to, {}, runs_of(parts, location_at));
    }

    /// Throws invalid_snapshot and std::bad_alloc.
    void read(block_reader& from, std::size_t count) {
        const auto columns = from.number<std::uint32_t>();
        const elements_header there = read_elements_header(from);
        require_rows(from, there, false);
        from.require_that(columns == 1, bytes_of(there) + sizeof columns,
                          "the objects are no rows, and have " + std::to_string(columns) + " columns");
        elements_.read(from, there, count);
    }
    bool lie_as_in_memory() const noexcept { return elements_.lie_as_in_memory(); }
    std::uint64_t bytes_in_memory(std::uint64_t count) const noexcept {
        return elements_.bytes_in_memory(count);
    }
    /// Makes objects that were read, from the `first` on, at locations that follow each other.
    template <class Parts>
    void put_in(Parts& parts, std::size_t first, location where, std::size_t count = 1) noexcept {
        parts.objects.unpoison_objects(where, count);
        elements_.put_in(first, parts.objects.storage(where), count);
    }
    /// Returns what `make(maker)` returns: the maker makes the object `i` that was read, with mapped handles.
    template <class Make>
    auto make(std::size_t i, const handle_mapper& map, Make make) {
        T object = elements_.take(i);
        map_handles(object, map);
        return make(maker_from<T>(std::move(object)));
    }
    void forget(bool moved) noexcept { elements_.forget(moved); }
    void add_unknown(std::string_view, std::vector<std::string>&) const {}

private:
    template <class Parts, class LocationAt>
    auto runs_of(const Parts& parts, LocationAt location_at) const {
        return [this, &parts, location_at](auto visit) {
            for_each_run(count_, location_at, [&](location first, std::size_t length) {
                visit(parts.objects.storage(first), length);
            });
        };
    }

    saved_elements<T, Archive, Steps...> elements_;
    std::size_t count_ = 0;
};

/// What a program says of a column. The user's named_column() makes them.
template <class Archive, class... Steps>
struct column_schema {
    std::string name;
    Archive archive;
    std::tuple<Steps...> steps;
};

template <class T>
inline constexpr bool is_column_schema = false;
template <class Archive, class... Steps>
inline constexpr bool is_column_schema<column_schema<Archive, Steps...>> = true;

template <class C, class Schema>
class saved_column;

/// A column of rows, by the name that it has in files.
template <class C, class Archive, class... Steps>
class saved_column<C, column_schema<Archive, Steps...>> {
    static_assert(!std::is_same_v<Archive, no_archive> || std::is_trivially_copyable_v<C>,
                  "columns that don't consist of bytes have an archive: see named_column");
    static_assert(std::is_same_v<Archive, no_archive> || archive_of<Archive, C>,
                  "this archive is none of the column's type: see named_column");

public:
    saved_column(column_schema<Archive, Steps...>&& schema) // of one argument, as a tuple makes them
        : name(std::move(schema.name)),
          elements(object_type<C>(), element_names::of_column(name), std::move(schema.archive),
                   std::move(schema.steps)) {}

    const std::string name;
    saved_elements<C, Archive, Steps...> elements;
};

/// Objects that are rows; `Schemas` are those of their columns.
template <class Columns, class... Schemas>
class saved_rows;

template <class... Cs, class... Schemas>
class saved_rows<columns<Cs...>, Schemas...> {
public:
    static constexpr bool mergeable = (std::is_move_constructible_v<Cs> && ...);
    static constexpr bool may_lie_as_in_memory = false; // each column has an array there

    saved_rows(const object_type<columns<Cs...>>&, Schemas... schemas) : columns_(std::move(schemas)...) {}

    /// As those of saved_objects.
    template <class Parts, class LocationAt>
    void prepare(const Parts& parts, std::size_t count, LocationAt location_at) {
        count_ = count;
        for_each_column([&]<std::size_t Column>(auto& column) {
            column.elements.prepare(count, runs_of<Column>(parts, location_at));
        });
    }
    std::uint64_t bytes() const noexcept {
        return std::apply(
            [](const auto&... each) {
                return (sizeof(std::uint32_t) + ... + each.elements.bytes(each.name));
            },
            columns_);
    }
    template <class Parts, class LocationAt>
    void write(snapshot_writer& to, const Parts& parts, LocationAt location_at) {
        to.number(static_cast<std::uint32_t>(sizeof...(Cs)));
        for_each_column([&]<std::size_t Column>(auto& column) {
            column.elements.write(to, column.name, runs_of<Column>(parts, location_at));
        });
    }

    /// Columns that aren't there have their defaults.
    void read(block_reader& from, std::size_t count) {
        unknown_.clear();
        std::set<std::string_view> names;
        for (auto left = from.number<std::uint32_t>(); left != 0; --left) {
            const elements_header there = read_elements_header(from);
            require_rows(from, there, true);
            if (!names.insert(there.name).second) {
                from.refuse(bytes_of(there), element_names::of_column(there.name).all() + " is there twice");
            }
            bool known = false;
            for_each_column([&]<std::size_t Column>(auto& column) {
                if (column.name == there.name) {
                    column.elements.read(from, there, count);
                    known = true;
                }
            });
            if (!known) {
                from.bytes(there.bytes);
                unknown_.emplace_back(there.name);
            }
        }
        for_each_column([&]<std::size_t Column>(auto& column) {
            if (!names.contains(column.name)) {
                column.elements.make_defaults(from, count);
            }
        });
    }
    template <class Parts>
    void put_in(Parts& parts, std::size_t first, location where, std::size_t count = 1) noexcept {
        parts.objects.unpoison_objects(where, count);
        const row_address place = parts.objects.storage(where);
        for_each_column([&]<std::size_t Column>(auto& column) {
            column.elements.put_in(first, place.memory<type_at<Column, Cs...>>(Column), count);
        });
    }
    template <class Make>
    auto make(std::size_t i, const handle_mapper& map, Make make) {
        auto elements =
            std::apply([i](auto&... each) { return std::tuple<Cs...>(each.elements.take(i)...); }, columns_);
        return std::apply(
            [&](Cs&... each) {
                (map_handles(each, map), ...);
                return make(row_maker_from<columns<Cs...>>(std::move(each)...));
            },
            elements);
    }
    void forget(bool moved) noexcept {
        for_each_column([moved]<std::size_t Column>(auto& column) { column.elements.forget(moved); });
    }
    /// Of the columns that were read last, those that nobody has named.
    void add_unknown(std::string_view pool, std::vector<std::string>& names) const {
        for (const std::string& each : unknown_) {
            names.push_back(std::string(pool) + '.' + each);
        }
    }

private:
    /// Calls `visit.operator()<Column>(column)` for each column, in their order.
    template <class Visit>
    void for_each_column(Visit visit) {
        [&]<std::size_t... Is>(std::index_sequence<Is...>) {
            (visit.template operator()<Is>(std::get<Is>(columns_)), ...);
        }(std::index_sequence_for<Cs...>());
    }
    template <std::size_t Column, class Parts, class LocationAt>
    auto runs_of(const Parts& parts, LocationAt location_at) const {
        return [this, &parts, location_at](auto visit) {
            for_each_run(count_, location_at, [&](location first, std::size_t length) {
                visit(parts.objects.storage(first).template memory<type_at<Column, Cs...>>(Column), length);
            });
        };
    }

    std::tuple<saved_column<Cs, Schemas>...> columns_;
    std::size_t count_ = 0;
    std::vector<std::string> unknown_;
};

} // namespace handlepool::detail
