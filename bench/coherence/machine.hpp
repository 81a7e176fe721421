// SPDX-License-Identifier: MIT
#pragma once

#include "address_map.hpp"
#include "caches.hpp"
#include "tally.hpp"
#include "virtual_threads.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <source_location>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace handlepool::coherence {

/// False sharing between the words of two arrays, or of one, in an operation: a thread lost a line because of
/// a word that it did not use, and wanted another one.
struct false_sharing_found {
    operation what{};
    std::string wanted;  ///< the array of the word that the thread wanted
    std::string written; ///< that of the word that another one had written
    std::uint64_t transfers = 0;
    std::string line; ///< the line with most of it, and there, as an example, two words and two threads
    std::uint32_t wanted_at = 0; ///< byte of the line
    std::uint32_t written_at = 0;
    std::uint32_t thread = 0;
    std::uint32_t writer = 0;
};

/// A line that went from cache to cache.
struct busy_line {
    std::string line;
    std::uint64_t transfers = 0;
};

/// A simulated machine: virtual threads, each with a cache; memory with names; and counts of what the caches
/// did, by operation and by array.
///
/// Atomics, plain data and arrays of sim_policy work on the machine that was made last and still is there.
/// Outside of virtual threads they do so unseen.
class machine final : cache_observer {
public:
    machine(std::size_t threads, std::uint64_t seed);
    ~machine();

    machine(const machine&) = delete;
    machine& operator=(const machine&) = delete;

    static machine* current() noexcept { return current_; }

    std::size_t threads() const noexcept { return thread_count_; }
    address_map& memory() noexcept { return memory_; }

    /// See virtual_threads. Those of a run that have ended keep their caches for the next run.
    void run(std::uint32_t first, std::uint32_t last, const std::function<void(std::uint32_t)>& body) {
        threads_.run(first, last, body);
    }
    /// The number of the virtual thread that runs; virtual_threads::none outside.
    std::uint32_t running() const noexcept { return threads_.running(); }

    // ---- For a virtual thread

    /// It is about to access this memory: others may have their turns, and then the caches do theirs.
    /// What is not in the map costs nothing.
    void access(const void* address, std::size_t bytes, access_kind kind,
                const std::source_location* site = nullptr);
    /// The same without a turn, for what is read on the way to an access.
    void touch(const void* address, std::size_t bytes, access_kind kind);
    /// Sleeps as long as the thread's cache has the line of this address, which it has read in vain: until
    /// then it would read the same again.
    void wait_for_change(const void* address);
    void turn();
    /// What the thread does from now on.
    void begin(operation what) noexcept { doing_[threads_.running()] = what; }

    /// Accesses made so far: a clock.
    std::uint64_t now() noexcept { return ++clock_; }

    // ---- Results

    /// Forgets all counts. The caches stay as they are.
    void clear_counts();
    /// Ends counting: what is not yet known of false sharing is decided. Call it before the results are read.
    void settle() { caches_.settle(); }

    /// By array, for an operation.
    std::map<std::string, tally> counts(operation what) const;
    /// By arrays and operation, those with most transfers first.
    std::vector<false_sharing_found> false_sharing() const;
    /// The lines with most transfers, at most that many.
    std::vector<busy_line> busiest_lines(std::size_t most) const;

private:
    using name_number = address_map::name_number;

    void lost(line_number line, std::uint32_t thread) override;
    void shared_falsely(const false_transfer& found) override;

    void look_up(const void* address, std::size_t bytes, access_kind kind, const address_map::range& where);
    void name_member(const void* address, std::size_t bytes, const std::source_location& site,
                     const address_map::range& where);
    tally& tally_of(operation what, name_number name);

    static constexpr unsigned purpose_shift = 8;
    static std::uint32_t purpose_of(operation what, name_number name) noexcept {
        return name << purpose_shift | static_cast<std::uint32_t>(what);
    }
    static name_number name_of(std::uint32_t purpose) noexcept { return purpose >> purpose_shift; }
    static operation operation_of(std::uint32_t purpose) noexcept {
        return static_cast<operation>(purpose & ((1U << purpose_shift) - 1));
    }

    inline static machine* current_ = nullptr;

    std::size_t thread_count_;
    virtual_threads threads_;
    caches caches_;
    address_map memory_;
    machine* before_;
    std::vector<operation> doing_;
    std::vector<line_number> waits_for_; // of threads that sleep
    std::uint64_t clock_ = 0;

    std::array<std::vector<tally>, operation_names.size()> tallies_; // by name
    std::unordered_map<line_number, std::uint64_t> transfers_;
    struct falsely {
        std::uint64_t transfers = 0;
        false_transfer latest;
    };
    // By what was wanted and what was written, and by line.
    std::map<std::pair<std::uint32_t, name_number>, std::map<line_number, falsely>> falsely_;
};

/// The operation that a virtual thread is in, as long as this lives.
class doing {
public:
    explicit doing(operation what) noexcept { machine::current()->begin(what); }
    ~doing() { machine::current()->begin(operation::other); }

    doing(const doing&) = delete;
    doing& operator=(const doing&) = delete;
};

} // namespace handlepool::coherence
