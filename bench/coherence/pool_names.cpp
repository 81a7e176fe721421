// SPDX-License-Identifier: MIT
#include "pool_names.hpp"

#include "sim_policy.hpp"

#include <handlepool/detail/parts/shard.hpp>

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace handlepool::coherence {

namespace {

using shard_type = detail::shard<sim_policy>;

constexpr std::array<std::pair<std::string_view, std::string_view>, 24> array_names_of_pool{{
    {"owners", "dense owners"},
    {"nursery", "nursery owners"},
    {"freelist", "slot freelist ring"},
    {"freelist 2", "slot freelist read counts"},
    {"freelist 3", "slot freelist blocks put aside"},
    {"freelist 4", "slot freelist entries"},
    {"freelist unused", "slots given back unused"},
    {"nursery chunks", "nursery chunk freelist ring"},
    {"nursery chunks 2", "nursery chunk freelist read counts"},
    {"nursery chunks 3", "nursery chunk freelist blocks put aside"},
    {"nursery chunks 4", "nursery chunk freelist entries"},
    {"nursery chunks unused", "nursery chunks given back"},
    {"removal queues chunks", "removal chunk freelist ring"},
    {"removal queues chunks 2", "removal chunk freelist read counts"},
    {"removal queues chunks 3", "removal chunk freelist blocks put aside"},
    {"removal queues chunks 4", "removal chunk freelist entries"},
    {"removal queues chunk links", "removal chunk links"},
    {"removal queues", "removal records"},
    {"compaction removals", "compaction's lists"},
    {"compaction removed objects", "compaction's lists"},
    {"compaction holes", "compaction's lists"},
    {"compaction moves", "compaction's lists"},
    {"compaction pending ranges of the nursery", "compaction's lists"},
    {"compaction births", "compaction's lists"},
}};

/// How far a member lies from the beginning of its shard.
std::size_t offset_in(const shard_type& one, const void* member) {
    return static_cast<std::size_t>(static_cast<const std::byte*>(member) -
                                    reinterpret_cast<const std::byte*>(&one));
}

} // namespace

void name_parts_of_pool(address_map& memory, std::string_view pool) {
    const auto full = [pool](std::string_view part) { return fmt::format("pool '{}' {}", pool, part); };
    for (const auto& [part, shown] : array_names_of_pool) {
        memory.rename(full(part), std::string(shown));
    }
    for (const std::string_view part : {"objects", "nursery chunk links", "nursery vacated positions"}) {
        memory.rename(full(part), std::string(part));
    }
    memory.rename(full("slots"), "slots");
    memory.rename(full("shards"), "shards");
    memory.name_fields(
        {.array = full("slots"),
         .element_size = 8,
         .fields = {{.offset = 0, .name = "slot tags"}, {.offset = 4, .name = "slot locations"}}});

    static const shard_type any; // for its layout
    memory.name_fields({.array = full("shards"),
                        .element_size = sizeof(shard_type),
                        .fields = {{.offset = 0, .name = "shards: pin"},
                                   {.offset = offset_in(any, &any.created), .name = "shards: counts"},
                                   {.offset = offset_in(any, &any.newborns), .name = "shards: newborns"},
                                   {.offset = offset_in(any, &any.newborns.positions.get),
                                    .name = "shards: newborns, compaction's end"},
                                   {.offset = offset_in(any, &any.removals), .name = "shards: removals"},
                                   {.offset = offset_in(any, &any.removals.records.get),
                                    .name = "shards: removals, compaction's end"},
                                   {.offset = offset_in(any, &any.removals.queued),
                                    .name = "shards: removals queued, drained"},
                                   {.offset = offset_in(any, &any.claim), .name = "shards: claimed slots"}}});

    memory.name_members_by([](std::string_view file, std::string_view array_before,
                              std::string_view array_after) {
        // Three freelists: their counters stand before their arrays, the first of which is the ring; those
        // of what came back unused stand after theirs.
        const std::string_view array = file == "freelist_counters" ? array_after
                                       : file == "index_allocator" ? array_before
                                                                   : std::string_view();
        constexpr std::string_view ring = " ring";
        return array.empty()
                   ? std::string(file)
                   : fmt::format("counters of {}",
                                 array.ends_with(ring) ? array.substr(0, array.size() - ring.size()) : array);
    });
}

} // namespace handlepool::coherence
