// SPDX-License-Identifier: MIT

// The content of trace files: one description of the header, and the rules of the events, for reading and
// writing alike.

#include "trace_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace handlepool::stress {

namespace {

constexpr std::string_view magic = "HPTRACE\n";
constexpr std::uint64_t format_version = 1;
constexpr std::string_view end_marker = "HPTREND\n";

// Bits of the header's flags.
constexpr std::uint64_t truncated_flag = 1;

// An event is a varint: its payload (a size or a distance) above these bits.
constexpr std::uint64_t free_bit = 1;   // a free, not an allocation
constexpr std::uint64_t time_bit = 2;   // the time has advanced: a varint of ticks follows
constexpr std::uint64_t thread_bit = 4; // another thread than before: a varint with its index follows
constexpr unsigned payload_shift = 3;

constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();

// Takes the content of a file apart.
class content_reader {
public:
    content_reader(std::span<const std::byte> content, std::string_view name)
        : content_(content), name_(name) {}

    // Bytes of content taken so far: the position of what is read next.
    std::uint64_t offset() const noexcept { return offset_; }

    [[noreturn]] void fail(std::uint64_t offset, std::string_view problem, std::string_view allowed) const {
        throw trace_error(name_, trace_place::content, offset, problem, allowed);
    }

    // A little-endian number.
    void fixed(int bytes, std::string_view what, std::uint64_t& value, std::uint64_t min, std::uint64_t max) {
        const std::uint64_t start = offset_;
        value = 0;
        for (int i = 0; i < bytes; ++i) {
            value |= byte(what) << (8 * i);
        }
        if (value < min || value > max) {
            fail(start, fmt::format("{} is {}", what, value), fmt::format("{} to {}", min, max));
        }
    }

    // As many as there is room for in `bytes`.
    void text(std::string_view what, std::string& bytes) {
        for (char& each : bytes) {
            each = static_cast<char>(byte(what));
        }
    }

    void marker(std::string_view what, std::string_view expected) {
        const std::uint64_t start = offset_;
        for (const char each : expected) {
            if (byte(what) != static_cast<unsigned char>(each)) {
                fail(start, fmt::format("{} is missing", what),
                     fmt::format("\"{}\" and a newline", expected.substr(0, expected.size() - 1)));
            }
        }
    }

    // In its shortest form.
    std::uint64_t varint(std::string_view what) {
        const std::uint64_t start = offset_;
        std::uint64_t value = 0;
        for (int shift = 0;; shift += 7) {
            const std::uint64_t next = byte(what);
            if (shift == 63 && next > 1) {
                fail(start, fmt::format("{} does not fit into 64 bits", what), "at most 10 bytes");
            }
            value |= (next & 0x7f) << shift;
            if (next == 0 && shift != 0) {
                fail(start, fmt::format("{} is longer than it need be", what), "the shortest form");
            }
            if (next < 0x80) {
                return value;
            }
        }
    }

    void expect_end() const {
        if (offset_ != content_.size()) {
            fail(offset_, "something follows the end of the trace", "nothing");
        }
    }

private:
    std::uint64_t byte(std::string_view what) {
        if (offset_ == content_.size()) {
            fail(offset_, fmt::format("the content ends within {}", what), "more content");
        }
        return std::to_integer<std::uint64_t>(content_[offset_++]);
    }

    std::span<const std::byte> content_;
    std::string_view name_;
    std::size_t offset_{};
};

// The opposite. What it is given is checked as it would be when it is read.
class content_writer {
public:
    explicit content_writer(std::string_view name) : name_(name) {}

    [[noreturn]] void fail(std::uint64_t event, std::string_view problem, std::string_view allowed) const {
        throw trace_error(name_, trace_place::event, event, problem, allowed);
    }

    void fixed(int bytes, std::string_view what, std::uint64_t value, std::uint64_t min, std::uint64_t max) {
        if (value < min || value > max) {
            fail(0, fmt::format("{} is {}", what, value), fmt::format("{} to {}", min, max));
        }
        for (int i = 0; i < bytes; ++i) {
            byte(value >> (8 * i));
        }
    }

    void text(std::string_view /*what*/, std::string_view bytes) {
        for (const char each : bytes) {
            byte(static_cast<unsigned char>(each));
        }
    }
    void marker(std::string_view what, std::string_view bytes) { text(what, bytes); }

    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) {
            byte(value | 0x80);
        }
        byte(value);
    }

    std::vector<std::byte> take() { return std::move(content_); }

private:
    void byte(std::uint64_t value) { content_.push_back(static_cast<std::byte>(value & 0xff)); }

    std::string_view name_;
    std::vector<std::byte> content_;
};

struct counts {
    std::uint64_t events = 0;
    std::uint64_t allocations = 0;
    std::uint64_t threads = 0;
};

// All in front of the events, part by part: `content` reads or writes it.
template <class Content>
void pass_header(Content& content, trace_header& header, counts& of, std::uint64_t most_events) {
    content.marker("the trace's magic text", magic);
    std::uint64_t version = format_version;
    content.fixed(4, "the format's version", version, format_version, format_version);
    std::uint64_t flags = header.truncated ? truncated_flag : 0;
    content.fixed(8, "the set of flags", flags, 0, truncated_flag);
    header.truncated = flags != 0;
    content.fixed(8, "the time resolution", header.time_resolution_ns, 1, trace_event::max_time_ns);
    content.fixed(8, "the duration", header.duration_ns, 0, trace_event::max_time_ns);
    content.fixed(8, "the number of events", of.events, 0, most_events);
    // An object is freed once at most.
    content.fixed(8, "the number of allocations", of.allocations, of.events - of.events / 2, of.events);
    content.fixed(8, "the number of threads", of.threads, of.events == 0 ? 0 : 1,
                  std::min<std::uint64_t>(of.events, trace_event::max_thread + 1));
    content.fixed(8, "the number of dropped frees", header.dropped_frees, 0, any);
    content.fixed(8, "the number of inferred frees", header.inferred_frees, 0, of.events - of.allocations);

    std::uint64_t arguments = header.command.size();
    content.fixed(4, "the number of arguments", arguments, 0, trace_header::max_arguments);
    header.command.resize(arguments);
    std::uint64_t left = trace_header::max_command_bytes;
    for (std::string& argument : header.command) {
        std::uint64_t length = argument.size();
        content.fixed(4, "the length of an argument", length, 0, left);
        left -= length;
        argument.resize(length);
        content.text("the command", argument);
    }
}

template <class Content>
void pass_end(Content& content, std::uint64_t events) {
    content.marker("the end marker", end_marker);
    std::uint64_t again = events;
    content.fixed(8, "the number of events at the end", again, events, events);
}

// An event before it is known to fit into a trace_event.
struct wide_event {
    std::uint64_t time_ns;
    std::uint64_t thread;
    event_kind kind;
    std::uint64_t object;
    std::uint64_t size;

    // When it is.
    trace_event narrow() const {
        const auto by = static_cast<std::uint32_t>(thread);
        const auto what = static_cast<std::uint32_t>(object);
        return kind == event_kind::free
                   ? trace_event::free(time_ns, by, what)
                   : trace_event::allocate(time_ns, by, what, static_cast<std::uint32_t>(size));
    }
};

// The rules of a trace: fed with one event after the other.
class trace_checker {
public:
    // Keeps a reference to `header`.
    explicit trace_checker(const trace_header& header) : header_(header) {}

    // Takes `event` as the next one of the trace. If it can't be, calls `refuse`, which must throw, with what
    // is wrong and what is allowed.
    template <class Refuse>
    void accept(const wide_event& event, const Refuse& refuse) {
        const std::uint64_t latest = std::min(header_.duration_ns, trace_event::max_time_ns);
        if (event.time_ns < time_ns_ || event.time_ns > latest ||
            event.time_ns % header_.time_resolution_ns != 0) {
            refuse(fmt::format("the time is {} ns", event.time_ns),
                   fmt::format("multiples of {} ns from {} ns, the time of the event before, to {} ns",
                               header_.time_resolution_ns, time_ns_, latest));
        }
        time_ns_ = event.time_ns;
        const std::uint64_t last_thread = std::min<std::uint64_t>(threads_, trace_event::max_thread);
        if (event.thread > last_thread) {
            refuse(
                fmt::format("the thread is {}", event.thread),
                fmt::format("0 to {}: threads are numbered in the order of their first event", last_thread));
        }
        threads_ = std::max(threads_, event.thread + 1);
        if (event.kind == event_kind::allocate) {
            accept_allocation(event, refuse);
        } else {
            accept_free(event, refuse);
        }
    }

    std::uint64_t threads() const noexcept { return threads_; }
    std::uint64_t allocations() const noexcept { return alive_.size(); }

private:
    template <class Refuse>
    void accept_allocation(const wide_event& event, const Refuse& refuse) {
        if (event.object != alive_.size() || event.object > trace_event::max_object) {
            refuse(fmt::format("object {} is allocated", event.object),
                   fmt::format("object {}: the n-th allocation makes object n, up to {}", alive_.size(),
                               trace_event::max_object));
        }
        if (event.size > trace_event::max_size) {
            refuse(fmt::format("{} bytes are allocated", event.size),
                   fmt::format("0 to {} bytes", trace_event::max_size));
        }
        alive_.push_back(true);
    }

    template <class Refuse>
    void accept_free(const wide_event& event, const Refuse& refuse) {
        if (event.object >= alive_.size()) {
            refuse(fmt::format("object {} is freed, but it was never allocated", event.object),
                   fmt::format("an object that is alive; {} were allocated before", alive_.size()));
        }
        if (!alive_[event.object]) {
            refuse(fmt::format("object {} is freed, but it was freed before", event.object),
                   "an object that is alive");
        }
        if (event.size != 0) {
            refuse(fmt::format("the free of object {} has the size {}", event.object, event.size), "0");
        }
        alive_[event.object] = false;
    }

    const trace_header& header_;
    std::uint64_t time_ns_{};
    std::uint64_t threads_{};
    std::vector<bool> alive_; // by object id
};

// Ticks, if `done` are over.
std::uint64_t read_advance(content_reader& in, const trace_header& header, std::uint64_t done) {
    const std::uint64_t start = in.offset();
    const std::uint64_t ticks = in.varint("a time");
    const std::uint64_t left = header.duration_ns / header.time_resolution_ns - done;
    if (ticks == 0 || ticks > left) {
        in.fail(start, fmt::format("the time advances by {} ticks", ticks),
                fmt::format("1 to {}, the duration being {} ns", left, header.duration_ns));
    }
    return ticks;
}

std::uint64_t read_change_of_thread(content_reader& in, std::uint64_t before) {
    const std::uint64_t start = in.offset();
    const std::uint64_t thread = in.varint("a thread");
    if (thread == before) {
        in.fail(start, fmt::format("the thread changes from {} to itself", thread), "another thread");
    }
    return thread;
}

std::vector<trace_event> decode_events(content_reader& in, const trace_header& header,
                                       const counts& promised) {
    constexpr std::uint64_t trusted = 1 << 20; // events to take memory for before any has been seen
    std::vector<trace_event> events;
    events.reserve(std::min(promised.events, trusted));
    trace_checker checker(header);
    std::uint64_t ticks = 0;
    std::uint64_t thread = 0;
    while (events.size() < promised.events) {
        const std::uint64_t start = in.offset();
        const std::uint64_t token = in.varint("an event");
        const std::uint64_t payload = token >> payload_shift;
        if ((token & time_bit) != 0) {
            ticks += read_advance(in, header, ticks);
        }
        if ((token & thread_bit) != 0) {
            thread = read_change_of_thread(in, thread);
        }
        const std::uint64_t time_ns = ticks * header.time_resolution_ns;
        wide_event event{time_ns, thread, event_kind::allocate, checker.allocations(), payload};
        if ((token & free_bit) != 0) {
            if (payload >= checker.allocations()) {
                in.fail(start, fmt::format("the object {} before the newest is freed", payload),
                        fmt::format("an object that is alive; {} were allocated", checker.allocations()));
            }
            event = {time_ns, thread, event_kind::free, checker.allocations() - 1 - payload, 0};
        }
        checker.accept(event, [&](std::string_view problem, std::string_view allowed) {
            in.fail(start, problem, allowed);
        });
        if (checker.allocations() > promised.allocations || checker.threads() > promised.threads) {
            in.fail(start, "there are more allocations or threads than the header says",
                    fmt::format("{} allocations, {} threads", promised.allocations, promised.threads));
        }
        events.push_back(event.narrow());
    }
    if (checker.allocations() != promised.allocations || checker.threads() != promised.threads) {
        in.fail(
            in.offset(),
            fmt::format("there are {} allocations and {} threads", checker.allocations(), checker.threads()),
            fmt::format("{} and {}, as in the header", promised.allocations, promised.threads));
    }
    return events;
}

void encode_events(content_writer& out, const trace& recorded) {
    trace_checker checker(recorded.header);
    std::uint64_t ticks = 0;
    std::uint64_t thread = 0;
    for (std::size_t i = 0; i < recorded.events.size(); ++i) {
        const trace_event& event = recorded.events[i];
        const std::uint64_t newest = checker.allocations() - 1;
        checker.accept(
            {event.time_ns(), event.thread(), event.kind(), event.object(), event.size()},
            [&](std::string_view problem, std::string_view allowed) { out.fail(i, problem, allowed); });
        const bool is_free = event.kind() == event_kind::free;
        const std::uint64_t now = event.time_ns() / recorded.header.time_resolution_ns;
        const std::uint64_t payload = is_free ? newest - event.object() : event.size();
        out.varint(payload << payload_shift | (is_free ? free_bit : 0) | (now != ticks ? time_bit : 0) |
                   (event.thread() != thread ? thread_bit : 0));
        if (now != ticks) {
            out.varint(now - ticks);
        }
        if (event.thread() != thread) {
            out.varint(event.thread());
        }
        ticks = now;
        thread = event.thread();
    }
}

} // namespace

std::vector<std::byte> encode_trace(const trace& recorded, std::string_view name) {
    counts of{.events = recorded.events.size()};
    for (const trace_event& event : recorded.events) {
        of.allocations += event.kind() == event_kind::allocate ? 1U : 0U;
        of.threads = std::max(of.threads, std::uint64_t{event.thread()} + 1);
    }
    content_writer out(name);
    trace_header header = recorded.header;
    pass_header(out, header, of, any);
    encode_events(out, recorded);
    pass_end(out, of.events);
    return out.take();
}

trace decode_trace(std::span<const std::byte> content, std::string_view name, const trace_limits& limits) {
    content_reader in(content, name);
    trace result;
    counts promised;
    pass_header(in, result.header, promised, limits.events);
    result.events = decode_events(in, result.header, promised);
    pass_end(in, promised.events);
    in.expect_end();
    return result;
}

} // namespace handlepool::stress
