// SPDX-License-Identifier: MIT
#include "commands.hpp"
#include "journal_walk.hpp"

#include <handlepool/detail/text/message.hpp>
#include <handlepool/snapshots/saved_world.hpp>
#include <handlepool/snapshots/told_lives.hpp>

#include <support/files/tell.hpp>
#include <support/progress_bar.hpp>
#include <tools/handle_number.hpp>
#include <tools/recorded_world/delta_in_entry.hpp>
#include <tools/recorded_world/life_text.hpp>

#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

namespace handlepool::journal_tool {

namespace {

using recorded_worlds::delta_in_entry;
using recorded_worlds::not_replayed;
using recorded_worlds::text_of;

nlohmann::ordered_json json_of(const std::optional<told_event>& event) {
    if (!event) {
        return nullptr;
    }
    return {{"event", to_string(event->event)},           {"frames_ago", event->frames_ago},
            {"thread", detail::printable(event->thread)}, {"task", detail::printable(event->task)},
            {"site", detail::printable(event->site)},     {"undone", event->is_undone}};
}

nlohmann::ordered_json json_of(std::uint64_t frame, const told_lives& of, const told_life& life) {
    return {{"frame", frame},
            {"pool", detail::printable(of.pool)},
            {"handle", life.handle},
            {"index", life.index},
            {"generation", life.generation},
            {"beginning", json_of(life.beginning)},
            {"end", json_of(life.end)}};
}

// Tells of lives as they are read: journals may be larger than the memory.
class life_teller {
public:
    explicit life_teller(const command_line& line)
        : line_(line),
          handle_(line.handle.empty() ? std::nullopt : std::optional(number_of_handle(line.handle))) {
        if (line_.json) {
            fmt::print("{{\"lives\": [");
        }
    }

    journal_state tell(const std::string& file) {
        std::optional<support::progress_bar> bar;
        if (handle_) { // else lines show that it goes on
            bar.emplace("lives");
        }
        std::error_code ignored; // only the bar needs the size
        const auto size = static_cast<double>(std::filesystem::file_size(file, ignored));
        return walk(
            file, [](const journal_reader&) {},
            [&](const journal_reader& reader, std::uint64_t) {
                const auto pools = read_lives(delta_in_entry(reader, line_.part, file),
                                              fmt::format("{}, frame {}", file, reader.frame()));
                for (const told_lives& each : pools) {
                    tell(reader.frame(), each);
                }
                if (bar) {
                    bar->show(static_cast<double>(reader.offset()) / size);
                }
            });
    }

    bool have_pools() const { return has_pools_; }
    std::size_t count() const { return count_; }

private:
    void tell(std::uint64_t frame, const told_lives& of) {
        has_pools_ = true;
        for (const told_life& each : of.lives) {
            if (handle_ && (*handle_ & of.handle_mask) != each.handle) {
                continue;
            }
            ++count_;
            if (line_.json) {
                fmt::print("{}  {}", count_ == 1 ? "\n" : ",\n", json_of(frame, of, each).dump());
            } else {
                fmt::print("frame {}: {} {} ({:#x}): {}\n", frame, detail::printable(of.pool),
                           detail::name_of_handle(each.index, each.generation), each.handle, text_of(each));
            }
        }
        if (of.some_are_missing) {
            support::tell("handlepool-journal: frame {}, {}: some lives are missing\n", frame,
                          detail::printable(of.pool));
        }
    }

    const command_line& line_;
    const std::optional<std::uint64_t> handle_;
    std::size_t count_ = 0;
    bool has_pools_ = false;
};

// Of a folder, the journals of its snapshots.
std::vector<std::string> journals_in(const std::vector<std::string>& typed) {
    std::vector<std::string> files;
    for (const std::string& each : typed) {
        if (!std::filesystem::is_directory(each)) {
            files.push_back(each);
            continue;
        }
        for (const std::uint64_t frame : saved_frames(each)) {
            const std::filesystem::path file = journal_file_of(each, frame);
            if (std::filesystem::exists(file)) {
                files.push_back(file.string());
            }
        }
    }
    return files;
}

} // namespace

int lives(const command_line& line) {
    life_teller teller(line);
    nlohmann::ordered_json files = nlohmann::ordered_json::array();
    std::string damage;
    for (const std::string& each : journals_in(line.files)) {
        const journal_state state = teller.tell(each);
        files.push_back(json_of(state));
        if (!state.damage.empty()) {
            damage = state.damage;
            break; // what follows would not go on from it
        }
    }
    if (line.json) {
        fmt::print("],\n\"files\": {}}}\n", files.dump());
    }
    support::flush_output();
    if (!damage.empty()) {
        support::tell("handlepool-journal: {}\n", damage);
        return exit_damaged;
    }
    if (!teller.have_pools()) {
        throw not_replayed("the deltas tell of no lives: delta_recorder::add_lives() adds those of a pool");
    }
    if (!line.handle.empty() && teller.count() == 0) {
        throw not_replayed(fmt::format("no delta tells of the handle {}", detail::printable(line.handle)));
    }
    return 0;
}

} // namespace handlepool::journal_tool
