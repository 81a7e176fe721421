// SPDX-License-Identifier: MIT
#include "commands.hpp"
#include "journal_walk.hpp"

#include <support/progress_bar.hpp>

namespace handlepool::journal_tool {

int verify(const command_line& line) {
    int code = 0;
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const std::string& file : line.files) {
        std::error_code ignored; // only the bar needs the size
        const auto size = static_cast<double>(std::filesystem::file_size(file, ignored));
        const journal_state state = [&] {
            support::progress_bar bar("verify");
            return walk(
                file, [](const journal_reader&) {},
                [&](const journal_reader& reader, std::uint64_t) {
                    bar.show(static_cast<double>(reader.offset()) / size);
                });
        }();
        const bool is_whole = state.damage.empty() && (state.tail.bytes == 0 || line.allow_torn);
        code = is_whole ? code : exit_damaged;
        if (line.json) {
            all.push_back(json_of(state));
            all.back()["whole"] = is_whole;
        } else if (!state.damage.empty()) {
            fmt::print("{}: damaged: {}\n", name_of(state), state.damage);
        } else {
            fmt::print("{}: {}, {} bytes, {}\n", name_of(state), frames_of(state), state.bytes,
                       state.tail.bytes == 0 ? "whole" : torn_end_of(state));
        }
    }
    if (line.json) {
        fmt::print("{}\n", all.dump(2));
    }
    support::flush_output();
    return code;
}

} // namespace handlepool::journal_tool
