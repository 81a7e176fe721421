// SPDX-License-Identifier: MIT
#include "../process_memory.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <src/core/posix/mapped_modules.hpp>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

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

std::vector<detail::mapped_module> modules_of(int process) {
    std::ifstream lines(path_in_proc(process, "maps"));
    if (!lines) {
        throw_unreadable(process, errno);
    }
    if (lines.peek() == std::ifstream::traits_type::eof()) {
        throw_unreadable(process, ESRCH); // it has ended, and whoever started it does not know yet
    }
    return detail::mapped_modules(lines);
}

std::uint64_t page_size() noexcept {
    return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Which pages of a process have ever been touched: /proc/*/pagemap.
class page_map {
public:
    explicit page_map(int process) : words_(std::size_t{1} << 15) {
        file_ = open(path_in_proc(process, "pagemap").c_str(), O_RDONLY | O_CLOEXEC);
        if (file_ < 0) {
            throw_unreadable(process, errno);
        }
    }
    ~page_map() { close(file_); }

    page_map(const page_map&) = delete;
    page_map& operator=(const page_map&) = delete;

    /// Calls `visit(first, last)` for the parts of a range of addresses that are in memory or swapped out.
    template <class Visit>
    void for_each_touched(std::uint64_t first, std::uint64_t last, Visit visit) const {
        const std::uint64_t page = page_size();
        for_each_run(first / page, (last + page - 1) / page,
                     [&](std::uint64_t first_page, std::uint64_t last_page) {
                         visit(std::max(first_page * page, first), std::min(last_page * page, last));
                     });
    }

    /// The same for numbers of pages.
    template <class Visit>
    void for_each_run(std::uint64_t first, std::uint64_t last, Visit visit) const {
        constexpr std::uint64_t is_touched = std::uint64_t{3} << 62;
        std::uint64_t run = first;
        while (first < last) {
            const std::uint64_t wanted = std::min<std::uint64_t>(words_.size(), last - first);
            const ssize_t bytes =
                pread(file_, words_.data(), static_cast<std::size_t>(wanted) * sizeof(words_[0]),
                      static_cast<off_t>(first * sizeof(words_[0])));
            if (bytes <= 0) {
                return; // the process has ended
            }
            const auto count = static_cast<std::size_t>(bytes) / sizeof(words_[0]);
            for (std::size_t i = 0; i != count; ++i, ++first) {
                if ((words_[i] & is_touched) == 0) {
                    if (run != first) {
                        visit(run, first);
                    }
                    run = first + 1;
                }
            }
            if (run != first) {
                visit(run, first);
                run = first;
            }
        }
    }

private:
    int file_;
    mutable std::vector<std::uint64_t> words_;
};

/// The type that the header of an ELF file says, where a file's beginning is mapped; nothing for others, and
/// what can't be read.
std::optional<unsigned> elf_type(const process_memory& memory, const detail::mapped_module& module) {
    const detail::mapping& beginning = module.parts.front();
    if (beginning.offset != 0 || beginning.rights[0] != 'r') {
        return std::nullopt;
    }
    struct {
        std::array<char, EI_NIDENT> magic;
        std::uint16_t type;
    } header{};
    try {
        header = memory.read<decltype(header)>(beginning.first);
    } catch (const memory_gone&) {
    }
    const bool is_one = std::string_view(header.magic.data(), SELFMAG) == ELFMAG;
    return is_one ? std::optional<unsigned>(header.type) : std::nullopt;
}

std::string first_line(const std::string& path) {
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    return line;
}

/// The name of a file of which a process has its path, "game".
std::string file_name(const fs::path& path) {
    std::string name = path.filename().string();
    constexpr std::string_view deleted = " (deleted)"; // since it was built anew
    if (name.ends_with(deleted)) {
        name.resize(name.size() - deleted.size());
    }
    return name;
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

void process_memory::for_each_touched(std::uint64_t first, std::uint64_t last,
                                      const range_visitor& visit) const {
    page_map(process_).for_each_touched(first, last, visit);
}

void process_memory::read_touched(std::uint64_t address, std::span<std::byte> to) const {
    std::ranges::fill(to, std::byte{});
    for_each_touched(address, address + to.size(), [&](std::uint64_t first, std::uint64_t last) {
        read(first,
             to.subspan(static_cast<std::size_t>(first - address), static_cast<std::size_t>(last - first)));
    });
}

std::vector<data_range> data_ranges(int process) {
    constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30; // of a part of a module
    const process_memory memory(process);
    const page_map pages(process);
    std::error_code error;
    const fs::path program = fs::read_symlink(path_in_proc(process, "exe"), error);
    std::vector<data_range> found;
    const auto add = [&](std::uint64_t first, std::uint64_t last) { found.push_back({first, last}); };
    for (const detail::mapped_module& module : modules_of(process)) {
        const std::optional<unsigned> type = elf_type(memory, module);
        if (!type) { // no more of it is read: that might give it memory
            continue;
        }
        // The loader writes addresses into what it has put anywhere.
        const bool is_written = type != ET_EXEC || module.path != program;
        for (const detail::mapping& each : module.parts) {
            const std::uint64_t last = std::min(each.last, each.first + most_bytes);
            if (!each.rights.starts_with("rw") || each.rights[3] != 'p') {
                continue;
            }
            if (is_written) {
                pages.for_each_touched(each.first, last, add);
            } else {
                add(each.first, last);
            }
        }
    }
    return found;
}

std::string place_of_call(int process, std::uint64_t behind) {
    const std::uint64_t address = behind - 1; // behind may be the next function
    for (const detail::mapped_module& module : modules_of(process)) {
        const detail::mapping& beginning = module.parts.front();
        for (const detail::mapping& each : module.parts) {
            if (address >= each.first && address < each.last) {
                const bool is_fixed = elf_type(process_memory(process), module) == ET_EXEC;
                return fmt::format("{}+{:#x}", file_name(module.path),
                                   is_fixed ? address : address - (beginning.first - beginning.offset));
            }
        }
    }
    return fmt::format("{:#x}", behind);
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
    if (error) {
        return first_line(path_in_proc(process, "comm"));
    }
    return file_name(program);
}

std::string thread_name(int process, std::uint32_t thread) {
    return thread == 0 ? std::string()
                       : first_line(path_in_proc(process, fmt::format("task/{}/comm", thread)));
}

std::uint64_t resident_bytes(int process, std::uint64_t first, std::uint64_t size) {
    const std::uint64_t page = page_size();
    std::uint64_t pages = 0;
    page_map(process).for_each_run(first / page, (first + size + page - 1) / page,
                                   [&](std::uint64_t begin, std::uint64_t end) { pages += end - begin; });
    return pages * page;
}

bool sees_the_same_files(int process) {
    std::error_code error;
    const fs::path own = fs::read_symlink("/proc/self/ns/mnt", error);
    return !error && fs::read_symlink(path_in_proc(process, "ns/mnt"), error) == own;
}

std::uint64_t now() noexcept {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

} // namespace handlepool::inspect_tool
