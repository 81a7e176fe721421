// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace handlepool::stress {

// Counts what happens to the objects of a pool; it outlives them.
class lifetime_counts {
public:
    std::uint64_t deaths() const noexcept { return deaths_.load(std::memory_order::relaxed); }
    // Destructions and moves of what was no living object.
    std::uint64_t misuses() const noexcept { return misuses_.load(std::memory_order::relaxed); }

    // Relaxed, so that counting orders nothing that the pool should.
    void count_death() noexcept { deaths_.fetch_add(1, std::memory_order::relaxed); }
    void count_misuse() noexcept { misuses_.fetch_add(1, std::memory_order::relaxed); }

private:
    std::atomic<std::uint64_t> deaths_{0};
    std::atomic<std::uint64_t> misuses_{0};
};

// An object whose content follows from its number: one that is torn, half built, dead or another's is
// recognized. Its end is counted, and so is an end that comes twice. It knows where it was made.
class tracked_object {
public:
    tracked_object(lifetime_counts& where, std::uint64_t number) noexcept : counts_(&where), number_(number) {
        for (std::size_t i = 0; i < words_.size(); ++i) {
            words_[i] = word(number, i);
        }
    }
    tracked_object(tracked_object&& other) noexcept
        : counts_(other.counts_),
          number_(other.number_),
          birthplace_(other.birthplace_),
          words_(other.words_),
          state_(other.state_) {
        other.expect_alive();
        other.set_state(moved);
    }
    tracked_object& operator=(tracked_object&&) = delete;
    ~tracked_object() {
        if (state_ != moved) {
            expect_alive();
            counts_->count_death();
        }
        set_state(dead);
    }

    std::uint64_t number() const noexcept { return number_; }

    // Where it was made, and where it is.
    const void* birthplace() const noexcept { return birthplace_; }
    const void* place() const noexcept { return this; }

    // Is this the object that was made with `number`, alive and whole?
    bool is(std::uint64_t number) const noexcept {
        bool same = number_ == number && state_ == living;
        for (std::size_t i = 0; i < words_.size(); ++i) {
            same = same && words_[i] == word(number, i);
        }
        return same;
    }

private:
    static constexpr std::uint64_t living = 0x600d'0b1e'c700'11feU;
    static constexpr std::uint64_t moved = 0x0e14'0b1e'c700'11feU;
    static constexpr std::uint64_t dead = 0xdead'dead'dead'deadU;

    static constexpr std::uint64_t word(std::uint64_t number, std::size_t position) noexcept {
        return (number + 1) * 0x9e37'79b9'7f4a'7c15U + position * 0xbf58'476d'1ce4'e5b9U;
    }

    void expect_alive() const noexcept {
        if (state_ != living) {
            counts_->count_misuse();
        }
    }
    // Volatile, or the compiler drops a store to an object that ends here.
    void set_state(std::uint64_t state) noexcept { const_cast<volatile std::uint64_t&>(state_) = state; }

    lifetime_counts* counts_;
    std::uint64_t number_;
    const void* birthplace_ = this;
    std::array<std::uint64_t, 4> words_{};
    std::uint64_t state_ = living;
};

static_assert(sizeof(tracked_object) == 64);

} // namespace handlepool::stress
