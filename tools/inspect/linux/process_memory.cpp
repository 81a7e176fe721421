// SPDX-License-Identifier: MIT
#include "../process_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace handlepool::inspect_tool {

namespace {

namespace fs = std::filesystem;

std::string path_in_proc(int process, std::string_view file) {
    return fmt::format("/proc/{}/{}", process, file);
}

[[noreturn]] void throw_unreadable(int process, int error) {
    if (error == ESRCH || error == ENOENT) {
        throw process_unreadable(fmt::format("there is no process {} any more", process));
    }
    if (error == EPERM || error == EACCES) {
        throw process_unreadable(
            fmt::format("process {} may not be read: it must be one of the same user, and where "
                        "/proc/sys/kernel/yama/ptrace_scope is not 0, this needs sudo, or the program calls "
                        "prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY)",
                        process));
    }
    throw process_unreadable(
        fmt::format("process {} can't be read: {}", process, std::system_category().message(error)));
}

/// A line of /proc/*/maps: "5581-55a2 rw-p 00001000 08:01 131 /usr/bin/game".
struct mapping {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::string rights;
    std::uint64_t offset = 0;
    std::uint64_t file = 0; // its inode
    std::string path;
};

std::vector<mapping> mappings_of(int process) {
    std::ifstream in(path_in_proc(process, "maps"));
    if (!in) {
        throw_unreadable(process, errno);
    }
    std::vector<mapping> found;
    for (std::string text; std::getline(in, text);) {
        std::istringstream line(text);
        mapping one;
        char dash = 0;
        std::string device;
        if (line >> std::hex >> one.first >> dash >> one.last >> one.rights >> one.offset >> device >>
            std::dec >> one.file) {
            std::getline(line >> std::ws, one.path);
            found.push_back(std::move(one));
        }
    }
    return found;
}

std::string first_line(const std::string& path) {
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    return line;
}

} // namespace

void process_memory::read(std::uint64_t address, std::span<std::byte> to) const {
    while (!to.empty()) {
        const iovec here{.iov_base = to.data(), .iov_len = to.size()};
        const iovec there{.iov_base = reinterpret_cast<void*>(address), .iov_len = to.size()};
        const ssize_t count = process_vm_readv(process_, &here, 1, &there, 1, 0);
        if (count <= 0) {
            const int error = errno;
            if (count == 0 || error == EFAULT) {
                throw memory_gone(fmt::format("process {} has no memory at {:#x}", process_, address));
            }
            throw_unreadable(process_, error);
        }
        to = to.subspan(static_cast<std::size_t>(count));
        address += static_cast<std::uint64_t>(count);
    }
}

std::vector<data_range> data_ranges(int process) {
    std::vector<data_range> found;
    for (const mapping& each : mappings_of(process)) {
        if (each.file != 0 && each.rights == "rw-p") {
            found.push_back({each.first, each.last});
        }
    }
    return found;
}

std::string place_in_module(int process, std::uint64_t address) {
    std::uint64_t beginning = 0; // of the module that was read last
    std::string path;
    for (const mapping& each : mappings_of(process)) {
        if (each.path != path) {
            path = each.path;
            beginning = each.first - each.offset;
        }
        if (address >= each.first && address < each.last && each.file != 0) {
            return fmt::format("{}+{:#x}", fs::path(path).filename().string(), address - beginning);
        }
    }
    return fmt::format("{:#x}", address);
}

std::vector<int> readable_processes() {
    std::vector<int> found;
    for (const fs::directory_entry& each : fs::directory_iterator("/proc")) {
        const std::string name = each.path().filename().string();
        int process = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
        if (error == std::errc() && end == name.data() + name.size() &&
            access(path_in_proc(process, "maps").c_str(), R_OK) == 0 && process != getpid()) {
            found.push_back(process);
        }
    }
    std::ranges::sort(found);
    return found;
}

std::string program_name(int process) {
    std::error_code error;
    const fs::path program = fs::read_symlink(path_in_proc(process, "exe"), error);
    return error ? first_line(path_in_proc(process, "comm")) : program.filename().string();
}

std::string thread_name(int process, std::uint32_t thread) {
    return thread == 0 ? std::string()
                       : first_line(path_in_proc(process, fmt::format("task/{}/comm", thread)));
}

std::uint64_t resident_bytes(int process, std::uint64_t first, std::uint64_t size) {
    // In memory, and nobody else's: pages that were only read are the system's one page of zeros.
    constexpr std::uint64_t is_own = std::uint64_t{1} << 63 | std::uint64_t{1} << 56;
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    std::vector<std::uint64_t> words(std::size_t{1} << 16);
    const int file = open(path_in_proc(process, "pagemap").c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        throw_unreadable(process, errno);
    }
    std::uint64_t present = 0;
    for (std::uint64_t at = first / page, last = (first + size + page - 1) / page; at < last;) {
        const std::uint64_t wanted = std::min<std::uint64_t>(words.size(), last - at);
        const ssize_t bytes = pread(file, words.data(), static_cast<std::size_t>(wanted) * sizeof(words[0]),
                                    static_cast<off_t>(at * sizeof(words[0])));
        if (bytes <= 0) {
            break; // the process has ended
        }
        const auto count = static_cast<std::size_t>(bytes) / sizeof(words[0]);
        present += static_cast<std::uint64_t>(
            std::count_if(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count),
                          [](std::uint64_t word) { return (word & is_own) == is_own; }));
        at += count;
    }
    close(file);
    return present * page;
}

std::uint64_t now() noexcept {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

} // namespace handlepool::inspect_tool
