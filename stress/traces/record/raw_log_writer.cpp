// SPDX-License-Identifier: MIT

// Most of this runs in a forked child: it takes no memory and no lock.

#include "raw_log_writer.hpp"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <span>

namespace handlepool::stress {

namespace {

template <class Byte, class Call>
bool all(Byte* bytes, std::size_t count, std::uint64_t offset, const Call& call) noexcept {
    for (std::size_t done = 0; done < count;) {
        const ssize_t more = call(bytes + done, count - done, static_cast<off_t>(offset + done));
        if (more == 0) {
            errno = EIO; // the file is too short
            return false;
        }
        if (more < 0 && errno != EINTR) {
            return false;
        }
        done += more < 0 ? 0 : static_cast<std::size_t>(more);
    }
    return true;
}

bool take_room(int file, std::uint64_t offset, std::uint64_t bytes) noexcept {
    int error = EINTR;
    while (error == EINTR) {
        error = ::posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(bytes));
    }
    return error == 0;
}

} // namespace

bool read_all(int descriptor, void* bytes, std::size_t count, std::uint64_t offset) noexcept {
    return all(static_cast<char*>(bytes), count, offset, [descriptor](char* to, std::size_t more, off_t at) {
        return ::pread(descriptor, to, more, at);
    });
}

bool write_all(int descriptor, const void* bytes, std::size_t count, std::uint64_t offset) noexcept {
    return all(static_cast<const char*>(bytes), count, offset,
               [descriptor](const char* from, std::size_t more, off_t at) {
                   return ::pwrite(descriptor, from, more, at);
               });
}

void raw_log_writer::move_until_end(int recorder) noexcept {
    ::signal(SIGXFSZ, SIG_IGN);
    while (::getppid() == recorder || !is_unmapped()) {
        move_steps();
        constexpr timespec pause{.tv_sec = 0, .tv_nsec = 5'000'000};
        ::nanosleep(&pause, nullptr);
    }
    move_all();
    ::_exit(0);
}

void raw_log_writer::move(bool is_end) noexcept {
    raw_log::header log{};
    if (!read_all(memory_, &log, sizeof(log), 0)) {
        return;
    }
    while (log.is_full == 0) {
        const std::uint64_t count =
            std::min(raw_log::events_in(log) - std::min<std::uint64_t>(log.written, log.capacity),
                     raw_log::events_in_step);
        if (count == 0 || !read_step(log, count, is_end)) {
            break;
        }
        if (!move_step(log, count)) {
            log.is_full = 1;
            write_all(file_, &log, sizeof(log), 0);
            if (!is_end) { // the program is to know; what is left may find room later
                write_all(memory_, &log.is_full, sizeof(log.is_full), offsetof(raw_log::header, is_full));
            }
        }
    }
    if (is_end) {
        write_all(file_, &log, sizeof(log), 0); // without room the one before remains
    }
}

// Whether the next `count` events are in step_, and, unless it is the end, none is missing in it.
bool raw_log_writer::read_step(const raw_log::header& log, std::uint64_t count, bool is_end) noexcept {
    const std::uint64_t offset = raw_log::events_at(log) + log.written * sizeof(raw_log::event);
    const auto read = [&] { return read_all(memory_, step_.data(), count * sizeof(raw_log::event), offset); };
    if (is_end) {
        return read();
    }
    const auto is_written = [](const raw_log::event& each) { return each.what != raw_log::kind::none; };
    if (count < raw_log::events_in_step || !read() || !std::ranges::all_of(step_, is_written)) {
        return false;
    }
    std::atomic_thread_fence(
        std::memory_order_acquire); // (3) synchronizes with (2): what is written is whole
    return read();
}

// Moves the `count` events in step_, which are the next. False if the disk has no room.
bool raw_log_writer::move_step(raw_log::header& log, std::uint64_t count) noexcept {
    const std::uint64_t before = log.written;
    const std::uint64_t bytes = count * sizeof(raw_log::event);
    const std::uint64_t offset = raw_log::events_at(log) + before * sizeof(raw_log::event);
    const std::uint64_t spares =
        raw_log::spares_at(log) + before / raw_log::events_in_step * raw_log::spares_in_step;
    if (!write_all(file_, step_.data(), bytes, offset) ||
        !take_room(file_, spares, bytes / raw_log::bytes_for_one_spare)) {
        return false;
    }
    log.written = before + count;
    if (!write_all(file_, &log, sizeof(log), 0)) {
        log.written = before;
        return false;
    }
    write_all(memory_, &log.written, sizeof(log.written), offsetof(raw_log::header, written));
    ::fallocate(memory_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                static_cast<off_t>(bytes));
    return true;
}

// Whether no process can write to the memory any more: only then can it be sealed. None can map it after
// that.
bool raw_log_writer::is_unmapped() const noexcept {
    return ::fcntl(memory_, F_ADD_SEALS, F_SEAL_WRITE) == 0 || errno != EBUSY;
}

} // namespace handlepool::stress
