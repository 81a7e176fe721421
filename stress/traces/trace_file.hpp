// SPDX-License-Identifier: MIT
#pragma once

#include "trace.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

// Trace files; TRACE_FORMAT.md describes them.
namespace handlepool::stress {

// What a file may ask of its reader. A header that promises more is refused before memory is taken for it.
struct trace_limits {
    std::uint64_t file_bytes{std::uint64_t{1} << 30};
    std::uint64_t content_bytes{std::uint64_t{1} << 30}; // after decompression
    std::uint64_t events{std::uint64_t{1} << 26};        // 16 bytes of memory each
};

// The trace in the file `path`, complete and checked. Throws trace_error if the file can't be read, is
// damaged, cut off or followed by something, breaks a rule of the format, or exceeds a limit.
trace read_trace(const std::filesystem::path& path, const trace_limits& limits = {});

// The same from the bytes of a file, which errors call `name`.
trace read_trace(std::span<const std::byte> file, std::string_view name, const trace_limits& limits = {});

// Writes `recorded` to the file `path`. A file that was there is replaced only when the new one is complete.
// Throws trace_error if the trace isn't valid or the file can't be written; then there is nothing new on
// disk.
void write_trace(const std::filesystem::path& path, const trace& recorded);

// ---- The two layers of a file. `name` stands for it in errors.

// The content: a trace as bytes. Both throw trace_error unless the trace is valid.
std::vector<std::byte> encode_trace(const trace& recorded, std::string_view name);
trace decode_trace(std::span<const std::byte> content, std::string_view name, const trace_limits& limits);

// The file around it: a zstd frame, and its seal. A frame has bits without a meaning, which its own checksum
// does not cover; the seal covers every bit of the file, and zstd skips it. Both throw trace_error: the first
// if zstd fails, which it does only for want of memory; the other unless the file is a frame as the first
// makes it, undamaged and within the limits, and its seal, and nothing else.
std::vector<std::byte> compress_content(std::span<const std::byte> content, std::string_view name);
std::vector<std::byte> decompress_content(std::span<const std::byte> file, std::string_view name,
                                          const trace_limits& limits);

} // namespace handlepool::stress
