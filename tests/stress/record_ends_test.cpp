// SPDX-License-Identifier: MIT

// How a recording can end before its program, and a program before its recording: full disks, signals, an
// exec.

#include "record_fixture.hpp"
#include "traces/record/raw_log.hpp"
#include "traces/trace.hpp"
#include "traces/trace_file.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <support/programs/run_program.hpp>
#include <sys/mount.h>
#include <tests/support/paths.hpp>
#include <tests/support/scratch_directory.hpp>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace handlepool::stress {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class end_of_a_recording : public testing::Test {
protected:
    std::vector<std::string> record_line(const std::vector<std::string>& program) const {
        std::vector<std::string> line{
            support::paths::stress_program, "record", "--output", trace_path(), "--json", json_path(), "--"};
        line.insert(line.end(), program.begin(), program.end());
        return line;
    }

    support::run_result record_fixture(const std::string& what, const std::string& more = {}) const {
        return support::run_program(record_line({support::paths::record_fixture, what, more}));
    }

    std::string trace_path() const { return (place_ / "trace.zst").string(); }
    std::string json_path() const { return (scratch_.path() / "record.json").string(); }

    nlohmann::json json() const { return nlohmann::json::parse(std::ifstream(json_path())); }

    std::vector<std::string> files() const {
        std::vector<std::string> names;
        for (const auto& each : std::filesystem::directory_iterator(place_)) {
            names.push_back(each.path().filename().string());
        }
        std::ranges::sort(names);
        return names;
    }

    // How often the recorded program has allocated `size` bytes.
    std::ptrdiff_t allocated(std::size_t size) const {
        const trace recorded = read_trace(trace_path());
        return std::ranges::count_if(recorded.events, [size](const trace_event& event) {
            return event.kind() == event_kind::allocate && event.size() == size;
        });
    }

    // Makes the trace of the one log that was left.
    support::run_result recover() const {
        const std::vector<std::string> left = files();
        if (left.size() != 1) {
            ADD_FAILURE() << left.size() << " files";
            return {};
        }
        return support::run_program({support::paths::stress_program, "recover", (place_ / left[0]).string(),
                                     "--output", trace_path(), "--json", json_path()});
    }

    const support::scratch_directory scratch_;
    std::filesystem::path place_ = scratch_.path() / "place";
    const bool made_ = std::filesystem::create_directory(place_);
};

// A small file system of its own.
class full_disk : public end_of_a_recording {
protected:
    void SetUp() override {
        if (::mount("handlepool", place_.c_str(), "tmpfs", 0, "size=1m") != 0) {
            GTEST_SKIP() << "a file system can't be mounted here";
        }
        is_mounted_ = true;
    }
    ~full_disk() override {
        if (is_mounted_) {
            ::umount2(place_.c_str(), MNT_DETACH);
        }
    }

    void fill(std::size_t but_bytes) const {
        const std::size_t free = std::filesystem::space(place_).available;
        std::ofstream(place_ / "others") << std::string(free - std::min(free, but_bytes), 'x');
    }

    bool is_mounted_ = false;
};

std::string ended_early() {
    return std::string(support::paths::record_fixture) +
           ": the recording ended early, because the disk had no room for more events\n";
}

TEST_F(full_disk, ends_the_recording_and_not_the_program) {
    const support::run_result result = record_fixture("grow");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.errors, AllOf(HasSubstr(" s, cut; "), EndsWith(ended_early())));
    EXPECT_THAT(files(), ElementsAre("trace.zst"));
    EXPECT_EQ(json()["exit_status"], 0);
    EXPECT_EQ(json()["had_room"], false);
    EXPECT_EQ(json()["truncated"], true);
    const trace recorded = read_trace(trace_path());
    EXPECT_TRUE(recorded.header.truncated);
    // A megabyte, less a ninth for the trace and a step that has no room, and a step of what was in memory.
    EXPECT_GT(recorded.events.size(), 2 * raw_log::events_in_step);
    EXPECT_LE(recorded.events.size(), 4 * raw_log::events_in_step);
    EXPECT_EQ(recorded.header.inferred_frees, 0U);
}

TEST_F(full_disk, has_room_for_a_large_trace) {
    ASSERT_EQ(::mount("handlepool", place_.c_str(), "tmpfs", MS_REMOUNT, "size=4m"), 0);
    const support::run_result result = record_fixture("grow_without_a_rule");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.errors, EndsWith(ended_early()));
    EXPECT_THAT(files(), ElementsAre("trace.zst"));
    EXPECT_GT(read_trace(trace_path()).events.size(), 90'000U);
    EXPECT_GT(std::filesystem::file_size(trace_path()), 100'000U);
}

TEST_F(full_disk, is_found_before_the_program_runs) {
    fill(200'000);
    const std::string ran = (scratch_.path() / "ran").string();
    const support::run_result result = support::run_program(record_line({"touch", ran}));
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.errors,
              "handlepool-stress: cannot write " + trace_path() + ": No space left on device\n");
    EXPECT_FALSE(std::filesystem::exists(ran));
    EXPECT_THAT(files(), ElementsAre("others"));
    EXPECT_FALSE(std::filesystem::exists(json_path()));
}

// A file system that never writes where it has written, as btrfs, needs room for a mapped page again and
// again.
TEST_F(end_of_a_recording, the_program_maps_nothing_of_the_disk) {
    support::run_program(record_line({"grep", "-F", place_.string(), "/proc/self/maps"}));
    EXPECT_EQ(json()["exit_status"], 1);
}

TEST_F(end_of_a_recording, a_program_may_forbid_itself_system_calls) {
    for (const char* const how : {"prctl", "syscall prctl", "syscall seccomp"}) {
        record_fixture("forbid_system_calls", how);
        EXPECT_EQ(json()["exit_status"], 7) << how;
        EXPECT_EQ(allocated(fixture::many_size), fixture::many_objects) << how;
    }
}

TEST_F(end_of_a_recording, a_program_may_forbid_itself_the_processors_counter) {
    for (const char* const how : {"prctl", "syscall"}) {
        EXPECT_EQ(record_fixture("forbid_counter", how).status, 0) << how;
        EXPECT_EQ(allocated(fixture::many_size), fixture::many_objects) << how;
    }
}

TEST_F(end_of_a_recording, a_core_file_has_nothing_of_the_log) {
    EXPECT_EQ(record_fixture("look_at_log").status, 0);
}

TEST_F(end_of_a_recording, is_that_of_no_other_process_of_the_recorder) {
    const support::run_result result = record_fixture("outlive_helpers");
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_EQ(allocated(fixture::many_size), 4 * fixture::many_objects);
    EXPECT_THAT(files(), ElementsAre("trace.zst"));
}

TEST_F(end_of_a_recording, a_log_that_was_cut_off_is_recovered_as_far_as_it_goes) {
    support::run_program(record_line({"mkdir", trace_path()}));
    std::filesystem::remove(trace_path());
    ASSERT_EQ(files().size(), 1U);
    std::filesystem::resize_file(place_ / files()[0], 2 * 4096 + 10 * sizeof(raw_log::event));
    const support::run_result result = recover();
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.output,
                AllOf(HasSubstr(", cut; "), EndsWith("mkdir: the recording ended early, because "
                                                     "the disk had no room for more events\n")));
    EXPECT_EQ(json()["had_room"], false);
    EXPECT_EQ(json()["truncated"], true);
    EXPECT_EQ(json()["events"].get<int>() + json()["dropped_frees"].get<int>(), 10);
}

// As where a service's manager, a script or a time limit ends it.
TEST_F(end_of_a_recording, signals_reach_the_program) {
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
        const support::run_result result = record_fixture("end_recorder", std::to_string(signal));
        EXPECT_EQ(result.status, 2) << signal;
        EXPECT_THAT(result.errors,
                    EndsWith(fmt::format("{}: was killed by signal {}; its trace was written\n",
                                         support::paths::record_fixture, signal)));
        EXPECT_THAT(files(), ElementsAre("trace.zst"));
        EXPECT_EQ(json()["signal"], signal);
        EXPECT_EQ(allocated(fixture::malloc_size), 100) << signal;
        std::filesystem::remove(trace_path());
    }
}

TEST_F(end_of_a_recording, a_signal_for_the_whole_group_leaves_a_trace) {
    std::vector<std::string> line = record_line({"sh", "-c", "kill -TERM 0"});
    line.insert(line.begin(), {"setsid", "--wait"});
    EXPECT_EQ(support::run_program(line).status, 2);
    EXPECT_THAT(files(), ElementsAre("trace.zst"));
    EXPECT_EQ(json()["signal"], SIGTERM);
}

// Who ignores its children's end, or the end of a session, hands that on.
TEST_F(end_of_a_recording, ignored_signals_are_left_to_the_program_as_they_are) {
    for (const char* const ignored : {"CHLD", "HUP"}) {
        std::vector<std::string> line =
            record_line({"sh", "-c", "kill -HUP $PPID; grep -q 'SigBlk:.*0000$' /proc/self/status"});
        if (ignored == std::string("CHLD")) {
            line.back() = "exit 0";
        }
        line.insert(line.begin(), {"env", std::string("--ignore-signal=") + ignored});
        EXPECT_EQ(support::run_program(line).status, 0) << ignored;
        EXPECT_EQ(json()["exit_status"], 0);
    }
}

TEST_F(end_of_a_recording, a_program_that_writes_too_large_a_file_ends_as_ever) {
    const std::string large = (scratch_.path() / "large").string();
    const support::run_result result = support::run_program(
        record_line({"sh", "-c", "ulimit -f 1; while echo 0123456789; do :; done >\"$0\"", large}));
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(json()["signal"], SIGXFSZ);
}

TEST_F(end_of_a_recording, a_killed_recorder_leaves_its_log) {
    std::vector<std::string> line = record_line({support::paths::record_fixture, "kill_group"});
    line.insert(line.begin(), {"setsid", "--wait"});
    support::run_program(line);
    const support::run_result result = recover();
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output, StartsWith(trace_path() + ": "));
    EXPECT_EQ(allocated(fixture::malloc_size), 100);
    EXPECT_EQ(json()["exit_status"], nlohmann::json());
    EXPECT_EQ(json()["signal"], nlohmann::json());
    EXPECT_EQ(json()["truncated"], true);
    EXPECT_EQ(json()["program"], (std::vector<std::string>{support::paths::record_fixture, "kill_group"}));
    EXPECT_EQ(files().size(), 2U) << "the log stays";
}

// However late the process that writes the log comes to its session.
TEST_F(end_of_a_recording, a_recorder_that_is_killed_at_once_leaves_its_log) {
    std::vector<std::string> line = record_line({support::paths::record_fixture, "kill_group"});
    line.insert(line.begin(),
                {"setsid", "--wait", "env", std::string("LD_PRELOAD=") + support::paths::late_session,
                 "ASAN_OPTIONS=verify_asan_link_order=0"});
    support::run_program(line);
    const support::run_result result = recover();
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_EQ(allocated(fixture::malloc_size), 100);
}

TEST_F(end_of_a_recording, a_program_outlives_its_recorder_and_is_recorded_to_its_end) {
    const std::filesystem::path done = scratch_.path() / "done";
    EXPECT_EQ(record_fixture("outlive", done.string()).status, -1);
    while (!std::filesystem::exists(done)) {
        std::this_thread::yield();
    }
    EXPECT_EQ(recover().status, 0);
    EXPECT_EQ(allocated(fixture::parent_size), 200);
}

TEST_F(end_of_a_recording, the_log_stays_if_the_trace_cannot_be_written) {
    const support::run_result result = support::run_program(record_line({"mkdir", trace_path()}));
    EXPECT_EQ(result.status, 2);
    std::filesystem::remove(trace_path());
    ASSERT_EQ(files().size(), 1U);
    EXPECT_EQ(result.errors,
              fmt::format(
                  "handlepool-stress: {0}: file byte 0: cannot be written: Is a directory (allowed: a file "
                  "in a directory that can be written to); what was recorded is kept, and 'handlepool-stress "
                  "recover {1} --output FILE' makes the trace of it\n",
                  trace_path(), (place_ / files()[0]).string()));
    EXPECT_EQ(recover().status, 0);
    EXPECT_EQ(read_trace(trace_path()).header.command, (std::vector<std::string>{"mkdir", trace_path()}));
}

TEST_F(end_of_a_recording, needs_nothing_that_a_program_can_give_up) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root can give up being it";
    }
    EXPECT_EQ(record_fixture("give_up").status, 0);
    EXPECT_EQ(allocated(fixture::many_size), fixture::many_objects);
}

// As those that become daemons: what they do is done by another process.
TEST_F(end_of_a_recording, tells_of_processes_that_were_not_followed) {
    const support::run_result result = record_fixture("daemon");
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.errors,
                EndsWith(fmt::format("\n{}: called fork once; what that began was not recorded\n",
                                     support::paths::record_fixture)));
    EXPECT_EQ(json()["forks"], 1);
    EXPECT_EQ(allocated(fixture::parent_size), 100);
    EXPECT_EQ(allocated(fixture::child_size), 0);
    EXPECT_THAT(record_fixture("fork").errors,
                EndsWith(fmt::format("\n{}: called fork 2 times; what that began was not recorded\n",
                                     support::paths::record_fixture)));
    EXPECT_EQ(json()["forks"], 2);
}

// Libraries do that as they are loaded: the program is recorded nevertheless, and no child in its place.
TEST_F(end_of_a_recording, is_not_kept_from_beginning_by_what_is_loaded) {
    for (const char* const before : {"clear", "fork", "spawn"}) {
        std::vector<std::string> line = record_line({support::paths::loaded_first_fixture});
        line.insert(line.begin(), {"env", std::string("HANDLEPOOL_LOADED_FIRST=") + before});
        const support::run_result result = support::run_program(line);
        EXPECT_EQ(result.status, 0) << before << ": " << result.errors;
        EXPECT_EQ(allocated(fixture::malloc_size), 100) << before;
        EXPECT_EQ(allocated(fixture::child_size), 0) << before;
    }
    std::vector<std::string> line = record_line({support::paths::loaded_first_fixture});
    line.insert(line.begin(), {"env", "HANDLEPOOL_LOADED_FIRST=close"});
    const support::run_result result = support::run_program(line);
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.errors, HasSubstr("did not load the recording library, or closed the log"));
}

TEST_F(end_of_a_recording, tells_of_an_operator_new_that_calls_no_malloc) {
    const support::run_result result =
        support::run_program(record_line({support::paths::own_allocator_fixture}));
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(
        result.errors,
        EndsWith(fmt::format("\n{}: has the operator new of libown_allocator.so, which calls no malloc: what "
                             "that creates was not recorded\n",
                             support::paths::own_allocator_fixture)));
    EXPECT_EQ(json()["new_without_malloc"], "libown_allocator.so");
    EXPECT_EQ(json()["dropped_frees"], 0) << "what this was tried with is in no trace";
    record_fixture("");
    EXPECT_EQ(json()["new_without_malloc"], nlohmann::json());
}

TEST_F(end_of_a_recording, tells_why_there_may_be_no_allocation) {
    const auto error_of = [this](const char* what) {
        const support::run_result result =
            support::run_program(record_line({support::paths::plain_fixture, what}));
        EXPECT_EQ(result.status, 2);
        EXPECT_THAT(files(), IsEmpty());
        return result.errors;
    };
    const std::string nothing =
        fmt::format("handlepool-stress: {} was recorded, but it allocated nothing with malloc (",
                    support::paths::plain_fixture);
    EXPECT_EQ(error_of("nothing"), nothing + "has it an allocator of its own?)\n");
    EXPECT_EQ(error_of("fork"), nothing +
                                    "it called fork, and what that began was not recorded; or has it an "
                                    "allocator of its own?)\n");
}

// There is no operator new to be tried, and a look-up in vain allocates.
TEST_F(end_of_a_recording, has_nothing_but_what_the_program_did) {
    EXPECT_EQ(support::run_program(record_line({support::paths::plain_fixture})).status, 0);
    EXPECT_EQ(json()["allocations"], 100);
    EXPECT_EQ(json()["frees"], 100);
    EXPECT_EQ(json()["dropped_frees"], 0);
}

TEST_F(end_of_a_recording, names_the_program_that_takes_the_place_of_the_recorded_one) {
    const std::filesystem::path program = support::paths::record_fixture;
    for (const std::string function :
         {"execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve", "execveat"}) {
        const support::run_result result = record_fixture("replace", function);
        const std::string by =
            function.find("p") == std::string::npos ? program.string() : program.filename().string();
        EXPECT_EQ(result.status, 0) << function;
        EXPECT_THAT(result.errors, EndsWith(fmt::format("\n{}: replaced itself by {}, which was not "
                                                        "recorded; record that program itself\n",
                                                        program.string(), by)));
        EXPECT_EQ(json()["replaced_by"], by) << function;
        EXPECT_EQ(allocated(fixture::parent_size), 100) << function;
        EXPECT_EQ(allocated(fixture::child_size), 0) << function;
    }
}

TEST_F(end_of_a_recording, goes_on_after_an_exec_that_fails_or_is_a_childs) {
    EXPECT_EQ(record_fixture("replace_in_vain").status, 0);
    EXPECT_EQ(json()["replaced_by"], nlohmann::json());
    EXPECT_EQ(allocated(fixture::parent_size), 100);
}

// A disk has room enough for such a sparse file.
TEST_F(end_of_a_recording, limits_of_the_process_are_called_by_their_names) {
    const auto limited = [&](const std::string& limit) {
        std::vector<std::string> line = record_line({"true"});
        line.insert(line.begin() + 2, {"--limit", "60000000"});
        line.insert(line.begin(), {"sh", "-c", "ulimit " + limit + " && exec \"$@\"", "sh"});
        return support::run_program(line);
    };
    const support::run_result file = limited("-f 10000");
    EXPECT_EQ(file.status, 2);
    EXPECT_EQ(file.errors, fmt::format("handlepool-stress: cannot write a log of 2160238592 bytes beside {}: "
                                       "File too large\n",
                                       trace_path()));
#ifdef HANDLEPOOL_LIMITS_ADDRESS_SPACE
    const support::run_result memory = limited("-v 1000000");
    EXPECT_EQ(memory.status, 2);
    EXPECT_EQ(memory.errors,
              "handlepool-stress: true was not recorded: it cannot map the log of 1920212992 bytes: Cannot "
              "allocate memory; its address space has a limit (see ulimit -v), and a lower --limit of events "
              "makes the log smaller\n");
#endif
    EXPECT_THAT(files(), IsEmpty());
}

TEST_F(end_of_a_recording, only_a_log_can_be_recovered) {
    const auto refused = [&](const std::string& bytes) {
        const std::filesystem::path log = scratch_.path() / "log";
        std::ofstream(log) << bytes;
        const support::run_result result = support::run_program(
            {support::paths::stress_program, "recover", log.string(), "--output", trace_path()});
        EXPECT_EQ(result.status, 2);
        EXPECT_THAT(files(), IsEmpty());
        return result.errors;
    };
    const std::string log = (scratch_.path() / "log").string();
    EXPECT_EQ(refused(""), "handlepool-stress: " + log + " is not what a recording has left\n");
    EXPECT_EQ(refused(std::string(100'000, 'x')),
              "handlepool-stress: " + log + " is not what a recording has left\n");
    const auto head_with = [](std::uint64_t capacity, std::uint64_t command, std::uint64_t written) {
        std::string bytes(sizeof(raw_log::header), '\0');
        const std::uint64_t first[] = {raw_log::magic, capacity, command};
        std::memcpy(bytes.data(), first, sizeof(first));
        std::memcpy(bytes.data() + offsetof(raw_log::header, written), &written, sizeof(written));
        return bytes;
    };
    const std::string damaged = "handlepool-stress: " + log + " is damaged: ";
    EXPECT_EQ(refused(head_with(0, 5, 0)), damaged + "room for 0 events (allowed: 1 to 67108864)\n");
    EXPECT_EQ(refused(head_with(9, 1 << 30, 0)),
              damaged + "a command line of 1073741824 bytes (allowed: 1 to 1114112)\n");
    EXPECT_EQ(refused(head_with(9, 5, 10)), damaged + "10 events in room for 9\n");
    EXPECT_EQ(refused(head_with(9, 5, 9)), damaged + "its command line has no end\n");
}

// A log that somebody has made, whose names would have a terminal obey, and add lines to the summary.
TEST_F(end_of_a_recording, names_in_a_log_are_printable) {
    struct {
        raw_log::header head{};
        char command[4096] = "/bin/\x1b[31mone\xff";
        raw_log::event events[1]{};
    } made;
    made.head.magic = raw_log::magic;
    made.head.capacity = raw_log::events_in_step;
    made.head.command_bytes = std::strlen(made.command) + 1;
    made.head.owner = 1;
    made.head.written = made.head.next = 1;
    made.head.replaced_ns = 5;
    std::strcpy(made.head.replaced_by, "\x1b[2Jother\nhandlepool-stress: all is well");
    made.events[0].what = raw_log::kind::allocate;
    std::ofstream(place_ / "log", std::ios::binary).write(reinterpret_cast<const char*>(&made), sizeof(made));
    const support::run_result result = recover();
    EXPECT_EQ(result.errors, "");
    EXPECT_EQ(result.output,
              trace_path() +
                  ": 1 events of 1 threads in 0.00 s; 1 allocations, 0 frees, 0 of them by another "
                  "thread, 1 objects alive at the peak\n"
                  "/bin/\uFFFD[31mone\uFFFD: replaced itself by \uFFFD[2Jother\uFFFDhandlepool-stress: "
                  "all is well, which was not recorded; record that program itself\n");
    const support::run_result replayed =
        support::run_program({support::paths::stress_program, "replay", trace_path()});
    EXPECT_EQ(replayed.status, 0) << replayed.errors;
    EXPECT_THAT(replayed.output, HasSubstr("\n  program                    /bin/\uFFFD[31mone\uFFFD\n"));
}

TEST_F(end_of_a_recording, names_in_messages_are_printable) {
    const auto errors_of = [](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), support::paths::stress_program);
        return support::run_program(arguments).errors;
    };
    EXPECT_EQ(errors_of({"recover", "/nonexistent/\x1b[2J\nlog"}),
              "handlepool-stress: cannot read /nonexistent/\uFFFD[2J\uFFFDlog: No such file or directory\n");
    EXPECT_EQ(errors_of({"recover", "log", "\x1b[2J"}),
              "The following argument was not expected: \uFFFD[2J\nRun with --help for more information.\n");
}

} // namespace
} // namespace handlepool::stress
