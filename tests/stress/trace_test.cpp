// SPDX-License-Identifier: MIT

// Reading and writing of trace files: what was written comes back, and whatever is wrong is refused.

#include "traces/trace.hpp"
#include "traces/trace_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <tests/support/paths.hpp>
#include <tests/support/scratch_directory.hpp>
#include <zstd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::stress {
namespace {

using bytes = std::vector<std::byte>;

constexpr std::string_view name = "some.zst";

// Two threads, a free by the other thread, an object that stays alive, all fields set.
trace small_trace() {
    return {.header = {.command = {"program", "--option", ""},
                       .time_resolution_ns = 10,
                       .duration_ns = 5000,
                       .dropped_frees = 7,
                       .inferred_frees = 1,
                       .truncated = true},
            .events = {trace_event::allocate(0, 0, 0, 24), trace_event::allocate(10, 0, 1, 70'000),
                       trace_event::allocate(10, 1, 2, 0), trace_event::free(1280, 1, 0),
                       trace_event::free(1290, 0, 2), trace_event::allocate(5000, 0, 3, 0xffff'ffff)}};
}

// A long random trace; its events repeat enough to compress.
trace random_trace(std::size_t events, unsigned seed) {
    std::mt19937 random(seed);
    trace result{.header = {.command = {"random"}, .duration_ns = trace_event::max_time_ns}};
    std::vector<std::uint32_t> alive;
    std::uint32_t allocations = 0;
    std::uint32_t threads = 0;
    std::uint64_t time_ns = 0;
    while (result.events.size() < events) {
        time_ns += random() % 3 == 0 ? random() % 1000 : 0;
        const auto thread = static_cast<std::uint32_t>(random() % std::min(threads + 1, 5u));
        threads = std::max(threads, thread + 1);
        if (alive.empty() || random() % 2 == 0) {
            alive.push_back(allocations);
            const auto size = static_cast<std::uint32_t>(random() % 4 * 16);
            result.events.push_back(trace_event::allocate(time_ns, thread, allocations++, size));
        } else {
            std::swap(alive[random() % alive.size()], alive.back());
            result.events.push_back(trace_event::free(time_ns, thread, alive.back()));
            alive.pop_back();
        }
    }
    return result;
}

bytes file_of(const trace& recorded) {
    return compress_content(encode_trace(recorded, name), name);
}

// The error that reading `file` ends with, if it does.
std::optional<trace_error> error_of(std::span<const std::byte> file, const trace_limits& limits = {}) {
    try {
        read_trace(file, name, limits);
        return std::nullopt;
    } catch (const trace_error& error) {
        return error;
    }
}

// Reads a file with `content`, and expects an error at `offset` whose text has `part` in it.
void expect_refused(const bytes& content, std::uint64_t offset, std::string_view part) {
    const auto error = error_of(compress_content(content, name));
    ASSERT_TRUE(error) << part;
    EXPECT_EQ(error->place(), trace_place::content) << error->what();
    EXPECT_EQ(error->offset(), offset) << error->what();
    EXPECT_NE(std::string_view(error->what()).find(part), std::string_view::npos) << error->what();
    EXPECT_TRUE(std::string_view(error->what()).starts_with("some.zst: content byte")) << error->what();
    EXPECT_NE(std::string_view(error->what()).find("allowed: "), std::string_view::npos) << error->what();
}

// Where the fields of the header begin.
enum field : std::size_t {
    version_at = 8,
    flags_at = 12,
    resolution_at = 20,
    duration_at = 28,
    events_at = 36,
    allocations_at = 44,
    threads_at = 52,
    dropped_at = 60,
    inferred_at = 68,
    arguments_at = 76,
    first_length_at = 80
};

// The content of a trace with one argument of one byte, whose events are `encoded`.
constexpr std::size_t first_event_at = 85;

bytes content_with(std::initializer_list<int> encoded, int events, int allocations, int threads) {
    bytes content = encode_trace({.header = {.command = {"p"}, .duration_ns = 100}, .events = {}}, name);
    content.resize(first_event_at);
    content[events_at] = std::byte(events);
    content[allocations_at] = std::byte(allocations);
    content[threads_at] = std::byte(threads);
    for (int value : encoded) {
        content.push_back(std::byte(value));
    }
    for (char c : std::string_view("HPTREND\n")) {
        content.push_back(std::byte(c));
    }
    content.push_back(std::byte(events));
    content.resize(content.size() + 7);
    return content;
}

std::string reread(const bytes& content) {
    const trace found = read_trace(compress_content(content, name), name);
    return fmt::format("{} events", found.events.size());
}

TEST(trace, an_event_keeps_its_fields_at_their_limits) {
    const auto made = trace_event::allocate(trace_event::max_time_ns, trace_event::max_thread,
                                            trace_event::max_object, trace_event::max_size);
    EXPECT_EQ(made.time_ns(), trace_event::max_time_ns);
    EXPECT_EQ(made.thread(), trace_event::max_thread);
    EXPECT_EQ(made.kind(), event_kind::allocate);
    EXPECT_EQ(made.object(), trace_event::max_object);
    EXPECT_EQ(made.size(), trace_event::max_size);
    const auto freed = trace_event::free(1, 2, 3);
    EXPECT_EQ(freed.time_ns(), 1u);
    EXPECT_EQ(freed.thread(), 2u);
    EXPECT_EQ(freed.kind(), event_kind::free);
    EXPECT_EQ(freed.object(), 3u);
    EXPECT_EQ(freed.size(), 0u);
}

TEST(trace, summarize_counts) {
    const trace_summary sum = summarize(small_trace());
    EXPECT_EQ(sum.events, 6u);
    EXPECT_EQ(sum.threads, 2u);
    EXPECT_EQ(sum.allocations, 4u);
    EXPECT_EQ(sum.frees, 2u);
    EXPECT_EQ(sum.cross_thread_frees, 2u);
    EXPECT_EQ(sum.peak_alive, 3u);
    EXPECT_EQ(sum.peak_alive_bytes, std::uint64_t{70'000} + 0xffff'ffff);
    EXPECT_EQ(sum.duration_ns, 5000u);
}

TEST(trace_file, what_was_written_is_read) {
    for (const trace& original : {trace{}, small_trace(), random_trace(1000, 1), random_trace(100'000, 2)}) {
        EXPECT_EQ(read_trace(file_of(original), name), original);
    }
}

TEST(trace_file, frames_with_a_window_are_read) {
    trace original = random_trace(1000, 3);
    original.header.duration_ns = trace_event::max_time_ns;
    for (auto object = static_cast<std::uint32_t>(summarize(original).allocations);
         original.events.size() < 2'000'000; ++object) {
        const auto last = original.events.back().time_ns();
        original.events.push_back(trace_event::allocate(last + 1, 0, object, 0xffff'ffff));
    }
    const bytes content = encode_trace(original, name);
    ASSERT_GT(content.size(), std::size_t{1} << 23);
    EXPECT_EQ(read_trace(compress_content(content, name), name), original);
}

TEST(trace_file, is_replaced_on_disk_in_one_piece) {
    const support::scratch_directory directory;
    const auto path = directory.path() / "trace.zst";
    write_trace(path, trace{});
    write_trace(path, small_trace());
    EXPECT_EQ(read_trace(path), small_trace());
    trace bad = small_trace();
    bad.header.time_resolution_ns = 0;
    EXPECT_THROW(write_trace(path, bad), trace_error);
    EXPECT_EQ(read_trace(path), small_trace());
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1)
        << "a temporary file is left";
}

TEST(trace_file, errors_of_the_file_system_name_the_file) {
    for (const auto& action : {std::function<void()>([] { read_trace("/nonexistent/a.zst"); }),
                               std::function<void()>([] { write_trace("/nonexistent/a.zst", trace{}); }),
                               std::function<void()>([] { read_trace("/"); })}) {
        try {
            action();
            ADD_FAILURE() << "nothing was thrown";
        } catch (const trace_error& error) {
            EXPECT_TRUE(std::string_view(error.what()).starts_with("/")) << error.what();
            EXPECT_EQ(error.place(), trace_place::file);
        }
    }
}

TEST(trace_file, cut_at_every_byte_is_refused) {
    for (const trace& original : {small_trace(), random_trace(1000, 5)}) {
        const bytes file = file_of(original);
        for (std::size_t size = 0; size < file.size(); ++size) {
            const auto error = error_of(std::span(file).first(size));
            ASSERT_TRUE(error) << "cut at " << size;
            EXPECT_EQ(error->place(), trace_place::file);
            EXPECT_LE(error->offset(), size);
        }
    }
}

TEST(trace_file, content_cut_at_every_byte_is_refused) {
    const bytes content = encode_trace(small_trace(), name);
    for (std::size_t size = 0; size < content.size(); ++size) {
        const auto error = error_of(compress_content(std::span(content).first(size), name));
        ASSERT_TRUE(error) << "cut at " << size;
        EXPECT_EQ(error->place(), trace_place::content);
        EXPECT_LE(error->offset(), size);
    }
}

TEST(trace_file, every_flipped_bit_is_refused) {
    for (const trace& original : {trace{}, small_trace(), random_trace(400, 6), random_trace(1500, 7)}) {
        bytes file = file_of(original);
        for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
            const std::byte mask{static_cast<unsigned char>(1u << bit % 8)};
            file[bit / 8] ^= mask;
            const auto error = error_of(file);
            ASSERT_TRUE(error) << "bit " << bit << " of " << file.size() * 8;
            ASSERT_EQ(error->place(), trace_place::file) << error->what();
            ASSERT_LE(error->offset(), file.size()) << error->what();
            file[bit / 8] ^= mask;
        }
        EXPECT_EQ(read_trace(file, name), original);
    }
}

// The checksum is right here, so only the rules stand between the flip and the caller.
TEST(trace_file, a_flipped_bit_of_content_is_refused_or_gives_another_valid_trace) {
    for (const trace& original : {small_trace(), random_trace(100, 8)}) {
        bytes content = encode_trace(original, name);
        for (std::size_t bit = 0; bit < content.size() * 8; ++bit) {
            const std::byte mask{static_cast<unsigned char>(1u << bit % 8)};
            content[bit / 8] ^= mask;
            try {
                const trace other = read_trace(compress_content(content, name), name);
                EXPECT_NE(other, original) << "bit " << bit;
                EXPECT_EQ(encode_trace(other, name), content) << "bit " << bit;
            } catch (const trace_error& error) {
                EXPECT_EQ(error.place(), trace_place::content) << error.what();
                EXPECT_LE(error.offset(), content.size());
            }
            content[bit / 8] ^= mask;
        }
    }
}

TEST(trace_file, must_be_one_frame_and_its_seal) {
    const bytes file = file_of(small_trace());
    bytes followed = file;
    followed.push_back(std::byte{0});
    EXPECT_EQ(error_of(followed)->offset(), file.size());
    bytes twice = file;
    twice.insert(twice.end(), file.begin(), file.end());
    EXPECT_EQ(error_of(twice)->offset(), file.size());
    const bytes text(100, std::byte{'x'});
    EXPECT_EQ(error_of(text)->offset(), 0u);
    EXPECT_TRUE(error_of({}));
    const std::size_t frame_bytes = file.size() - 12;
    const auto unsealed = error_of(std::span(file).first(frame_bytes));
    EXPECT_EQ(unsealed->offset(), frame_bytes);
    EXPECT_NE(std::string_view(unsealed->what()).find("seal"), std::string_view::npos) << unsealed->what();
}

TEST(trace_file, decompresses_like_any_zstd_file) {
    const bytes content = encode_trace(small_trace(), name);
    const bytes file = compress_content(content, name);
    bytes decompressed(content.size() + 1);
    decompressed.resize(ZSTD_decompress(decompressed.data(), decompressed.size(), file.data(), file.size()));
    EXPECT_EQ(decompressed, content);
}

// The CRC-32 of zlib, bit by bit.
std::uint32_t slow_crc(std::span<const std::byte> file) {
    std::uint32_t crc = 0xffff'ffff;
    for (const std::byte byte : file) {
        crc ^= std::to_integer<std::uint32_t>(byte);
        for (int bit = 0; bit < 8; ++bit) {
            crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb8'8320 : 0);
        }
    }
    return ~crc;
}

TEST(trace_file, is_sealed_as_the_format_says) {
    const bytes digits{std::byte{'1'}, std::byte{'2'}, std::byte{'3'}, std::byte{'4'}, std::byte{'5'},
                       std::byte{'6'}, std::byte{'7'}, std::byte{'8'}, std::byte{'9'}};
    ASSERT_EQ(slow_crc(digits), 0xcbf4'3926U) << "the check value of the CRC-32";
    const bytes file = file_of(small_trace());
    const std::span seal = std::span(file).last(12);
    const bytes header{std::byte{0x50}, std::byte{0x2a}, std::byte{0x4d}, std::byte{0x18},
                       std::byte{4},    std::byte{0},    std::byte{0},    std::byte{0}};
    EXPECT_TRUE(std::ranges::equal(seal.first(8), header));
    const std::uint32_t crc = slow_crc(std::span(file).first(file.size() - 4));
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(seal[8 + i], static_cast<std::byte>(crc >> 8 * i));
    }
}

TEST(trace_file, must_have_a_checksum) {
    const bytes content = encode_trace(small_trace(), name);
    bytes frame(ZSTD_compressBound(content.size()));
    frame.resize(ZSTD_compress(frame.data(), frame.size(), content.data(), content.size(), 1));
    const auto error = error_of(frame);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->offset(), 4u) << error->what();
}

TEST(trace_content, wrong_beginnings_are_refused) {
    const auto refuse_byte = [](std::size_t at, int value, std::uint64_t offset, std::string_view part) {
        bytes content = encode_trace(small_trace(), name);
        content[at] = std::byte(value);
        expect_refused(content, offset, part);
    };
    refuse_byte(0, 'X', 0, "magic");
    refuse_byte(version_at, 2, version_at, "version is 2");
    refuse_byte(version_at + 3, 1, version_at, "version");
    refuse_byte(flags_at, 2, flags_at, "flags");
    refuse_byte(resolution_at, 0, resolution_at, "resolution is 0");
    refuse_byte(duration_at + 7, 1, duration_at, "duration");
    refuse_byte(events_at + 7, 0x80, events_at, "number of events");
    refuse_byte(allocations_at, 2, allocations_at, "number of allocations is 2");
    refuse_byte(allocations_at, 7, allocations_at, "number of allocations is 7");
    refuse_byte(threads_at, 0, threads_at, "number of threads is 0");
    refuse_byte(threads_at, 7, threads_at, "number of threads is 7");
    refuse_byte(inferred_at, 9, inferred_at, "inferred");
    refuse_byte(arguments_at + 3, 0x7f, arguments_at, "number of arguments");
    refuse_byte(first_length_at + 3, 0x7f, first_length_at, "length of an argument");
}

TEST(trace_content, wrong_events_are_refused) {
    constexpr std::size_t at = first_event_at;
    // Tokens: 0x08 allocates one byte, 0x01 frees the newest object; +2: time follows, +4: thread follows.
    EXPECT_EQ(reread(content_with({0x08, 0x01}, 2, 1, 1)), "2 events");
    expect_refused(content_with({0x01}, 1, 1, 1), at, "before the newest");
    expect_refused(content_with({0x08, 0x09}, 2, 1, 1), at + 1, "before the newest");
    expect_refused(content_with({0x08, 0x08, 0x01, 0x01}, 4, 2, 1), at + 3, "freed before");
    expect_refused(content_with({0x0c, 1}, 1, 1, 1), at, "the thread is 1");
    expect_refused(content_with({0x08, 0x0c, 2}, 2, 2, 2), at + 1, "the thread is 2");
    expect_refused(content_with({0x0c, 0}, 1, 1, 1), at + 1, "to itself");
    expect_refused(content_with({0x0a, 0}, 1, 1, 1), at + 1, "advances by 0");
    expect_refused(content_with({0x0a, 101}, 1, 1, 1), at + 1, "advances by 101");
    expect_refused(content_with({0x0a, 60, 0x0a, 41}, 2, 2, 1), at + 3, "advances by 41");
    expect_refused(content_with({0x88, 0x00}, 1, 1, 1), at, "longer");
    expect_refused(content_with({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02}, 1, 1, 1), at,
                   "64 bits");
    expect_refused(content_with({0x80, 0x80, 0x80, 0x80, 0x80, 0x01}, 1, 1, 1), at, "4294967296 bytes");
}

TEST(trace_content, counts_must_agree) {
    constexpr std::size_t at = first_event_at;
    expect_refused(content_with({0x08, 0x08}, 2, 1, 1), at + 1, "more allocations");
    expect_refused(content_with({0x08, 0x0c, 1}, 2, 2, 1), at + 1, "more allocations or threads");
    expect_refused(content_with({0x08, 0x01}, 2, 2, 1), at + 2, "1 allocations");
    expect_refused(content_with({0x08, 0x08}, 2, 2, 2), at + 2, "1 threads");
    expect_refused(content_with({0x08, 0x08}, 1, 1, 1), at + 1, "end marker");
    bytes other_count = content_with({0x08}, 1, 1, 1);
    other_count[other_count.size() - 8] = std::byte{2};
    expect_refused(other_count, other_count.size() - 8, "at the end is 2");
    bytes followed = content_with({0x08}, 1, 1, 1);
    followed.push_back(std::byte{0});
    expect_refused(followed, followed.size() - 1, "follows");
}

TEST(trace_limits, are_checked_before_memory_is_taken) {
    const bytes file = file_of(small_trace());
    EXPECT_FALSE(error_of(file, {.events = 6}));
    EXPECT_EQ(error_of(file, {.events = 5})->offset(), events_at);
    EXPECT_EQ(error_of(file, {.file_bytes = file.size() - 1})->place(), trace_place::file);
    EXPECT_EQ(error_of(file, {.content_bytes = 100})->place(), trace_place::file);

    const bytes bomb = compress_content(bytes(std::size_t{1} << 26), name); // a few KiB that become 64 MiB
    ASSERT_LT(bomb.size(), 10'000u);
    EXPECT_EQ(error_of(bomb, {.content_bytes = 1 << 20})->offset(), 4u);

    bytes promising = content_with({0x08}, 1, 1, 1); // a header that promises 2^25 events
    promising[events_at] = promising[allocations_at] = std::byte{0};
    promising[events_at + 3] = promising[allocations_at + 3] = std::byte{2};
    EXPECT_TRUE(error_of(compress_content(promising, name)));
}

TEST(recorded_traces, are_large_and_cross_threads) {
    for (const char* file : {"fd.zst", "povray.zst"}) {
        const trace recorded =
            read_trace(std::filesystem::path(support::paths::sources) / "stress/traces" / file);
        const trace_summary sum = summarize(recorded);
        EXPECT_GE(sum.events, 1'000'000u) << file;
        EXPECT_GE(sum.threads, 4u) << file;
        EXPECT_GE(sum.cross_thread_frees, 100'000u) << file;
        EXPECT_EQ(recorded.header.inferred_frees, 0u) << file;
    }
}

TEST(trace_writer, refuses_what_is_no_trace) {
    const auto refuse = [](std::uint64_t event, const std::function<void(trace&)>& spoil) {
        trace spoilt = small_trace();
        spoil(spoilt);
        try {
            encode_trace(spoilt, name);
            ADD_FAILURE() << "event " << event << " was accepted";
        } catch (const trace_error& error) {
            EXPECT_EQ(error.place(), trace_place::event) << error.what();
            EXPECT_EQ(error.offset(), event) << error.what();
        }
    };
    refuse(4, [](trace& t) { t.events[4] = trace_event::free(10, 0, 2); });        // time goes back
    refuse(4, [](trace& t) { t.events[4] = trace_event::free(1285, 0, 2); });      // not a multiple
    refuse(4, [](trace& t) { t.events[4] = trace_event::free(1290, 0, 0); });      // freed before
    refuse(4, [](trace& t) { t.events[4] = trace_event::free(1290, 0, 3); });      // not yet allocated
    refuse(0, [](trace& t) { t.events[0] = trace_event::allocate(0, 1, 0, 24); }); // thread not dense
    refuse(5, [](trace& t) { t.events[5] = trace_event::allocate(5000, 0, 4, 1); });
    refuse(5, [](trace& t) { t.header.duration_ns = 4990; });
    refuse(0, [](trace& t) { t.header.time_resolution_ns = 0; });
    refuse(0, [](trace& t) { t.header.duration_ns = trace_event::max_time_ns + 1; });
    refuse(0, [](trace& t) { t.header.command.assign(70'000, "x"); });
    refuse(0, [](trace& t) { t.header.command = {std::string(2 << 20, 'x')}; });
}

} // namespace
} // namespace handlepool::stress
