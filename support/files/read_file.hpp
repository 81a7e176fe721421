// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace handlepool::support {

/// The bytes of a file, or of its beginning: not many more than `most`. Throws std::system_error, with the
/// file's name, if it can't be read.
inline std::string read_file(const std::filesystem::path& path, std::uint64_t most = ~std::uint64_t{0}) {
    std::string bytes;
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    for (std::size_t wanted = 1 << 16; file && bytes.size() <= most; wanted = bytes.size()) {
        const std::size_t before = bytes.size();
        bytes.resize(before + wanted);
        file.read(bytes.data() + before, static_cast<std::streamsize>(wanted));
        bytes.resize(before + static_cast<std::size_t>(file.gcount()));
    }
    if (!file.is_open() || file.bad()) {
        throw std::system_error(errno == 0 ? EIO : errno, std::generic_category(), path.string());
    }
    return bytes;
}

} // namespace handlepool::support
