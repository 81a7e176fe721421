#pragma once

#include "../trace.hpp"
#include "raw_log.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
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
    // the output is used for 33 million events while the program runs.
    std::uint64_t event_limit{std::uint64_t{1} << 24};
    // Times are rounded down to multiples of this many nanoseconds: the order of the events is exact all the
    // same, and the file becomes smaller.
    std::uint64_t time_resolution_ns{1000};
    // The recording library; find_record_library() if there is none.
    std::optional<std::filesystem::path> library{};
};

struct record_result {
    std::optional<int> exit_status{}; // the program's, if it has exited
    std::optional<int> signal{};      // the one that killed it otherwise
    trace_summary summary{};
    std::uint64_t dropped_frees{};
    std::uint64_t inferred_frees{};
    bool truncated{}; // a limit was reached before the program ended
};

// Runs the program with the recording library, waits for it, and writes the trace of what it has allocated
// and freed, however it ends. Only its first process is recorded and only until an exec: of a wrapper script
// that is the shell. While the program runs, the calling process ignores SIGINT and SIGQUIT, so that a
// program stopped from the keyboard leaves its trace. Throws record_error if the program can't be started,
// the library isn't found, the output can't be written (checked before the start), or nothing was recorded,
// as from a statically linked program; trace_error if the trace can't be written.
record_result record(const record_options& options);

// A step of it: the trace of the raw `events` in their order, within the limits of the options. `start_ns`
// and `end_ns` are the clock's values at the beginning and the end of the recording. Addresses become
// objects; a free of an unknown address is dropped and counted; an allocation of an address that is in use
// means that its free wasn't seen: one is put before it and counted. The command is left empty.
trace convert(std::span<const raw_log::event> events, std::uint64_t start_ns, std::uint64_t end_ns,
              const record_options& options);

// What was recorded, for people, and for programs; stress/README.md documents the keys.
std::string to_text(const record_result& recorded, const record_options& options);
nlohmann::json to_json(const record_result& recorded, const record_options& options);

// The recording library that was built or installed with the running executable. Throws record_error with the
// places that were searched.
std::filesystem::path find_record_library();

} // namespace handlepool::stress
