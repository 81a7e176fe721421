// SPDX-License-Identifier: MIT

// The bytes of a pool up to its objects, changed in one thing each: what is refused, and in which words.

#include "made_snapshot.hpp"

#include <handlepool/detail/snapshots/saved_pool.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/snapshots/invalid_snapshot.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

constexpr detail::pool_limits_of_snapshot limits_of_pool{.widths = 0x0010'1820,
                                                         .placement = 1,
                                                         .id = 7,
                                                         .last_id = 200,
                                                         .last_generation = 3,
                                                         .slot_limit = 8,
                                                         .objects = 4,
                                                         .places = 10};

/// A slot of each kind.
detail::saved_pool pool_of_each_kind() {
    detail::saved_pool pool;
    pool.widths = limits_of_pool.widths;
    pool.placement = 1;
    pool.id = 7;
    pool.turn = 11;
    pool.generations = {1, 4, 3, 2, 0, 2, 0};
    pool.owners = {2, 0};
    pool.places = {0, 9};
    pool.reserved = {3};
    pool.waiting = {4};
    pool.allocator.claims = {0, 1}; // of two threads
    pool.allocator.claimed = {5};
    pool.allocator.returned = {6};
    pool.allocator.retired = 1;
    pool.allocator.freelist.claimed = 13;
    return pool;
}

// Where its numbers are, in bytes of the snapshot.
constexpr std::size_t header_at = 56;
constexpr std::size_t generations_at = header_at + 64;
constexpr std::size_t owners_at = generations_at + 7 * 4;
constexpr std::size_t places_at = owners_at + 2 * 4;
constexpr std::size_t reserved_at = places_at + 2 * 4;
constexpr std::size_t waiting_at = reserved_at + 4;
constexpr std::size_t claims_at = waiting_at + 4;
constexpr std::size_t claimed_at = claims_at + 2 * 4;
constexpr std::size_t returned_at = claimed_at + 4;
constexpr std::size_t end_at_of_pool = returned_at + 4;

snapshot_bytes snapshot_of(const detail::saved_pool& pool) {
    snapshot_bytes bytes;
    detail::snapshot_writer to(bytes);
    to.begin_block(detail::block_kind::pool, 1, "pool", bytes_of(pool));
    write(to, pool);
    to.end_block();
    to.finish();
    return bytes;
}

/// Whose lists can lie in the bytes.
detail::saved_pool read_of(const snapshot_bytes& bytes, const detail::pool_limits_of_snapshot& limits) {
    const detail::snapshot_blocks blocks(bytes, "made");
    detail::block_reader from(blocks.all().front());
    detail::saved_pool read = read_saved_pool(from, limits);
    from.require_end();
    return read;
}

using pool_change = std::function<void(detail::saved_pool&)>;

/// Why the pool is refused once it is changed; empty if it is not.
std::string refusal_of(const pool_change& change,
                       const detail::pool_limits_of_snapshot& limits = limits_of_pool) {
    detail::saved_pool pool = pool_of_each_kind();
    change(pool);
    try {
        (void)read_of(snapshot_of(pool), limits);
        return "";
    } catch (const invalid_snapshot& error) {
        return error.what();
    }
}

std::string at_byte(std::size_t byte, const std::string& problem) {
    return "snapshot 'made', byte " + std::to_string(byte) + ", block 'pool': " + problem;
}

TEST(saved_pool, is_what_was_written) {
    const detail::saved_pool pool = pool_of_each_kind();
    const snapshot_bytes bytes = snapshot_of(pool);
    const detail::saved_pool read = read_of(bytes, limits_of_pool);
    EXPECT_EQ(read.widths, pool.widths);
    EXPECT_EQ(read.placement, pool.placement);
    EXPECT_EQ(read.id, pool.id);
    EXPECT_EQ(read.fresh_generation, pool.fresh_generation);
    EXPECT_EQ(read.turn, pool.turn);
    EXPECT_EQ(read.generations, pool.generations);
    EXPECT_EQ(read.owners, pool.owners);
    EXPECT_EQ(read.places, pool.places);
    EXPECT_EQ(read.reserved, pool.reserved);
    EXPECT_EQ(read.waiting, pool.waiting);
    EXPECT_EQ(read.allocator.claims, pool.allocator.claims);
    EXPECT_EQ(read.allocator.claimed, pool.allocator.claimed);
    EXPECT_EQ(read.allocator.returned, pool.allocator.returned);
    EXPECT_EQ(read.allocator.returned_word, pool.allocator.returned_word);
    EXPECT_EQ(read.allocator.retired, pool.allocator.retired);
    EXPECT_EQ(read.allocator.freelist.claimed, 13U);
    EXPECT_EQ(read.allocator.freelist.waiting, 1U) << "as the list of these says";
    EXPECT_EQ(read.allocator.freelist.fresh, 7U) << "as many as are in service";
}

/// A list that can be read where it lies isn't copied; the bytes of a file can be anywhere.
TEST(saved_pool, is_the_same_wherever_its_bytes_are) {
    const detail::saved_pool pool = pool_of_each_kind();
    const snapshot_bytes bytes = snapshot_of(pool);
    for (std::size_t offset = 0; offset != 8; ++offset) {
        SCOPED_TRACE(offset);
        snapshot_bytes elsewhere(offset + bytes.size());
        const std::span there = std::span(elsewhere).subspan(offset);
        std::ranges::copy(bytes, there.begin());
        const detail::snapshot_blocks blocks(there, "made");
        detail::block_reader from(blocks.all().front());
        detail::saved_pool read = read_saved_pool(from, limits_of_pool);
        EXPECT_EQ(read.generations, pool.generations);
        EXPECT_EQ(read.owners, pool.owners);
        EXPECT_EQ(read.places, pool.places);
        const bool in_place = std::as_bytes(read.owners.all()).data() == there.data() + owners_at;
        EXPECT_EQ(in_place, std::endian::native == std::endian::little && offset % 4 == 0);
        read.forget_bytes();
        const bool let_go = std::as_bytes(read.owners.all()).data() != there.data() + owners_at;
        EXPECT_TRUE(let_go);
    }
}

TEST(saved_pool, is_of_the_kind_that_is_expected) {
    EXPECT_EQ(refusal_of([](auto& pool) { pool.widths = 0x0010'1821; }),
              at_byte(header_at, "the handles have 33, 24, 16 and 0 bits for index, generation, pool id and "
                                 "user; here they have 32, 24, 16 and 0"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.placement = 2; }),
              at_byte(header_at + 4, "the placement is recycling; here it is stable"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.placement = 3; }),
              at_byte(header_at + 4, "the placement is unknown; here it is stable"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.id = 8; }),
              at_byte(header_at + 8, "the pool id is 8; here it is 7"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.fresh_generation = 1; }),
              at_byte(header_at + 12, "fresh slots have generation 1; allowed are even ones to 4"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.fresh_generation = 6; }),
              at_byte(header_at + 12, "fresh slots have generation 6; allowed are even ones to 4"));
}

TEST(saved_pool, may_be_of_any_kind_where_none_is_expected) {
    detail::pool_limits_of_snapshot any = limits_of_pool;
    any.placement.reset();
    any.id.reset();
    EXPECT_EQ(refusal_of(
                  [](auto& pool) {
                      pool.placement = 2;
                      pool.id = 200;
                  },
                  any),
              "");
    EXPECT_EQ(refusal_of([](auto& pool) { pool.placement = 3; }, any),
              at_byte(header_at + 4, "placement 3 is unknown; known are 0 to 2"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.id = 201; }, any),
              at_byte(header_at + 8, "the pool id is 201; allowed are 0 to 200"));
}

TEST(saved_pool, has_no_more_than_there_can_be) {
    EXPECT_EQ(refusal_of([](auto& pool) { pool.generations.own().resize(9); }),
              at_byte(header_at + 16, "9 slots are in service; here there are 8 at most"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.owners.own().resize(5); }),
              at_byte(header_at + 20, "5 objects; here there are 4 at most"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.reserved.resize(8); }),
              at_byte(header_at + 24, "8 slots are reserved; here there are 7 at most"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.waiting.resize(8); }),
              at_byte(header_at + 28, "8 slots wait; here there are 7 at most"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.allocator.claims.resize(0x1'0000); }),
              at_byte(header_at + 32, "65536 threads have claimed slots; here there are 65535 at most"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.allocator.returned.resize(8); }),
              at_byte(header_at + 36, "8 slots were returned; here there are 7 at most"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.allocator.retired = 8; }),
              at_byte(header_at + 40, "8 slots are retired; here there are 7 at most"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.allocator.returned_word = 1; }),
              at_byte(header_at + 44, "a search of returned slots begins at word 1; the last one is 0"));
}

TEST(saved_pool, has_a_generation_in_each_slot) {
    EXPECT_EQ(refusal_of([](auto& pool) { pool.generations.own()[3] = 5; }),
              at_byte(generations_at + 3 * 4, "slot 3 has generation 5; allowed are 0 to 4"));
    EXPECT_EQ(refusal_of([](auto& pool) {
                  pool.fresh_generation = 2;
                  pool.generations = {3, 4, 3, 2, 1, 2, 0};
              }),
              at_byte(generations_at + 4 * 4, "slot 4 has generation 1; allowed are 2 to 4"))
        << "the first one is told";
    EXPECT_EQ(refusal_of([](auto& pool) { pool.generations.own()[3] = 1; }),
              at_byte(owners_at, "3 slots are of an object by the generation, and 2 objects are there"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.generations.own()[0] = 2; }),
              at_byte(owners_at, "1 slot is of an object by the generation, and 2 objects are there"));
}

TEST(saved_pool, names_objects_slots_once_and_by_their_generations) {
    EXPECT_EQ(refusal_of([](auto& pool) { pool.owners.own()[1] = 7; }),
              at_byte(owners_at + 4, "object: slot 7 is not among the 7 in service"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.owners.own()[1] = 2; }),
              at_byte(owners_at + 4, "object: slot 2 is named twice"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.owners.own()[0] = 3; }),
              at_byte(owners_at, "object: slot 3 has generation 2, which is that of no object"));
}

TEST(saved_pool, names_each_other_slot_once_and_by_its_generation) {
    EXPECT_EQ(refusal_of([](auto& pool) { pool.reserved[0] = 0xffff'ffff; }),
              at_byte(reserved_at, "reserved: slot 4294967295 is not among the 7 in service"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.reserved[0] = 2; }),
              at_byte(reserved_at, "reserved: slot 2 is named twice"))
        << "an object has it";
    EXPECT_EQ(refusal_of([](auto& pool) { pool.waiting[0] = 3; }),
              at_byte(waiting_at, "waiting: slot 3 is named twice"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.allocator.claimed[0] = 4; }),
              at_byte(claimed_at, "claimed: slot 4 is named twice"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.allocator.claimed[0] = 8; }),
              at_byte(claimed_at, "claimed: slot 8 is not among the 7 in service"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.allocator.returned[0] = 5; }),
              at_byte(returned_at, "returned: slot 5 is named twice"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.allocator.returned = {6, 1, 6}; }),
              at_byte(returned_at + 2 * 4, "returned: slot 6 is named twice"))
        << "by one list";
}

TEST(saved_pool, has_places_in_ascending_order) {
    EXPECT_EQ(refusal_of([](auto& pool) { pool.places.own()[1] = 10; }),
              at_byte(places_at + 4, "place 10 is not from 1 to before 10"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.places = {4, 4}; }),
              at_byte(places_at + 4, "place 4 is not from 5 to before 10"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.places.own()[0] = 10; }),
              at_byte(places_at, "place 10 is not from 0 to before 10"));
}

TEST(saved_pool, has_each_slot_in_a_list_or_retired) {
    EXPECT_EQ(refusal_of([](auto& pool) { pool.allocator.claims = {4, 4}; }),
              at_byte(claims_at, "8 slots are claimed; there are 7 in service"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.waiting.clear(); }),
              at_byte(end_at_of_pool - 4, "2 slots are in no list, and 1 slot is retired"));
    EXPECT_EQ(refusal_of([](auto& pool) { pool.waiting = {4, 1}; }),
              at_byte(end_at_of_pool + 4, "0 slots are in no list, and 1 slot is retired"));
}

} // namespace
} // namespace handlepool::test
