// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/memory/described_pool.hpp>
#include <handlepool/executor.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// How long the phases of compactions take, for readers of reports: of every 61st compaction, since to ask
/// for the time takes as long as a phase with little to do. Written by whoever compacts, one at a time.
class phase_times {
public:
    static constexpr std::uint64_t period = 61; // prime: programs do things every other frame, or every tenth
    static constexpr std::size_t count = static_cast<std::size_t>(compaction_phase::give_back) + 1;

    /// Another compaction begins. Returns whether its phases are timed.
    bool begin_compaction() noexcept { return compactions_++ % period == 0; }
    void end_compaction() noexcept { add(timed_, 1); }
    void add_time(compaction_phase phase, std::uint64_t nanoseconds) noexcept {
        add(nanoseconds_[static_cast<std::size_t>(phase)], nanoseconds);
    }

    void describe(described_pool& pool) const noexcept {
        pool.phase_nanoseconds = {nanoseconds_.data(), sizeof(nanoseconds_[0]), count};
        pool.timed_compactions = &timed_;
    }

private:
    std::array<std::atomic<std::uint64_t>, count> nanoseconds_{};
    std::atomic<std::uint64_t> timed_{0};
    std::uint64_t compactions_ = 0;
};

/// The time of one compaction's phases.
template <class Policy>
class phase_stopwatch {
public:
    explicit phase_stopwatch(phase_times& times) noexcept
        : times_(times), is_timed_(times.begin_compaction()) {}

    /// The phase before this one ends.
    void begin(compaction_phase phase) noexcept {
        if (is_timed_) {
            const std::uint64_t now = Policy::now();
            end_phase(now);
            phase_ = phase;
            since_ = now;
        }
    }
    /// So does the last one.
    void end(std::uint64_t now) noexcept {
        if (is_timed_) {
            end_phase(now);
            times_.end_compaction();
        }
    }

private:
    void end_phase(std::uint64_t now) noexcept {
        if (since_ != 0) {
            times_.add_time(phase_, now - since_);
        }
    }

    phase_times& times_;
    const bool is_timed_;
    compaction_phase phase_ = {};
    std::uint64_t since_ = 0; // 0: before the first phase
};

} // namespace handlepool::detail
