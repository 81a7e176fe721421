// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/memory/described_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace handlepool::inspect_tool {

/// The process has ended, or may not be read. The message says which, and what helps.
struct process_unreadable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// There is no memory at an address any more.
struct memory_gone : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Reads the memory of another process, which notices nothing of it: it is not stopped, and nothing of it can
/// be written. What it writes meanwhile comes in any order, so readers check what they have read.
class process_memory {
public:
    explicit process_memory(int process) noexcept : process_(process) {}

    int process() const noexcept { return process_; }

    /// Fills `to`. Throws process_unreadable or memory_gone.
    void read(std::uint64_t address, std::span<std::byte> to) const;

    /// What is at an address, of a type of plain bytes. Throws the same.
    template <class Value>
    Value read(std::uint64_t address) const {
        Value value;
        read(address, std::as_writable_bytes(std::span(&value, 1)));
        return value;
    }
    template <class Value>
    Value read(const void* address) const {
        return read<Value>(reinterpret_cast<std::uintptr_t>(address));
    }

    /// `count` values that lie one after the other.
    template <class Value>
    std::vector<Value> read_array(std::uint64_t address, std::size_t count) const {
        std::vector<Value> values(count);
        read(address, std::as_writable_bytes(std::span(values)));
        return values;
    }

    /// Calls `visit(first, last)` for the parts of a range of addresses which the process has touched and not
    /// given back, in their order: reading the others would give it memory. Throws process_unreadable.
    using range_visitor = std::function<void(std::uint64_t first, std::uint64_t last)>;
    void for_each_touched(std::uint64_t first, std::uint64_t last, const range_visitor& visit) const;

    /// Like read() and read_array(), but zeros for what the process has not touched.
    void read_touched(std::uint64_t address, std::span<std::byte> to) const;
    template <class Value>
    std::vector<Value> read_touched_array(std::uint64_t address, std::size_t count) const {
        std::vector<Value> values(count);
        read_touched(address, std::as_writable_bytes(std::span(values)));
        return values;
    }

    /// `size` characters, but `most` of them at the most.
    std::string read_text(const void* address, std::uint64_t size, std::size_t most = 200) const;
    /// Characters up to a zero.
    std::string read_string(const void* address, std::size_t most = 200) const;

private:
    int process_;
};

/// The address of an element of an array of it.
inline std::uint64_t address_in(const detail::described_array& array, std::uint64_t position) noexcept {
    return reinterpret_cast<std::uintptr_t>(array.first) +
           static_cast<std::uint64_t>(array.stride) * position; // modulo 2^64, if it is negative
}

/// A part of a process's memory where data of its modules is.
struct data_range {
    std::uint64_t first;
    std::uint64_t last;
};
/// Where addresses are that the program was linked with, or the loader has written. Throws
/// process_unreadable.
std::vector<data_range> data_ranges(int process);

/// The place of the call behind which an address lies, as call_site::name() says it without names: its
/// module, and how far from its beginning, "game+0x1234"; the address of what stands at a fixed one; "0x1234"
/// where there is no module. Throws process_unreadable.
std::string place_of_call(int process, std::uint64_t behind);

/// The processes of the system that may be read, in the order of their numbers.
std::vector<int> readable_processes();

/// The program that a process runs, "game".
std::string program_name(int process);
/// The name of a thread of it by the system's number; empty if there is no such thread.
std::string thread_name(int process, std::uint32_t thread);

/// Whether it finds the same files under their names as this process does.
bool sees_the_same_files(int process);

/// Bytes in a range of its memory that it has touched and not given back: in memory, or swapped out.
std::uint64_t resident_bytes(int process, std::uint64_t first, std::uint64_t size);

/// Nanoseconds of the clock that the pools use.
std::uint64_t now() noexcept;

} // namespace handlepool::inspect_tool
