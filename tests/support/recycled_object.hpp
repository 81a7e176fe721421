// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <tests/support/hostile_types.hpp>

#include <atomic>
#include <cstdint>

namespace handlepool::test {

/// An object of a recycling_pool that notices whatever is done to it at the wrong time. Whatever gives it a
/// value may fail, and then has given it the value half-way.
class recycled_object {
public:
    /// What became of all objects since it was made; one at a time. It outlives them, and expects none to be
    /// left at its end, nor misused.
    class counts {
    public:
        counts() { now_ = this; }
        ~counts() {
            EXPECT_EQ(destroyed(), constructed());
            EXPECT_EQ(misused(), 0);
            now_ = nullptr;
        }
        counts(const counts&) = delete;
        counts& operator=(const counts&) = delete;

        std::int64_t constructed() const { return constructed_; }
        std::int64_t destroyed() const { return destroyed_; }
        std::int64_t cleared() const { return cleared_; }
        /// What was done to no object, and destructions of objects that were not cleared.
        std::int64_t misused() const { return misused_; }

        /// Lets `values` be given, and makes the next fail.
        void fail_at(std::int64_t values) { left_ = values; }
        void fail_never() { left_ = -1; }

    private:
        friend class recycled_object;
        inline static counts* now_ = nullptr;
        std::atomic<std::int64_t> constructed_{0};
        std::atomic<std::int64_t> destroyed_{0};
        std::atomic<std::int64_t> cleared_{0};
        std::atomic<std::int64_t> misused_{0};
        std::atomic<std::int64_t> left_{-1};
    };

    recycled_object() noexcept { ++seen().constructed_; }
    explicit recycled_object(std::uint64_t value) : value_(value) {
        may_fail();
        ++seen().constructed_;
    }
    recycled_object(const recycled_object&) = delete;
    recycled_object& operator=(const recycled_object&) = delete;
    recycled_object& operator=(std::uint64_t value) {
        check(value_ == 0); // only what is cleared gets a value
        value_ = half_way;
        may_fail();
        value_ = value;
        return *this;
    }
    ~recycled_object() {
        check(value_ == 0);
        ++seen().destroyed_;
        // Volatile, or the compiler drops the store to an object that ends here.
        const_cast<volatile std::uint64_t&>(pattern_) = 0;
    }

    void clear() noexcept {
        check(true);
        ++seen().cleared_;
        value_ = 0;
    }

    std::uint64_t value() const noexcept {
        check(true);
        return value_;
    }

private:
    static constexpr std::uint64_t living = 0x600d'0b1e'c700'11feU;
    static constexpr std::uint64_t half_way = 0xdead'dead'dead'deadU;

    static counts& seen() noexcept { return *counts::now_; }
    static void may_fail() {
        if (seen().left_ >= 0 && seen().left_.fetch_sub(1) == 0) {
            throw construction_failure();
        }
    }
    void check(bool right) const noexcept {
        if (!right || const_cast<const volatile std::uint64_t&>(pattern_) != living) {
            ++seen().misused_;
        }
    }

    std::uint64_t value_ = 0;
    std::uint64_t pattern_ = living;
};

} // namespace handlepool::test
