// SPDX-License-Identifier: MIT
#include "recorder.hpp"

#include "oracle/clock.hpp"
#include "raw_log_file.hpp"
#include "recorded_program.hpp"
#include "traces/trace_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <typeinfo>

namespace handlepool::stress {

namespace {

constexpr std::string_view library_name = "libhandlepool_record.so";

// The library by a path that LD_PRELOAD takes: its own, or that of a link to one whose path would not be
// taken as it is.
class preloaded_library {
public:
    explicit preloaded_library(const std::filesystem::path& library) : path_(library) {
        if (is_taken(library)) {
            return;
        }
        const std::filesystem::path place = std::filesystem::temp_directory_path();
        directory_ = (place / "handlepool_record_XXXXXX").string();
        if (!is_taken(place) || ::mkdtemp(directory_.data()) == nullptr) {
            directory_.clear();
            throw record_error(
                fmt::format("the recording library {} cannot be loaded: LD_PRELOAD allows no spaces, colons "
                            "and dollar signs in its path, and no link to it can be made in {}",
                            library.string(), place.string()));
        }
        path_ = std::filesystem::path(directory_) / library_name;
        std::filesystem::create_symlink(library, path_);
    }
    preloaded_library(const preloaded_library&) = delete;
    preloaded_library& operator=(const preloaded_library&) = delete;
    ~preloaded_library() {
        std::error_code ignored; // there is nobody left to tell
        if (!directory_.empty()) {
            std::filesystem::remove_all(directory_, ignored);
        }
    }

    const std::filesystem::path& path() const noexcept { return path_; }

private:
    // Two characters separate libraries, and after the third one are names like $ORIGIN.
    static bool is_taken(const std::filesystem::path& path) {
        return path.string().find_first_of(": $") == std::string::npos;
    }

    std::filesystem::path path_;
    std::string directory_{}; // of the link; empty: none
};

void check_output(const record_options& options) {
    // The trace takes the place of what is there: of /dev/null too.
    std::error_code ignored; // what can't be looked at can't be written either
    const std::filesystem::file_status output = std::filesystem::status(options.output, ignored);
    if (std::filesystem::is_directory(output)) {
        throw record_error(fmt::format("cannot write {}: it is a directory", options.output.string()));
    }
    if (std::filesystem::exists(output) && !std::filesystem::is_regular_file(output)) {
        throw record_error(fmt::format("cannot write {}: it is no regular file", options.output.string()));
    }
}

void check_options(const record_options& options) {
    if (options.command.empty() || options.command.front().empty()) {
        throw record_error("no program to record");
    }
    const std::uint64_t most = trace_limits{}.events;
    if (options.event_limit == 0 || options.event_limit > most) {
        throw record_error(
            fmt::format("the event limit is {} (allowed: 1 to {})", options.event_limit, most));
    }
    try { // as it will be written
        encode_trace(
            {.header = {.command = options.command, .time_resolution_ns = options.time_resolution_ns},
             .events = {}},
            options.output.string());
    } catch (const trace_error& error) {
        throw record_error(error.what());
    }
    check_output(options);
}

std::filesystem::path checked_library(const record_options& options) {
    std::error_code error;
    const std::filesystem::path library =
        std::filesystem::absolute(options.library ? *options.library : find_record_library());
    if (!std::filesystem::is_regular_file(library, error)) {
        throw record_error(fmt::format("the recording library {} does not exist", library.string()));
    }
    return library;
}

// Writes the trace.
record_result written(const raw_recording& made, const record_options& options) {
    write_trace(options.output, made.recorded);
    const trace_header& header = made.recorded.header;
    return {.command = header.command,
            .summary = summarize(made.recorded),
            .dropped_frees = header.dropped_frees,
            .inferred_frees = header.inferred_frees,
            .truncated = header.truncated,
            .had_room = made.had_room,
            .replaced_by = made.replaced_by,
            .forks = made.forks,
            .new_without_malloc = made.new_without_malloc};
}

} // namespace

std::filesystem::path find_record_library() {
    const std::filesystem::path directory = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    const std::array places{directory / library_name, directory / HANDLEPOOL_RECORD_DIRECTORY / library_name};
    std::string searched;
    for (const std::filesystem::path& place : places) {
        if (std::error_code error; std::filesystem::is_regular_file(place, error)) {
            return std::filesystem::weakly_canonical(place);
        }
        searched += (searched.empty() ? "" : ", ") + place.lexically_normal().string();
    }
    throw record_error("the recording library was not found; searched: " + searched);
}

record_result record(const record_options& options) {
    check_options(options);
    const preloaded_library library(checked_library(options));
    const signals_for_program signals;
    new_raw_log log(options.output, options.command, options.event_limit);
    const int status = run_recorded(options.command, library.path(), log.memory(), signals);
    const auto exit_ns = static_cast<std::uint64_t>(now());
    log.complete();
    record_result result;
    try {
        result = written(log.read(exit_ns, options), options);
    } catch (const record_error&) { // there is nothing to keep
        throw;
    } catch (const std::exception& error) {
        log.keep();
        const bool unexplained = typeid(error) == typeid(std::bad_alloc);
        throw record_error(
            fmt::format("{}; what was recorded is kept, and 'handlepool-stress recover {} --output FILE' "
                        "makes the trace of it",
                        unexplained ? "there is not enough memory for the trace" : error.what(), log.path()));
    }
    if (WIFEXITED(status)) {
        result.exit_status = WEXITSTATUS(status);
    } else {
        result.signal = WTERMSIG(status);
    }
    return result;
}

record_result recover(const std::filesystem::path& log, const record_options& options) {
    check_output(options);
    const descriptor file(::open(log.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) {
        throw record_error(
            fmt::format("cannot read {}: {}", log.string(), std::generic_category().message(errno)));
    }
    ::flock(file.get(), LOCK_SH); // the program may still run, and the log grow
    return written(read_raw_log(file.get(), std::nullopt, log.string(), std::nullopt, options), options);
}

} // namespace handlepool::stress
