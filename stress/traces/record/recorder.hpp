// SPDX-License-Identifier: MIT
#pragma once

#include "traces/trace.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace handlepool::stress {

// A recording that couldn't be made. what() names the program or file, and what can be done.
class record_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct record_options {
    // The program, searched for in PATH, and its arguments.
    std::vector<std::string> command{};
    // The trace file to write.
    std::filesystem::path output{};
    // The recording stops when it has as many events; the program runs on. A gigabyte of disk space beside
    // the output is used for 30 million events while the program runs.
    std::uint64_t event_limit{std::uint64_t{1} << 24};
    // Times are rounded down to multiples of this many nanoseconds: the order of the events is exact all the
    // same, and the file becomes smaller.
    std::uint64_t time_resolution_ns{1000};
    // The recording library; find_record_library() if there is none.
    std::optional<std::filesystem::path> library{};
};

struct record_result {
    std::vector<std::string> command{}; // as recorded
    std::optional<int> exit_status{};   // the program's, if it has exited
    std::optional<int> signal{}; // the one that killed it otherwise; neither is known of a recovered one
    trace_summary summary{};
    std::uint64_t dropped_frees{};
    std::uint64_t inferred_frees{};
    bool truncated{};                         // the trace is the beginning of the program's run
    bool had_room{true};                      // false: it is, because the disk had no room for more events
    std::optional<std::string> replaced_by{}; // the program that took the recorded one's place, by an exec
    std::uint32_t forks{};                    // its calls of fork, also those in vain
    std::optional<std::string> new_without_malloc{}; // the library whose operator new was not recorded
};

// Runs the program with the recording library, waits for it, and writes the trace of what it has allocated
// and freed, however it ends. Only its first process is recorded and only until an exec: of a wrapper script
// that is the shell. A disk that becomes full ends the recording, not the program.
//
// Until the trace is written, SIGHUP, SIGINT, SIGQUIT and SIGTERM don't end this process. They go to the
// program, unless a terminal has sent them to both, or they are ignored: a program that they end leaves its
// trace. No other thread of this process may take these signals or SIGCHLD. If it is killed, it leaves the
// log OUTPUT.xxxxxx.recording, which a child of it makes complete, for recover().
//
// Throws record_error if the program can't be started, the library isn't found, the output can't be written
// (checked before the start), or nothing was recorded, as from a statically linked program; also if the trace
// can't be made or written: then the log stays, and what() names it.
record_result record(const record_options& options);

// Writes the trace of the log that a recording has left, of which the options say where to and how. Throws
// record_error if it can't be read, is no log, or is damaged; trace_error if the trace can't be written. The
// log stays. Waits for the end of a program that is still being recorded.
record_result recover(const std::filesystem::path& log, const record_options& options);

// What was recorded, for people, and for programs; stress/README.md documents the keys.
std::string to_text(const record_result& recorded, const record_options& options);
nlohmann::json to_json(const record_result& recorded, const record_options& options);

// The recording library that was built or installed with the running executable. Throws record_error with the
// places that were searched.
std::filesystem::path find_record_library();

} // namespace handlepool::stress
