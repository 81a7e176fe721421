#include "trace_reader.hpp"

#include "trace_checker.hpp"
#include "trace_format.hpp"

#include <fmt/format.h>
#include <support/read_file.hpp>

#include <algorithm>
#include <string>
#include <system_error>

namespace handlepool::stress {

namespace {

// Takes the content of a file apart into numbers.
class content_source {
public:
    content_source(std::span<const std::byte> content, std::string_view name)
        : content_(content), name_(name) {}

    // Bytes of content taken so far: the position of what is read next.
    std::uint64_t offset() const noexcept { return offset_; }

    [[noreturn]] void fail(std::uint64_t offset, std::string_view problem, std::string_view allowed) const {
        throw trace_error(name_, trace_place::content, offset, problem, allowed);
    }

    std::uint64_t byte(std::string_view what) {
        if (offset_ == content_.size()) {
            fail(offset_, fmt::format("the content ends within {}", what), "more content");
        }
        return std::to_integer<std::uint64_t>(content_[offset_++]);
    }

    // A little-endian number.
    std::uint64_t fixed(int bytes, std::string_view what) {
        std::uint64_t value = 0;
        for (int i = 0; i < bytes; ++i) {
            value |= byte(what) << (8 * i);
        }
        return value;
    }

    std::uint64_t fixed(int bytes, std::string_view what, std::uint64_t min, std::uint64_t max) {
        const std::uint64_t start = offset_;
        const std::uint64_t value = fixed(bytes, what);
        if (value < min || value > max) {
            fail(start, fmt::format("{} is {}", what, value), fmt::format("{} to {}", min, max));
        }
        return value;
    }

    // A varint in its shortest form.
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

    void expect(std::string_view marker, std::string_view what) {
        const std::uint64_t start = offset_;
        for (char c : marker) {
            if (byte(what) != static_cast<unsigned char>(c)) {
                fail(start, fmt::format("{} is missing", what),
                     fmt::format("\"{}\" and a newline", marker.substr(0, marker.size() - 1)));
            }
        }
    }

    void expect_end() {
        if (offset_ != content_.size()) {
            fail(offset_, "something follows the end of the trace", "nothing");
        }
    }

private:
    std::span<const std::byte> content_;
    std::string_view name_;
    std::size_t offset_{};
};

struct counts {
    std::uint64_t events;
    std::uint64_t allocations;
    std::uint64_t threads;
};

std::vector<std::string> read_command(content_source& in) {
    std::vector<std::string> command;
    std::uint64_t left = trace_format::max_command_bytes;
    for (auto count = in.fixed(4, "the number of arguments", 0, trace_format::max_arguments); count != 0;
         --count) {
        const std::uint64_t length = in.fixed(4, "the length of an argument", 0, left);
        left -= length;
        std::string argument;
        for (std::uint64_t i = 0; i < length; ++i) {
            argument.push_back(static_cast<char>(in.byte("the command")));
        }
        command.push_back(std::move(argument));
    }
    return command;
}

counts read_header(content_source& in, trace_header& header, const trace_limits& limits) {
    constexpr std::uint64_t any = ~std::uint64_t{0};
    in.expect(trace_format::magic, "the trace's magic text");
    in.fixed(4, "the format's version", trace_format::version, trace_format::version);
    header.truncated = in.fixed(8, "the set of flags", 0, trace_format::truncated_flag) != 0;
    header.time_resolution_ns = in.fixed(8, "the time resolution", 1, trace_event::max_time_ns);
    header.duration_ns = in.fixed(8, "the duration", 0, trace_event::max_time_ns);
    counts promised{};
    promised.events = in.fixed(8, "the number of events", 0, limits.events);
    // An object is freed once at most.
    promised.allocations =
        in.fixed(8, "the number of allocations", promised.events - promised.events / 2, promised.events);
    promised.threads = in.fixed(8, "the number of threads", promised.events == 0 ? 0 : 1,
                                std::min<std::uint64_t>(promised.events, trace_event::max_thread + 1));
    header.dropped_frees = in.fixed(8, "the number of dropped frees", 0, any);
    header.inferred_frees =
        in.fixed(8, "the number of inferred frees", 0, promised.events - promised.allocations);
    header.command = read_command(in);
    return promised;
}

class event_decoder {
public:
    event_decoder(content_source& in, const trace_header& header, const counts& promised)
        : in_(in), header_(header), promised_(promised), checker_(header) {}

    trace_event next() {
        using namespace trace_format;
        const std::uint64_t start = in_.offset();
        const std::uint64_t token = in_.varint("an event");
        const std::uint64_t payload = token >> payload_shift;
        if ((token & time_bit) != 0) {
            advance_time();
        }
        if ((token & thread_bit) != 0) {
            change_thread();
        }
        const std::uint64_t time_ns = ticks_ * header_.time_resolution_ns;
        const std::uint64_t newest = checker_.allocations() - 1;
        trace_checker::wide_event event{time_ns, thread_, event_kind::allocate, newest + 1, payload};
        if ((token & free_bit) != 0) {
            if (payload >= checker_.allocations()) {
                in_.fail(start, fmt::format("the object {} before the newest is freed", payload),
                         fmt::format("an object that is alive; {} were allocated", checker_.allocations()));
            }
            event = {time_ns, thread_, event_kind::free, newest - payload, 0};
        }
        if (const auto bad = checker_.accept(event)) {
            in_.fail(start, bad->problem, bad->allowed);
        }
        if (checker_.allocations() > promised_.allocations || checker_.threads() > promised_.threads) {
            in_.fail(start, "there are more allocations or threads than the header says",
                     fmt::format("{} allocations, {} threads", promised_.allocations, promised_.threads));
        }
        const auto thread = static_cast<std::uint32_t>(thread_);
        const auto object = static_cast<std::uint32_t>(event.object);
        return event.kind == event_kind::free
                   ? trace_event::free(time_ns, thread, object)
                   : trace_event::allocate(time_ns, thread, object, static_cast<std::uint32_t>(event.size));
    }

    void finish() {
        if (checker_.allocations() != promised_.allocations || checker_.threads() != promised_.threads) {
            in_.fail(in_.offset(),
                     fmt::format("there are {} allocations and {} threads", checker_.allocations(),
                                 checker_.threads()),
                     fmt::format("{} and {}, as in the header", promised_.allocations, promised_.threads));
        }
    }

private:
    void advance_time() {
        const std::uint64_t start = in_.offset();
        const std::uint64_t ticks = in_.varint("a time");
        const std::uint64_t left = header_.duration_ns / header_.time_resolution_ns - ticks_;
        if (ticks == 0 || ticks > left) {
            in_.fail(start, fmt::format("the time advances by {} ticks", ticks),
                     fmt::format("1 to {}, the duration being {} ns", left, header_.duration_ns));
        }
        ticks_ += ticks;
    }

    void change_thread() {
        const std::uint64_t start = in_.offset();
        const std::uint64_t thread = in_.varint("a thread");
        if (thread == thread_) {
            in_.fail(start, fmt::format("the thread changes from {} to itself", thread), "another thread");
        }
        thread_ = thread;
    }

    content_source& in_;
    const trace_header& header_;
    const counts& promised_;
    trace_checker checker_;
    std::uint64_t ticks_{};
    std::uint64_t thread_{};
};

} // namespace

trace read_trace(const std::filesystem::path& path, const trace_limits& limits) {
    std::string bytes;
    try {
        bytes = support::read_file(path, limits.file_bytes);
    } catch (const std::system_error& error) {
        throw trace_error(path.string(), trace_place::file, 0, "cannot be read: " + error.code().message(),
                          "a readable file");
    }
    return read_trace(std::as_bytes(std::span(bytes)), path.string(), limits);
}

trace read_trace(std::span<const std::byte> file, std::string_view name, const trace_limits& limits) {
    constexpr std::uint64_t trusted = 1 << 20; // events to take memory for before any has been seen
    const std::vector<std::byte> content = decompress_content(file, name, limits);
    content_source in(content, name);
    trace result;
    const counts promised = read_header(in, result.header, limits);
    result.events.reserve(std::min(promised.events, trusted));
    event_decoder decoder(in, result.header, promised);
    for (std::uint64_t i = 0; i < promised.events; ++i) {
        result.events.push_back(decoder.next());
    }
    decoder.finish();
    in.expect(trace_format::end_marker, "the end marker");
    in.fixed(8, "the number of events at the end", promised.events, promised.events);
    in.expect_end();
    return result;
}

} // namespace handlepool::stress
