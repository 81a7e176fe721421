// SPDX-License-Identifier: MIT

// Recording of real programs, most of them record_fixture.cpp.

#include "record_fixture.hpp"
#include "traces/record/converter.hpp"
#include "traces/record/recorder.hpp"
#include "traces/trace.hpp"
#include "traces/trace_file.hpp"

#include <gtest/gtest.h>
#include <tests/support/message_of.hpp>
#include <tests/support/paths.hpp>
#include <tests/support/scratch_directory.hpp>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::stress {
namespace {

class recording : public testing::Test {
protected:
    record_options options_for(std::vector<std::string> command) const {
        return {.command = std::move(command),
                .output = directory_ / "trace.zst",
                .library = support::paths::record_library};
    }

    // Records the fixture doing `what`; the trace goes to `trace_`.
    record_result record_fixture(const std::string& what) {
        const record_options options = options_for({support::paths::record_fixture, what});
        const record_result result = record(options);
        trace_ = read_trace(options.output);
        return result;
    }

    std::string error_of(const record_options& options) const {
        const std::string error = test::message_of<record_error>([&] { record(options); });
        EXPECT_NE(error, "");
        EXPECT_TRUE(std::filesystem::is_empty(directory_) || options.output.parent_path() != directory_);
        return error;
    }

    struct found {
        int allocated{};
        int freed{};
        int freed_by_others{};
        std::set<std::uint32_t> threads; // that allocated
    };

    // What happened to the objects of `size` bytes.
    found find(std::size_t size) const {
        found result;
        std::vector<trace_event> allocations;
        for (const trace_event& event : trace_.events) {
            if (event.kind() == event_kind::allocate) {
                allocations.push_back(event);
                if (event.size() == size) {
                    ++result.allocated;
                    result.threads.insert(event.thread());
                }
            } else if (const trace_event& allocation = allocations[event.object()];
                       allocation.size() == size) {
                ++result.freed;
                result.freed_by_others += allocation.thread() != event.thread() ? 1 : 0;
            }
        }
        return result;
    }

    void expect_times(std::size_t size, int times) const {
        const found all = find(size);
        EXPECT_EQ(all.allocated, times) << size << " bytes";
        EXPECT_EQ(all.freed, times) << size << " bytes";
    }

    const support::scratch_directory scratch_;
    const std::filesystem::path& directory_ = scratch_.path();
    trace trace_;
};

TEST_F(recording, records_objects_that_cross_threads) {
    const record_result result = record_fixture("cross");
    EXPECT_EQ(result.exit_status, 0);
    EXPECT_EQ(result.signal, std::nullopt);
    EXPECT_FALSE(result.truncated);
    EXPECT_EQ(result.inferred_frees, 0u);
    EXPECT_EQ(result.summary.events, trace_.events.size());
    EXPECT_EQ(trace_.header.command, (std::vector<std::string>{support::paths::record_fixture, "cross"}));
    expect_times(fixture::crossing_size, fixture::crossing_objects);
    EXPECT_EQ(find(fixture::crossing_size).freed_by_others, fixture::crossing_objects);
    EXPECT_EQ(find(fixture::crossing_size).threads.size(), 1u);
    EXPECT_GE(result.summary.cross_thread_frees, std::uint64_t{fixture::crossing_objects});
}

TEST_F(recording, records_threads_that_come_and_go) {
    const record_result result = record_fixture("many");
    EXPECT_EQ(result.exit_status, 0);
    constexpr int threads = fixture::rounds * fixture::threads_in_round;
    expect_times(fixture::churned_size, threads * fixture::churned_objects);
    EXPECT_EQ(find(fixture::churned_size).threads.size(), std::size_t{threads});
    // An order that is wrong anywhere shows as an address allocated twice, or freed while it is free.
    EXPECT_EQ(result.inferred_frees, 0u);
    EXPECT_EQ(result.dropped_frees, 0u);
}

TEST_F(recording, records_every_function) {
    const record_result result = record_fixture("functions");
    EXPECT_EQ(result.exit_status, 0);
    for (std::size_t size :
         {fixture::malloc_size, fixture::calloc_size, fixture::realloc_from_size, fixture::realloc_to_size,
          fixture::reallocarray_size, fixture::posix_memalign_size, fixture::aligned_alloc_size,
          fixture::kept_size, fixture::early_size}) {
        expect_times(size, 1);
    }
    EXPECT_EQ(result.inferred_frees, 0u);
    EXPECT_EQ(result.dropped_frees, 0u);
}

// Nothing may be asked of libc's allocator about another's objects.
TEST_F(recording, records_another_allocator) {
    const record_options options = options_for({support::paths::own_allocator_fixture, "functions"});
    const record_result result = record(options);
    EXPECT_EQ(result.exit_status, 0);
    EXPECT_EQ(result.signal, std::nullopt);
    EXPECT_EQ(result.dropped_frees, 0U);
    trace_ = read_trace(options.output);
    for (const std::size_t size : {fixture::malloc_size, fixture::calloc_size, fixture::realloc_from_size,
                                   fixture::realloc_to_size, fixture::kept_size}) {
        expect_times(size, 1);
    }
}

TEST_F(recording, does_not_record_children) {
    const record_result result = record_fixture("fork");
    EXPECT_EQ(result.exit_status, 0) << "1 says that a child has inherited LD_PRELOAD";
    expect_times(fixture::parent_size, 200);
    expect_times(fixture::child_size, 0);
    expect_times(fixture::early_size, 1);
    EXPECT_EQ(result.inferred_frees, 0u);
}

TEST_F(recording, survives_every_end_of_the_program) {
    for (const auto& [what, status] : {std::pair{"fail", 3}, {"exit", 4}, {"_exit", 5}, {"quick_exit", 6}}) {
        const record_result result = record_fixture(what);
        EXPECT_EQ(result.exit_status, status) << what;
        expect_times(fixture::malloc_size, 100);
    }
    const record_result killed = record_fixture("kill");
    EXPECT_EQ(killed.exit_status, std::nullopt);
    EXPECT_EQ(killed.signal, SIGKILL);
    expect_times(fixture::malloc_size, 100);
}

TEST_F(recording, stops_at_the_limit) {
    record_options options = options_for({support::paths::record_fixture, "cross"});
    options.event_limit = 1000;
    const record_result result = record(options);
    EXPECT_EQ(result.exit_status, 0);
    EXPECT_TRUE(result.truncated);
    const trace recorded = read_trace(options.output);
    EXPECT_TRUE(recorded.header.truncated);
    EXPECT_GT(recorded.events.size(), 900u);
    EXPECT_LE(recorded.events.size(), 1000u);
    EXPECT_LT(recorded.header.duration_ns, recorded.events.back().time_ns() + options.time_resolution_ns);
}

TEST_F(recording, finds_the_program_in_the_path) {
    const record_result result = record(options_for({"sh", "-c", "exit 9"}));
    EXPECT_EQ(result.exit_status, 9);
    EXPECT_GT(result.summary.allocations, 0u);
}

TEST_F(recording, refuses_a_program_that_cannot_be_run) {
    EXPECT_EQ(error_of(options_for({"no-such-program"})),
              "cannot run no-such-program: No such file or directory");
    EXPECT_EQ(error_of(options_for({"/"})), "cannot run /: Permission denied");
    EXPECT_EQ(error_of(options_for({})), "no program to record");
}

TEST_F(recording, refuses_an_output_that_cannot_be_written) {
    const std::filesystem::path ran = directory_ / "ran";
    record_options options = options_for({"touch", ran.string()});
    options.output = "/nonexistent/trace.zst";
    EXPECT_EQ(error_of(options), "cannot write /nonexistent/trace.zst: No such file or directory");
    options.output = directory_;
    EXPECT_NE(error_of(options).find("it is a directory"), std::string::npos);
    options.output = directory_ / "link";
    std::filesystem::create_symlink("/dev/null", options.output);
    EXPECT_THROW(record(options), record_error);
    EXPECT_TRUE(std::filesystem::is_symlink(options.output)) << "it was replaced";
    EXPECT_FALSE(std::filesystem::exists(ran)) << "the program was run";
}

TEST_F(recording, refuses_a_library_that_cannot_be_loaded) {
    record_options options = options_for({"true"});
    options.library = "/nonexistent/lib.so";
    EXPECT_EQ(error_of(options), "the recording library /nonexistent/lib.so does not exist");
}

TEST_F(recording, loads_a_library_whose_path_has_spaces_colons_and_dollars) {
    for (const char* const folder : {"a path: with spaces", "a$LIB", "b$ORIGIN"}) {
        record_options options = options_for({support::paths::record_fixture, "cross"});
        std::filesystem::create_directory(directory_ / folder);
        options.library = directory_ / folder / "library.so";
        std::filesystem::copy(support::paths::record_library, *options.library);
        EXPECT_EQ(record(options).exit_status, 0) << folder;
        EXPECT_GT(read_trace(options.output).events.size(), 0U) << folder;
    }
}

TEST_F(recording, refuses_limits_out_of_range) {
    record_options options = options_for({"true"});
    options.event_limit = 0;
    EXPECT_NE(error_of(options).find("event limit is 0"), std::string::npos);
    options.event_limit = 1;
    options.time_resolution_ns = 0;
    EXPECT_NE(error_of(options).find("time resolution is 0"), std::string::npos);
}

TEST_F(recording, says_that_a_static_program_was_not_recorded) {
    const std::string program = support::paths::static_record_fixture;
    if (program.empty()) {
        GTEST_SKIP() << "nothing can be linked statically here";
    }
    EXPECT_NE(error_of(options_for({program})).find("statically linked"), std::string::npos);
}

class conversion : public testing::Test {
protected:
    void add(raw_log::kind what, std::uint64_t address, std::uint32_t thread, std::uint64_t time_ns) {
        raw_log::event& event = raw_[size_++];
        event.time_ns = time_ns;
        event.address = address;
        event.size = 8;
        event.thread = thread;
        event.what = what;
    }

    trace convert_all(const record_options& options) const {
        converter events(1000, options);
        events.add(std::span(raw_).first(size_ / 2));
        events.add(std::span(raw_).subspan(size_ / 2, size_ - size_ / 2));
        return events.finish(1500);
    }

    std::array<raw_log::event, 8> raw_{};
    std::size_t size_{};
};

TEST_F(conversion, mends_what_a_recording_cannot_know) {
    using raw_log::kind;
    add(kind::free, 0xa0, 5, 1001);     // allocated before the recording
    add(kind::allocate, 0xb0, 5, 1111); // thread 5 becomes thread 0
    add(kind::none, 0, 0, 0);           // a thread that was stopped
    add(kind::allocate, 0xc0, 3, 1109); // earlier than the event before
    add(kind::allocate, 0xb0, 3, 1222); // its free is missing
    add(kind::free, 0xc0, 5, 1333);
    const trace result = convert_all({.event_limit = 100, .time_resolution_ns = 10});
    EXPECT_EQ(result.events,
              (std::vector{trace_event::allocate(110, 0, 0, 8), trace_event::allocate(110, 1, 1, 8),
                           trace_event::free(220, 1, 0), trace_event::allocate(220, 1, 2, 8),
                           trace_event::free(330, 0, 1)}));
    EXPECT_EQ(result.header,
              (trace_header{
                  .time_resolution_ns = 10, .duration_ns = 500, .dropped_frees = 1, .inferred_frees = 1}));
}

TEST_F(conversion, ends_at_the_limit) {
    using raw_log::kind;
    add(kind::allocate, 0xb0, 0, 1100);
    add(kind::allocate, 0xc0, 0, 1200);
    add(kind::allocate, 0xb0, 0, 1300);
    const trace result = convert_all({.event_limit = 3, .time_resolution_ns = 1});
    EXPECT_EQ(result.events.size(), 2u) << "the last one would need two events";
    EXPECT_TRUE(result.header.truncated);
    EXPECT_EQ(result.header.duration_ns, 200u);
}

} // namespace
} // namespace handlepool::stress
