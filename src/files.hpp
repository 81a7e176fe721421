#pragma once

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <ios>
#include <memory>
#include <string>
#include <system_error>

// Whole files, for more than one of the libraries.
namespace handlepool {

/// Writes a file by `write(stream)`: a regular one comes whole or not at all; a pipe or a device is written
/// to as it is.
template <class Write>
std::error_code write_file(const std::filesystem::path& file, Write write) {
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(file, error);
    const bool whole = !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
    const std::filesystem::path unfinished = whole ? file.string() + ".part" : file.string();
    error.clear();
    errno = 0;
    std::ofstream out(unfinished, std::ios::binary | std::ios::trunc);
    if (out) {
        write(out);
        out.close();
    }
    if (!out) {
        error.assign(errno == 0 ? EIO : errno, std::generic_category());
    } else if (whole) {
        std::filesystem::rename(unfinished, file, error);
    }
    if (error && whole) {
        std::error_code ignored;
        std::filesystem::remove(unfinished, ignored);
    }
    return error;
}

/// Appends a file's bytes to a text.
inline std::error_code read_file(const std::filesystem::path& file, std::string& text) {
    struct closer {
        void operator()(std::FILE* open) const noexcept { std::fclose(open); }
    };
    errno = 0;
    const std::unique_ptr<std::FILE, closer> open(std::fopen(file.string().c_str(), "rb"));
    std::array<char, 4096> part{};
    for (std::size_t size = part.size(); open && size == part.size();) {
        size = std::fread(part.data(), 1, part.size(), open.get());
        text.append(part.data(), size);
    }
    if (!open || std::ferror(open.get()) != 0) {
        return {errno == 0 ? EIO : errno, std::generic_category()};
    }
    return {};
}

} // namespace handlepool
