#include "raw_log_file.hpp"

#include "../trace_file.hpp"
#include "converter.hpp"

#include <fcntl.h>
#include <fmt/format.h>
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
    if (const std::uint64_t end = log.end; end > log.capacity) {
        refuse(fmt::format("an end at event {} of {}", end, log.capacity));
    }
}

void check_recorded(const raw_log::header& log, const std::string& program) {
    if (const int error = log.error) {
        throw record_error(fmt::format("{} was not recorded: it cannot map the log of {} bytes: {}{}",
                                       program, raw_log::bytes_for(log), reason(error),
                                       error == ENOMEM ? "; its address space has a limit (see ulimit -v), "
                                                         "and a lower --limit of events makes the log smaller"
                                                       : ""));
    }
    if (log.owner == 0) {
        throw record_error(fmt::format("{} was not recorded: it did not load the recording library (is it "
                                       "statically linked, sanitized, or set-user-ID?)",
                                       program));
    }
    if (log.next == 0) {
        throw record_error(fmt::format("{} was recorded, but it allocated nothing with malloc (has it an "
                                       "allocator of its own?)",
                                       program));
    }
}

} // namespace

new_raw_log::new_raw_log(const std::filesystem::path& output, const std::vector<std::string>& command,
                         std::uint64_t capacity)
    : output_(output.string()), path_(output_ + ".XXXXXX.recording") {
    constexpr std::string_view suffix = ".recording";
    descriptor_ = ::mkostemps(path_.data(), int{suffix.size()}, O_CLOEXEC);
    if (descriptor_ < 0) {
        throw record_error(fmt::format("cannot write {}: {}", output_, reason(errno)));
    }
    const std::string arguments = joined(command);
    raw_log::header head{};
    head.magic = raw_log::magic;
    head.capacity = head.end = capacity;
    head.command_bytes = arguments.size();
    head.taken = raw_log::events_in_step;
    without_spares_ = raw_log::spares_at(head);
    // The bytes of the first step are written here: a full disk is found before the program runs.
    const std::vector<char> step(raw_log::blocks_in_step * sizeof(raw_log::block));
    const std::vector<char> spares(raw_log::spares_in_step * sizeof(raw_log::block));
    try {
        if (::ftruncate(descriptor_, static_cast<off_t>(raw_log::bytes_for(head))) != 0) {
            throw record_error(fmt::format("cannot write a log of {} bytes beside {}: {}",
                                           raw_log::bytes_for(head), output_, reason(errno)));
        }
        write(&head, sizeof(head), 0);
        write(arguments.data(), arguments.size(), sizeof(head));
        write(step.data(), step.size(), raw_log::blocks_at(head));
        write(spares.data(), spares.size(), without_spares_);
    } catch (const record_error&) {
        ::unlink(path_.c_str());
        ::close(descriptor_);
        throw;
    }
}

new_raw_log::~new_raw_log() {
    if (!is_kept_) {
        ::unlink(path_.c_str());
    }
    ::close(descriptor_);
}

void new_raw_log::write(const void* bytes, std::size_t count, std::uint64_t offset) {
    for (std::size_t done = 0; done < count;) {
        const ssize_t more = ::pwrite(descriptor_, static_cast<const char*>(bytes) + done, count - done,
                                      static_cast<off_t>(offset + done));
        if (more < 0 && errno != EINTR) {
            throw record_error(fmt::format("cannot write {}: {}", output_, reason(errno)));
        }
        done += more < 0 ? 0 : static_cast<std::size_t>(more);
    }
}

void new_raw_log::give_spares_back() noexcept {
    // If it fails, the trace may find no room, and says so.
    [[maybe_unused]] const int ignored = ::ftruncate(descriptor_, static_cast<off_t>(without_spares_));
}

raw_recording read_raw_log(int descriptor, const std::string& name, std::optional<std::uint64_t> end_ns,
                           const record_options& options) {
    raw_log::header log{};
    if (read_at(descriptor, &log, sizeof(log), 0, name) < sizeof(log)) {
        throw record_error(fmt::format("{} is not what a recording has left", name));
    }
    check_header(log, name);
    std::string arguments(log.command_bytes, '\0');
    if (read_at(descriptor, arguments.data(), arguments.size(), sizeof(log), name) < arguments.size() ||
        arguments.back() != '\0') {
        throw record_error(fmt::format("{} is damaged: its command line has no end", name));
    }
    std::vector<std::string> command = separated(arguments);
    check_recorded(log, command.front());

    raw_recording result{.had_room = log.end == log.capacity};
    if (const std::uint64_t replaced_ns = log.replaced_ns; replaced_ns != 0) {
        log.replaced_by[sizeof(log.replaced_by) - 1] = '\0';
        result.replaced_by = log.replaced_by;
        end_ns = replaced_ns;
    }
    if (log.next >= log.end) {
        end_ns.reset(); // the program went on unseen
    }
    converter events(log.start_ns, options);
    std::vector<raw_log::block> blocks(raw_log::blocks_in_step);
    const std::uint64_t count = raw_log::events_in(log);
    std::uint64_t offset = raw_log::blocks_at(log);
    for (std::uint64_t place = 0; place < count; offset += raw_log::blocks_in_step * sizeof(blocks[0])) {
        const std::size_t got =
            read_at(descriptor, blocks.data(), blocks.size() * sizeof(blocks[0]), offset, name) /
            sizeof(blocks[0]);
        for (const raw_log::block& block : std::span(blocks).first(got)) {
            const std::uint64_t here = std::min<std::uint64_t>(count - place, raw_log::events_in_block);
            events.add(std::span(block.events).first(here));
            place += here;
        }
        if (got < blocks.size() && place < count) { // somebody has cut it off
            result.had_room = false;
            end_ns.reset();
            break;
        }
    }
    result.recorded = events.finish(end_ns);
    result.recorded.header.command = std::move(command);
    return result;
}

} // namespace handlepool::stress
