// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/deltas/pool_delta.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/pool_options.hpp>
#include <handlepool/snapshots/replay.hpp>

#include <tests/snapshots/delta_world.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

// Deltas with something in each list, also such as no recorder would write.
namespace handlepool::test {

using delta_bytes = std::vector<std::byte>;
using told_numbers = told_case<told_number, default_traits>;
using told_texts = told_case<told_text, with_placement<stable_placement, with_policy<told_blocks>>>;

/// The same blocks, but that the payload of one is another.
inline delta_bytes with_payload(std::span<const std::byte> bytes, std::string_view name,
                                std::span<const std::byte> payload) {
    const detail::snapshot_blocks blocks(bytes, "a test");
    delta_bytes other;
    detail::snapshot_writer to(other);
    for (const detail::snapshot_block& each : blocks.all()) {
        const auto content = each.name == name ? payload : each.payload;
        to.begin_block(each.kind, each.version, each.name, content.size());
        to.bytes(content.data(), content.size());
        to.end_block();
    }
    to.finish();
    return other;
}
inline delta_bytes payload_of(std::span<const std::byte> bytes, std::string_view name) {
    const detail::snapshot_blocks blocks(bytes, "a test");
    const auto payload = blocks.find(name)->payload;
    return {payload.begin(), payload.end()};
}
/// The same delta of a pool, but for what `change` makes of it.
inline delta_bytes with_delta(std::span<const std::byte> bytes,
                              const std::function<void(detail::pool_delta&)>& change) {
    const detail::snapshot_blocks blocks(bytes, "a test");
    detail::block_reader from(*blocks.find("the pool"));
    detail::pool_delta delta = detail::read_pool_delta(from);
    const auto contents = from.bytes(from.left());
    change(delta);
    delta_bytes other;
    detail::snapshot_writer to(other);
    to.begin_block(detail::block_kind::pool_delta, 1, "the pool", detail::bytes_of(delta) + contents.size());
    detail::write(to, delta);
    to.bytes(contents.data(), contents.size());
    to.end_block();
    to.finish();
    return with_payload(bytes, "the pool", payload_of(other, "the pool"));
}

inline delta_bytes saved_by(const replay& past) {
    delta_bytes bytes;
    past.save(bytes);
    return bytes;
}

/// A world in which much has happened, and a delta in which all lists have something.
template <class Case>
struct eventful_world {
    explicit eventful_world(pool_options options = Case::options()) : world(64, options) {
        auto& pool = world.pool();
        for (std::uint64_t i = 0; i != 12; ++i) {
            world.ever().push_back(pool.emplace(Case::object(i)));
        }
        const auto first = pool.try_reserve_handle();
        const auto second = pool.try_reserve_handle();
        const auto third = pool.try_reserve_handle();
        pool.erase(world.ever()[0]);
        pool.compact();
        pool.cancel(third); // a slot that is given back
        snapshot = world.save();
        world.recorder().begin(7);
        pool.cancel(first);
        pool.try_fulfill(second, Case::object(20));
        pool.erase(world.ever()[1]);
        pool.erase(world.ever()[2]);
        world.ever()[3] = pool.revoke(world.ever()[3]);
        ++world.log().edit(world.ever()[4])->value;
        ++world.log().edit(world.ever()[3])->value;
        for (std::uint64_t i = 0; i != 4; ++i) {
            pool.emplace(Case::object(30 + i));
        }
        static_cast<void>(pool.try_reserve_handle());
        ++world.calls();
        delta = world.append(9);
    }

    told_world<Case> world;
    delta_bytes snapshot;
    delta_bytes delta;
};

} // namespace handlepool::test
