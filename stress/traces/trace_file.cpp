// SPDX-License-Identifier: MIT

// Trace files on the disk.

#include "trace_file.hpp"

#include <support/files/output_file.hpp>
#include <support/files/read_file.hpp>

#include <string>
#include <system_error>

namespace handlepool::stress {

trace read_trace(std::span<const std::byte> file, std::string_view name, const trace_limits& limits) {
    return decode_trace(decompress_content(file, name, limits), name, limits);
}

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

void write_trace(const std::filesystem::path& path, const trace& recorded) {
    const std::string name = path.string();
    const std::vector<std::byte> bytes = compress_content(encode_trace(recorded, name), name);
    try {
        support::output_file("", path).write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    } catch (const std::system_error& error) {
        throw trace_error(name, trace_place::file, 0, "cannot be written: " + error.code().message(),
                          "a file in a directory that can be written to");
    }
}

} // namespace handlepool::stress
