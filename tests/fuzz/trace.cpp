// SPDX-License-Identifier: MIT

// Bytes that claim to be a trace file, or what is inside one: they are refused, or hold a trace that is
// written and read again as it was. A file has checksums that no one makes up, so its content is tried
// without them too.

#include "require.hpp"
#include "traces/trace_file.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace {

using namespace handlepool::stress;
using handlepool::fuzz::require;

// What a test has memory and time for.
constexpr trace_limits limits{.file_bytes = 1 << 20, .content_bytes = 1 << 20, .events = 1 << 16};

void try_as_content(std::span<const std::byte> bytes) {
    try {
        const trace read = decode_trace(bytes, "fuzz", limits);
        const auto summary = summarize(read);
        require(summary.events == read.events.size(), "all events count");
        const auto written = encode_trace(read, "again");
        require(std::ranges::equal(written, bytes), "there is one way to write a trace");
        const auto file = compress_content(written, "file");
        require(read_trace(file, "file", limits) == read, "from a file too");
    } catch (const trace_error& error) {
        require(error.offset() <= bytes.size(), "the place is in the content");
    }
}

void try_as_file(std::span<const std::byte> bytes) {
    try {
        const trace read = read_trace(bytes, "fuzz", limits);
        require(std::ranges::equal(encode_trace(read, "again"), decompress_content(bytes, "fuzz", limits)),
                "there is one way to write a trace");
    } catch (const trace_error& error) {
        require(error.place() != trace_place::file || error.offset() <= bytes.size(),
                "the place is in the file");
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try_as_content(std::as_bytes(std::span(data, size)));
    try_as_file(std::as_bytes(std::span(data, size)));
    return 0;
}
