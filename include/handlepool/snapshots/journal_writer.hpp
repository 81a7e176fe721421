// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/snapshots/invalid_journal.hpp>
#include <handlepool/snapshots/journal.hpp>
#include <handlepool/snapshots/journal_storage.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace handlepool {

/// What becomes of a journal_tail when a journal is opened for writing. One that was damaged after the disk
/// had it is refused always: cut_journal() names a frame.
enum class journal_repair {
    refuse,      ///< any tail is an error
    cut_torn,    ///< cut off, unless whole entries are in it
    cut_unsynced ///< cut off, with whole entries that can't be used for lack of those before
};

/// How a journal is written.
struct journal_options {
    /// Wait for the disk after so many entries: with 1, each append() returns when its entry outlives a crash
    /// of the system. With 0, only sync() waits. An entry outlives the end of the process in any case.
    std::uint64_t sync_every = 1;
    /// What becomes of what follows the last whole entry.
    journal_repair repair = journal_repair::cut_torn;
};

/// Appends what each frame has changed to a journal, with one call of the system for each.
///
///     auto journal = handlepool::journal_writer::create("100.journal", {.world = id, .frame = 100});
///     journal.append(101, {{"ships", changed_ships}, {"score", changed_score}});
///
/// Any thread may use it, such as one that does nothing else; one at a time. It needs no memory once an entry
/// as large was written. While it exists no other writer can open the file, in this process or another;
/// readers can. On POSIX a child process that is forked meanwhile holds the file, too, until it ends or
/// starts another program. A journal ends without waiting for the disk.
class HANDLEPOOL_EXPORT journal_writer {
public:
    /// Makes a journal without entries. Waits for the disk. Throws std::system_error, which names the file,
    /// or the unfinished one of that name with `.new` behind it; also if there is a file of this name, or
    /// somebody is making it. And std::bad_alloc. Then it leaves no file of its own. A process that is killed
    /// may leave the unfinished one, which the next call uses; a system that crashes, a disk that removes no
    /// file any more and a file system without locks may leave that one or the finished one.
    static journal_writer create(const std::filesystem::path& file, const journal_origin& origin,
                                 const journal_options& options = {});
    /// The same in any storage, whose bytes are replaced; `name` is for messages.
    static journal_writer create(std::unique_ptr<journal_storage> storage, std::string_view name,
                                 const journal_origin& origin, const journal_options& options = {});

    /// Goes on behind the last whole entry of a journal, of which all bytes are read. tail() says what was
    /// behind that, and was cut off; the disk is waited for then. Throws invalid_journal for a tail that is
    /// not to be cut off, as for a file that is no journal; std::system_error, which names the file, also if
    /// another writer has it, and std::bad_alloc. Then the file is as it was.
    static journal_writer open(const std::filesystem::path& file, const journal_options& options = {});
    static journal_writer open(std::unique_ptr<journal_storage> storage, std::string_view name,
                               const journal_options& options = {});

    /// Takes the journal over; the other one can only be assigned to and destroyed.
    journal_writer(journal_writer&& other) noexcept;
    /// The same; a journal that was there is closed.
    journal_writer& operator=(journal_writer&& other) noexcept;
    /// Closes the file, and waits for nothing.
    ~journal_writer();

    /// Appends the entry of the next frame. Linear in its bytes. Throws std::invalid_argument for another
    /// frame, names that are repeated, empty, longer than 255 bytes or with control characters, and
    /// std::bad_alloc: then nothing has changed. Throws std::system_error, which names the file and the
    /// frame: if the entry can't be written, then nothing has changed either, and the call can be repeated
    /// when the disk has room; if what was written of it can't be taken back, or a sync has failed, then
    /// is_broken().
    void append(std::uint64_t frame, std::span<const journal_part> parts);
    void append(std::uint64_t frame, std::initializer_list<journal_part> parts) {
        append(frame, std::span(parts.begin(), parts.size()));
    }

    /// Returns when the disk has all entries. Throws std::system_error; then is_broken().
    void sync();

    /// Nothing can be appended any more: append() and sync() throw. After a sync that has failed nobody knows
    /// what the disk has: the system may believe that it has all, also when the journal is opened again. What
    /// is safe is a new snapshot, and a new journal that goes on from it.
    bool is_broken() const noexcept { return static_cast<bool>(broken_); }

    /// What the journal goes on from.
    const journal_origin& origin() const noexcept { return origin_; }
    /// The last frame, or that of the origin.
    std::uint64_t frame() const noexcept { return frame_; }
    /// The last frame that outlives a crash of the system, as far as this writer knows.
    std::uint64_t synced_frame() const noexcept { return synced_frame_; }
    /// The bytes of the journal.
    std::uint64_t size() const noexcept { return size_; }
    /// What open() has cut off.
    const journal_tail& tail() const noexcept { return tail_; }

private:
    journal_writer(std::unique_ptr<journal_storage> storage, std::string_view name,
                   const journal_options& options);

    void encode(std::uint64_t frame, std::span<const journal_part> parts);
    [[noreturn]] void throw_error(std::error_code error, std::uint64_t frame, std::string_view problem) const;
    void require_whole() const;

    std::unique_ptr<journal_storage> storage_;
    std::string name_;
    journal_options options_;
    journal_origin origin_;
    journal_tail tail_;
    std::uint64_t header_hash_ = 0;
    std::uint64_t last_hash_ = 0; // of the last entry, or of the header
    std::uint64_t size_ = 0;
    std::uint64_t frame_ = 0;
    std::uint64_t synced_frame_ = 0;
    std::uint64_t unsynced_ = 0; // so many entries were appended since a sync
    std::error_code broken_;
    std::vector<std::byte> entry_;
    std::vector<std::string_view> names_;
};

/// Cuts off what comes after the entry of that frame, whatever it is, and waits for the disk. Linear in what
/// comes before. Throws invalid_journal if the journal has no such entry and is no journal that begins after
/// that frame; std::system_error, also if a writer has it, and std::bad_alloc. Then the file is as it was.
HANDLEPOOL_EXPORT void cut_journal(const std::filesystem::path& file, std::uint64_t frame);

/// The same into a new file, which must not be there.
HANDLEPOOL_EXPORT void cut_journal(const std::filesystem::path& file, std::uint64_t frame,
                                   const std::filesystem::path& to);

} // namespace handlepool
