// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace handlepool::fuzz {

using byte_list = std::vector<std::byte>;
using byte_view = std::span<const std::byte>;

/// The snapshot or delta with other payloads, as the pieces say: each is the number of a block, the size of a
/// payload in two bytes, and the payload, which takes the place of that one.
inline byte_list with_pieces(byte_view good, byte_view pieces) {
    const detail::snapshot_blocks blocks(good, "good");
    std::vector<byte_view> payloads;
    for (const detail::snapshot_block& each : blocks.all()) {
        payloads.push_back(each.payload);
    }
    constexpr std::size_t head = 3;
    while (pieces.size() >= head) {
        const auto which = std::to_integer<std::size_t>(pieces[0]) % payloads.size();
        const auto wanted = std::to_integer<std::size_t>(pieces[1]) | std::to_integer<std::size_t>(pieces[2])
                                                                          << 8;
        pieces = pieces.subspan(head);
        const std::size_t size = (std::min)(wanted, pieces.size());
        payloads[which] = pieces.first(size);
        pieces = pieces.subspan(size);
    }
    byte_list bytes;
    detail::snapshot_writer to(bytes);
    for (std::size_t i = 0; i != payloads.size(); ++i) {
        const detail::snapshot_block& each = blocks.all()[i];
        to.begin_block(each.kind, each.version, each.name, payloads[i].size());
        to.bytes(payloads[i].data(), payloads[i].size());
        to.end_block();
    }
    to.finish();
    return bytes;
}

} // namespace handlepool::fuzz
