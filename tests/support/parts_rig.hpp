// SPDX-License-Identifier: MIT
#pragma once

#include "hostile_types.hpp"

#include <handlepool/detail/compaction/dense_placement.hpp>
#include <handlepool/detail/memory/pool_geometry.hpp>
#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/detail/parts/pool_state.hpp>
#include <handlepool/handle.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace handlepool::test {

/// The parts of a pool of counted objects, and the steps of emplace and erase one by one. Whoever uses it
/// destroys the objects: none may be left at its end.
template <class Policy, class Layout = default_layout>
class parts_rig : public detail::pool_state<counted, detail::pool_config<Layout, Policy>> {
    using parts = detail::pool_state<counted, detail::pool_config<Layout, Policy>>;

public:
    using typename parts::value_type;
    using config = detail::pool_config<Layout, Policy>;
    using parts::allocator, parts::fresh_tag, parts::shards, parts::newborns, parts::objects, parts::removals,
        parts::table;

    static constexpr std::uint32_t pool_id = 3;

    explicit parts_rig(std::size_t capacity = 100, std::size_t queue_size = 1000)
        : parts("rig",
                detail::plan_geometry({.capacity = capacity,
                                       .reuse_delay = 0,
                                       .removal_queue_size = queue_size,
                                       .max_threads = 70},
                                      {.index_count = std::uint64_t{1} << Layout::index_bits,
                                       .nursery_chunk = Policy::nursery_chunk,
                                       .removal_chunk = Policy::removal_chunk}),
                Layout::make_tag(pool_id, 0)) {}

    // An object that is complete, and whose handle is not published yet.
    struct unpublished {
        detail::slot_index slot = detail::slot_index::none;
        detail::location where = detail::location::nowhere;
    };
    unpublished construct(std::uint64_t value) {
        const detail::slot_index slot = allocator.take(mine());
        EXPECT_NE(slot, detail::slot_index::none);
        const detail::nursery_position position = newborns.take(mine().newborns);
        EXPECT_NE(position, detail::nursery_position::none);
        const detail::location where = objects.location_of(position);
        objects.unpoison_objects(where);
        ::new (objects.storage(where)) counted(people, value);
        newborns.own(position, table.handle_of(slot, table.next_tag(slot, fresh_tag)));
        return {slot, where};
    }
    value_type publish(unpublished object) {
        const auto tag = table.next_tag(object.slot, fresh_tag);
        table.publish(object.slot, tag, object.where);
        return table.handle_of(object.slot, tag);
    }
    value_type emplace(std::uint64_t value) { return publish(construct(value)); }
    std::vector<value_type> emplace_sequence(std::uint64_t count) {
        std::vector<value_type> handles;
        for (std::uint64_t value = 0; value != count; ++value) {
            handles.push_back(emplace(value));
        }
        return handles;
    }

    bool kill(value_type handle) { return table.kill(handle); }
    bool record(value_type handle) { return removals.push(mine().removals, handle); }

    /// Destroys an object that can be found, where it is.
    void destroy(value_type handle) { table.lookup().find(handle, objects)->~counted(); }

    /// Owner and slot agree both ways, for each object of the dense store.
    void expect_consistent() {
        for (std::uint32_t position = 0; position != objects.size(); ++position) {
            const detail::slot_index slot = objects.owner(detail::dense_position{position});
            ASSERT_NE(slot, detail::slot_index::none);
            ASSERT_EQ(table.location_of(slot), detail::location{position});
        }
    }

    std::vector<std::uint64_t> values() {
        std::vector<std::uint64_t> all;
        for (std::uint32_t position = 0; position != objects.size(); ++position) {
            all.push_back(objects.at(detail::location{position})->value());
        }
        return all;
    }
    std::uint64_t value(value_type handle) { return table.lookup().find(handle, objects)->value(); }

    detail::shard<Policy>& mine() { return *shards.mine(); }

    census people;
};

} // namespace handlepool::test
