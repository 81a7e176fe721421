// SPDX-License-Identifier: MIT

// Bytes that claim to be a journal: what is read of them makes the same bytes when it is written again.
// Hashes would keep most of what a fuzzer makes up from the code behind them. So it is given twice: as it is,
// and with the hashes of entries that follow each other made right.

#include "require.hpp"

#include <handlepool/detail/snapshots/content_hash.hpp>
#include <handlepool/detail/time/little_endian.hpp>
#include <handlepool/snapshots/journal_reader.hpp>
#include <handlepool/snapshots/journal_writer.hpp>

#include <tests/snapshots/made_snapshot.hpp>
#include <tests/snapshots/memory_storage.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::fuzz {
namespace {

constexpr std::size_t header_size = 40;
constexpr std::size_t least_entry = 64;

void seal(std::vector<std::byte>& bytes) {
    if (bytes.size() < header_size) {
        return;
    }
    const std::span<const std::byte> all(bytes);
    test::put_hash(bytes, 32, all.first(32));
    std::size_t previous = 32;
    for (std::size_t at = header_size; bytes.size() - at >= least_entry;) {
        const auto size = detail::from_little_endian<std::uint64_t>(bytes.data() + at + 8);
        if (size < least_entry || size > bytes.size() - at) {
            return;
        }
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(previous), 8,
                    bytes.begin() + static_cast<std::ptrdiff_t>(at + 24));
        std::vector<std::byte> hashed(bytes.begin() + 32, bytes.begin() + 40);
        const auto header = all.subspan(at, 48);
        hashed.insert(hashed.end(), header.begin(), header.end());
        test::put_hash(bytes, at + 48, hashed);
        previous = at + static_cast<std::size_t>(size) - 8;
        test::put_hash(bytes, previous, all.subspan(at, previous - at));
        at = previous + 8;
    }
}

/// Reads a journal, and writes what was read. All but what the entries say of syncs comes out as it was.
void read(std::vector<std::byte> bytes) {
    std::vector<std::byte> again;
    try {
        journal_reader reader(std::make_unique<test::memory_storage>(bytes), "fuzzed");
        journal_writer writer =
            journal_writer::create(std::make_unique<test::memory_storage>(again), "again", reader.origin());
        while (reader.next()) {
            writer.append(reader.frame(), reader.parts());
            require(writer.size() == reader.offset(), "an entry has one size");
        }
        const journal_tail& tail = reader.tail();
        require(tail.offset == reader.offset() && tail.offset + tail.bytes == bytes.size(),
                "the tail is what is left");
        require(tail.problem.empty() == (tail.bytes == 0), "a reason is given");
        const std::uint64_t end = reader.offset();
        journal_writer opened = journal_writer::open(std::make_unique<test::memory_storage>(bytes), "fuzzed");
        require(bytes.size() == end && opened.size() == end, "the tail is cut off");
        if (opened.frame() != ~std::uint64_t{0}) {
            opened.append(opened.frame() + 1, {});
        }
    } catch (const invalid_journal& error) {
        require(std::string_view(error.what()).starts_with("journal 'fuzzed', byte "), "a reason is given");
    }
}

} // namespace
} // namespace handlepool::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace handlepool;
    const auto* const first = reinterpret_cast<const std::byte*>(data);
    std::vector<std::byte> bytes(first, first + size);
    fuzz::read(bytes);
    fuzz::seal(bytes);
    fuzz::read(std::move(bytes));
    return 0;
}
