#include "trace_writer.hpp"

#include "trace_checker.hpp"
#include "trace_file.hpp"
#include "trace_format.hpp"

#include <fmt/format.h>
#include <support/output_file.hpp>

#include <string>
#include <system_error>
#include <utility>

namespace handlepool::stress {

namespace {

class content_writer {
public:
    void text(std::string_view chars) {
        for (char c : chars) {
            byte(static_cast<unsigned char>(c));
        }
    }

    void fixed32(std::uint64_t value) { fixed(value, 4); }
    void fixed64(std::uint64_t value) { fixed(value, 8); }

    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) {
            byte((value & 0x7f) | 0x80);
        }
        byte(value);
    }

    std::vector<std::byte> take() { return std::move(content_); }

private:
    void byte(std::uint64_t value) { content_.push_back(static_cast<std::byte>(value)); }

    void fixed(std::uint64_t value, int bytes) {
        for (int i = 0; i < bytes; ++i, value >>= 8) {
            byte(value & 0xff);
        }
    }

    std::vector<std::byte> content_;
};

struct counts {
    std::uint64_t threads;
    std::uint64_t allocations;
};

counts check_trace(const trace& recorded, std::string_view name) {
    const trace_header& header = recorded.header;
    const auto refuse = [&](std::uint64_t event, std::string_view problem, std::string_view allowed) {
        throw trace_error(name, trace_place::event, event, problem, allowed);
    };
    std::uint64_t command_bytes = 0;
    for (const std::string& argument : header.command) {
        command_bytes += argument.size();
    }
    if (header.command.size() > trace_format::max_arguments ||
        command_bytes > trace_format::max_command_bytes) {
        refuse(0,
               fmt::format("the command has {} arguments of {} bytes", header.command.size(), command_bytes),
               fmt::format("{} arguments, {} bytes", trace_format::max_arguments,
                           trace_format::max_command_bytes));
    }
    if (header.time_resolution_ns == 0 || header.time_resolution_ns > trace_event::max_time_ns) {
        refuse(0, fmt::format("the time resolution is {} ns", header.time_resolution_ns),
               fmt::format("1 to {} ns", trace_event::max_time_ns));
    }
    if (header.duration_ns > trace_event::max_time_ns) {
        refuse(0, fmt::format("the duration is {} ns", header.duration_ns),
               fmt::format("0 to {} ns", trace_event::max_time_ns));
    }
    trace_checker checker(header);
    for (std::size_t i = 0; i < recorded.events.size(); ++i) {
        const trace_event& event = recorded.events[i];
        if (auto bad = checker.accept(
                {event.time_ns(), event.thread(), event.kind(), event.object(), event.size()})) {
            refuse(i, bad->problem, bad->allowed);
        }
    }
    return {checker.threads(), checker.allocations()};
}

void encode_header(content_writer& out, const trace& recorded, counts counted) {
    const trace_header& header = recorded.header;
    out.text(trace_format::magic);
    out.fixed32(trace_format::version);
    out.fixed64(header.truncated ? trace_format::truncated_flag : 0);
    out.fixed64(header.time_resolution_ns);
    out.fixed64(header.duration_ns);
    out.fixed64(recorded.events.size());
    out.fixed64(counted.allocations);
    out.fixed64(counted.threads);
    out.fixed64(header.dropped_frees);
    out.fixed64(header.inferred_frees);
    out.fixed32(header.command.size());
    for (const std::string& argument : header.command) {
        out.fixed32(argument.size());
        out.text(argument);
    }
}

void encode_events(content_writer& out, const trace& recorded) {
    std::uint64_t ticks = 0;
    std::uint64_t thread = 0;
    std::uint64_t allocations = 0;
    for (const trace_event& event : recorded.events) {
        const bool is_free = event.kind() == event_kind::free;
        const std::uint64_t now = event.time_ns() / recorded.header.time_resolution_ns;
        const std::uint64_t payload = is_free ? allocations - 1 - event.object() : event.size();
        std::uint64_t token = payload << trace_format::payload_shift;
        if (is_free) {
            token |= trace_format::free_bit;
        }
        if (now != ticks) {
            token |= trace_format::time_bit;
        }
        if (event.thread() != thread) {
            token |= trace_format::thread_bit;
        }
        out.varint(token);
        if (now != ticks) {
            out.varint(now - ticks);
        }
        if (event.thread() != thread) {
            out.varint(event.thread());
        }
        ticks = now;
        thread = event.thread();
        if (!is_free) {
            ++allocations;
        }
    }
}

} // namespace

std::vector<std::byte> encode_trace(const trace& recorded, std::string_view name) {
    const counts counted = check_trace(recorded, name);
    content_writer out;
    encode_header(out, recorded, counted);
    encode_events(out, recorded);
    out.text(trace_format::end_marker);
    out.fixed64(recorded.events.size());
    return out.take();
}

void write_trace(const std::filesystem::path& path, const trace& recorded) {
    const std::string name = path.string();
    const std::vector<std::byte> bytes = compress_content(encode_trace(recorded, name), name);
    try {
        support::output_file("", path).write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    } catch (const std::system_error& error) {
        throw trace_error(name, trace_place::file, 0, "cannot be written: " + error.code().message(),
                          "a file in a directory that can be written to");
    }
}

} // namespace handlepool::stress
