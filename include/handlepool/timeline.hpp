// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/stats.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace handlepool {

/// Records what happened when on which thread, for a trace viewer: it writes the JSON format of Chrome's
/// trace events, which chrome://tracing and ui.perfetto.dev open. Each thread has a track, by its thread
/// index, and each name that spans ask for has one.
///
/// All functions may be called by any thread at any time, and block each other briefly. Adding is amortized
/// constant and never throws, since compactions and destructors do it: an event for which there is no memory
/// is dropped and counted.
class HANDLEPOOL_EXPORT timeline {
public:
    /// The clock of all times.
    using clock = std::chrono::steady_clock;

    /// The name of a number, and its value.
    using counter = std::pair<std::string_view, std::uint64_t>;

    /// Has room for `most_events` events; later ones are only counted.
    explicit timeline(std::size_t most_events = 1'000'000) : most_events_(most_events) {}

    timeline(const timeline&) = delete;
    timeline& operator=(const timeline&) = delete;

    /// Something that took place between two moments, on the calling thread's track or on a named one. Of two
    /// spans of a track, one must contain the other, or end before it begins.
    void add_span(std::string_view name, clock::time_point begin, clock::time_point end,
                  std::string_view track = {}) noexcept {
        add_span({.first = name, .second = {}}, begin, end, track);
    }

    /// Sets the numbers of that name from now on: alive and removed for "ships", for example.
    void add_counters(std::string_view name, std::span<const counter> values) noexcept;
    void add_counters(std::string_view name, std::initializer_list<counter> values) noexcept {
        add_counters(name, std::span(values.begin(), values.size()));
    }

    /// Names the calling thread's track, which is otherwise "thread N". A later thread with the same index
    /// has the same track. Throws std::bad_alloc.
    void name_thread(std::string_view name);

    /// Events recorded.
    std::size_t size() const;

    /// Events that found no room, or no memory.
    std::size_t dropped() const;

    /// Writes all that was recorded, with times since the timeline was made. Linear. Throws std::bad_alloc,
    /// and what the stream throws.
    void write(std::ostream& out) const;
    /// Writes like write(), into a file. Throws std::system_error, which names the file; then there is no new
    /// file.
    void save(const std::filesystem::path& file) const;
    /// Like save(), but returns the error instead of throwing std::system_error. Throws std::bad_alloc.
    std::error_code try_save(const std::filesystem::path& file) const;

private:
    friend class timeline_span;
    template <executor Executor>
    friend class traced_executor;

    // A name in two parts: joining them takes memory, which may be short.
    struct joined_name {
        std::string_view first;
        std::string_view second;
    };

    struct event {
        std::string name;
        std::uint32_t track = 0;
        clock::time_point begin;
        clock::time_point end;                                       // of a span
        std::vector<std::pair<std::string, std::uint64_t>> counters; // of no span
    };

    void add_span(joined_name name, clock::time_point begin, clock::time_point end,
                  std::string_view track = {}) noexcept;
    template <class Make>
    void add(Make make) noexcept;
    void drop() noexcept;
    std::uint32_t named_track(std::string_view name);

    std::size_t most_events_;
    clock::time_point start_ = clock::now();
    mutable std::mutex mutex_; // for what follows
    std::vector<event> events_;
    std::size_t dropped_ = 0;
    std::map<std::uint32_t, std::string> thread_names_;
    std::map<std::string, std::uint32_t, std::less<>> named_tracks_;
};

/// Records the time from its construction to its destruction, on the track of the thread that destroys it.
class HANDLEPOOL_EXPORT timeline_span {
public:
    /// The timeline must outlive it. Without memory for the name, the span is dropped and counted.
    timeline_span(timeline& records, std::string_view name) noexcept;
    ~timeline_span();

    timeline_span(const timeline_span&) = delete;
    timeline_span& operator=(const timeline_span&) = delete;

private:
    timeline& records_;
    std::optional<std::string> name_; // null: there was no memory for it, and the span is dropped
    timeline::clock::time_point begin_ = timeline::clock::now();
};

/// An executor that records the compactions that it runs: their phases, each thread's share of the loops, and
/// for each pool how many objects are alive, and how many were removed by the last compaction that had
/// something to do. It needs no memory except for the events.
template <executor Executor>
class traced_executor {
public:
    /// `args` make the executor that does the work. The timeline must outlive both.
    template <class... Args>
    explicit traced_executor(timeline& records, Args&&... args)
        : timeline_(records), executor_(std::forward<Args>(args)...) {}

    /// Has the executor run the loop, and records each part.
    template <class Body>
    void for_ranges(std::size_t count, std::size_t grain, Body&& body) {
        executor_.for_ranges(count, grain, [&](std::size_t first, std::size_t last) noexcept {
            const clock::time_point begin = clock::now();
            body(first, last);
            timeline_.add_span({.first = name_of(phase_), .second = ", part"}, begin, clock::now());
        });
    }

    /// Called by the compacting thread; see phase_listener.
    void begin_compaction(std::string_view pool) noexcept {
        pool_ = pool;
        begin_ = clock::now();
        phase_begin_ = {};
    }
    void begin_phase(compaction_phase phase) noexcept {
        end_phase();
        phase_ = phase;
        phase_begin_ = clock::now();
    }
    void end_compaction(const compaction_stats& stats) noexcept {
        end_phase();
        timeline_.add_span({.first = "compact ", .second = pool_}, begin_, clock::now());
        timeline_.add_counters(pool_, {{"alive", stats.size}, {"removed", stats.removed}});
    }

private:
    using clock = timeline::clock;

    void end_phase() noexcept {
        if (phase_begin_ != clock::time_point()) {
            timeline_.add_span(name_of(phase_), phase_begin_, clock::now());
        }
    }

    timeline& timeline_;
    Executor executor_;
    std::string_view pool_; // the pool's own name, which lives as long as its compaction
    compaction_phase phase_ = {};
    clock::time_point begin_;
    clock::time_point phase_begin_;
};

} // namespace handlepool
