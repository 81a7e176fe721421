// SPDX-License-Identifier: MIT
#include "commands.hpp"
#include "journal_walk.hpp"

#include <handlepool/snapshots/invalid_snapshot.hpp>
#include <handlepool/snapshots/replay.hpp>
#include <handlepool/snapshots/snapshot_file.hpp>

#include <support/files/tell.hpp>
#include <support/progress_bar.hpp>
#include <tools/recorded_world/delta_in_entry.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace handlepool::journal_tool {

namespace {

using recorded_worlds::delta_in_entry;
using recorded_worlds::not_replayed;

// What is replayed, and how far.
class replayed_world {
public:
    explicit replayed_world(const command_line& line)
        : line_(line), snapshot_(read_snapshot_file(line.snapshot)) {}

    // Goes on through a journal, to the wanted frame.
    void go_on(const std::string& file) {
        journal_reader reader{std::filesystem::path(file)};
        begin(reader.origin(), file);
        support::progress_bar bar("replay");
        const auto size = static_cast<double>(std::filesystem::file_size(file));
        while (!is_done() && reader.next()) {
            world_->apply(delta_in_entry(reader, line_.part, file),
                          fmt::format("{}, frame {}", file, reader.frame()));
            ++deltas_;
            bar.show(static_cast<double>(reader.offset()) / size);
        }
    }
    bool is_done() const { return line_.frame_is_given && world_ && world_->frame() == line_.frame; }

    // Throws not_replayed if the wanted frame was not reached.
    void save() const {
        if (line_.frame_is_given && !is_done()) {
            throw not_replayed(fmt::format("the journals end with frame {}; frame {} is wanted",
                                           world_->frame(), line_.frame));
        }
        std::vector<std::byte> bytes;
        world_->save(bytes);
        write_snapshot_file(line_.output, bytes);
        if (line_.json) {
            fmt::print("{}\n", nlohmann::ordered_json{{"file", detail::printable(line_.output)},
                                                      {"frame", world_->frame()},
                                                      {"deltas", deltas_},
                                                      {"bytes", bytes.size()}}
                                   .dump(2));
        } else {
            fmt::print("{}: the snapshot of frame {}, by {} {}, {} bytes\n", detail::printable(line_.output),
                       world_->frame(), deltas_, deltas_ == 1 ? "delta" : "deltas", bytes.size());
        }
    }

private:
    // The first journal says of which frame the snapshot is.
    void begin(const journal_origin& origin, const std::string& file) {
        if (!world_) {
            world_.emplace(snapshot_, origin.frame, line_.snapshot);
            run_ = origin.world;
            if (line_.frame_is_given && line_.frame < origin.frame) {
                throw not_replayed(fmt::format("the snapshot is of frame {}; frame {} is wanted",
                                               origin.frame, line_.frame));
            }
        }
        if (origin.world != run_ || origin.frame != world_->frame()) {
            throw not_replayed(
                fmt::format("journal '{}' goes on from frame {} of world {}; frame {} of world {} "
                            "is expected",
                            file, origin.frame, origin.world, world_->frame(), run_));
        }
    }

    const command_line& line_;
    std::vector<std::byte> snapshot_;
    std::optional<handlepool::replay> world_;
    std::uint64_t run_ = 0;
    std::uint64_t deltas_ = 0;
};

} // namespace

int replay(const command_line& line) {
    try {
        replayed_world world(line);
        for (const std::string& file : line.files) {
            if (!world.is_done()) {
                world.go_on(file);
            }
        }
        world.save();
    } catch (const invalid_journal& error) {
        support::tell("handlepool-journal: {}\n", error.what());
        return exit_damaged;
    } catch (const invalid_snapshot& error) {
        support::tell("handlepool-journal: {}\n", error.what());
        return exit_damaged;
    } catch (const not_replayed& error) {
        support::tell("handlepool-journal: {}\n", detail::printable(error.what()));
        return exit_damaged;
    }
    support::flush_output();
    return 0;
}

} // namespace handlepool::journal_tool
