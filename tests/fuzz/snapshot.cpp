// SPDX-License-Identifier: MIT

// Bytes that claim to be a snapshot: they are refused, or consist of blocks that make the same bytes.
// Hashes would keep most of what a fuzzer makes up from the code behind them. So it is given twice: as it is,
// and with the hashes made right.

#include "require.hpp"

#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/detail/time/little_endian.hpp>
#include <handlepool/snapshots/invalid_snapshot.hpp>

#include <tests/snapshots/made_snapshot.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace handlepool::fuzz {
namespace {

constexpr std::size_t header_size = 32;

/// As far as blocks follow each other.
void put_hashes(std::vector<std::byte>& bytes) {
    const std::span<const std::byte> all(bytes);
    for (std::size_t at = 16; at + header_size <= bytes.size();) {
        const auto payload = detail::from_little_endian<std::uint64_t>(bytes.data() + at);
        const auto name = detail::from_little_endian<std::uint32_t>(bytes.data() + at + 16);
        if (name > bytes.size() - at - header_size) {
            return;
        }
        test::seal_header(bytes, at, name);
        at += header_size + (name + 7) / 8 * 8;
        if (at > bytes.size() || payload > bytes.size() - at) {
            return;
        }
        const std::size_t hash_at = at + static_cast<std::size_t>((payload + 7) / 8 * 8);
        if (hash_at + 8 > bytes.size()) {
            return;
        }
        test::put_hash(bytes, hash_at, all.subspan(at, static_cast<std::size_t>(payload)));
        at = hash_at + 8;
    }
}

/// What any reader of a payload does.
void read_all(const detail::snapshot_block& block) {
    detail::block_reader from(block);
    std::vector<std::uint32_t> numbers;
    try {
        for (;;) {
            from.numbers(from.number<std::uint32_t>(), numbers);
            from.bytes(from.number<std::uint64_t>());
        }
    } catch (const invalid_snapshot&) {
        require(numbers.size() <= block.payload.size() / 4, "no numbers are made up");
    }
}

void read(std::span<const std::byte> bytes) {
    try {
        const detail::snapshot_blocks blocks(bytes, "fuzzed");
        std::vector<std::byte> again;
        detail::snapshot_writer to(again);
        for (const detail::snapshot_block& each : blocks.all()) {
            require(blocks.find(each.name) == &each, "a block is found by its name");
            require(each.payload.data() == bytes.data() + each.offset, "a payload is where its offset says");
            to.begin_block(each.kind, each.version, each.name, each.payload.size());
            to.bytes(each.payload.data(), each.payload.size());
            to.end_block();
            read_all(each);
        }
        to.finish();
        require(std::ranges::equal(again, bytes), "blocks have one snapshot");
    } catch (const invalid_snapshot& error) {
        require(std::string_view(error.what()).starts_with("snapshot 'fuzzed', byte "), "a reason is given");
    }
}

} // namespace
} // namespace handlepool::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace handlepool;
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
    fuzz::read(bytes);
    std::vector<std::byte> sealed(bytes.begin(), bytes.end());
    fuzz::put_hashes(sealed);
    fuzz::read(sealed);
    return 0;
}
