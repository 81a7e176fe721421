// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/contract.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// The hash of an object's bytes; where it does not consist of them, of nothing.
template <class T>
struct bytes_of_object {
    static constexpr bool has_bytes = std::is_trivially_copyable_v<T>;

    static std::size_t hash(const T* object) noexcept {
        return std::hash<std::string_view>()({reinterpret_cast<const char*>(object), sizeof(T)});
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

    template <class Pointer>
    static std::size_t hash(const Pointer& row) noexcept {
        std::size_t sum = 0;
        const auto add = [&sum]<class C>(const C& element) {
            if constexpr (bytes_of_object<C>::has_bytes) {
                sum = sum * 31 + bytes_of_object<C>::hash(&element);
            }
        };
        [&]<std::size_t... Is>(std::index_sequence<Is...>) {
            (add(row->template get<Is>()), ...); // by index: two columns may have one type
        }(std::index_sequence_for<Cs...>());
        return sum;
    }
};

/// Finds objects that have changed without a mark, in a checked build: it remembers a hash of each position's
/// object.
template <class T>
class mark_check {
public:
    static constexpr bool looks = checked && bytes_of_object<T>::has_bytes;

    /// A frame has ended. `object_at(position)` is the object there, or null; `was_written(position)` tells
    /// whether it is another one, or was marked; `handle_at(position)` is its handle. If there is no memory
    /// for the hashes, finds nothing in this frame and the next. Ends the program if one has changed.
    template <class ObjectAt, class WasWritten, class HandleAt>
    void end_frame(std::string_view pool, std::size_t positions, ObjectAt object_at, WasWritten was_written,
                   HandleAt handle_at) {
        const std::size_t known = hashes_.size();
        hashes_.resize(positions);
        for (std::size_t position = 0; position != positions; ++position) {
            const auto object = object_at(position);
            if (!object) {
                continue;
            }
            const std::size_t now = bytes_of_object<T>::hash(object);
            if (position < known && !was_written(position) && hashes_[position] != now) {
                const auto handle = handle_at(position);
                contract_violated(pool,
                                  name_of_handle(handle.index(), handle.generation()) +
                                      " has changed without a mark in the change_log that is to tell of it");
            }
            hashes_[position] = now;
        }
    }
    /// Begins anew.
    void forget() noexcept { hashes_.clear(); }

private:
    std::vector<std::size_t> hashes_;
};

} // namespace handlepool::detail
