// SPDX-License-Identifier: MIT
#include "../../shared/files.hpp"

#include <handlepool/detail/journal/journal_file.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

namespace handlepool::detail {

namespace {

std::error_code last_error() noexcept {
    return {errno, std::generic_category()};
}

class journal_file final : public journal_storage {
public:
    journal_file(std::filesystem::path file, journal_file_use use)
        : file_(std::move(file)),
          folder_(folder_of(file_)),
          unfinished_(file_),
          is_created_(use == journal_file_use::create),
          is_unfinished_(is_created_) {
        if (is_created_) {
            unfinished_ += ".new";
        }
        constexpr mode_t permissions = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
        const int flags = use == journal_file_use::read     ? O_RDONLY
                          : use == journal_file_use::append ? O_RDWR
                                                            : O_RDWR | O_CREAT | O_NOFOLLOW;
        do {
            number_ = ::open(unfinished_.c_str(), flags | O_CLOEXEC, permissions);
        } while (number_ < 0 && errno == EINTR);
        std::error_code error = number_ < 0 ? last_error() : std::error_code();
        // What another user has left, or a folder or a link of that name.
        bool is_in_the_way = error && error_unless_free(unfinished_) == std::errc::file_exists;
        if (!error && is_created_) {
            error = error_unless_plain();
            is_in_the_way = static_cast<bool>(error);
        }
        if (!error && use != journal_file_use::read) {
            error = lock();
        }
        if (!error && is_created_) {
            error = error_unless_free(file_);
            if (error) {
                remove_name(unfinished_);
            }
        }
        if (error) {
            close();
            throw_file_error(error, is_in_the_way ? unfinished_ : file_);
        }
    }
    ~journal_file() override {
        if (is_unfinished_) {
            remove_name(unfinished_);
        }
        close();
    }

    std::uint64_t size(std::error_code& error) noexcept override {
        struct stat status{};
        error = ::fstat(number_, &status) == 0 ? std::error_code() : last_error();
        return error ? 0 : static_cast<std::uint64_t>(status.st_size);
    }
    std::size_t read(std::uint64_t offset, std::span<std::byte> out,
                     std::error_code& error) noexcept override {
        const ssize_t count = ::pread(number_, out.data(), out.size(), static_cast<off_t>(offset));
        error = count < 0 ? last_error() : std::error_code();
        return count < 0 ? 0 : static_cast<std::size_t>(count);
    }
    std::size_t write(std::uint64_t offset, std::span<const std::byte> bytes,
                      std::error_code& error) noexcept override {
        const ssize_t count = ::pwrite(number_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        error = count < 0 ? last_error() : std::error_code();
        return count < 0 ? 0 : static_cast<std::size_t>(count);
    }
    void truncate(std::uint64_t size, std::error_code& error) noexcept override {
        int result = 0;
        do {
            result = ::ftruncate(number_, static_cast<off_t>(size));
        } while (result != 0 && errno == EINTR);
        error = result == 0 ? std::error_code() : last_error();
    }
    void sync(std::error_code& error) noexcept override {
#if defined(F_FULLFSYNC) // where fsync() returns when the disk's own memory has it
        const int result = ::fcntl(number_, F_FULLFSYNC) == 0 ? 0 : ::fsync(number_);
#elif defined(__linux__) // the size is waited for, too, but not the times
        const int result = ::fdatasync(number_);
#else
        const int result = ::fsync(number_);
#endif
        error = result == 0 ? std::error_code() : last_error();
    }
    void publish(std::error_code& error) noexcept override {
        error = error_unless_own(unfinished_); // it was removed, and that name may be another one's
        if (!error) {
            error = error_unless_free(file_);
        }
        if (error) {
            return;
        }
        error = name_file(unfinished_, file_, folder_, disk_wait::until_written, former_file::is_replaced);
        if (!error) { // it was named by its former name, which another file may have had by then
            error = error_unless_own(file_);
        }
        is_unfinished_ = static_cast<bool>(error);
        if (is_unfinished_) { // it may have the name, and the disk not know
            remove_name(file_);
        }
    }

private:
    static std::error_code error_unless_free(const std::filesystem::path& name) noexcept {
        struct stat named{};
        if (::lstat(name.c_str(), &named) == 0) {
            return std::make_error_code(std::errc::file_exists);
        }
        return errno == ENOENT ? std::error_code() : last_error();
    }
    /// The error is std::errc::no_such_file_or_directory if the name is nobody's or another file's.
    std::error_code error_unless_own(const std::filesystem::path& name) const noexcept {
        struct stat opened{};
        struct stat named{};
        const auto look = is_created_ ? &::lstat : &::stat;
        if (::fstat(number_, &opened) != 0 || look(name.c_str(), &named) != 0) {
            return last_error();
        }
        return named.st_dev == opened.st_dev && named.st_ino == opened.st_ino
                   ? std::error_code()
                   : std::make_error_code(std::errc::no_such_file_or_directory);
    }
    /// A file that has another name as well would lose its bytes under that one.
    std::error_code error_unless_plain() const noexcept {
        struct stat opened{};
        if (::fstat(number_, &opened) != 0) {
            return last_error();
        }
        return S_ISREG(opened.st_mode) && opened.st_nlink <= 1 ? std::error_code()
                                                               : std::make_error_code(std::errc::file_exists);
    }
    /// Keeps others away. The file could have been renamed or removed before it was locked.
    std::error_code lock() noexcept {
        int result = 0;
        do {
            result = ::flock(number_, LOCK_EX | LOCK_NB);
        } while (result != 0 && errno == EINTR);
        const std::error_code error = result == 0 ? error_unless_own(unfinished_) : last_error();
        const bool is_anothers =
            error == std::errc::operation_would_block || error == std::errc::no_such_file_or_directory;
        return is_anothers ? std::make_error_code(std::errc::device_or_resource_busy) : error;
    }
    /// If it has that name. It is locked: nobody else names it.
    void remove_name(const std::filesystem::path& name) noexcept {
        if (!error_unless_own(name)) {
            ::unlink(name.c_str());
        }
    }
    void close() noexcept {
        if (number_ >= 0) {
            ::close(number_);
        }
    }

    std::filesystem::path file_;
    std::filesystem::path folder_;
    std::filesystem::path unfinished_;
    bool is_created_;    // in which no link is followed
    bool is_unfinished_; // and goes with this object
    int number_ = -1;
};

} // namespace

std::unique_ptr<journal_storage> open_journal_file(const std::filesystem::path& file, journal_file_use use) {
    return std::make_unique<journal_file>(file, use);
}

} // namespace handlepool::detail
