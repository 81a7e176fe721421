// SPDX-License-Identifier: MIT
#include "commands.hpp"

#include <handlepool/detail/text/text.hpp>

#include <CLI/CLI.hpp>
#include <support/files/tell.hpp>
#include <support/programs/system.hpp>

#include <exception>
#include <new>
#include <typeinfo>

namespace {

using namespace handlepool::journal_tool;
using handlepool::detail::printable;

CLI::App& add_command(CLI::App& app, command_line& line, const char* name, const char* what) {
    CLI::App& command = *app.add_subcommand(name, what);
    command.add_flag("--json", line.json, "Print JSON instead of text");
    return command;
}

void add_list(CLI::App& app, command_line& line) {
    CLI::App& command = add_command(app, line, "list", "List the entries of a journal");
    command.callback([&line] { line.run = list; });
    command.add_option("file", line.files, "The journal")->required()->expected(1);
    command.add_flag("--parts", line.parts, "The names and sizes of each entry's parts, too");
    command.footer(
        "Reads while the journal is written to, and holds one entry in memory.\n\n"
        "Exit code: 0, also for a torn end; 1 for a journal that is damaged; 2 for another error.\n\n"
        "Examples:\n"
        "  handlepool-journal list 100.journal\n"
        "  handlepool-journal list --parts --json 100.journal\n");
}

void add_verify(CLI::App& app, command_line& line) {
    CLI::App& command = add_command(app, line, "verify", "Read journals, and check each hash");
    command.callback([&line] { line.run = verify; });
    command.add_option("files", line.files, "The journals")->required();
    command.add_flag(
        "--allow-torn", line.allow_torn,
        "A torn end is none of the errors: for a journal that is written to, or whose writer was killed");
    command.footer("Exit code: 0 when all are whole, 1 when one is not, 2 for another error.\n\n"
                   "Examples:\n"
                   "  handlepool-journal verify *.journal\n"
                   "  handlepool-journal verify --allow-torn --json 100.journal\n");
}

void add_cut(CLI::App& app, command_line& line) {
    CLI::App& command = add_command(app, line, "cut", "Cut off what comes after a frame, damage included");
    command.add_option("file", line.files, "The journal")->required()->expected(1);
    command.add_option("--after", line.frame, "The last frame that stays")->required();
    CLI::Option& output =
        *command.add_option("--output,-o", line.output, "A new file: the journal stays as it is");
    CLI::Option& in_place =
        *command.add_flag("--in-place", line.in_place, "The journal itself, which no writer may have open");
    output.excludes(&in_place);
    command.callback([&line] {
        if (line.output.empty() && !line.in_place) {
            throw CLI::RequiredError("--output or --in-place");
        }
        line.run = cut;
    });
    command.footer(
        "Exit code: 0 when it was done, 1 when the journal has no such frame, 2 for another error.\n\n"
        "Examples:\n"
        "  handlepool-journal cut 100.journal --after 150 --output good.journal\n"
        "  handlepool-journal cut 100.journal --after 150 --in-place\n");
}

void add_replay(CLI::App& app, command_line& line) {
    CLI::App& command =
        add_command(app, line, "replay", "Make the snapshot of a later frame of one and the journals since");
    command.add_option("files", line.files, "The journals, in their order")->required();
    command.add_option("--snapshot,-s", line.snapshot, "What the first journal goes on from")->required();
    CLI::Option& frame = *command.add_option(
        "--to", line.frame,
        "The frame, from that of the snapshot on; the last one that is whole if not given");
    command.add_option("--part", line.part,
                       "The part of each entry that has the delta; not needed where there is one");
    command.add_option("--output,-o", line.output, "The new snapshot, in place of a former file")->required();
    command.callback([&line, &frame] {
        line.frame_is_given = frame.count() != 0;
        line.run = replay;
    });
    command.footer(
        "For journals of deltas, as delta_recorder writes them.\n\n"
        "Exit code: 0 when it was done; 1 when the journals are damaged, have no such frame, or don't "
        "follow the snapshot or each other; 2 for another error.\n\n"
        "Examples:\n"
        "  handlepool-journal replay --snapshot 100.snapshot 100.journal --output last.snapshot\n"
        "  handlepool-journal replay -s 100.snapshot 100.journal 200.journal --to 250 -o 250.snapshot\n");
}

void add_diff(CLI::App& app, command_line& line) {
    CLI::App& command =
        add_command(app, line, "diff", "Say in which frame two recorded worlds part, and in what");
    command
        .add_option("worlds", line.files, "Two snapshots, or two folders with snapshots and their journals")
        ->required()
        ->expected(2);
    command.add_option("--part", line.part,
                       "The part of each entry that has the delta; not needed where there is one");
    command.add_option("--most", line.most, "How many differences to tell of each pool, container or value")
        ->capture_default_str()
        ->check(CLI::Range(1, 1'000'000));
    CLI::Option& program = *command.add_option(
        "--program", line.program,
        "A program whose debug information names the members of the types that --type says; on Linux");
    CLI::Option& types =
        *command
             .add_option("--type", line.types,
                         "PART=TYPE, or PART/COLUMN=TYPE for a column of rows: what a part without a "
                         "snapshot_layout is, as ships=game::ship; one for each part")
             ->allow_extra_args(false);
    program.needs(&types);
    types.needs(&program);
    command.callback([&line] { line.run = diff; });
    command.footer(
        "Folders are compared frame by frame, from the first one that both have, up to the first that "
        "differs. Their files have the names that snapshot_file_of() and journal_file_of() give. Members "
        "are named where types have a snapshot_layout, or where --program and --type say what they are: that "
        "needs elfutils' libdw (Debian: libdw1), and a program that was compiled with -g.\n\n"
        "Exit code: 0 when they are the same, as far as both go; 1 when they differ; 2 for another error.\n\n"
        "Examples:\n"
        "  handlepool-journal diff one.snapshot other.snapshot\n"
        "  handlepool-journal diff runs/first runs/second\n"
        "  handlepool-journal diff --json --most 3 server client\n"
        "  handlepool-journal diff server client --program build/server --type ships=game::ship\n");
}

void add_lives(CLI::App& app, command_line& line) {
    CLI::App& command = add_command(app, line, "lives",
                                    "Say whose lives began and ended in each frame, by whom and from where");
    command.add_option("files", line.files, "The journals in their order, or folders of them")->required();
    command.add_option("--handle", line.handle, "Only those of this handle; by its value");
    command.add_option("--part", line.part,
                       "The part of each entry that has the delta; not needed where there is one");
    command.callback([&line] { line.run = lives; });
    command.footer(
        "For journals of deltas of a delta_recorder to which add_lives() has added pools that record lives. "
        "A line is a life that began in that frame, or lived when the journal begins, or one that ended: "
        "then its end comes before its beginning. A place like explode() (game+0x1234) is a line of a file "
        "by "
        "addr2line -Cfipe game 0x1234, if the program has debug information.\n\n"
        "Exit code: 0 when all was told; 1 for a journal that is damaged; 2 for another error, as for a "
        "handle of which no delta tells.\n\n"
        "Examples:\n"
        "  handlepool-journal lives 100.journal\n"
        "  handlepool-journal lives --handle 0x1c00003fd runs/today\n"
        "  handlepool-journal lives --json 100.journal\n");
}

int run(int argc, char** argv) {
    CLI::App app("Shows, checks, cuts off, replays, compares and explains journals, in which each frame of a "
                 "world is recorded.",
                 "handlepool-journal");
    app.require_subcommand(0, 1); // one is needed, but an unknown one is reported by its name
    app.set_version_flag("--version", "handlepool-journal " HANDLEPOOL_VERSION, "Print the version");
    app.footer("Exit code: 0 for success only, 1 for a journal that is not whole or worlds that differ, 2 "
               "for another error.\n\n"
               "Examples:\n"
               "  handlepool-journal list 100.journal\n"
               "  handlepool-journal verify *.journal\n"
               "  handlepool-journal cut 100.journal --after 150 --output good.journal\n"
               "  handlepool-journal replay --snapshot 100.snapshot 100.journal --output last.snapshot\n"
               "  handlepool-journal diff runs/first runs/second\n"
               "  handlepool-journal lives --handle 0x1c00003fd 100.journal\n");
    app.failure_message([](const CLI::App*, const CLI::Error& error) {
        return printable(error.what()) + "\nRun with --help for more information.\n";
    });
    command_line line;
    add_list(app, line);
    add_verify(app, line);
    add_cut(app, line);
    add_replay(app, line);
    add_diff(app, line);
    add_lives(app, line);
    try {
        app.parse(argc, argv);
        if (app.get_subcommands().empty()) {
            throw CLI::RequiredError::Subcommand(1);
        }
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : exit_error;
    }
    return line.run(line);
}

} // namespace

int main(int argc, char** argv) {
    handlepool::support::keep_standard_streams();
    handlepool::support::survive_file_size_limit();
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        const bool unexplained = typeid(error) == typeid(std::bad_alloc);
        handlepool::support::tell("handlepool-journal: {}\n",
                                  printable(unexplained ? "there is not enough memory" : error.what()));
    }
    return exit_error;
}
