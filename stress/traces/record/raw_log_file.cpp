// SPDX-License-Identifier: MIT
#include "raw_log_file.hpp"

#include "converter.hpp"
#include "raw_log_writer.hpp"
#include "traces/trace_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>
#include <system_error>

namespace handlepool::stress {

namespace {

std::string reason(int error) {
    return std::generic_category().message(error);
}

std::string joined(const std::vector<std::string>& command) {
    std::string joined;
    for (const std::string& argument : command) {
        joined.append(argument.c_str(), argument.size() + 1);
    }
    return joined;
}

std::vector<std::string> separated(std::string_view joined) {
    std::vector<std::string> command;
    while (!joined.empty()) {
        command.emplace_back(joined.substr(0, joined.find('\0')));
        joined.remove_prefix(command.back().size() + 1);
    }
    return command;
}

// How many bytes of the `count` at `offset` are in the file.
std::size_t read_at(int descriptor, void* bytes, std::size_t count, std::uint64_t offset,
                    const std::string& name) {
    std::size_t got = 0;
    while (got < count) {
        const ssize_t more = ::pread(descriptor, static_cast<char*>(bytes) + got, count - got,
                                     static_cast<off_t>(offset + got));
        if (more < 0 && errno != EINTR) {
            throw record_error(fmt::format("cannot read {}: {}", name, reason(errno)));
        }
        if (more == 0) {
            break;
        }
        got += more < 0 ? 0 : static_cast<std::size_t>(more);
    }
    return got;
}

int new_memory() {
    const int memory = ::memfd_create("handlepool recording", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory < 0) {
        throw record_error(fmt::format("cannot make a log in memory: {}", reason(errno)));
    }
    return memory;
}

void check_header(const raw_log::header& log, const std::string& name) {
    const auto refuse = [&](const std::string& problem) {
        throw record_error(fmt::format("{} is damaged: {}", name, problem));
    };
    if (log.magic != raw_log::magic) {
        throw record_error(fmt::format("{} is not what a recording has left", name));
    }
    if (const std::uint64_t most = trace_limits{}.events; log.capacity == 0 || log.capacity > most) {
        refuse(fmt::format("room for {} events (allowed: 1 to {})", log.capacity, most));
    }
    constexpr std::uint64_t most = trace_header::max_command_bytes + trace_header::max_arguments;
    if (log.command_bytes == 0 || log.command_bytes > most) {
        refuse(fmt::format("a command line of {} bytes (allowed: 1 to {})", log.command_bytes, most));
    }
    if (const std::uint64_t written = log.written; written > log.capacity) {
        refuse(fmt::format("{} events in room for {}", written, log.capacity));
    }
}

void check_recorded(const raw_log::header& log, const std::string& program) {
    if (const int error = log.error) {
        throw record_error(fmt::format("{} was not recorded: it cannot map the log of {} bytes: {}{}",
                                       program, raw_log::spares_at(log), reason(error),
                                       error == ENOMEM ? "; its address space has a limit (see ulimit -v), "
                                                         "and a lower --limit of events makes the log smaller"
                                                       : ""));
    }
    if (log.owner == 0) {
        throw record_error(
            fmt::format("{} was not recorded: it did not load the recording library, or closed the log "
                        "(is it statically linked, sanitized, or set-user-ID, or does it close "
                        "descriptors that it has not opened?)",
                        program));
    }
    if (log.next == 0) {
        throw record_error(fmt::format(
            "{} was recorded, but it allocated nothing with malloc ({}has it an allocator of its own?)",
            program, log.forks != 0 ? "it called fork, and what that began was not recorded; or " : ""));
    }
}

} // namespace

descriptor::~descriptor() {
    if (number_ >= 0) {
        ::close(number_);
    }
}

new_raw_log::new_raw_log(const std::filesystem::path& output, const std::vector<std::string>& command,
                         std::uint64_t capacity)
    : output_(output.string()),
      path_(output_ + ".XXXXXX.recording"),
      memory_(new_memory()),
      file_(::mkostemps(path_.data(), int{sizeof(".recording") - 1}, O_CLOEXEC)) {
    if (file_.get() < 0) {
        throw record_error(fmt::format("cannot write {}: {}", output_, reason(errno)));
    }
    const std::string arguments = joined(command);
    raw_log::header head{};
    head.magic = raw_log::magic;
    head.capacity = capacity;
    head.command_bytes = arguments.size();
    without_spares_ = raw_log::spares_at(head);
    try {
        begin(head, arguments);
    } catch (const record_error&) {
        ::unlink(path_.c_str());
        throw;
    }
}

// The bytes of the first step are written here: a full disk is found before the program runs.
void new_raw_log::begin(const raw_log::header& head, const std::string& arguments) {
    const std::uint64_t bytes = raw_log::bytes_for(head);
    if (::ftruncate(memory_.get(), static_cast<off_t>(without_spares_)) != 0 ||
        ::ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0) {
        throw record_error(
            fmt::format("cannot write a log of {} bytes beside {}: {}", bytes, output_, reason(errno)));
    }
    const std::vector<char> step(raw_log::bytes_in_step);
    if (!write_all(memory_.get(), &head, sizeof(head), 0) ||
        !write_all(file_.get(), &head, sizeof(head), 0) ||
        !write_all(file_.get(), arguments.data(), arguments.size(), sizeof(head)) ||
        !write_all(file_.get(), step.data(), step.size(), raw_log::events_at(head)) ||
        !write_all(file_.get(), step.data(), raw_log::spares_in_step, without_spares_)) {
        throw record_error(fmt::format("cannot write {}: {}", output_, reason(errno)));
    }
    ::flock(file_.get(), LOCK_EX); // until this process and the writer have ended
    start_writer();
}

// Waits until the writer has a session of its own: what ends the group or session of this process is not
// meant for it.
void new_raw_log::start_writer() {
    raw_log_writer writer(memory_.get(), file_.get());
    const pid_t recorder = ::getpid();
    int ends[] = {-1, -1};
    const bool has_pipe = ::pipe2(ends, O_CLOEXEC) == 0;
    writer_ = has_pipe ? ::fork() : -1;
    const int error = errno;
    if (writer_ == 0) {
        ::setsid();
        ::close(ends[1]);
        writer.move_until_end(recorder);
    }
    const descriptor reader(ends[0]);
    ::close(ends[1]);
    if (writer_ < 0) {
        throw record_error(fmt::format("cannot start the process that writes the log: {}", reason(error)));
    }
    char nothing = 0;
    while (::read(reader.get(), &nothing, 1) < 0 && errno == EINTR) {
    }
}

new_raw_log::~new_raw_log() {
    end_writer();
    if (!is_kept_) {
        ::unlink(path_.c_str());
    }
}

void new_raw_log::end_writer() noexcept {
    if (writer_ > 0) {
        ::kill(writer_, SIGKILL);
        while (::waitpid(writer_, nullptr, 0) < 0 && errno == EINTR) {
        }
        writer_ = 0;
    }
}

void new_raw_log::complete() noexcept {
    end_writer(); // wherever it is: what it has begun is done again
    raw_log_writer(memory_.get(), file_.get()).move_all();
    // If it fails, the trace may find no room, and says so.
    [[maybe_unused]] const int ignored = ::ftruncate(file_.get(), static_cast<off_t>(without_spares_));
}

void new_raw_log::keep() noexcept {
    raw_log_writer(memory_.get(), file_.get()).move_all();
    is_kept_ = true;
}

raw_recording new_raw_log::read(std::uint64_t end_ns, const record_options& options) const {
    return read_raw_log(file_.get(), memory_.get(), path_, end_ns, options);
}

raw_recording read_raw_log(int file, std::optional<int> memory, const std::string& name,
                           std::optional<std::uint64_t> end_ns, const record_options& options) {
    raw_log::header log{};
    if (read_at(memory.value_or(file), &log, sizeof(log), 0, name) < sizeof(log)) {
        throw record_error(fmt::format("{} is not what a recording has left", name));
    }
    check_header(log, name);
    std::string arguments(log.command_bytes, '\0');
    if (read_at(file, arguments.data(), arguments.size(), sizeof(log), name) < arguments.size() ||
        arguments.back() != '\0') {
        throw record_error(fmt::format("{} is damaged: its command line has no end", name));
    }
    std::vector<std::string> command = separated(arguments);
    check_recorded(log, command.front());

    const std::uint64_t in_file = log.written;
    const std::uint64_t count =
        memory ? std::min(raw_log::events_in(log), in_file + raw_log::events_in_step) : in_file;
    raw_recording result{.had_room = log.is_full == 0 && (!memory || count == raw_log::events_in(log))};
    if (const std::uint64_t replaced_ns = log.replaced_ns; replaced_ns != 0) {
        log.replaced_by[sizeof(log.replaced_by) - 1] = '\0';
        result.replaced_by = log.replaced_by;
        end_ns = replaced_ns;
    }
    if (!result.had_room || log.next >= log.capacity) {
        end_ns.reset(); // the program went on unseen
    }
    result.forks = log.forks;
    log.new_without_malloc[sizeof(log.new_without_malloc) - 1] = '\0';
    if (log.new_without_malloc[0] != '\0') {
        result.new_without_malloc = log.new_without_malloc;
    }
    converter events(log.start_ns, options);
    std::vector<raw_log::event> step(raw_log::events_in_step);
    for (std::uint64_t place = 0; place < count;) {
        const bool is_in_file = place < in_file;
        const std::uint64_t here =
            std::min<std::uint64_t>((is_in_file ? in_file : count) - place, step.size());
        const std::uint64_t got = read_at(is_in_file ? file : *memory, step.data(), here * sizeof(step[0]),
                                          raw_log::events_at(log) + place * sizeof(step[0]), name) /
                                  sizeof(step[0]);
        events.add(std::span(step).first(got));
        if (got < here) { // somebody has cut it off
            result.had_room = false;
            end_ns.reset();
            break;
        }
        place += here;
    }
    result.recorded = events.finish(end_ns);
    result.recorded.header.command = std::move(command);
    return result;
}

} // namespace handlepool::stress
