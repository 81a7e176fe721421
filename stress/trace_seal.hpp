#pragma once

// The end of a trace file: a zstd frame has bits without a meaning, which its own checksum does not cover.
// The seal covers every bit of the file. zstd skips it.

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace handlepool::stress {

// Appends the seal to `file`, a whole zstd frame.
void add_seal(std::vector<std::byte>& file);

// Throws trace_error unless `file` ends with its seal, and the seal begins at `position`, where the frame
// ends.
void check_seal(std::span<const std::byte> file, std::size_t position, std::string_view name);

} // namespace handlepool::stress
