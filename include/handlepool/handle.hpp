// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/contract.hpp>
#include <handlepool/fwd.hpp>

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <typeindex> // for std::hash, at a tenth of the lines of <functional>

namespace handlepool {

/// How the bits of a handle are divided, from the lowest: index, generation, pool id, and user bits if there
/// are any. Generation and pool id together are the handle's *tag*: the slot that the index names holds the
/// tag of its only valid handle.
///
///     | user bits | pool id | generation | index |
///
/// Widths that add up to less than a word leave its upper bits 0: 53 bits survive a double.
///
/// User bits belong to the program: a team, a kind, a colour of a graph's node. Pools ignore them. They take
/// handles with any user bits, and give out handles whose user bits are 0.
///
/// The lowest bit of a generation is 1 exactly while the object is alive. Generations 2^n - 2 and 2^n - 1 are
/// never alive: erasing the last living one can't carry into the pool id, and ~0 is never a valid handle.
template <unsigned IndexBits, unsigned GenerationBits, unsigned PoolIdBits, unsigned UserBits>
struct HANDLEPOOL_EXPORT handle_layout {
    static_assert(IndexBits <= 64 && GenerationBits <= 64 && PoolIdBits <= 64 && UserBits <= 64 &&
                      IndexBits + GenerationBits + PoolIdBits + UserBits <= 64,
                  "the widths of a handle's parts, user bits included, add up to 64 bits at the most");
    static_assert(GenerationBits + PoolIdBits <= 32, "generation and pool id share one 32-bit word");
    static_assert(IndexBits >= 1, "an index needs a bit");
    static_assert(GenerationBits >= 2, "a generation needs a bit beside the one for being alive");
    static_assert(PoolIdBits >= 1, "without a pool id, a handle of another pool can't be distinguished");

    /// The width of a handle, and the words that hold a handle and a tag.
    static constexpr unsigned bits = IndexBits + GenerationBits + PoolIdBits + UserBits;
    using value_type = std::conditional_t<(bits > 32), std::uint64_t, std::uint32_t>;
    using tag_type = std::uint32_t;

    /// This layout without a key; see keyed_layout.
    using unkeyed = handle_layout;

    /// Widths of the parts.
    static constexpr unsigned index_bits = IndexBits;
    static constexpr unsigned generation_bits = GenerationBits;
    static constexpr unsigned pool_id_bits = PoolIdBits;
    static constexpr unsigned user_bits = UserBits;
    /// Width of what names the object: all but the user bits.
    static constexpr unsigned naming_bits = bits - user_bits;

    /// The largest value of each part.
    static constexpr value_type index_mask = static_cast<value_type>((value_type{1} << index_bits) - 1);
    static constexpr tag_type generation_mask =
        static_cast<tag_type>((std::uint64_t{1} << generation_bits) - 1);
    static constexpr tag_type pool_id_mask = static_cast<tag_type>((std::uint64_t{1} << pool_id_bits) - 1);
    static constexpr value_type user_mask = static_cast<value_type>((std::uint64_t{1} << user_bits) - 1);

    /// The last generation that an object can have; after it, the slot is used up.
    static constexpr tag_type last_generation = generation_mask - 2;

    /// The limits that follow from the widths: slots that a handle can name, pools that it can distinguish,
    /// and objects that one slot can have, one after the other, before it is used up.
    static constexpr std::uint64_t slot_count = std::uint64_t{1} << index_bits;
    static constexpr std::uint64_t pool_count = std::uint64_t{1} << pool_id_bits;
    static constexpr std::uint64_t objects_per_slot = (std::uint64_t{last_generation} + 1) / 2;

    /// Parts of a handle's value.
    static constexpr std::uint64_t index_of(value_type value) noexcept { return value & index_mask; }
    static constexpr tag_type tag_of(value_type value) noexcept {
        if constexpr (naming_bits == std::numeric_limits<value_type>::digits) {
            return static_cast<tag_type>(value >> index_bits);
        } else {
            constexpr value_type tag_mask =
                static_cast<value_type>((std::uint64_t{1} << (generation_bits + pool_id_bits)) - 1);
            return static_cast<tag_type>((value >> index_bits) & tag_mask);
        }
    }

    /// The user bits, 0 when the layout has none.
    static constexpr value_type user_of(value_type value) noexcept {
        if constexpr (user_bits == 0) {
            return 0;
        } else {
            return static_cast<value_type>(value >> naming_bits) & user_mask;
        }
    }

    /// The value with these user bits; those that don't fit are dropped.
    static constexpr value_type with_user(value_type value, value_type user) noexcept {
        if constexpr (user_bits == 0) {
            return value;
        } else {
            return static_cast<value_type>(without_user(value) | ((user & user_mask) << naming_bits));
        }
    }
    /// The value with no user bit set.
    static constexpr value_type without_user(value_type value) noexcept {
        if constexpr (user_bits == 0) {
            return value;
        } else {
            return static_cast<value_type>(value & ~(user_mask << naming_bits));
        }
    }

    /// Returns whether all bits that the layout doesn't use are 0.
    static constexpr bool fits(value_type value) noexcept {
        if constexpr (bits == std::numeric_limits<value_type>::digits) {
            return true;
        } else {
            return value >> bits == 0;
        }
    }

    /// The value of the handle with these parts.
    static constexpr value_type value_of(std::uint64_t index, tag_type tag) noexcept {
        return static_cast<value_type>((static_cast<value_type>(tag) << index_bits) | (index & index_mask));
    }

    /// Parts of a tag, and the tag with these parts.
    static constexpr tag_type generation_of(tag_type tag) noexcept { return tag & generation_mask; }
    static constexpr tag_type pool_id_of(tag_type tag) noexcept {
        return static_cast<tag_type>(static_cast<std::uint64_t>(tag) >> generation_bits);
    }
    static constexpr tag_type make_tag(tag_type pool_id, tag_type generation) noexcept {
        return static_cast<tag_type>(static_cast<std::uint64_t>(pool_id) << generation_bits) | generation;
    }

    /// The objects that a slot can still have after this generation, which is even.
    static constexpr std::uint64_t objects_after(tag_type generation) noexcept {
        return generation > last_generation ? 0 : (std::uint64_t{last_generation} - generation + 1) / 2;
    }

    /// Returns whether it is the tag of a living object.
    static constexpr bool is_alive(tag_type tag) noexcept { return (tag & 1U) != 0; }
    /// Returns whether it is a tag that an object can have had.
    static constexpr bool can_be_alive(tag_type tag) noexcept {
        return is_alive(tag) && generation_of(tag) <= last_generation;
    }
};

/// The state of a handle in its pool.
enum class handle_state {
    stale,    ///< names no object, and never will again
    reserved, ///< names the object that will be made for it
    alive,    ///< its object is alive
};

/// The bits of `Layout`, for handles of a type of their own: two pools of the same objects whose layouts have
/// different keys refuse each other's handles when the program is compiled. The key is any type, which need
/// not be complete:
///
///     pool<position, with_layout<keyed_layout<struct mooring>>> moorings(options);
///
/// It costs nothing at run time, and the code of the pool is shared with that of other keys.
template <class Key, class Layout>
struct keyed_layout : Layout {
    /// The tag type that makes this layout distinct.
    using key = Key;
};

/// Names one object of a pool forever: a plain value that can be copied, stored and sent, and that resolves
/// to that object or to nothing. `handle{}` is null and never resolves.
template <class T, class Layout>
class handle {
public:
    /// The type of the object, the layout of the bits, and the word that holds them.
    using element_type = T;
    using layout = Layout;
    using value_type = typename Layout::value_type;

    /// The null handle.
    constexpr handle() noexcept = default;

    /// `handle<void>`, the untyped handle, names the same object as the handle that it is made from.
    template <class Object>
        requires(std::is_void_v<T> && !std::is_void_v<Object>)
    constexpr handle(handle<Object, Layout> typed) noexcept : value_(typed.value()) {}

    /// This handle without the key of its layout, if that has one.
    template <class Object, class Keyed>
        requires(std::is_void_v<T> && !std::is_same_v<Keyed, Layout> &&
                 std::is_same_v<typename Keyed::unkeyed, Layout>)
    constexpr handle(handle<Object, Keyed> keyed) noexcept : value_(keyed.value()) {}

    /// The handle with these bits; any bits are allowed, and those that no pool gave out resolve to nothing.
    static constexpr handle from_value(value_type value) noexcept { return handle(value); }

    /// The bits, and the parts that they are divided into.
    constexpr value_type value() const noexcept { return value_; }
    constexpr std::uint64_t index() const noexcept { return Layout::index_of(value_); }
    constexpr std::uint32_t generation() const noexcept { return Layout::generation_of(tag()); }
    constexpr std::uint32_t pool_id() const noexcept { return Layout::pool_id_of(tag()); }
    /// Pool id and generation in one word.
    constexpr typename Layout::tag_type tag() const noexcept { return Layout::tag_of(value_); }

    /// The bits that the layout gives to the program; 0 when it gives none.
    constexpr std::uint64_t user() const noexcept { return Layout::user_of(value_); }

    /// This handle with other user bits, or with none. They must fit: larger values don't compile in
    /// constant expressions and end a checked program; elsewhere the bits that don't fit are dropped.
    constexpr handle with_user(std::uint64_t bits) const noexcept
        requires(Layout::user_bits != 0)
    {
        if (bits > Layout::user_mask) {
            detail::expects(false, "?", "with_user was given more bits than the handle's layout has");
        }
        return handle(Layout::with_user(value_, static_cast<value_type>(bits)));
    }
    constexpr handle without_user() const noexcept { return handle(Layout::without_user(value_)); }

    /// Returns whether the handle is not null. Only its pool can say whether the object is alive. User bits
    /// don't count: the null handle with user bits is null too.
    constexpr explicit operator bool() const noexcept { return Layout::without_user(value_) != 0; }

    /// Compare all bits; the order has no meaning beyond that. Handles of one object that may differ in user
    /// bits are compared by their without_user().
    friend constexpr bool operator==(handle, handle) noexcept = default;
    friend constexpr auto operator<=>(handle, handle) noexcept = default;

private:
    constexpr explicit handle(value_type value) noexcept : value_(value) {}

    value_type value_ = 0;
};

static_assert(sizeof(handle<int>) == 8 && std::is_trivially_copyable_v<handle<int>>);
static_assert(sizeof(handle<int, handle_layout<16, 12, 4>>) == 4);

} // namespace handlepool

/// Spreads the low bits of the index over the whole word: tables of a power of two stay balanced
/// (the finalizer of SplitMix64; Steele, Lea and Flood, "Fast splittable pseudorandom number generators").
template <class T, class Layout>
struct std::hash<handlepool::handle<T, Layout>> {
    std::size_t operator()(handlepool::handle<T, Layout> handle) const noexcept {
        std::uint64_t bits = handle.value();
        bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
        bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
        return bits ^ (bits >> 31);
    }
};
