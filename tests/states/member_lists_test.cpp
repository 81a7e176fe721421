// SPDX-License-Identifier: MIT

// Which data members the classes have whose states the tests beside this one open. Whoever adds one here has
// looked where these tests bring it to another value than its default, and what becomes of it afterwards.

#include "members_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using names = std::vector<std::string>;

TEST(class_text, finds_data_members_of_each_form) {
    const class_text text(R"(
struct before { int none_of_them; };
class two;
template <class T>
class HANDLEPOOL_EXPORT two : public base<T> { // with { a brace
public:
    using type = int;
    two() noexcept : one_{1}, plain_(2) { int local; }
    two& operator=(const two&) = delete;
    bool empty() const noexcept;
    std::string text() const { return "}"; }
    char brace() const { return '{'; }

private:
    friend class other;
    struct inner {
        int no_member_of_two;
    };
    static constexpr std::size_t constant = 1'000;
    template <class U>
    void call(U) {}

    int one_{1}; // int commented_;
    int plain_, second_;
    std::string text_ = "{";
    clock::time_point start_ = clock::now();
    void (*function_)(int) noexcept = nullptr;
    alignas(cache_line) typename policy::template atomic<std::size_t> aligned_{0};
    [[no_unique_address]] inner empty_;
    const char* const
        broken_;
};
struct after { int none_either; };
)");
    EXPECT_EQ(text.members_of("two"),
              (names{"one_", "second_", "text_", "start_", "function_", "aligned_", "empty_", "broken_"}))
        << "two in one declaration are one: the style has none";
    EXPECT_THAT(text.members_of("inner"), ElementsAre("no_member_of_two"));
}

struct listed_class {
    std::string header;
    std::string name;
    names members;
};

const std::vector<listed_class> listed = {
    // Containers of handles: container_kinds.hpp sets each, and says so by its name.
    {"detail/containers/sparse_set.hpp", "sparse_set", {"positions_", "handles_"}},
    {"detail/containers/sparse_pages.hpp", "sparse_pages", {"pages_"}},
    {"detail/containers/pool_subscription.hpp",
     "pool_subscription",
     {"pool_", "pool_id_", "state_", "ignores_births_", "spares_others_", "whom_", "births_", "hook_"}},
    {"detail/properties/bag_store.hpp",
     "bag_store",
     {"table_", "bytes_", "arena_", "names_", "slots_end_", "pool_id_"}},
    {"detail/properties/block_arena.hpp",
     "block_arena",
     {"memory_", "set_mask_", "sets_", "depot_access_", "full_", "fresh_", "populated_"}},
    // Can't be moved; tests/out_of_memory/ lets their allocations fail.
    {"key_table.hpp", "key_table", {"mutex_", "entries_"}},
    {"timeline.hpp",
     "timeline",
     {"most_events_", "start_", "mutex_", "events_", "dropped_", "thread_names_", "named_tracks_"}},
    {"timeline.hpp", "timeline_span", {"records_", "name_", "begin_"}},
    // Pools: bring_off_defaults() in pool_states.hpp.
    {"pool_base.hpp", "pool_base", {"core_"}},
    {"detail/pool/pool_impl.hpp", "pool_impl", {"whole_"}},
    {"detail/pool/whole_pool.hpp",
     "whole_pool",
     {"name", "id", "memory", "parts", "reservations", "compactor", "eraser", "gate", "rewrites",
      "has_spawners", "frames_", "columns_", "listing_", "floors_", "in_use_", "exclusive_thread_"}},
    // Spawners' sets end with a frame; tests/spawners/ uses all of them.
    {"detail/pool/spawner_round.hpp",
     "spawner_round",
     {"pool_", "whole_", "guard_", "calls_", "is_closing_"}},
    {"detail/compaction/deferred_ends.hpp", "deferred_ends", {"parts_", "extractions_", "sweep_", "lists_"}},
    {"detail/compaction/deferred_ends.hpp",
     "list",
     {"ended", "callers", "extractions", "revoked", "pending"}},
    {"detail/slots/deal.hpp", "deal", {"hands_", "hand_of_block_", "size_", "block_", "is_open_"}},
    // Views can't be moved; tests/pool/exclusive/ uses all of it.
    {"detail/exclusive/exclusive_core.hpp",
     "exclusive_core",
     {"pool_", "parts_", "slots_", "places_", "session_"}},
    {"detail/exclusive/exclusive_session.hpp",
     "exclusive_session",
     {"pool_", "parts_", "mine_", "special_", "watches_births_", "usual_count_", "retired_", "ending_",
      "removed_seen_", "size_seen_", "created_seen_", "erased_seen_"}},
    {"detail/parts/pool_state.hpp",
     "pool_state",
     {"geometry", "fresh_tag", "lives", "table", "objects", "shards", "allocator", "newborns", "removals",
      "order", "watch", "keeper", "gate", "erased_without_shard"}},
    {"detail/compaction/compactor.hpp",
     "compactor",
     {"parts_", "history_", "reaper_", "births_", "promoter_", "extractions_", "sweep_", "deferred_",
      "left_nursery_", "destroyed_", "runs_", "nanoseconds_", "phase_times_", "turn_", "is_followed_"}},
    {"detail/compaction/sweep.hpp",
     "sweep",
     {"parts_", "reaper_", "extractions_", "next_", "end_", "goes_on_", "begun_", "demands_"}},
    {"detail/compaction/reaper.hpp",
     "reaper",
     {"parts_", "history_", "hooks_", "removals_", "locations_", "holes_", "removal_count_", "hole_count_",
      "is_watched_"}},
    {"detail/compaction/dense_promoter.hpp",
     "dense_promoter",
     {"parts_", "holes_", "births_", "newborns_", "moves_", "newborn_count_"}},
    {"detail/compaction/stable_promoter.hpp", "stable_promoter", {"parts_", "births_", "newborns_"}},
    {"detail/compaction/promotion_log.hpp",
     "promotion_log",
     {"pool_", "history_", "hooks_", "slots_", "count_", "frame_"}},
    {"detail/compaction/hook_list.hpp", "hook_list", {"first_"}},
    {"detail/slots/slot_history.hpp", "slot_history", {"lives_"}},
    {"detail/compaction/extractions.hpp", "extractions", {"announced_", "unresolved_", "has_unresolved_"}},
    {"detail/sorting/sorter.hpp", "sorter", {"parts_", "pool_"}},
    {"detail/parts/begun_order.hpp", "begun_order", {"numbers_", "size_", "next_position_", "bytes_"}},
    {"detail/pool/eraser.hpp", "eraser", {"parts_", "compactor_"}},
    {"detail/parts/reservations.hpp", "reservations", {"parts_", "closed_without_shard_"}},
    {"detail/slots/slot_table.hpp", "slot_table", {"slots_", "floors_", "highest_floor_"}},
    {"detail/objects/object_store.hpp",
     "object_store",
     {"capacity_", "locations_", "last_of_huge_", "owners_", "size_", "used_"}},
    {"detail/objects/object_array.hpp", "object_array", {"type_", "bytes_"}},
    {"detail/columns/column_arrays.hpp", "object_array<columns", {}},
    {"detail/placement/newborn_positions.hpp",
     "newborn_chain",
     {"shard", "vacant", "vacated", "to_take", "held", "positions", "pending", "vacated_before",
      "vacated_seen"}},
    {"detail/queues/removal_queue.hpp", "removal_chain", {"records", "queued", "drained", "seen"}},
    {"detail/memory/high_water_mark.hpp", "high_water_mark", {"spare_", "used_", "frame_", "touched_"}},
    {"detail/memory/frame_list.hpp", "frame_list", {"elements_", "memory_", "used_"}},
    {"detail/compaction/newborn_collector.hpp", "newborn_collector", {"parts_", "runs_"}},
    {"detail/threads/pin.hpp", "pin", {"entered_", "generation_", "count_", "maker_", "since_"}},
    {"detail/parts/shard.hpp",
     "shard",
     {"created", "erased", "reserved", "closed", "newborns", "removals", "claim"}},
    {"detail/slots/slot_claim.hpp", "slot_claim", {"left_"}},
    {"detail/parts/slot_allocator.hpp",
     "slot_allocator",
     {"geometry_", "slots_", "shards_", "lives_", "free_", "retired_", "alone_"}},
    {"fifo_freelist.hpp",
     "fifo_freelist",
     {"counters_", "ring_", "read_", "put_aside_", "entries_", "write_", "begun_", "passed_", "blocks_used_",
      "aside_", "start_", "claimed_from_", "claimed_", "claimed_begin_", "claimed_end_"}},
    {"detail/slots/freelist_counters.hpp",
     "freelist_counters",
     {"options_", "fresh_", "reuse_distance_", "head_", "tail_"}},
    {"detail/placement/owner_word.hpp", "owner_word", {"word_"}},
    {"detail/placement/newborn_positions.hpp", "newborn_positions", {"chunks", "owners", "links_"}},
    {"detail/placement/newborn_consumer.hpp", "newborn_consumer", {"positions_", "candidates_"}},
    {"detail/placement/nursery_memory.hpp",
     "nursery_memory",
     {"positions_", "touched_", "kept_", "drained_", "unused_end_"}},
    {"detail/placement/nursery.hpp", "nursery", {"positions_", "consumer_", "memory_"}},
    {"detail/placement/promoted_groups.hpp", "promoted_groups", {"promoted_", "newborns_", "count_"}},
    {"detail/placement/group_offers.hpp",
     "group_offers",
     {"positions_", "promoted_", "taken_", "owned_", "touched_", "room_", "most_owned_", "deal_", "offered_",
      "cursors_"}},
    {"detail/placement/hole_memory.hpp", "hole_memory", {"positions_", "promoted_", "offers_"}},
    {"detail/placement/object_lifetimes.hpp", "destroyed_objects", {}},
    {"detail/placement/object_lifetimes.hpp", "kept_objects", {"constructed_"}},
    {"detail/placement/stable_places.hpp",
     "stable_places",
     {"positions_", "promoted_", "offers_", "consumer_", "memory_", "alone_", "lifetimes_", "states_"}},
    {"detail/placement/place_states.hpp",
     "place_states",
     {"positions_", "promoted_", "offers_", "lifetimes_"}},
    {"detail/placement/exclusive_places.hpp",
     "exclusive_places",
     {"promoted_", "offers_", "left_", "current_", "following_", "first_word_"}},
    {"detail/placement/newborn_positions.hpp", "held_groups", {"next_", "end_", "beside_one_"}},
    {"detail/queues/removal_queue.hpp", "removal_queue", {"limit_", "chunks_", "records_"}},
    {"detail/queues/chunk_store.hpp",
     "chunk_store",
     {"chunk_size_", "free_", "next_", "first_finished_", "last_finished_"}},
    {"detail/queues/chunk_store.hpp",
     "chunk_chain",
     {"put", "put_end", "put_chunk", "had", "oldest", "first", "get", "get_end", "get_chunk"}},
    {"detail/slots/index_allocator.hpp", "index_allocator", {"free_", "returned_", "deal_", "stock_"}},
    {"detail/slots/free_bitmap.hpp", "free_bitmap", {"words_", "given_back_", "claimed_", "hint_"}},
    {"detail/recorder/life_recorder.hpp",
     "life_recorder",
     {"lives_", "waiting_", "lives_bits_", "lives_mask_", "stack_", "frame_", "last_reset_"}},
    {"detail/recorder/waiting_ends.hpp", "waiting_ends", {"ends_", "reach_"}},
    {"detail/threads/access_gate.hpp",
     "access_gate",
     {"pins_", "owner_", "state_", "compacting_thread_", "closed_for_", "waiting_guards_", "waiting_since_"}},
    // Services can't be moved; tests/service/ uses all of it.
    {"service.hpp", "basic_service", {"pins_", "gate_", "listing_", "pools_", "compactor_"}},
    {"detail/service/pool_directory.hpp",
     "pool_directory",
     {"limits_", "routes_", "mutex_", "pools_", "by_name_", "limits_used_", "removed_", "list_", "version_",
      "views_", "of_frame_", "ending_"}},
    {"detail/service/service_compactor.hpp", "service_compactor", {"gate_", "pools_", "frames_"}},
};

TEST(member_lists, are_complete) {
    for (const listed_class& each : listed) {
        EXPECT_EQ(members_of(each.header, each.name), each.members) << each.header;
    }
}

} // namespace
} // namespace handlepool::test
