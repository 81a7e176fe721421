#pragma once

#include "trace.hpp"
#include "trace_file.hpp"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace handlepool::stress {

// The trace in the file `path`, complete and checked. Throws trace_error if the file can't be read, is
// damaged, cut off or followed by something, breaks a rule of TRACE_FORMAT.md, or exceeds a limit.
trace read_trace(const std::filesystem::path& path, const trace_limits& limits = {});

// The same from the bytes of a file, which errors call `name`.
trace read_trace(std::span<const std::byte> file, std::string_view name, const trace_limits& limits = {});

} // namespace handlepool::stress
