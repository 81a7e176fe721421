// SPDX-License-Identifier: MIT
#pragma once

#include "raw_log.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool::stress {

// Moves a raw log from memory, of which a part would be lost with the last process that has it, to its file.
class raw_log_writer {
public:
    raw_log_writer(int memory, int file) : memory_(memory), file_(file) {}

    // The steps in which no event is missing. The memory that they took is free again.
    void move_steps() noexcept { move(false); }

    // All for which there is room, when the program has ended. What has none stays in memory.
    void move_all() noexcept { move(true); }

    // Moves the log until the program and the process `recorder`, whose child this one is, have ended.
    [[noreturn]] void move_until_end(int recorder) noexcept;

private:
    void move(bool is_end) noexcept;
    bool move_step(raw_log::header& log, std::uint64_t count) noexcept;
    bool read_step(const raw_log::header& log, std::uint64_t count, bool is_end) noexcept;
    bool is_unmapped() const noexcept;

    int memory_;
    int file_;
    std::vector<raw_log::event> step_ = std::vector<raw_log::event>(raw_log::events_in_step);
};

// All of the bytes, or false.
bool read_all(int descriptor, void* bytes, std::size_t count, std::uint64_t offset) noexcept;
bool write_all(int descriptor, const void* bytes, std::size_t count, std::uint64_t offset) noexcept;

} // namespace handlepool::stress
