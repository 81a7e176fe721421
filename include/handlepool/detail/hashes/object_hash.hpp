// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/hashes/hashed_content.hpp>
#include <handlepool/detail/snapshots/content_hash.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

namespace handlepool::detail {

/// A function without structure in its results: that of splitmix64 (Steele, Lea, Flood: Fast splittable
/// pseudorandom number generators, 2014).
constexpr std::uint64_t mixed(std::uint64_t number) noexcept {
    number += 0x9e37'79b9'7f4a'7c15;
    number = (number ^ (number >> 30)) * 0xbf58'476d'1ce4'e5b9;
    number = (number ^ (number >> 27)) * 0x94d0'49bb'1331'11eb;
    return number ^ (number >> 31);
}

/// Hashes an object member by member, in their order: what the program's for_each_hashed() calls with each of
/// them. Few bytes are gathered and hashed at once.
class object_hash {
public:
    object_hash() noexcept = default;
    object_hash(const object_hash&) = delete;
    object_hash& operator=(const object_hash&) = delete;

    /// Of numbers, enumerations, handles and other types without padding the bytes count; of lists the length
    /// and the elements; of all else what for_each_hashed() says.
    template <class T>
    void operator()(const T& member) {
        if constexpr (requires { for_each_hashed(member, *this); }) {
            for_each_hashed(member, *this);
        } else if constexpr (is_hashed_by_bytes<T>) {
            add(std::addressof(member), sizeof member);
        } else {
            static_assert(is_array<T> || content_list<T>,
                          "a type with padding, pointers, or members that are more than plain numbers is "
                          "hashed by a function for_each_hashed(object, hash) beside it");
            if constexpr (!is_array<T>) {
                const std::uint64_t size = member.size();
                add(&size, sizeof size);
            }
            add_each(std::span(member));
        }
    }

    std::uint64_t value() const noexcept {
        return content_hash_of(std::span(gathered_).first(size_), before_);
    }

private:
    template <class Element, std::size_t Extent>
    void add_each(std::span<Element, Extent> list) {
        if constexpr (is_hashed_by_bytes<std::remove_cv_t<Element>>) {
            add(list.data(), list.size_bytes());
        } else {
            for (const auto& each : list) {
                (*this)(each);
            }
        }
    }
    void add(const void* data, std::size_t size) noexcept {
        std::span added(static_cast<const std::byte*>(data), size);
        while (size_ + added.size() > gathered_.size()) {
            const std::size_t fits = gathered_.size() - size_;
            std::ranges::copy(added.first(fits), gathered_.begin() + static_cast<std::ptrdiff_t>(size_));
            added = added.subspan(fits);
            before_ = content_hash_of(gathered_, before_);
            size_ = 0;
        }
        std::ranges::copy(added, gathered_.begin() + static_cast<std::ptrdiff_t>(size_));
        size_ += added.size();
    }

    template <class T>
    static constexpr bool is_hashed_by_bytes = is_content<T> && !has_members_beside<T, object_hash>;

    std::array<std::byte, 240> gathered_; // up to which XXH3 takes a seed at no cost
    std::size_t size_ = 0;
    std::uint64_t before_ = 0; // the hash of what was gathered and hashed before
};

/// The hash of an object's content: what `members(object, hash)` names, or for_each_hashed() beside its type,
/// or its bytes.
template <class T, class Members>
std::uint64_t hash_of(const T& object, const Members& members) {
    object_hash hash;
    if constexpr (!std::is_same_v<Members, members_beside_type>) {
        members(object, hash);
    } else if constexpr (is_content<T> && !has_members_beside<T, object_hash>) {
        return content_hash_of(std::as_bytes(std::span(std::addressof(object), 1)));
    } else {
        hash(object);
    }
    return hash.value();
}

} // namespace handlepool::detail
