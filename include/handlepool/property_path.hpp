// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

/// Paths of properties, as hashes.
namespace handlepool {

/// The part of a path that a bag stores: a hash of 32 bits.
enum class property_hash : std::uint32_t {};

namespace detail {

// FNV-1a of 64 bits (Fowler, Noll and Vo, draft-eastlake-fnv).
constexpr std::uint64_t hash_of_key(std::string_view key) noexcept {
    std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
    for (const char each : key) {
        hash = (hash ^ static_cast<unsigned char>(each)) * 0x0000'0100'0000'01b3;
    }
    return hash;
}

// A step of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014): each
// bit depends on each bit of both, and on which is which.
constexpr std::uint64_t hash_of_path(std::uint64_t parent, std::uint64_t key) noexcept {
    std::uint64_t mixed = (parent ^ key) + 0x9e37'79b9'7f4a'7c15 * (parent | 1);
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58'476d'1ce4'e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d0'49bb'1331'11eb;
    return mixed ^ (mixed >> 31);
}

} // namespace detail

/// The path of a property: one key or more, of which only a hash is kept. Each key is hashed, and then the
/// hashes together; so a key may contain anything, a dot or a slash too:
///
///     using namespace handlepool::property_literals;
///     constexpr auto health = "stats"_key / "health";
///
/// The hashes are the same in each process and version, since files hold them. 64 bits are known here; bags
/// hold 32, and a key_table refuses two paths that agree in those. A value: any thread, at any time; linear
/// in the length of the keys, and computed by the compiler where they are constants.
class property_path {
public:
    /// A path of one key.
    explicit constexpr property_path(std::string_view key) noexcept
        : hash_(detail::hash_of_path(0, detail::hash_of_key(key))) {}

    /// The path that goes on with another key.
    friend constexpr property_path operator/(property_path path, std::string_view key) noexcept {
        path.hash_ = detail::hash_of_path(path.hash_, detail::hash_of_key(key));
        return path;
    }

    /// The hash that bags store.
    constexpr property_hash hash() const noexcept {
        return static_cast<property_hash>(static_cast<std::uint32_t>(hash_));
    }
    constexpr operator property_hash() const noexcept { return hash(); }

    /// By all 64 bits.
    friend constexpr bool operator==(property_path, property_path) noexcept = default;

private:
    std::uint64_t hash_;
};

/// For `using namespace handlepool::property_literals`.
namespace property_literals {

/// The path of one key, hashed by the compiler.
consteval property_path operator""_key(const char* key, std::size_t length) noexcept {
    return property_path(std::string_view(key, length));
}

} // namespace property_literals

} // namespace handlepool
