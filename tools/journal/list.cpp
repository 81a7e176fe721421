// SPDX-License-Identifier: MIT
#include "commands.hpp"
#include "journal_walk.hpp"

#include <support/files/tell.hpp>

#include <string_view>

namespace handlepool::journal_tool {

namespace {

// One line for each entry, as it is read: a journal may be larger than the memory.
journal_state list_as_text(const std::string& file, bool with_parts) {
    const journal_state state = walk(
        file,
        [&](const journal_reader& reader) {
            fmt::print("{}: world {}, goes on from frame {}\n{:>14}{:>14}{:>14}{:>8}\n",
                       detail::printable(file), reader.origin().world, reader.origin().frame, "byte", "frame",
                       "bytes", "parts");
        },
        [&](const journal_reader& reader, std::uint64_t offset) {
            fmt::print("{:>14}{:>14}{:>14}{:>8}\n", offset, reader.frame(), reader.offset() - offset,
                       reader.parts().size());
            if (with_parts) {
                for (const journal_part& each : reader.parts()) {
                    fmt::print("{:>42}  {}\n", each.bytes.size(), detail::printable(each.name));
                }
            }
        });
    if (state.damage.empty()) {
        fmt::print("{}, {} bytes\n", frames_of(state), state.bytes);
    }
    if (state.tail.bytes != 0) {
        fmt::print("{}\n", torn_end_of(state));
    }
    return state;
}

// The same as one object: its entries come first.
journal_state list_as_json(const std::string& file, bool with_parts) {
    std::string_view before = "\n";
    fmt::print("{{\"entries\": [");
    const journal_state state = walk(
        file, [](const journal_reader&) {},
        [&](const journal_reader& reader, std::uint64_t offset) {
            nlohmann::ordered_json entry{{"offset", offset},
                                         {"frame", reader.frame()},
                                         {"bytes", reader.offset() - offset},
                                         {"parts", reader.parts().size()}};
            if (with_parts) {
                entry["parts"] = nlohmann::ordered_json::array();
                for (const journal_part& each : reader.parts()) {
                    entry["parts"].push_back(
                        {{"name", detail::printable(each.name)}, {"bytes", each.bytes.size()}});
                }
            }
            fmt::print("{}  {}", before, entry.dump());
            before = ",\n";
        });
    const std::string rest = json_of(state).dump();
    fmt::print("],\n{}\n", std::string_view(rest).substr(1));
    return state;
}

} // namespace

int list(const command_line& line) {
    const std::string& file = line.files.front();
    const journal_state state = line.json ? list_as_json(file, line.parts) : list_as_text(file, line.parts);
    support::flush_output();
    if (state.damage.empty()) {
        return 0;
    }
    support::tell("handlepool-journal: {}\n", state.damage);
    return exit_damaged;
}

} // namespace handlepool::journal_tool
