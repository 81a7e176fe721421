// SPDX-License-Identifier: MIT
#include "commands.hpp"
#include "journal_walk.hpp"
#include "named_types.hpp"

#include <handlepool/snapshots/compare_snapshots.hpp>
#include <handlepool/snapshots/invalid_snapshot.hpp>
#include <handlepool/snapshots/replay.hpp>
#include <handlepool/snapshots/saved_world.hpp>
#include <handlepool/snapshots/snapshot_file.hpp>

#include <support/progress_bar.hpp>
#include <tools/recorded_world/recorded_world.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace handlepool::journal_tool {

namespace {

namespace fs = std::filesystem;
using recorded_worlds::not_replayed;
using recorded_worlds::recorded_world;

// What came of it.
struct comparison {
    std::optional<std::uint64_t> from{}; // frames that were compared; nothing of snapshots
    std::uint64_t to = 0;
    snapshot_differences differences{};
    std::string ended{}; // which of two folders ends before the other

    bool is_same() const { return differences.found.empty() && differences.left_out == 0; }
};

// Compares what was typed.
class comparer {
public:
    explicit comparer(const command_line& line) : line_(line), types_(line.program, line.types) {}

    snapshot_differences compare(std::span<const std::byte> first, std::span<const std::byte> second) {
        if (!std::exchange(knows_parts_, true)) { // which are the same in all frames
            types_.require_parts(first, line_.files[0], second, line_.files[1]);
        }
        const auto members = [this](std::string_view part, std::string_view column, std::size_t size) {
            return types_.members_of(part, column, size);
        };
        return compare_snapshots(
            first, second,
            {.most = line_.most, .first = line_.files[0], .second = line_.files[1], .members = members});
    }

private:
    const command_line& line_;
    named_types types_;
    bool knows_parts_ = false;
};

comparison compare_files(const command_line& line) {
    comparer both(line);
    const std::vector<std::byte> first = read_snapshot_file(line.files[0]);
    const std::vector<std::byte> second = read_snapshot_file(line.files[1]);
    return {.differences = both.compare(first, second)};
}

// Two folders, which go on side by side.
class folder_comparison {
public:
    explicit folder_comparison(const command_line& line)
        : line_(line), both_(line), first_(line.files[0], line.part), second_(line.files[1], line.part) {}

    comparison run() {
        support::progress_bar bar("diff");
        const std::uint64_t begin = (std::max)(first_.first_frame(), second_.first_frame());
        if (!first_.begin(begin) || !second_.begin(begin) || !meet()) {
            throw not_replayed(
                fmt::format("'{}' and '{}' have no frame in common", line_.files[0], line_.files[1]));
        }
        comparison result{.from = first_.frame()};
        bool is_same = false; // in the frame before
        std::uint64_t before = 0;
        do {
            bar.show(first_.part_read());
            result.to = first_.frame();
            // From the same frame, by the same delta: there is nothing to compare.
            const bool has_same_delta = is_same && first_.frame_before() == before &&
                                        second_.frame_before() == before &&
                                        std::ranges::equal(first_.delta(), second_.delta());
            if (!has_same_delta) {
                first_.save(first_bytes_);
                second_.save(second_bytes_);
                result.differences = both_.compare(first_bytes_, second_bytes_);
            }
            is_same = result.is_same();
            before = result.to;
        } while (is_same && go_on(result) && meet());
        return result;
    }

private:
    // Goes on with the one that is behind, until both have the same frame. Returns false if there is none.
    bool meet() {
        while (first_.frame() != second_.frame()) {
            if (!(first_.frame() < second_.frame() ? first_ : second_).next()) {
                return false;
            }
        }
        return true;
    }
    bool go_on(comparison& result) {
        const bool first_goes_on = first_.next();
        const bool second_goes_on = second_.next();
        if (first_goes_on != second_goes_on) {
            result.ended = line_.files[first_goes_on ? 1 : 0];
        }
        return first_goes_on && second_goes_on;
    }

    const command_line& line_;
    comparer both_;
    recorded_world first_;
    recorded_world second_;
    std::vector<std::byte> first_bytes_;
    std::vector<std::byte> second_bytes_;
};

std::string frames_in(const comparison& result) {
    return *result.from == result.to ? fmt::format("frame {}", result.to)
                                     : fmt::format("frames {} to {}", *result.from, result.to);
}

void print_text(const command_line& line, const comparison& result) {
    const std::string first = detail::printable(line.files[0]);
    const std::string second = detail::printable(line.files[1]);
    if (result.is_same()) {
        fmt::print("{} and {} are the same{}\n", first, second, result.from ? ", " + frames_in(result) : "");
        if (!result.ended.empty()) {
            fmt::print("{} ends there, and the other one goes on\n", detail::printable(result.ended));
        }
        return;
    }
    const std::size_t count = result.differences.found.size() + result.differences.left_out;
    fmt::print("{} / {}: {}{} {}\n", first, second, result.from ? fmt::format("frame {}, ", result.to) : "",
               count, count == 1 ? "difference" : "differences");
    for (const snapshot_difference& each : result.differences.found) {
        fmt::print("  {}\n", to_string(each));
    }
    if (result.differences.left_out != 0) {
        fmt::print("  and {} more\n", result.differences.left_out);
    }
}

void print_json(const command_line& line, const comparison& result) {
    nlohmann::ordered_json json{{"first", detail::printable(line.files[0])},
                                {"second", detail::printable(line.files[1])},
                                {"same", result.is_same()}};
    if (result.from) {
        json["first_frame"] = *result.from;
        json["last_frame"] = result.to;
    }
    if (!result.ended.empty()) {
        json["ended"] = detail::printable(result.ended);
    }
    json["differences"] = nlohmann::ordered_json::array();
    for (const snapshot_difference& each : result.differences.found) {
        json["differences"].push_back({{"part", each.part},
                                       {"object", each.object},
                                       {"what", each.what},
                                       {"first", each.first},
                                       {"second", each.second}});
    }
    json["left_out"] = result.differences.left_out;
    fmt::print("{}\n", json.dump(2));
}

comparison compare_worlds(const command_line& line) {
    const bool first_is_folder = fs::is_directory(line.files[0]);
    const bool second_is_folder = fs::is_directory(line.files[1]);
    if (first_is_folder != second_is_folder) {
        throw not_replayed(fmt::format("'{}' is a folder, and '{}' is none; two of a kind can be compared",
                                       line.files[first_is_folder ? 0 : 1],
                                       line.files[first_is_folder ? 1 : 0]));
    }
    return first_is_folder ? folder_comparison(line).run() : compare_files(line);
}

} // namespace

int diff(const command_line& line) {
    const comparison result = compare_worlds(line);
    line.json ? print_json(line, result) : print_text(line, result);
    support::flush_output();
    return result.is_same() ? 0 : exit_different;
}

} // namespace handlepool::journal_tool
