// SPDX-License-Identifier: MIT
#include "commands.hpp"
#include "journal_walk.hpp"

#include <handlepool/snapshots/journal_writer.hpp>

#include <support/files/tell.hpp>
#include <support/progress_bar.hpp>

namespace handlepool::journal_tool {

int cut(const command_line& line) {
    const std::string& file = line.files.front();
    const std::string& to = line.in_place ? file : line.output;
    const std::uintmax_t before = std::filesystem::file_size(file);
    try {
        {
            // A journal is read at the speed of memory: once more, so that who waits sees something move.
            support::progress_bar bar("cut");
            journal_reader reader{std::filesystem::path(file)};
            while (reader.frame() < line.frame && reader.next()) {
                bar.show(static_cast<double>(reader.offset()) / static_cast<double>(before));
            }
        }
        if (line.in_place) {
            cut_journal(file, line.frame);
        } else {
            cut_journal(file, line.frame, to);
        }
    } catch (const invalid_journal& error) {
        support::tell("handlepool-journal: {}\n", error.what());
        return exit_damaged;
    }
    const std::uintmax_t after = std::filesystem::file_size(to);
    if (line.json) {
        fmt::print("{}\n", nlohmann::ordered_json{{"file", detail::printable(to)},
                                                  {"last_frame", line.frame},
                                                  {"bytes", after},
                                                  {"bytes_cut_off", before - after}}
                               .dump(2));
    } else {
        fmt::print("{}: up to frame {}, {} bytes, {} cut off\n", detail::printable(to), line.frame, after,
                   before - after);
    }
    support::flush_output();
    return 0;
}

} // namespace handlepool::journal_tool
