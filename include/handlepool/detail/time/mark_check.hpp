// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/contract.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/columns/named_columns.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// The hashes of an object's bytes, of a row one for each column; where it does not consist of them, of
/// nothing.
template <class T>
struct bytes_of_object {
    static constexpr bool has_bytes = std::is_trivially_copyable_v<T>;

    static std::size_t hash(const T* object) noexcept {
        return std::hash<std::string_view>()({reinterpret_cast<const char*>(object), sizeof(T)});
    }
    /// Calls `visit(column, hash)` for each.
    template <class Visit>
    static void for_each_hash(const T* object, Visit visit) {
        visit(std::size_t{0}, hash(object));
    }
};
template <class Void>
    requires std::is_void_v<Void>
struct bytes_of_object<Void> {
    static constexpr bool has_bytes = false;
};
template <class... Cs>
struct bytes_of_object<columns<Cs...>> {
    static constexpr bool has_bytes = (bytes_of_object<Cs>::has_bytes || ...);

    template <class Pointer, class Visit>
    static void for_each_hash(const Pointer& row, Visit visit) {
        const auto look = [&visit]<class C>(std::size_t column, const C& element) {
            if constexpr (bytes_of_object<C>::has_bytes) {
                visit(column, bytes_of_object<C>::hash(std::addressof(element)));
            }
        };
        [&]<std::size_t... Is>(std::index_sequence<Is...>) {
            (look(Is, row->template get<Is>()), ...); // by index: two columns may have one type
        }(std::index_sequence_for<Cs...>());
    }
};

/// Finds objects that have changed without a mark, in a checked build: it remembers a hash of each position's
/// object, of a row one for each column.
template <class T>
class mark_check {
public:
    static constexpr bool looks = checked && bytes_of_object<T>::has_bytes;

    /// A frame has ended. `object_at(position)` is the object there, or null; `was_written(position, column)`
    /// tells whether it is another one, or was marked, in that column; `handle_at(position)` is its handle.
    /// If there is no memory for the hashes, finds nothing in this frame and the next. Ends the program if
    /// one has changed.
    template <class ObjectAt, class WasWritten, class HandleAt>
    void end_frame(std::string_view pool, std::size_t positions, ObjectAt object_at, WasWritten was_written,
                   HandleAt handle_at) {
        const std::size_t known = hashes_.size() / hashes_of_object;
        hashes_.resize(positions * hashes_of_object);
        for (std::size_t position = 0; position != positions; ++position) {
            const auto object = object_at(position);
            if (!object) {
                continue;
            }
            bytes_of_object<T>::for_each_hash(object, [&](std::size_t column, std::size_t now) {
                std::size_t& hash = hashes_[position * hashes_of_object + column];
                if (position < known && !was_written(position, column) && hash != now) {
                    const auto handle = handle_at(position);
                    contract_violated(
                        pool,
                        name_of_handle(handle.index(), handle.generation()) + " has changed" +
                            (named_columns<T>::count == 0 ? "" : " in column " + std::to_string(column)) +
                            " without a mark in the change_log that is to tell of it");
                }
                hash = now;
            });
        }
    }
    /// Begins anew.
    void forget() noexcept { hashes_.clear(); }

private:
    static constexpr std::size_t hashes_of_object = greatest<std::size_t>(named_columns<T>::count, 1);

    std::vector<std::size_t> hashes_;
};

} // namespace handlepool::detail
