// SPDX-License-Identifier: MIT
#pragma once

#include "behind_links.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/text/text.hpp>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <ios>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <system_error>
#include <thread>

#if defined(_WIN32)
#include <fcntl.h>
#include <io.h>
#else
#include <fcntl.h>
#include <unistd.h>
#endif

// Whole files, for more than one of the libraries.
namespace handlepool {

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

/// A name beside a file, which nobody else makes; the file of that name ends with this object. It is a random
/// one, as two processes may have the same number, such as the first ones of two containers.
class unfinished_file {
public:
    explicit unfinished_file(const std::filesystem::path& beside) : name_(beside) {
        std::random_device random;
        name_ += '.' + std::to_string(random()) + '-' + std::to_string(random()) + ".part";
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

/// Whether Windows has refused something because others use the file.
inline bool is_in_use(std::error_code error) noexcept {
#if defined(_WIN32)
    constexpr int sharing_violation = 32; // which not each library knows as this condition
    return error == std::errc::permission_denied ||
           (error.category() == std::system_category() && error.value() == sharing_violation);
#else
    static_cast<void>(error);
    return false;
#endif
}

/// Calls `attempt()` on a file that others may use concurrently. Windows refuses that while they read or
/// replace it: then again, for a second.
template <class Attempt>
std::error_code beside_other_users(Attempt attempt) {
    std::error_code error = attempt();
#if defined(_WIN32)
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (is_in_use(error) && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        error = attempt();
    }
#endif
    return error;
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

/// A file or folder that is open, so that the disk can be waited for.
class open_to_sync {
public:
    /// Errors are those of error().
    explicit open_to_sync(const std::filesystem::path& file) noexcept {
        errno = 0;
#if defined(_WIN32)
        number_ = _wopen(file.c_str(), _O_RDWR | _O_BINARY);
#else
        number_ = open(file.c_str(), O_RDONLY | O_CLOEXEC);
#endif
        error_ = number_ < 0 ? errno : 0;
    }
    ~open_to_sync() {
        if (number_ >= 0) {
#if defined(_WIN32)
            _close(number_);
#else
            close(number_);
#endif
        }
    }
    open_to_sync(const open_to_sync&) = delete;
    open_to_sync& operator=(const open_to_sync&) = delete;

    std::error_code error() const noexcept { return {error_, std::generic_category()}; }

    /// Returns when the disk has it.
    std::error_code sync() noexcept {
        errno = 0;
#if defined(_WIN32)
        const int result = _commit(number_);
#elif defined(F_FULLFSYNC) // where fsync() returns when the disk's own memory has it
        const int result = fcntl(number_, F_FULLFSYNC) == 0 ? 0 : fsync(number_);
#else
        const int result = fsync(number_);
#endif
        return {result == 0 ? 0 : errno, std::generic_category()};
    }

private:
    int number_ = -1;
    int error_ = 0;
};

/// Does whoever writes a file wait until the disk has it?
enum class disk_wait { none, until_written };

/// What becomes of a file that is there already.
enum class former_file {
    is_replaced,
    stays, ///< and the new one is an error, std::errc::file_exists
};

/// The folder of a file; `.` if its name says none.
inline std::filesystem::path folder_of(const std::filesystem::path& file) {
    std::filesystem::path folder = file.parent_path();
    return folder.empty() ? std::filesystem::path(".") : folder;
}

/// Gives a file a name, whose folder_of() is given because that needs memory, and waits until the disk has
/// it; after an error the file may have the name. On Windows there is nothing to wait for: its file systems
/// keep a log of names. Where a former file stays, the file has both names then. It needs no memory.
inline std::error_code name_file(const std::filesystem::path& from, const std::filesystem::path& to,
                                 const std::filesystem::path& folder, disk_wait wait,
                                 former_file former) noexcept {
    const auto name = [&] {
        return beside_other_users([&] {
            std::error_code error;
            if (former == former_file::is_replaced) {
                std::filesystem::rename(from, to, error);
            } else { // which the system refuses where there is one, at whatever time it came
                std::filesystem::create_hard_link(from, to, error);
            }
            return error;
        });
    };
#if !defined(_WIN32)
    if (wait == disk_wait::until_written) {
        open_to_sync opened(folder);
        if (opened.error()) {
            return opened.error();
        }
        if (const std::error_code error = name()) {
            return error;
        }
        const std::error_code error = opened.sync();
        return error == std::errc::invalid_argument ? std::error_code() : error; // there is no such thing
    }
#endif
    static_cast<void>(folder);
    static_cast<void>(wait);
    return name();
}

/// Writes a file like write_in_place(), but a regular one comes whole or not at all, with the permissions of
/// the former one, and where links lead; a pipe or a device is written to as it is, and not waited for. What
/// `write` throws passes through.
template <class Write>
std::error_code write_file(const std::filesystem::path& file, Write write, disk_wait wait = disk_wait::none,
                           former_file former = former_file::is_replaced) {
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(file, error);
    const bool exists = std::filesystem::exists(status);
    if (exists && former == former_file::stays) {
        return std::make_error_code(std::errc::file_exists);
    }
    if (exists && !std::filesystem::is_regular_file(status)) {
        return write_in_place(file, write);
    }
    const std::filesystem::path target = behind_links(file);
    const unfinished_file unfinished(target);
    if ((error = write_in_place(unfinished.name(), write))) {
        return error;
    }
    if (wait == disk_wait::until_written) {
        open_to_sync written(unfinished.name());
        if ((error = written.error()) || (error = written.sync())) {
            return error;
        }
    }
    if (exists) {
        std::filesystem::permissions(unfinished.name(), status.permissions(), error);
        if (error) {
            return error;
        }
    }
    return name_file(unfinished.name(), target, folder_of(target), wait, former);
}

/// Calls `take(part)` for one part of a file after the other.
template <class Take>
std::error_code read_parts(const std::filesystem::path& file, Take take) {
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
        take(std::span<const char>(part.data(), size));
    }
    if (!open || std::ferror(open.get()) != 0) {
        return {errno == 0 ? EIO : errno, std::generic_category()};
    }
    return {};
}

/// Appends a file's bytes to a text.
inline std::error_code read_file(const std::filesystem::path& file, std::string& text) {
    return read_parts(file, [&text](std::span<const char> part) { text.append(part.data(), part.size()); });
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
