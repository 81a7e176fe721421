#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

// The bytes of a trace file: a zstd frame, and its seal. A frame has bits without a meaning, which its own
// checksum does not cover; the seal covers every bit of the file, and zstd skips it.
namespace handlepool::stress {

// What a file may ask of its reader. A header that promises more is refused before memory is taken for it.
struct trace_limits {
    std::uint64_t file_bytes{std::uint64_t{1} << 30};
    std::uint64_t content_bytes{std::uint64_t{1} << 30}; // after decompression
    std::uint64_t events{std::uint64_t{1} << 26};        // 16 bytes of memory each
};

// The bytes of a file with this `content`. `name` stands for the file in errors. Throws trace_error if zstd
// fails, which it does only for want of memory.
std::vector<std::byte> compress_content(std::span<const std::byte> content, std::string_view name);

// The content of a file with these bytes. Throws trace_error unless the file is a frame as the writer makes
// it, undamaged and within the limits, and its seal, and nothing else.
std::vector<std::byte> decompress_content(std::span<const std::byte> file, std::string_view name,
                                          const trace_limits& limits);

} // namespace handlepool::stress
