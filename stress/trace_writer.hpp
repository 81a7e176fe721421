#pragma once

#include "trace.hpp"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace handlepool::stress {

// Writes `recorded` to the file `path` in the format of TRACE_FORMAT.md. A file that was there is replaced
// only when the new one is complete. Throws trace_error if the trace isn't valid or the file can't be
// written; then there is nothing new on disk.
void write_trace(const std::filesystem::path& path, const trace& recorded);

// The two steps of write_trace. `name` stands for the file in errors.

// The content of a trace file, not compressed. Throws trace_error if the trace isn't valid.
std::vector<std::byte> encode_trace(const trace& recorded, std::string_view name);

// The bytes of a file with this `content`: a zstd frame and its seal. Throws trace_error if zstd fails, which
// it does only for want of memory.
std::vector<std::byte> compress_content(std::span<const std::byte> content, std::string_view name);

} // namespace handlepool::stress
