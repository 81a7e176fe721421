// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/text/text.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <ios>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#if defined(_WIN32)
#include <process.h>
#else
#include <unistd.h>
#endif

// Whole files, for more than one of the libraries.
namespace handlepool {

/// The system's number of this process.
inline int process_id() noexcept {
#if defined(_WIN32)
    return _getpid();
#else
    return getpid();
#endif
}

/// An error that names the file.
inline std::system_error file_error(std::error_code error, const std::filesystem::path& file) {
    return {error, detail::printable(file.string())};
}

/// Throws it, if there is an error.
inline void throw_file_error(std::error_code error, const std::filesystem::path& file) {
    if (error) {
        detail::throw_exception(file_error(error, file));
    }
}

/// A name beside a file, which no other thread or process uses; the file of that name ends with this object.
class unfinished_file {
public:
    explicit unfinished_file(const std::filesystem::path& beside) {
        static std::atomic<unsigned> count = 0;
        name_ =
            beside.string() + '.' + std::to_string(process_id()) + '-' + std::to_string(++count) + ".part";
    }
    ~unfinished_file() {
        std::error_code ignored;
        std::filesystem::remove(name_, ignored);
    }
    unfinished_file(const unfinished_file&) = delete;
    unfinished_file& operator=(const unfinished_file&) = delete;

    const std::filesystem::path& name() const noexcept { return name_; }

private:
    std::filesystem::path name_;
};

/// Calls `attempt()` on a file that others may use concurrently. Windows refuses that while they read or
/// replace it: then again, for a second.
template <class Attempt>
std::error_code beside_other_users(Attempt attempt) {
    std::error_code error = attempt();
#if defined(_WIN32)
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (error == std::errc::permission_denied && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        error = attempt();
    }
#endif
    return error;
}

/// Where links lead, also to a file that does not exist yet.
inline std::filesystem::path behind_links(std::filesystem::path file) {
    constexpr int most = 40; // or they lead in a circle
    std::error_code ignored;
    for (int i = 0; i != most && std::filesystem::is_symlink(std::filesystem::symlink_status(file, ignored));
         ++i) {
        file = file.parent_path() / std::filesystem::read_symlink(file, ignored);
    }
    return file;
}

/// Writes a file by `write(stream)`.
template <class Write>
std::error_code write_in_place(const std::filesystem::path& file, Write write) {
    errno = 0;
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    if (out) {
        write(out);
        out.close();
    }
    return out ? std::error_code() : std::error_code(errno == 0 ? EIO : errno, std::generic_category());
}

/// Writes a file like write_in_place(), but a regular one comes whole or not at all, with the permissions of
/// the former one, and where links lead; a pipe or a device is written to as it is. What `write` throws
/// passes through.
template <class Write>
std::error_code write_file(const std::filesystem::path& file, Write write) {
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(file, error);
    const bool exists = std::filesystem::exists(status);
    if (exists && !std::filesystem::is_regular_file(status)) {
        return write_in_place(file, write);
    }
    const std::filesystem::path target = behind_links(file);
    const unfinished_file unfinished(target);
    if ((error = write_in_place(unfinished.name(), write))) {
        return error;
    }
    if (exists) {
        std::filesystem::permissions(unfinished.name(), status.permissions(), error);
        if (error) {
            return error;
        }
    }
    return beside_other_users([&] {
        std::filesystem::rename(unfinished.name(), target, error);
        return error;
    });
}

/// Appends a file's bytes to a text.
inline std::error_code read_file(const std::filesystem::path& file, std::string& text) {
    struct closer {
        void operator()(std::FILE* open) const noexcept { std::fclose(open); }
    };
    std::unique_ptr<std::FILE, closer> open;
    beside_other_users([&] {
        errno = 0;
#if defined(_WIN32) // whose names are UTF-16
        open.reset(_wfopen(file.c_str(), L"rb"));
#else
        open.reset(std::fopen(file.c_str(), "rb"));
#endif
        return std::error_code(open ? 0 : errno, std::generic_category());
    });
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

/// The bytes of a file. Throws what throw_file_error() throws.
inline std::string read_file(const std::filesystem::path& file) {
    std::string text;
    throw_file_error(read_file(file, text), file);
    return text;
}

/// Like read_file(), but puts the message into `error` instead of throwing it.
inline std::optional<std::string> try_read_file(const std::filesystem::path& file, std::string& error) {
    std::string text;
    if (const std::error_code failure = read_file(file, text)) {
        error = file_error(failure, file).what();
        return std::nullopt;
    }
    return text;
}

} // namespace handlepool
