// SPDX-License-Identifier: MIT
#include "commands.hpp"
#include "delta_in_entry.hpp"
#include "journal_walk.hpp"

#include <handlepool/snapshots/compare_snapshots.hpp>
#include <handlepool/snapshots/invalid_snapshot.hpp>
#include <handlepool/snapshots/replay.hpp>
#include <handlepool/snapshots/saved_world.hpp>
#include <handlepool/snapshots/snapshot_file.hpp>

#include <support/progress_bar.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <system_error>
#include <vector>

namespace handlepool::journal_tool {

namespace {

namespace fs = std::filesystem;

// A folder with snapshots and journals, read frame by frame.
class recording {
public:
    recording(const std::string& folder, const command_line& line)
        : folder_(folder), line_(line), snapshots_(saved_frames(folder)) {
        if (snapshots_.empty()) {
            throw not_replayed(fmt::format("folder '{}' has no snapshot", folder));
        }
    }

    std::uint64_t first_frame() const { return snapshots_.front(); }
    std::uint64_t frame() const { return world_->frame(); }
    // That led to this frame from the one before.
    std::span<const std::byte> delta() const { return delta_; }
    std::uint64_t frame_before() const { return before_; }
    void save(std::vector<std::byte>& to) const { world_->save(to); }
    // From 0 to 1.
    double part_read() const {
        const std::uint64_t read = read_before_ + (journal_ ? journal_->offset() : 0);
        return static_cast<double>(read) / static_cast<double>(bytes_);
    }

    // Goes on to the first frame that is not before this one. Returns false if there is none.
    bool begin(std::uint64_t frame) {
        const auto behind = std::ranges::upper_bound(snapshots_, frame);
        const std::uint64_t from = *(behind - 1); // the first one is not behind it
        const std::string file = snapshot_file_of(folder_, from).string();
        const std::vector<std::byte> bytes = read_snapshot_file(file);
        world_.emplace(bytes, from, file);
        before_ = from;
        count_bytes(from);
        open_journal();
        while (this->frame() < frame) {
            if (!next()) {
                return false;
            }
        }
        return true;
    }
    // Goes on to the next frame. Returns false if there is none.
    bool next() {
        while (journal_) {
            if (journal_->next()) {
                before_ = frame();
                const auto delta = delta_in_entry(*journal_, line_.part, file_);
                world_->apply(delta, fmt::format("{}, frame {}", file_, journal_->frame()));
                delta_.assign(delta.begin(), delta.end());
                return true;
            }
            const bool has_frames = journal_->frame() != journal_->origin().frame;
            read_before_ += journal_->offset();
            journal_.reset();
            if (has_frames) {
                open_journal();
            }
        }
        return false;
    }

private:
    // Of the journals of the snapshots from this frame on: only the bar needs it.
    void count_bytes(std::uint64_t from) {
        for (auto each = std::ranges::lower_bound(snapshots_, from); each != snapshots_.end(); ++each) {
            std::error_code error;
            const std::uintmax_t size = fs::file_size(journal_file_of(folder_, *each), error);
            bytes_ += error ? 0 : size;
        }
    }
    // The journal that goes on from this frame, if there is one.
    void open_journal() {
        const fs::path file = journal_file_of(folder_, frame());
        if (fs::exists(file)) {
            file_ = file.string();
            journal_.emplace(file);
            if (journal_->origin().frame != frame()) {
                throw not_replayed(fmt::format("journal '{}' goes on from frame {}; its name says {}", file_,
                                               journal_->origin().frame, frame()));
            }
        }
    }

    fs::path folder_;
    const command_line& line_;
    std::vector<std::uint64_t> snapshots_;
    std::optional<handlepool::replay> world_;
    std::optional<journal_reader> journal_;
    std::string file_; // its name
    std::vector<std::byte> delta_;
    std::uint64_t before_ = 0;
    std::uint64_t bytes_ = 1;       // of all journals
    std::uint64_t read_before_ = 0; // of those before this one
};

// What came of it.
struct comparison {
    std::optional<std::uint64_t> from{}; // frames that were compared; nothing of snapshots
    std::uint64_t to = 0;
    snapshot_differences differences{};
    std::string ended{}; // which of two folders ends before the other

    bool is_same() const { return differences.found.empty() && differences.left_out == 0; }
};

snapshot_differences compare(const command_line& line, std::span<const std::byte> first,
                             std::span<const std::byte> second) {
    return compare_snapshots(first, second,
                             {.most = line.most, .first = line.files[0], .second = line.files[1]});
}

comparison compare_files(const command_line& line) {
    const std::vector<std::byte> first = read_snapshot_file(line.files[0]);
    const std::vector<std::byte> second = read_snapshot_file(line.files[1]);
    return {.differences = compare(line, first, second)};
}

// Two folders, which go on side by side.
class folder_comparison {
public:
    explicit folder_comparison(const command_line& line)
        : line_(line), first_(line.files[0], line), second_(line.files[1], line) {}

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
                result.differences = compare(line_, first_bytes_, second_bytes_);
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
    recording first_;
    recording second_;
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
