// SPDX-License-Identifier: MIT
#include "resources.hpp"

#include "results/numbers.hpp"

#include <fmt/format.h>
#include <support/threads/barrier.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace handlepool::stress {

namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

std::uint64_t free_memory() {
    std::ifstream lines("/proc/meminfo");
    for (std::string name; lines >> name;) {
        std::uint64_t kibibytes = 0;
        if (name == "MemAvailable:" && lines >> kibibytes) {
            return kibibytes * 1024;
        }
        lines.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    return unlimited; // not known
}

// The least of what the control groups allow that this process is in, one inside the other.
std::uint64_t allowed_memory() {
    std::ifstream lines("/proc/self/cgroup");
    std::uint64_t least = unlimited;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("0::/")) {
            continue; // of the first version
        }
        const std::filesystem::path root = "/sys/fs/cgroup";
        std::filesystem::path group = root / line.substr(4);
        while (true) {
            std::uint64_t bytes = 0;
            if (std::ifstream(group / "memory.max") >> bytes) { // or "max"
                least = std::min(least, bytes);
            }
            if (group == root || !group.has_relative_path()) {
                break;
            }
            group = group.parent_path();
        }
    }
    return least;
}

} // namespace

std::uint64_t available_memory() {
    return std::min(free_memory(), allowed_memory());
}

void require_memory(std::string_view what, double bytes) {
    const auto available = static_cast<double>(available_memory());
    constexpr double gibibyte = 1 << 30;
    if (bytes > available) {
        throw std::runtime_error(
            fmt::format("{} needs about {:.1f} GiB of memory, and {:.1f} GiB are available", what,
                        bytes / gibibyte, available / gibibyte));
    }
}

void require_threads(std::string_view what, std::size_t threads) {
    static std::size_t most_started = 0;
    if (threads <= most_started) {
        return;
    }
    support::latch all_asked_for(1);
    std::vector<std::jthread> started;
    std::optional<std::string> refusal;
    try {
        while (started.size() < threads) {
            started.emplace_back([&all_asked_for] { all_asked_for.wait(); });
        }
    } catch (const std::system_error& error) {
        refusal = error.code().message();
    }
    all_asked_for.count_down();
    if (refusal) {
        throw std::runtime_error(
            fmt::format("{} needs {} threads at the same time, and the system starts only {}: {}", what,
                        grouped(threads), grouped(started.size()), *refusal));
    }
    most_started = threads;
}

} // namespace handlepool::stress
