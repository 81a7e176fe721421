// SPDX-License-Identifier: MIT
#pragma once

#include "raw_log.hpp"
#include "recorder.hpp"
#include "traces/trace.hpp"

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace handlepool::stress {

// What a raw log says.
struct raw_recording {
    trace recorded{};
    bool had_room = true;                            // up to the limit, or to the program's end
    std::optional<std::string> replaced_by{};        // the program that took the place of the recorded one
    std::uint32_t forks{};                           // its calls of fork, also those in vain
    std::optional<std::string> new_without_malloc{}; // the library whose operator new was not recorded
};

// A file descriptor, which it closes.
class descriptor {
public:
    explicit descriptor(int number) noexcept : number_(number) {}
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor();

    int get() const noexcept { return number_; }

private:
    int number_; // less than 0: none
};

// A raw log that is being made: in memory, and beside the output a file, in which the whole of a small
// recording has room. A process of its own moves the one to the other, so the file becomes complete and stays
// if this process is killed. It stays too if it is told to be kept.
class new_raw_log {
public:
    // Throws record_error if there is no room for it. SIGCHLD may not be ignored.
    new_raw_log(const std::filesystem::path& output, const std::vector<std::string>& command,
                std::uint64_t capacity);
    new_raw_log(const new_raw_log&) = delete;
    new_raw_log& operator=(const new_raw_log&) = delete;
    ~new_raw_log();

    int memory() const noexcept { return memory_.get(); }
    const std::string& path() const noexcept { return path_; }

    // When the program has ended: makes the file complete, and gives back what was to make room for the
    // trace.
    void complete() noexcept;

    // What it says then; like read_raw_log.
    raw_recording read(std::uint64_t end_ns, const record_options& options) const;

    // For a trace that can't be written. Its room is the log's now.
    void keep() noexcept;

private:
    void begin(const raw_log::header& head, const std::string& arguments);
    void start_writer();
    void end_writer() noexcept;

    std::string output_;
    std::string path_;
    descriptor memory_;
    descriptor file_;
    std::uint64_t without_spares_{};
    pid_t writer_{};
    bool is_kept_ = false;
};

// The trace of the log in `file`, which messages call `name`. The header, and events that are not in the
// file, are in `memory`, if there is one: a step of them is read, for which a full disk should have room as a
// trace. `end_ns` is when the program ended, if that was seen. Throws record_error if it is no log, is
// damaged, or nothing was recorded.
raw_recording read_raw_log(int file, std::optional<int> memory, const std::string& name,
                           std::optional<std::uint64_t> end_ns, const record_options& options);

} // namespace handlepool::stress
