#pragma once

#include "trace.hpp"

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <vector>

namespace handlepool::stress {

// Writes `recorded` to the file `path` in the format of TRACE_FORMAT.md. A file that was there is replaced
// only when the new one is complete. Throws trace_error if the trace isn't valid or the file can't be
// written; then there is nothing new on disk.
void write_trace(const std::filesystem::path& path, const trace& recorded);

// The content of a trace file, not compressed. `name` stands for the file in errors. Throws trace_error if
// the trace isn't valid.
std::vector<std::byte> encode_trace(const trace& recorded, std::string_view name);

} // namespace handlepool::stress
