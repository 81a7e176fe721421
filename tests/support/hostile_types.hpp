// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

/// Object types that a container of any kind must cope with.
namespace handlepool::test {

/// Counts the objects that report to it. It outlives them, and expects none to be left at its end, nor
/// misused.
class census {
public:
    census() = default;
    census(const census&) = delete;
    census& operator=(const census&) = delete;
    ~census() {
        EXPECT_EQ(alive(), 0);
        EXPECT_EQ(misused(), 0);
    }

    std::int64_t born() const { return born_.load(); }
    std::int64_t died() const { return died_.load(); }
    std::int64_t alive() const { return born() - died(); }
    /// Uses and destructions of what was no living object.
    std::int64_t misused() const { return misused_.load(); }

    void count_birth() noexcept { ++born_; }
    void count_death() noexcept { ++died_; }
    void count_misuse() noexcept { ++misused_; }

private:
    std::atomic<std::int64_t> born_{0};
    std::atomic<std::int64_t> died_{0};
    std::atomic<std::int64_t> misused_{0};
};

/// Reports its life to a census; a pattern that only a living object has shows a second destruction and a use
/// after the first. Moved-from objects live on until they are destroyed.
class counted {
public:
    explicit counted(census& whose, std::uint64_t value = 0) noexcept : census_(&whose), value_(value) {
        census_->count_birth();
    }
    counted(counted&& other) noexcept : census_(other.census_), value_(other.value()) {
        census_->count_birth();
    }
    counted& operator=(counted&& other) noexcept {
        check();
        value_ = other.value();
        return *this;
    }
    ~counted() {
        check();
        census_->count_death();
        // Volatile, or the compiler drops the store to an object that ends here.
        const_cast<volatile std::uint64_t&>(pattern_) = dead;
    }

    std::uint64_t value() const noexcept {
        check();
        return value_;
    }

private:
    static constexpr std::uint64_t living = 0x600d'0b1e'c700'11feU;
    static constexpr std::uint64_t dead = 0xdead'dead'dead'deadU;

    void check() const noexcept {
        if (const_cast<const volatile std::uint64_t&>(pattern_) != living) {
            census_->count_misuse();
        }
    }

    census* census_;
    std::uint64_t value_;
    std::uint64_t pattern_ = living;
};

struct construction_failure : std::runtime_error {
    construction_failure() : std::runtime_error("the construction fails, as the test wants") {}
};

/// Lets `passes` constructions pass, and makes the next one fail; later ones pass again.
class fuse {
public:
    explicit fuse(std::int64_t passes) : left_(passes) {}

    void burn() {
        if (left_.fetch_sub(1) == 0) {
            throw construction_failure();
        }
    }

private:
    std::atomic<std::int64_t> left_;
};

/// Throws when its fuse says so, after a member was made that must be destroyed.
class throwing {
public:
    throwing(fuse& when, census& whose, std::uint64_t value = 0) : counted_(whose, value) { when.burn(); }

    std::uint64_t value() const noexcept { return counted_.value(); }

private:
    counted counted_;
};

template <std::size_t Alignment>
struct alignas(Alignment) over_aligned {
    explicit over_aligned(std::uint64_t initial = 0) noexcept : value(initial) {}

    /// Is it where its type wants it?
    bool is_aligned() const noexcept { return reinterpret_cast<std::uintptr_t>(this) % Alignment == 0; }

    std::uint64_t value;
};

class move_only {
public:
    explicit move_only(std::uint64_t value) : value_(std::make_unique<std::uint64_t>(value)) {}

    std::uint64_t value() const { return *value_; }

private:
    std::unique_ptr<std::uint64_t> value_;
};

/// An object of that many bytes, all equal to the lowest of its value.
template <std::size_t Bytes>
class sized {
public:
    explicit sized(std::uint64_t value = 0) noexcept { bytes_.fill(static_cast<unsigned char>(value)); }

    unsigned char value() const noexcept { return bytes_.front(); }
    /// Was it copied whole?
    bool is_whole() const noexcept {
        for (const unsigned char byte : bytes_) {
            if (byte != bytes_.front()) {
                return false;
            }
        }
        return true;
    }

private:
    std::array<unsigned char, Bytes> bytes_;
};

/// Calls back from its constructor and from its destructor, but not when it was moved from.
class re_entrant {
public:
    using callback = std::function<void()>;

    explicit re_entrant(const callback& at_birth, callback at_death = {}) : at_death_(std::move(at_death)) {
        if (at_birth) {
            at_birth();
        }
    }
    re_entrant(re_entrant&& other) noexcept : at_death_(std::exchange(other.at_death_, nullptr)) {}
    re_entrant& operator=(re_entrant&& other) noexcept {
        at_death_.swap(other.at_death_);
        return *this;
    }
    ~re_entrant() {
        if (at_death_) {
            at_death_();
        }
    }

private:
    callback at_death_;
};

template <class T>
inline constexpr bool pool_can_hold =
    std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>;

static_assert(pool_can_hold<counted> && pool_can_hold<throwing> && pool_can_hold<move_only> &&
              pool_can_hold<re_entrant>);
static_assert(pool_can_hold<over_aligned<64>> && pool_can_hold<over_aligned<4096>>);
static_assert(alignof(over_aligned<4096>) == 4096);
static_assert(sizeof(sized<1>) == 1 && sizeof(sized<3>) == 3 && pool_can_hold<sized<1000>>);
static_assert(!std::is_copy_constructible_v<move_only> &&
              !std::is_nothrow_constructible_v<throwing, fuse&, census&>);

} // namespace handlepool::test
