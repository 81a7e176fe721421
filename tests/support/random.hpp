// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace handlepool::test {

/// Random numbers that can be had again: a failure prints the seed, and the environment variable
/// HANDLEPOOL_SEED replaces it. Belongs to the thread that made it; other threads get a fork() each.
class random_source {
public:
    explicit random_source(std::uint64_t seed = 1) : seed_(seed_from_environment(seed)), engine_(seed_) {}

    random_source(const random_source&) = delete;
    random_source& operator=(const random_source&) = delete;

    std::uint64_t seed() const { return seed_; }

    /// All 64 bits random.
    std::uint64_t bits() { return engine_(); }
    /// From 0 to `end` - 1.
    std::uint64_t below(std::uint64_t end) {
        return std::uniform_int_distribution<std::uint64_t>(0, end - 1)(engine_);
    }
    bool one_in(std::uint64_t count) { return below(count) == 0; }

    /// An engine for another thread, which can't report through this one.
    std::mt19937_64 fork() { return std::mt19937_64(engine_()); }

private:
    static std::uint64_t seed_from_environment(std::uint64_t otherwise) {
        const char* const wanted = std::getenv("HANDLEPOOL_SEED");
        return wanted != nullptr ? std::strtoull(wanted, nullptr, 0) : otherwise;
    }

    std::uint64_t seed_;
    std::mt19937_64 engine_;
    testing::ScopedTrace trace_{__FILE__, __LINE__,
                                "run again with HANDLEPOOL_SEED=" + std::to_string(seed_)};
};

} // namespace handlepool::test
