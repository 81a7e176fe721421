// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/text/text.hpp>
#include <handlepool/snapshots/journal_reader.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <support/files/flush_output.hpp>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <string>

namespace handlepool::journal_tool {

// What was found in a file, as far as it could be read.
struct journal_state {
    std::string file{};
    journal_origin origin{};
    std::uint64_t last_frame = 0;
    std::uint64_t bytes = 0; // up to the end of the last entry
    journal_tail tail{};     // a torn end
    std::string damage{};    // why it can't be read further; empty: it can
};

// Reads a journal. Calls `begin(reader)` when the header is read, and `take(reader, offset)` for each entry,
// with the offset at which that begins.
template <class Begin, class Take>
journal_state walk(const std::string& file, Begin begin, Take take) {
    journal_state state{.file = file};
    try {
        journal_reader reader{std::filesystem::path(file)};
        state.origin = reader.origin();
        state.last_frame = reader.frame();
        state.bytes = reader.offset();
        begin(reader);
        while (reader.next()) {
            take(reader, state.bytes);
            state.last_frame = reader.frame();
            state.bytes = reader.offset();
        }
        state.tail = reader.tail();
    } catch (const invalid_journal& error) {
        state.damage = error.what();
    }
    return state;
}

inline std::string name_of(const journal_state& state) {
    return detail::printable(state.file);
}

// "frames 101 to 103", "no frames after 100".
inline std::string frames_of(const journal_state& state) {
    const std::uint64_t first = state.origin.frame + 1;
    if (state.last_frame == state.origin.frame) {
        return fmt::format("no frames after {}", state.origin.frame);
    }
    return state.last_frame == first ? fmt::format("frame {}", first)
                                     : fmt::format("frames {} to {}", first, state.last_frame);
}

inline std::string torn_end_of(const journal_state& state) {
    return fmt::format("torn end at byte {}, {} {}: {}", state.tail.offset, state.tail.bytes,
                       state.tail.bytes == 1 ? "byte" : "bytes", state.tail.problem);
}

// The members of a file's JSON, but for its entries. A file that is no journal has no world and frames.
inline nlohmann::ordered_json json_of(const journal_state& state) {
    nlohmann::ordered_json json{{"file", name_of(state)}};
    if (state.bytes != 0) {
        json["world"] = state.origin.world;
        json["goes_on_from"] = state.origin.frame;
        json["last_frame"] = state.last_frame;
        json["bytes"] = state.bytes;
    }
    if (state.tail.bytes != 0) {
        json["torn_end"] = {
            {"offset", state.tail.offset}, {"bytes", state.tail.bytes}, {"problem", state.tail.problem}};
    }
    if (!state.damage.empty()) {
        json["damage"] = state.damage;
    }
    return json;
}

} // namespace handlepool::journal_tool
