// SPDX-License-Identifier: MIT
#include "../shared/files.hpp"
#include "../shared/names_in.hpp"
#include "journal_format.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/journal/journal_file.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/text/text.hpp>
#include <handlepool/snapshots/journal_reader.hpp>
#include <handlepool/snapshots/saved_world.hpp>
#include <handlepool/snapshots/snapshot_file.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace handlepool {

namespace {

constexpr std::size_t digits = 20; // of the largest frame
constexpr std::string_view snapshot_ending = ".snapshot";
constexpr std::string_view journal_ending = ".journal";

std::filesystem::path file_of(const std::filesystem::path& folder, std::uint64_t frame,
                              std::string_view ending) {
    std::string name = std::to_string(frame);
    name.insert(0, digits - name.size(), '0');
    name += ending;
    return folder / name;
}

/// The frame with which a name begins.
std::optional<std::uint64_t> frame_in(std::string_view name) {
    if (name.size() < digits) {
        return std::nullopt;
    }
    std::uint64_t frame = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + digits, frame);
    return error == std::errc() && end == name.data() + digits ? std::optional(frame) : std::nullopt;
}

/// Calls `visit(file, frame, ending)` for each file whose name begins with a frame.
template <class Visit>
void for_each_file(const std::filesystem::path& folder, Visit visit) {
    for (const std::filesystem::path& each : names_in(folder)) {
        const std::string name = each.string();
        if (const auto frame = frame_in(name)) {
            visit(folder / each, *frame, std::string_view(name).substr(digits));
        }
    }
}

/// The frames of the files with that ending, the newest first.
std::vector<std::uint64_t> frames_in(const std::filesystem::path& folder, std::string_view ending) {
    std::vector<std::uint64_t> frames;
    for_each_file(folder, [&](const auto&, std::uint64_t frame, std::string_view its_ending) {
        if (its_ending == ending) {
            frames.push_back(frame);
        }
    });
    std::ranges::sort(frames, std::ranges::greater());
    return frames;
}

/// Why the bytes are no snapshot; nothing if they are one.
#ifdef __cpp_exceptions
std::string problem_of(std::span<const std::byte> bytes, const std::filesystem::path& file) {
    try {
        detail::snapshot_blocks(bytes, file.string());
    } catch (const invalid_snapshot& error) {
        return error.what();
    }
    return "";
}
#else
// If they are none, this ends the program.
std::string problem_of(std::span<const std::byte> bytes, const std::filesystem::path& file) {
    detail::snapshot_blocks(bytes, file.string());
    return "";
}
#endif

/// Reads the journals that go on from each other; `listed` are those that were there before.
void find_journals(const std::vector<std::uint64_t>& listed, saved_world& found) {
    std::optional<std::uint64_t> world;
    for (;;) {
        const std::filesystem::path file = journal_file_of(found.folder, found.last_frame);
        if (!std::filesystem::exists(file)) {
            break;
        }
        journal_reader journal(file);
        const journal_origin& origin = journal.origin();
        const auto refuse = [&](std::string_view problem) {
            detail::throw_exception(invalid_journal("journal '" + detail::printable(file.string()) +
                                                    "': " + std::string(problem)));
        };
        if (origin.frame != found.last_frame) {
            refuse("it goes on from frame " + std::to_string(origin.frame) + ", and its name says " +
                   std::to_string(found.last_frame));
        }
        if (world && *world != origin.world) {
            refuse("it is of world " + std::to_string(origin.world) + ", and the one before it of world " +
                   std::to_string(*world));
        }
        world = origin.world;
        while (journal.next()) {
        }
        found.journals.push_back(file);
        found.last_frame = journal.frame();
        if (found.last_frame == origin.frame) {
            break;
        }
    }
    for (const std::uint64_t frame : listed) {
        if (frame > found.last_frame) {
            found.passed_over.push_back("journal '" +
                                        detail::printable(journal_file_of(found.folder, frame).string()) +
                                        "': it goes on from frame " + std::to_string(frame) + ", and frame " +
                                        std::to_string(found.last_frame) + " is the last one before it");
        }
    }
}

/// The newest world of these snapshots.
std::optional<saved_world> world_from(const std::filesystem::path& folder,
                                      const std::vector<std::uint64_t>& frames) {
    const std::vector<std::uint64_t> journals = frames_in(folder, journal_ending);
    saved_world found{.folder = folder};
    for (const std::uint64_t frame : frames) {
        const std::filesystem::path file = snapshot_file_of(folder, frame);
        found.snapshot = read_snapshot_file(file);
        if (std::string problem = problem_of(found.snapshot, file); !problem.empty()) {
            found.passed_over.push_back(std::move(problem));
            continue;
        }
        found.frame = found.last_frame = frame;
        find_journals(journals, found);
        return found;
    }
    if (!frames.empty()) {
        detail::throw_exception(invalid_snapshot(found.passed_over.front()));
    }
    return std::nullopt;
}

[[noreturn]] void refuse(std::errc why, const std::filesystem::path& file) {
    detail::throw_exception(file_error(std::make_error_code(why), file));
}

/// While it lives, no other process begins a world in the folder: a journal that nobody finishes. Throws
/// std::system_error where another process is beginning, and where there is no folder.
std::unique_ptr<journal_storage> only_beginner_in(const std::filesystem::path& folder) {
    static_cast<void>(names_in(folder)); // for an error that names the folder
    return detail::open_journal_file(folder / "first.journal", detail::journal_file_use::create);
}

bool is_snapshot(const std::filesystem::path& file) {
    return file.extension() == snapshot_ending;
}

/// The files of worlds in a folder, the snapshots first.
std::vector<std::filesystem::path> world_files_in(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for_each_file(folder, [&](const auto& file, std::uint64_t, std::string_view ending) {
        if (ending == snapshot_ending || ending == journal_ending) {
            files.push_back(file);
        }
    });
    std::partition(files.begin(), files.end(), is_snapshot); // clang 14 can't compile the one for ranges
    return files;
}

/// Throws std::system_error where the folder has files of a world: they would be read behind a new one's. A
/// journal without entries that nobody has open is left by a process that was killed while it began, and
/// goes.
void make_room(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files = world_files_in(folder);
    std::vector<std::unique_ptr<journal_storage>> held;
    for (const std::filesystem::path& each : files) {
        if (is_snapshot(each)) {
            refuse(std::errc::file_exists, each);
        }
        std::error_code error;
        held.push_back(detail::open_journal_file(each, detail::journal_file_use::append));
        const std::uint64_t size = held.back()->size(error);
        throw_file_error(error, each);
        if (size != detail::journal_header_bytes) {
            refuse(std::errc::file_exists, each);
        }
    }
    for (const std::filesystem::path& each : files) {
        std::error_code error;
        std::filesystem::remove(each, error);
        throw_file_error(error, each);
    }
}

/// Calls `step()`, and removes the file if that throws.
template <class Step>
void do_or_remove(const std::filesystem::path& file, const Step& step) {
    if (const std::exception_ptr error = detail::capture_exception(step)) {
        std::error_code ignored;
        std::filesystem::remove(file, ignored);
        std::rethrow_exception(error);
    }
}

/// Throws std::system_error where a folder has more files of a world than this one.
void expect_alone(const std::filesystem::path& folder, const std::filesystem::path& file) {
    for (const std::filesystem::path& each : world_files_in(folder)) {
        if (each != file) {
            refuse(std::errc::file_exists, each);
        }
    }
}

} // namespace

std::filesystem::path snapshot_file_of(const std::filesystem::path& folder, std::uint64_t frame) {
    return file_of(folder, frame, snapshot_ending);
}

std::filesystem::path journal_file_of(const std::filesystem::path& folder, std::uint64_t frame) {
    return file_of(folder, frame, journal_ending);
}

std::vector<std::uint64_t> saved_frames(const std::filesystem::path& folder) {
    std::vector<std::uint64_t> frames = frames_in(folder, snapshot_ending);
    std::ranges::reverse(frames);
    return frames;
}

std::optional<saved_world> find_saved_world(const std::filesystem::path& folder) {
    for (;;) {
        const std::vector<std::uint64_t> frames = frames_in(folder, snapshot_ending);
        std::optional<saved_world> found;
        const std::exception_ptr error =
            detail::capture_exception([&] { found = world_from(folder, frames); });
        // A process that has gone on may have removed some of it meanwhile, the snapshots first: then what
        // was read is no world, or an older one.
        if (std::ranges::includes(frames_in(folder, snapshot_ending), frames, std::ranges::greater())) {
            if (error) {
                std::rethrow_exception(error);
            }
            return found;
        }
    }
}

journal_writer open_last_journal(const saved_world& found, std::uint64_t world,
                                 const journal_options& options) {
    const bool is_new = found.journals.empty();
    const std::filesystem::path file =
        is_new ? journal_file_of(found.folder, found.last_frame) : found.journals.back();
    const std::uint64_t its_world = is_new ? world : journal_reader(file).origin().world;
    if (its_world != world) { // before opening, which cuts off what is behind the last whole entry
        detail::throw_exception(std::invalid_argument(
            "open_last_journal: '" + detail::printable(file.string()) + "' is of world " +
            std::to_string(its_world) + ", and not of world " + std::to_string(world)));
    }
    journal_writer journal =
        is_new ? journal_writer::create(file, {.world = world, .frame = found.last_frame}, options)
               : journal_writer::open(file, options);
    const auto expect_last = [&] {
        // Who has ended this one has made the next one before, and removes the snapshot before the journal.
        const bool has_ended = (journal.frame() != journal.origin().frame &&
                                std::filesystem::exists(journal_file_of(found.folder, journal.frame()))) ||
                               !std::filesystem::exists(snapshot_file_of(found.folder, found.frame));
        if (has_ended || journal.frame() != found.last_frame) {
            refuse(std::errc::device_or_resource_busy, file);
        }
    };
    if (is_new) {
        do_or_remove(file, expect_last); // while it is locked: later the name could be another's
    } else {
        expect_last();
    }
    return journal;
}

journal_writer begin_saved_world(const std::filesystem::path& folder, std::uint64_t frame,
                                 std::span<const std::byte> snapshot, std::uint64_t world,
                                 const journal_options& options) {
    const std::unique_ptr<journal_storage> alone = only_beginner_in(folder);
    make_room(folder);
    // The journal first: who finds the snapshot can't go on with it.
    const std::filesystem::path file = journal_file_of(folder, frame);
    journal_writer journal = journal_writer::create(file, {.world = world, .frame = frame}, options);
    do_or_remove(file, [&] { // while it is locked: later the name could be another's
        // A folder is not read in one moment: a world that goes on in it may have been missed.
        expect_alone(folder, file);
        const std::filesystem::path first = snapshot_file_of(folder, frame);
        // It may be there after an error, and the disk not have its name.
        do_or_remove(first, [&] { write_snapshot_file(first, snapshot); });
    });
    return journal;
}

std::size_t remove_saved_before(const std::filesystem::path& folder, std::uint64_t frame) {
    const std::filesystem::path kept = snapshot_file_of(folder, frame);
    std::error_code error;
    const bool is_there = std::filesystem::exists(kept, error);
    throw_file_error(is_there || error ? error : std::make_error_code(std::errc::no_such_file_or_directory),
                     kept);
    std::vector<std::filesystem::path> before;
    for_each_file(folder, [&](const auto& file, std::uint64_t its_frame, std::string_view ending) {
        // Unfinished ones have more behind the ending.
        if (its_frame < frame &&
            (ending.starts_with(snapshot_ending) || ending.starts_with(journal_ending))) {
            before.push_back(file);
        }
    });
    // The snapshots first: while one is there, so are its journals. See find_saved_world().
    std::partition(before.begin(), before.end(), is_snapshot);
    std::size_t removed = 0;
    for (const std::filesystem::path& each : before) {
        error = beside_other_users([&] {
            std::error_code refused;
            removed += std::filesystem::remove(each, refused) ? 1U : 0U;
            return refused;
        });
        if (is_in_use(error)) {
            break; // the next call goes on
        }
        throw_file_error(error, each);
    }
    return removed;
}

} // namespace handlepool
