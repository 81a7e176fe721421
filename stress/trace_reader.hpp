#pragma once

#include "trace.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace handlepool::stress {

// What a file may ask of its reader. A header that promises more is refused before memory is taken for it.
struct trace_limits {
    std::uint64_t file_bytes{std::uint64_t{1} << 30};
    std::uint64_t content_bytes{std::uint64_t{1} << 30}; // after decompression
    std::uint64_t events{std::uint64_t{1} << 26};        // 16 bytes of memory each
};

// The trace in the file `path`, complete and checked. Throws trace_error if the file can't be read, is
// damaged, cut off or followed by something, breaks a rule of TRACE_FORMAT.md, or exceeds a limit.
trace read_trace(const std::filesystem::path& path, const trace_limits& limits = {});

// The same from the bytes of a file, which errors call `name`.
trace read_trace(std::span<const std::byte> file, std::string_view name, const trace_limits& limits = {});

} // namespace handlepool::stress
