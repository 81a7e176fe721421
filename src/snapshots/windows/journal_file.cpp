// SPDX-License-Identifier: MIT
#include "../../shared/files.hpp"

#include <handlepool/detail/journal/journal_file.hpp>

#include <windows.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::detail {

namespace {

std::error_code last_error() noexcept {
    return {static_cast<int>(GetLastError()), std::system_category()};
}

OVERLAPPED at(std::uint64_t offset) noexcept {
    OVERLAPPED place{};
    place.Offset = static_cast<DWORD>(offset);
    place.OffsetHigh = static_cast<DWORD>(offset >> 32);
    return place;
}

DWORD size_at_once(std::size_t size) noexcept {
    return static_cast<DWORD>((std::min)(size, std::size_t{1} << 30));
}

class journal_file final : public journal_storage {
public:
    journal_file(std::filesystem::path file, journal_file_use use)
        : file_(std::move(file)), unfinished_(file_), is_unfinished_(use == journal_file_use::create) {
        const bool reads = use == journal_file_use::read;
        const bool creates = use == journal_file_use::create;
        if (creates) {
            unfinished_ += L".new";
            renaming_ = renaming_to(full_name_of(file_));
        }
        // Who does not share writing keeps other writers away.
        handle_ = CreateFileW(unfinished_.c_str(), GENERIC_READ | (reads ? 0 : GENERIC_WRITE | DELETE),
                              FILE_SHARE_READ | FILE_SHARE_DELETE | (reads ? FILE_SHARE_WRITE : 0), nullptr,
                              creates ? OPEN_ALWAYS : OPEN_EXISTING,
                              FILE_ATTRIBUTE_NORMAL | (creates ? FILE_FLAG_OPEN_REPARSE_POINT : 0), nullptr);
        std::error_code error;
        bool is_in_the_way = false; // what another user has left, or a folder or a link of that name
        if (handle_ == INVALID_HANDLE_VALUE) {
            error = last_error();
            if (error.value() == ERROR_SHARING_VIOLATION) {
                error = std::make_error_code(std::errc::device_or_resource_busy);
            } else {
                is_in_the_way = GetFileAttributesW(unfinished_.c_str()) != INVALID_FILE_ATTRIBUTES;
            }
        } else if (creates && (error = error_unless_plain())) {
            is_in_the_way = true;
        } else if (creates && std::filesystem::exists(file_, error)) {
            error = std::make_error_code(std::errc::file_exists);
        }
        if (error) {
            is_unfinished_ = is_unfinished_ && !is_in_the_way; // for what is another's stays
            close();
            throw_file_error(error, is_in_the_way ? unfinished_ : file_);
        }
    }
    ~journal_file() override { close(); }

    std::uint64_t size(std::error_code& error) noexcept override {
        LARGE_INTEGER size{};
        error = GetFileSizeEx(handle_, &size) ? std::error_code() : last_error();
        return error ? 0 : static_cast<std::uint64_t>(size.QuadPart);
    }
    std::size_t read(std::uint64_t offset, std::span<std::byte> out,
                     std::error_code& error) noexcept override {
        OVERLAPPED place = at(offset);
        DWORD count = 0;
        const bool is_read = ReadFile(handle_, out.data(), size_at_once(out.size()), &count, &place) ||
                             GetLastError() == ERROR_HANDLE_EOF;
        error = is_read ? std::error_code() : last_error();
        return count;
    }
    std::size_t write(std::uint64_t offset, std::span<const std::byte> bytes,
                      std::error_code& error) noexcept override {
        OVERLAPPED place = at(offset);
        DWORD count = 0;
        error = WriteFile(handle_, bytes.data(), size_at_once(bytes.size()), &count, &place)
                    ? std::error_code()
                    : last_error();
        return count;
    }
    void truncate(std::uint64_t size, std::error_code& error) noexcept override {
        LARGE_INTEGER end{};
        end.QuadPart = static_cast<LONGLONG>(size);
        const bool is_cut = SetFilePointerEx(handle_, end, nullptr, FILE_BEGIN) && SetEndOfFile(handle_);
        error = is_cut ? std::error_code() : last_error();
    }
    void sync(std::error_code& error) noexcept override {
        error = FlushFileBuffers(handle_) ? std::error_code() : last_error();
    }
    void publish(std::error_code& error) noexcept override {
        // By the handle: the former name may be another one's by now. Fails if there is a file of the new
        // one.
        error = SetFileInformationByHandle(handle_, FileRenameInfo, renaming_.data(),
                                           static_cast<DWORD>(renaming_.size()))
                    ? std::error_code()
                    : last_error();
        if (!error) {
            sync(error);
        }
        is_unfinished_ = static_cast<bool>(error);
    }

private:
    /// GNU's std::filesystem::absolute() spoils names that begin with two backslashes.
    static std::filesystem::path full_name_of(const std::filesystem::path& file) {
        std::wstring name(GetFullPathNameW(file.c_str(), 0, nullptr, nullptr), L'\0');
        name.resize(GetFullPathNameW(file.c_str(), static_cast<DWORD>(name.size()), name.data(), nullptr));
        return name;
    }
    /// What the system is told by, made beforehand because publish() has no memory.
    static std::vector<std::byte> renaming_to(const std::filesystem::path& file) {
        const std::size_t size = file.native().size() * sizeof(wchar_t);
        std::vector<std::byte> renaming(sizeof(FILE_RENAME_INFO) + size);
        auto& info = *reinterpret_cast<FILE_RENAME_INFO*>(renaming.data());
        info.FileNameLength = static_cast<DWORD>(size);
        std::memcpy(info.FileName, file.c_str(), size);
        return renaming;
    }
    /// A file that has another name as well would lose its bytes under that one.
    std::error_code error_unless_plain() const noexcept {
        BY_HANDLE_FILE_INFORMATION opened{};
        if (!GetFileInformationByHandle(handle_, &opened)) {
            return last_error();
        }
        const bool is_link = (opened.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
        return is_link || opened.nNumberOfLinks > 1 ? std::make_error_code(std::errc::file_exists)
                                                    : std::error_code();
    }
    void close() noexcept {
        if (handle_ == INVALID_HANDLE_VALUE) {
            return;
        }
        if (is_unfinished_) {
            // By the handle: the name may be another one's by now.
            FILE_DISPOSITION_INFO gone{TRUE};
            SetFileInformationByHandle(handle_, FileDispositionInfo, &gone, sizeof(gone));
        }
        CloseHandle(handle_);
    }

    std::filesystem::path file_;
    std::filesystem::path unfinished_;
    std::vector<std::byte> renaming_; // to the file's name
    bool is_unfinished_;              // and goes with this object
    HANDLE handle_ = INVALID_HANDLE_VALUE;
};

} // namespace

std::unique_ptr<journal_storage> open_journal_file(const std::filesystem::path& file, journal_file_use use) {
    return std::make_unique<journal_file>(file, use);
}

} // namespace handlepool::detail
