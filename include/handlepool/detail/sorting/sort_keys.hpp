// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/contract.hpp>
#include <handlepool/detail/base/invoke_const.hpp>
#include <handlepool/detail/base/scratch_array.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/// What is sorted in place of the objects: an *entry* for each, with the object's position and perhaps its
/// key. A *criterion* makes entries, in any order and by several threads, and knows which of two is less.
/// Of equal ones the one with the lower position comes first: so every algorithm finds the same order, a
/// stable one.
///
/// `Read` returns the object at a position for functions that must not change it, and can ask for its memory
/// ahead.
namespace handlepool::detail {

/// An entry without a key.
struct position_entry {
    std::uint32_t where;

    std::uint32_t position() const noexcept { return where; }
};

/// What a message calls the comparisons that a criterion makes.
struct comparison_names {
    std::string_view a_with_a;
    std::string_view a_with_b;
    std::string_view b_with_a;
};
inline constexpr comparison_names comparisons_of_objects{"compare(a, a)", "compare(a, b)", "compare(b, a)"};
inline constexpr comparison_names comparisons_of_keys{"key(a) < key(a)", "key(a) < key(b)",
                                                      "key(b) < key(a)"};

/// The criterion that compares the objects.
template <class Compare, class Read>
class by_comparison {
public:
    using entry = position_entry;
    /// Whether make() asks the objects.
    static constexpr bool reads = false;
    static constexpr const comparison_names& names = comparisons_of_objects;

    by_comparison(Compare& compare, Read read, std::size_t) : compare_(compare), read_(read) {}

    entry make(std::uint32_t position) const noexcept { return {position}; }

    bool less(entry a, entry b) const {
        return static_cast<bool>(invoke_const(compare_, read_(a.where), read_(b.where)));
    }
    void prefetch(entry one) const noexcept { read_.prefetch(one.where); }

private:
    Compare& compare_;
    Read read_;
};

/// Whether Key is a number of at most 32 bits.
template <class Key>
inline constexpr bool is_short_number =
    (std::is_integral_v<Key> && sizeof(Key) <= sizeof(std::uint32_t)) ||
    (std::is_same_v<Key, float> && sizeof(float) == 4 && std::numeric_limits<float>::is_iec559);

/// Such a number as an unsigned one in the same order.
template <class Key>
std::uint32_t ordered_bits(Key key) noexcept {
    constexpr std::uint32_t sign = 0x8000'0000;
    if constexpr (std::is_same_v<Key, float>) {
        auto bits = std::bit_cast<std::uint32_t>(key);
        bits = bits == sign ? 0 : bits; // -0 equals 0
        return (bits & sign) != 0 ? ~bits : bits | sign;
    } else if constexpr (std::is_signed_v<Key>) {
        return static_cast<std::uint32_t>(static_cast<std::int32_t>(key)) ^ sign;
    } else {
        return static_cast<std::uint32_t>(key);
    }
}

/// The criterion for such keys, which stand above the position in one word.
template <class Key, class Read>
class by_short_number {
public:
    struct entry {
        static constexpr bool has_digits = true; // radix_sort knows them
        std::uint64_t word;

        std::uint32_t position() const noexcept { return static_cast<std::uint32_t>(word); }
    };
    static constexpr bool reads = true;
    static constexpr const comparison_names& names = comparisons_of_keys;

    by_short_number(Key& key, Read read, std::size_t) : key_(key), read_(read) {}

    entry make(std::uint32_t position) const {
        return {std::uint64_t{ordered_bits(invoke_const(key_, read_(position)))} << 32 | position};
    }

    bool less(entry a, entry b) const noexcept { return a.word >> 32 < b.word >> 32; }
    /// The position is a part of the word.
    static bool before(entry a, entry b) noexcept { return a.word < b.word; }

private:
    Key& key_;
    Read read_;
};

/// The criterion for keys that entries can hold.
template <class Value, class Key, class Read>
class by_small_key {
public:
    struct entry {
        Value key;
        std::uint32_t where;

        std::uint32_t position() const noexcept { return where; }
    };
    static constexpr bool reads = true;
    static constexpr const comparison_names& names = comparisons_of_keys;

    by_small_key(Key& key, Read read, std::size_t) : key_(key), read_(read) {}

    entry make(std::uint32_t position) const {
        return {static_cast<Value>(invoke_const(key_, read_(position))), position};
    }

    bool less(const entry& a, const entry& b) const { return static_cast<bool>(a.key < b.key); }

private:
    Key& key_;
    Read read_;
};

/// The criterion for keys of any other type, which stand beside the entries. They are copies, also of what
/// the function returns by reference, which may refer to something that the next call changes.
template <class Value, class Key, class Read>
class by_large_key {
public:
    using entry = position_entry;
    static constexpr bool reads = true;
    static constexpr const comparison_names& names = comparisons_of_keys;

    /// Throws std::bad_alloc.
    by_large_key(Key& key, Read read, std::size_t count)
        : key_(key),
          read_(read),
          made_(count),
          values_(
              static_cast<Value*>(::operator new(count * sizeof(Value), std::align_val_t{alignof(Value)}))) {
        for (std::size_t i = 0; i != count; ++i) {
            made_[i] = false;
        }
    }
    ~by_large_key() {
        for (std::size_t i = 0; i != made_.size(); ++i) {
            if (made_[i]) {
                values_[i].~Value();
            }
        }
        ::operator delete(values_, std::align_val_t{alignof(Value)});
    }

    by_large_key(const by_large_key&) = delete;
    by_large_key& operator=(const by_large_key&) = delete;

    entry make(std::uint32_t position) {
        ::new (static_cast<void*>(values_ + position)) Value(invoke_const(key_, read_(position)));
        made_[position] = true;
        return {position};
    }

    bool less(entry a, entry b) const { return static_cast<bool>(values_[a.where] < values_[b.where]); }
    void prefetch(entry one) const noexcept { detail::prefetch(values_, one.where); }

private:
    Key& key_;
    Read read_;
    scratch_array<bool> made_; // which of the keys live: any may be the one that throws
    Value* values_;
};

/// The order of a criterion's entries, for sorts.
template <class Criterion>
class order_of {
public:
    using entry = typename Criterion::entry;

    explicit order_of(const Criterion& criterion) noexcept : criterion_(&criterion) {}

    bool operator()(const entry& a, const entry& b) const {
        if constexpr (requires { Criterion::before(a, b); }) {
            return Criterion::before(a, b);
        } else {
            return a.position() < b.position() ? !criterion_->less(b, a) : criterion_->less(a, b);
        }
    }

    /// Returns whether `b` may follow `a`, whose position is lower. Where the order contradicts itself,
    /// either answer will do: so what was sorted by it is in sequence.
    bool in_sequence(const entry& a, const entry& b) const {
        return !criterion_->less(b, a) || (!is_order && criterion_->less(a, b));
    }

    /// Asks for what the comparison of an entry will read, where that is not in the entry.
    void prefetch(const entry& one) const noexcept
        requires requires(const Criterion& criterion) { criterion.prefetch(one); }
    {
        criterion_->prefetch(one);
    }

private:
    // Numbers can't contradict themselves.
    static constexpr bool is_order = requires(const entry& a) { Criterion::before(a, a); };

    const Criterion* criterion_;
};

/// Whether entries can hold the key, for sorts assign them.
template <class Value>
inline constexpr bool is_small_key =
    std::is_trivially_copyable_v<Value> && std::is_copy_assignable_v<Value> &&
    std::is_move_assignable_v<Value> && sizeof(Value) <= 16 && alignof(Value) <= 16;

/// The criterion for keys that `Key` reads.
template <class Key, class Read,
          class Value = std::remove_cvref_t<decltype(invoke_const(std::declval<Key&>(),
                                                                  std::declval<Read&>()(std::uint32_t{})))>>
using by_key = std::conditional_t<
    is_short_number<Value>, by_short_number<Key, Read>,
    std::conditional_t<is_small_key<Value>, by_small_key<Value, Key, Read>, by_large_key<Value, Key, Read>>>;

/// In a checked build, ends the program with a message when the comparison that found an order is no strict
/// weak order. `entry_at(i)` is the entry that comes as number i, `position_of(entry)` where its object is.
///
/// Asks each of `count` entries whether it is less than itself, and looks whether it is less than entries
/// before it, at distances of powers of two: three comparisons an entry. What contradicts itself only in
/// pairs that are not looked at is not found.
template <class Criterion, class EntryAt, class PositionOf>
void expect_strict_weak_order(const Criterion& criterion, std::size_t count, EntryAt entry_at,
                              PositionOf position_of, std::string_view pool) {
    if constexpr (checked) {
        const auto end_program = [&](const std::string& seen) {
            contract_violated(pool, "sorted by what is no strict weak order: " + seen);
        };
        const comparison_names& names = Criterion::names;
        for (std::size_t i = 0; i != count; ++i) {
            const auto a = entry_at(i);
            if (criterion.less(a, a)) {
                end_program(std::string(names.a_with_a) + " is true for the object at position " +
                            std::to_string(position_of(a)));
            }
        }
        for (std::size_t distance = 1; distance < count; distance *= 2) {
            for (std::size_t i = distance; i < count; i += distance) {
                const auto a = entry_at(i - distance);
                const auto b = entry_at(i);
                if (criterion.less(b, a)) {
                    end_program(std::string(names.b_with_a) + " is true, and " +
                                (criterion.less(a, b) ? std::string(names.a_with_b) + " is true"
                                                      : std::string("others put a before b")) +
                                ", for the objects a at position " + std::to_string(position_of(a)) +
                                " and b at position " + std::to_string(position_of(b)));
                }
            }
        }
    }
}

} // namespace handlepool::detail
