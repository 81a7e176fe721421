// SPDX-License-Identifier: MIT

// Deltas that tell of lives: who began and ended them, and from where.

#include <handlepool/detail/text/message.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/snapshots/delta_recorder.hpp>
#include <handlepool/snapshots/replay.hpp>
#include <handlepool/snapshots/replica.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/snapshots/told_lives.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/time/capture_ring.hpp>
#include <handlepool/time/change_log.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/snapshots/made_delta.hpp>
#include <tests/support/message_of.hpp>
#include <tests/support/random.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr unsigned lives_id = 948;
using bytes_type = std::vector<std::byte>;

struct number {
    explicit number(std::uint64_t of = 0) : value(of) {}
    number& operator=(std::uint64_t of) { return value = of, *this; }
    void clear() noexcept { value = 0; }

    std::uint64_t value;
};

std::string text_of(const std::optional<told_event>& event) {
    return event ? std::string(to_string(event->event)) + " in " + std::string(event->site) +
                       (event->is_undone ? ", undone" : "")
                 : "-";
}

/// "#3 generation 1: created in here; erased in there", for each life of the only pool.
std::vector<std::string> lines_of(const std::vector<told_lives>& told) {
    std::vector<std::string> lines;
    for (const told_life& each : told.at(0).lives) {
        lines.push_back(detail::name_of_handle(each.index, each.generation) + ": " + text_of(each.beginning) +
                        "; " + text_of(each.end));
    }
    return lines;
}

pool_options options_of(std::size_t lives = 4) {
    return {.name = "ships",
            .capacity = 200,
            .reuse_delay = 0,
            .slot_limit = 300,
            .record_lives = lives,
            .pool_id = lives_id};
}

template <class Pool>
struct told_world {
    using handle_type = typename Pool::handle_type;

    explicit told_world(pool_options options = options_of()) : pool(options) {
        changes.add_lives("lives", pool);
        changes.add("ships", log);
    }

    bytes_type append() {
        bytes_type delta;
        changes.append(*changes.frame() + 1, delta);
        return delta;
    }
    std::vector<std::string> next_lines() {
        const bytes_type delta = append();
        return lines_of(read_lives(delta));
    }
    handle_type emplace(std::string_view site, std::uint64_t value = 0) {
        const scoped_site here(site);
        return pool.emplace(value);
    }
    static std::string name_of(handle_type handle) {
        return detail::name_of_handle(handle.index(), handle.generation());
    }

    Pool pool;
    change_log<Pool> log{pool, {.check_marks = false}};
    delta_recorder changes;
};

template <class Pool>
class told_lives_of : public testing::Test {};
using told_kinds = testing::Types<pool<number>, stable_pool<number>, recycling_pool<number>>;
TYPED_TEST_SUITE(told_lives_of, told_kinds);

TYPED_TEST(told_lives_of, say_how_each_began_and_ended) {
    told_world<TypeParam> world;
    auto& pool = world.pool;
    const auto name = [](auto handle) { return told_world<TypeParam>::name_of(handle); };
    const auto first = world.emplace("before");
    const auto second = world.emplace("before");
    world.changes.begin(0);
    EXPECT_THAT(world.next_lines(), UnorderedElementsAre(name(first) + ": created in before; -",
                                                         name(second) + ": created in before; -"));
    EXPECT_THAT(world.next_lines(), IsEmpty());

    // The birth, and the end, of what is there when the frame ends; and all of what came and went.
    const auto kept = world.emplace("here");
    const auto brief = world.emplace("here");
    const auto fulfilled = [&] {
        const scoped_site here("promise");
        const auto reserved = pool.reserve_handle();
        pool.fulfill(reserved, 1U);
        return reserved;
    }();
    {
        const scoped_site here("there");
        pool.erase(first);
        pool.erase(brief);
    }
    EXPECT_THAT(world.next_lines(), UnorderedElementsAre(name(kept) + ": created in here; -",
                                                         name(fulfilled) + ": created in promise; -",
                                                         name(first) + ": created in before; erased in there",
                                                         name(brief) + ": created in here; erased in there"));

    typename TypeParam::handle_type renamed;
    typename TypeParam::handle_type again;
    {
        const scoped_site here("renamer");
        renamed = pool.revoke(second);
        again = pool.revoke(renamed);
    }
    EXPECT_THAT(world.next_lines(),
                UnorderedElementsAre(name(again) + ": given this handle in renamer; -",
                                     name(renamed) + ": given this handle in renamer; revoked in renamer",
                                     name(second) + ": created in before; revoked in renamer"));
    // The same, and ended in the same frame.
    {
        const scoped_site here("ender");
        pool.erase(pool.revoke(again));
        pool.extract(kept, [](auto&&) {});
    }
    std::vector<std::string> lines = world.next_lines();
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_THAT(lines, testing::Contains(name(again) + ": given this handle in renamer; revoked in ender"));
    EXPECT_THAT(lines, testing::Contains(name(kept) + ": created in here; extracted in ender"));
    EXPECT_THAT(lines, testing::Contains(testing::EndsWith(": given this handle in ender; erased in ender")));

    {
        const scoped_site here("clearer");
        pool.clear();
    }
    EXPECT_THAT(world.next_lines(),
                ElementsAre(name(fulfilled) + ": created in promise; cleared in clearer"));
    const auto drained = world.emplace("here");
    {
        const scoped_site here("drainer");
        pool.drain([](auto, number&&) {});
    }
    EXPECT_THAT(world.next_lines(), ElementsAre(name(drained) + ": created in here; drained in drainer"));
    const auto forgotten = world.emplace("here");
    const auto erased = world.emplace("here");
    {
        const scoped_site here("eraser");
        pool.erase(erased);
    }
    {
        const scoped_site here("resetter");
        pool.reset();
    }
    EXPECT_THAT(world.next_lines(),
                UnorderedElementsAre(name(forgotten) + ": created in here; forgotten in resetter",
                                     name(erased) + ": created in here; erased in eraser"));
}

TYPED_TEST(told_lives_of, exclusive_access_are_all_told) {
    told_world<TypeParam> world;
    world.changes.begin(0);
    typename TypeParam::handle_type kept;
    typename TypeParam::handle_type brief;
    {
        const scoped_site here("alone");
        auto alone = world.pool.exclusive_access();
        kept = alone.emplace(1U);
        brief = alone.emplace(2U);
        alone.erase(brief);
    }
    // Here the birth is told at once.
    EXPECT_THAT(world.next_lines(),
                UnorderedElementsAre(world.name_of(kept) + ": created in alone; -",
                                     world.name_of(brief) + ": created in alone; -",
                                     world.name_of(brief) + ": created in alone; erased in alone"));
}

TYPED_TEST(told_lives_of, a_restore_say_what_it_took_back) {
    told_world<TypeParam> world;
    auto& pool = world.pool;
    capture_ring<TypeParam> ring(world.log);
    const auto kept = world.emplace("first");
    pool.compact();
    world.changes.begin(0);
    static_cast<void>(world.next_lines());
    ring.capture(1);
    const auto undone = world.emplace("second");
    {
        const scoped_site here("eraser");
        pool.erase(kept);
    }
    static_cast<void>(world.next_lines());
    {
        const scoped_site here("restorer");
        ring.restore(1);
    }
    EXPECT_THAT(world.next_lines(),
                UnorderedElementsAre(world.name_of(undone) + ": created in second; undone in restorer",
                                     world.name_of(kept) + ": created in first; -"));

    // The next object has the undone one's handle, and a life of its own.
    const auto again = world.emplace("third");
    EXPECT_EQ(again, undone);
    EXPECT_THAT(world.next_lines(), ElementsAre(world.name_of(again) + ": created in third; -"));
}

TYPED_TEST(told_lives_of, handles_that_were_revoked_after_a_restore_are_told) {
    for (const std::size_t lives : {1U, 4U}) {
        told_world<TypeParam> world(options_of(lives));
        capture_ring<TypeParam> ring(world.log, {.undone_stay_stale = true});
        const auto first = world.emplace("first");
        world.pool.compact();
        world.changes.begin(0);
        static_cast<void>(world.next_lines());
        ring.capture(1);
        const auto undone = world.pool.revoke(first);
        static_cast<void>(world.next_lines());
        ring.restore(1);
        static_cast<void>(world.next_lines());
        const scoped_site here("renamer");
        const auto later = world.pool.revoke(first);
        EXPECT_GT(later.generation(), undone.generation()); // not the next one
        const std::string beginning = lives == 1 ? "-" : "created in first";
        EXPECT_THAT(world.next_lines(),
                    UnorderedElementsAre(world.name_of(later) + ": given this handle in renamer; -",
                                         world.name_of(first) + ": " + beginning + "; revoked in renamer"));
    }
}

TYPED_TEST(told_lives_of, slots_with_too_few_records_are_told_as_far_as_they_are_known) {
    told_world<TypeParam> world(options_of(1));
    world.changes.begin(0);
    const auto a = world.emplace("spawner");
    static_cast<void>(world.next_lines());
    const scoped_site here("renamer");
    const auto b = world.pool.revoke(a);
    const auto c = world.pool.revoke(b);
    const auto d = world.pool.revoke(c);
    const bytes_type delta = world.append();
    const auto told = read_lives(delta);
    EXPECT_TRUE(told[0].some_are_missing);
    EXPECT_THAT(lines_of(told), UnorderedElementsAre(world.name_of(d) + ": given this handle in renamer; -",
                                                     world.name_of(c) + ": -; revoked in renamer",
                                                     world.name_of(a) + ": -; not recorded in "));
    EXPECT_THAT(world.next_lines(), IsEmpty());
}

TYPED_TEST(told_lives_of, places_that_several_threads_call_from_are_told_with_the_threads) {
    told_world<TypeParam> world;
    world.changes.begin(0);
    const call_site place = call_site::named("a place");
    for (const char* const name : {"one", "other"}) {
        std::thread([&] {
            const scoped_task task(name);
            const scoped_site here(place);
            world.pool.emplace(1U);
        }).join();
    }
    const bytes_type delta = world.append();
    const auto told = read_lives(delta);
    std::vector<std::string_view> tasks;
    for (const told_life& each : told[0].lives) {
        tasks.push_back(each.beginning->task);
    }
    EXPECT_THAT(tasks, UnorderedElementsAre("one", "other"));
}

// ---- Names

TEST(told_lives, have_names_of_threads_and_tasks_and_frames_ago) {
    told_world<pool<number>> world;
    handle<number> made;
    {
        const scoped_task task("spawn \"all\"");
        made = world.emplace("spawner");
    }
    world.changes.begin(0);
    static_cast<void>(world.next_lines());
    static_cast<void>(world.next_lines());
    std::string name;
    std::thread([&] {
        const scoped_task task("collide");
        const scoped_site here("collision");
        world.pool.erase(made);
        name = world.pool.life_of(made).end->thread;
    }).join();
    const bytes_type delta = world.append();
    const auto told = read_lives(delta);
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].part, "lives");
    EXPECT_EQ(told[0].pool, "ships");
    EXPECT_EQ(told[0].pool_id, lives_id);
    EXPECT_EQ(told[0].handle_mask, ~std::uint64_t{0});
    EXPECT_FALSE(told[0].some_are_missing);
    ASSERT_EQ(told[0].lives.size(), 1U);
    const told_life& life = told[0].lives[0];
    EXPECT_EQ(life.handle, made.value());
    EXPECT_EQ(life.index, made.index());
    EXPECT_EQ(life.generation, made.generation());
    ASSERT_TRUE(life.beginning);
    EXPECT_EQ(life.beginning->frames_ago, 3U); // in frame 0
    EXPECT_EQ(life.beginning->task, "spawn \"all\"");
    const told_event erased{
        .event = life_event::erased, .frames_ago = 0, .thread = name, .task = "collide", .site = "collision"};
    ASSERT_TRUE(life.end);
    EXPECT_EQ(*life.end, erased);
    EXPECT_EQ(life.end->to_string(), "erased by thread \"" + name + "\", task \"collide\" in collision");
}

TEST(told_lives, have_each_name_once_in_each_delta) {
    told_world<pool<number>> world;
    world.changes.begin(0);
    const std::string place(100, 'x');
    const auto names_in = [&](const bytes_type& delta) {
        const std::string_view text(reinterpret_cast<const char*>(delta.data()), delta.size());
        std::size_t count = 0;
        for (std::size_t at = text.find(place); at != std::string_view::npos; at = text.find(place, at + 1)) {
            ++count;
        }
        return count;
    };
    for (int i = 0; i != 3; ++i) {
        world.emplace(place);
        world.emplace(place);
        world.emplace("another");
        const bytes_type delta = world.append();
        EXPECT_EQ(names_in(delta), 1U);
        EXPECT_THAT(lines_of(read_lives(delta)),
                    UnorderedElementsAre(testing::HasSubstr(place), testing::HasSubstr(place),
                                         testing::HasSubstr("another")));
    }
    EXPECT_EQ(names_in(world.append()), 0U);
}

TEST(told_lives, have_places_by_the_namer_that_was_given) {
    pool<number> ships(options_of());
    delta_recorder changes;
    changes.add_lives("lives", ships, [](std::uintptr_t) { return std::string("my place"); });
    changes.begin(0);
    ships.emplace(1U);
    bytes_type delta;
    ships.compact();
    changes.append(1, delta);
    EXPECT_EQ(read_lives(delta)[0].lives[0].beginning->site, "my place");
}

// ---- Who reads it, and who doesn't

TEST(told_lives, are_no_part_of_the_world) {
    bytes_type before;
    bytes_type delta;
    bytes_type after;
    handle<number> later;
    {
        told_world<pool<number>> world;
        snapshot all;
        all.add("ships", world.pool);
        world.emplace("here");
        all.save(before);
        world.changes.begin(0);
        later = world.emplace("there", 7);
        delta = world.append();
        all.save(after);
    }
    replay past(before, 0);
    past.apply(delta);
    EXPECT_EQ(saved_by(past), after);

    pool<number> ships(options_of());
    replica follower;
    follower.add("ships", ships);
    follower.load(before, 0);
    follower.apply(delta);
    EXPECT_EQ(ships.at(later).value, 7U);

    // Also one that has a part of that name.
    replica other;
    int lives = 0;
    other.add("lives", lives);
    bytes_type with_lives;
    snapshot of_lives;
    of_lives.add("lives", lives);
    of_lives.save(with_lives);
    other.load(with_lives, 0);
    other.apply(delta);

    EXPECT_EQ(message_of<invalid_snapshot>([&] { replay not_one(delta, 0, "d"); }),
              "snapshot 'd', byte 56, block 'frames': this is a delta; a snapshot is expected");
}

TEST(told_lives, have_handles_of_any_layout) {
    using layout = handle_layout<16, 8, 4, 3>;
    pool<number, with_layout<layout>> ships(
        {.name = "ships", .capacity = 10, .record_lives = 1, .pool_id = 5});
    delta_recorder changes;
    changes.add_lives("lives", ships);
    changes.begin(0);
    const auto made = ships.emplace(1U).with_user(3);
    ships.compact();
    bytes_type delta;
    changes.append(1, delta);
    const told_lives told = read_lives(delta).at(0);
    EXPECT_EQ(told.handle_mask, 0xfff'ffffU);
    EXPECT_EQ(told.pool_id, 5U);
    EXPECT_EQ(told.lives.at(0).handle, made.without_user().value());
    EXPECT_EQ(told.lives.at(0).index, made.index());
    EXPECT_EQ(told.lives.at(0).generation, made.generation());
}

TEST(told_lives, of_a_pool_that_is_not_recorded_itself) {
    pool<number> ships(options_of());
    pool<number> rocks({.name = "rocks", .capacity = 10, .record_lives = 1});
    delta_recorder changes;
    changes.add_lives("lives of ships", ships);
    changes.add_lives("lives of rocks", rocks);
    changes.begin(0);
    ships.emplace(1U);
    ships.compact();
    bytes_type delta;
    changes.append(1, delta);
    const auto told = read_lives(delta);
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[0].pool, "ships");
    EXPECT_EQ(told[0].lives.size(), 1U);
    EXPECT_EQ(told[1].pool, "rocks");
    EXPECT_THAT(told[1].lives, IsEmpty());
}

TEST(told_lives, are_told_with_the_next_delta_when_one_fails) {
    told_world<pool<number>> world;
    struct throwing_archive {
        void save(std::ostream&, const int&) const {
            if (*fails) {
                throw std::runtime_error("no disk");
            }
        }
        int load(std::istream&) const { return 0; }
        std::shared_ptr<bool> fails = std::make_shared<bool>(false);
    };
    throwing_archive archive;
    int value = 0;
    world.changes.add("value", value, archive); // behind the lives
    world.changes.begin(0);
    const auto made = world.emplace("here");
    *archive.fails = true;
    EXPECT_THROW(static_cast<void>(world.append()), std::runtime_error);
    *archive.fails = false;
    EXPECT_THAT(world.next_lines(), ElementsAre(world.name_of(made) + ": created in here; -"));
    EXPECT_THAT(world.next_lines(), IsEmpty());
}

TEST(told_lives, end_with_their_pool_in_either_order) {
    auto ships = std::make_unique<pool<number>>(options_of());
    delta_recorder changes;
    changes.add_lives("lives", *ships);
    changes.begin(0);
    ships->emplace(1U);
    ships.reset();
}

TEST(told_lives, are_refused_where_none_are_recorded) {
    pool<number> ships({.name = "ships", .capacity = 10});
    pool<number> rocks({.name = "rocks", .capacity = 10, .record_lives = 1});
    delta_recorder changes;
    EXPECT_EQ(message_of<std::invalid_argument>([&] { changes.add_lives("lives", ships); }),
              "delta_recorder, 'lives': pool 'ships' records no lives; pool_options::record_lives says how "
              "many");
    changes.add_lives("lives", rocks);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { changes.add_lives("lives", rocks); }),
              "delta_recorder, 'lives': something has been added under this name already");
    changes.begin(0);
    EXPECT_EQ(message_of<std::logic_error>([&] { changes.add_lives("others", rocks); }),
              "delta_recorder, 'others': nothing can be added after begin()");
}

// ---- Bytes of anybody

/// Of bytes that are soon no more.
void read(const bytes_type& delta, std::string_view origin) {
    static_cast<void>(read_lives(delta, origin));
}

bytes_type eventful_delta() {
    told_world<pool<number>> world;
    const auto first = world.emplace("here");
    world.changes.begin(0);
    world.emplace("there");
    world.pool.erase(first);
    return world.append();
}

TEST(told_lives, are_refused_when_bytes_are_no_delta) {
    const bytes_type delta = eventful_delta();
    EXPECT_EQ(message_of<invalid_snapshot>([&] { read_lives(std::span(delta).first(0), "a"); }),
              "delta 'a', byte 0: this is no delta; \"hp world\" is expected");
    bytes_type snapshot_bytes;
    snapshot().save(snapshot_bytes);
    EXPECT_EQ(message_of<invalid_snapshot>([&] { read_lives(snapshot_bytes, "a"); }),
              "delta 'a': this is no delta; a block 'frames' is expected");
}

TEST(told_lives, are_refused_wherever_they_are_cut_off) {
    const bytes_type delta = eventful_delta();
    const bytes_type payload = payload_of(delta, "lives");
    for (std::size_t size = 0; size != payload.size(); ++size) {
        const std::string message = message_of<invalid_snapshot>(
            [&] { read(with_payload(delta, "lives", std::span(payload).first(size)), "cut"); });
        ASSERT_TRUE(message.starts_with("delta 'cut', byte ")) << size << ": " << message;
    }
    bytes_type longer = payload;
    longer.push_back(std::byte{0});
    EXPECT_NE(message_of<invalid_snapshot>([&] { read(with_payload(delta, "lives", longer), "cut"); }), "");
    EXPECT_EQ(lines_of(read_lives(delta)).size(), 3U);
}

TEST(told_lives, are_refused_or_some_lives_whichever_bit_is_flipped) {
    const bytes_type delta = eventful_delta();
    bytes_type payload = payload_of(delta, "lives");
    std::size_t refused = 0;
    for (std::size_t bit = 0; bit != payload.size() * 8; ++bit) {
        payload[bit / 8] ^= std::byte{1} << bit % 8;
        const bytes_type flipped = with_payload(delta, "lives", payload);
        payload[bit / 8] ^= std::byte{1} << bit % 8;
        const std::string message = message_of<invalid_snapshot>([&] { read_lives(flipped, "flipped"); });
        if (!message.empty()) {
            ++refused;
            ASSERT_TRUE(message.starts_with("delta 'flipped', byte ")) << bit << ": " << message;
        }
        ASSERT_EQ(lines_of(read_lives(delta)).size(), 3U) << bit;
    }
    EXPECT_GT(refused, payload.size());
}

TEST(told_lives, that_announce_more_than_there_is_need_no_memory_for_it) {
    const bytes_type delta = eventful_delta();
    bytes_type payload = payload_of(delta, "lives");
    for (const std::size_t at : {std::size_t{12}, std::size_t{21}}) { // the pool's name, and names
        bytes_type large = payload;
        for (std::size_t i = 0; i != 4; ++i) {
            large[at + i] = std::byte{0xff};
        }
        EXPECT_NE(message_of<invalid_snapshot>([&] { read(with_payload(delta, "lives", large), "large"); }),
                  "");
    }
}

/// A delta with one life, of 48 bytes, whose numbers are these.
std::string refusal_of(std::uint64_t handle, std::uint32_t flags, std::vector<std::uint32_t> numbers) {
    bytes_type delta;
    detail::snapshot_writer to(delta);
    to.begin_block(detail::block_kind::frames, 1, "frames", 16);
    to.number(std::uint64_t{0});
    to.number(std::uint64_t{1});
    to.end_block();
    to.begin_block(detail::block_kind::lives, 1, "lives", 12 + 4 + 4 + 8 + 48);
    to.number(std::uint32_t{32 | 22 << 8 | 10 << 16});
    to.number(std::uint32_t{3});
    to.number(flags);
    to.number(std::uint32_t{0}); // the pool's name
    to.number(std::uint32_t{0}); // names
    to.number(std::uint64_t{1});
    to.number(handle);
    for (const std::uint32_t each : numbers) {
        to.number(each);
    }
    to.end_block();
    to.finish();
    return message_of<invalid_snapshot>([&] { static_cast<void>(read_lives(delta, "d")); });
}

TEST(told_lives, are_refused_unless_they_can_be) {
    const std::uint64_t handle = (std::uint64_t{3} << 22 | 7) << 32 | 12;
    EXPECT_EQ(refusal_of(handle, 0, {512 + 1, 0, 0, 0, 0, 512 + 4, 0, 0, 0, 0}), "");
    EXPECT_EQ(refusal_of(handle, 1, {512, 0, 0, 0, 0, 512 + 256 + 11, 9, 0, 0, 0}), "");
    EXPECT_EQ(refusal_of(handle, 0, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), "");
    const std::string at = "delta 'd', byte ";
    const auto beginning = [&](std::uint32_t how) {
        return at + "156, block 'lives': event " + std::to_string(how) +
               " is unknown here; 0 is allowed, and 512 with 0 or 1 to 3, and 256 more for one that was "
               "taken "
               "back";
    };
    for (const std::uint32_t how : {1U, 256U, 512U + 4, 512U + 12, 1024U + 512 + 1}) {
        EXPECT_EQ(refusal_of(handle, 0, {how, 0, 0, 0, 0, 0, 0, 0, 0, 0}), beginning(how));
    }
    EXPECT_EQ(
        refusal_of(handle, 0, {0, 0, 0, 0, 0, 512 + 3, 0, 0, 0, 0}),
        at + "176, block 'lives': event 515 is unknown here; 0 is allowed, and 512 with 0 or 4 to 11, and "
             "256 more for one that was taken back");
    EXPECT_EQ(refusal_of(handle, 0, {0, 1, 0, 0, 0, 0, 0, 0, 0, 0}),
              at + "160, block 'lives': an event that is not there has something");
    EXPECT_EQ(refusal_of(handle, 0, {512 + 1, 0, 1, 0, 0, 0, 0, 0, 0, 0}),
              at + "164, block 'lives': text 1 is named; the last one is 0");
    EXPECT_EQ(refusal_of(handle, 2, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
              at + "128, block 'lives': flags 2 are unknown; known are 0 and 1");
    for (const std::uint64_t other : {handle - (std::uint64_t{1} << 32), handle + (std::uint64_t{1} << 54)}) {
        EXPECT_EQ(refusal_of(other, 0, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
                  at + "148, block 'lives': handle " + std::to_string(other) +
                      " is none of an object of the pool");
    }
}

// ---- Against the truth

/// What is to be told. Each call has a site of its own: so what is told of a life is known exactly.
template <class Pool>
class true_lives {
    using handle_type = typename Pool::handle_type;

public:
    explicit true_lives(std::uint64_t seed) : random_(seed), world_(options_with(random_)) {
        world_.changes.begin(0);
    }

    void play_frame() {
        if (random_.one_in(3)) {
            auto alone = world_.pool.exclusive_access();
            play(alone, true);
        } else {
            play(world_.pool, false);
        }
    }
    /// Of those whose lives went on, how they began is told when the frame ends.
    std::vector<std::string> take_expected() {
        for (life& each : living_) {
            tell_beginning(each);
            each.revokes = 0;
        }
        return std::exchange(expected_, {});
    }
    std::vector<std::string> told() { return world_.next_lines(); }

private:
    struct life {
        handle_type handle;
        std::string beginning{};
        bool is_told = false;
        int revokes = 0; // of its object, in this frame
    };

    static pool_options options_with(random_source& random) {
        pool_options options = options_of(8);
        options.reuse_delay = random.below(2) * 16;
        return options;
    }

    template <class Target>
    void play(Target& target, bool is_alone) {
        for (std::uint64_t i = random_.below(30); i != 0; --i) {
            const std::string site = "call " + std::to_string(++call_);
            const scoped_site here(site);
            const std::uint64_t what = random_.below(20);
            if (what < 9) {
                if (living_.size() < 150) {
                    living_.push_back({.handle = target.emplace(1U), .beginning = "created in " + site});
                    if (is_alone) {
                        tell_beginning(living_.back());
                    }
                }
            } else if (what < 18 && !living_.empty()) {
                life& chosen = living_[random_.below(living_.size())];
                if (what < 12) {
                    target.erase(chosen.handle);
                    end(chosen, "erased in " + site);
                } else if (what < 14) {
                    target.extract(chosen.handle, [](auto&&) {});
                    end(chosen, "extracted in " + site);
                } else if (chosen.revokes < 6) { // else the slot's records are too few
                    const handle_type later = target.revoke(chosen.handle);
                    tell(chosen, "revoked in " + site);
                    chosen = {.handle = later,
                              .beginning = "given this handle in " + site,
                              .revokes = chosen.revokes + 1};
                }
            } else if (random_.one_in(10)) {
                const bool is_reset = what == 19;
                is_reset ? target.reset() : target.clear();
                while (!living_.empty()) {
                    end(living_.back(), (is_reset ? "forgotten in " : "cleared in ") + site);
                }
            }
        }
    }

    void tell(const life& of, const std::string& end) {
        expected_.push_back(world_.name_of(of.handle) + ": " + of.beginning + "; " + end);
    }
    void tell_beginning(life& of) {
        if (!std::exchange(of.is_told, true)) {
            tell(of, "-");
        }
    }
    void end(life& chosen, const std::string& how) {
        tell(chosen, how);
        std::swap(chosen, living_.back());
        living_.pop_back();
    }

    random_source random_;
    told_world<Pool> world_;
    std::vector<life> living_;
    std::vector<std::string> expected_;
    int call_ = 0;
};

TYPED_TEST(told_lives_of, threads_that_go_on_during_compactions_are_told) {
    pool_options options = options_of(16);
    options.max_threads = 4;
    TypeParam ships(options);
    delta_recorder changes;
    changes.add_lives("lives", ships);
    changes.begin(0);
    using handle_type = typename TypeParam::handle_type;
    const auto line = [](handle_type handle, std::string_view end) {
        return detail::name_of_handle(handle.index(), handle.generation()) + ": " + std::string(end);
    };
    std::atomic<bool> stop = false;
    std::atomic<bool> has_life_ended = false;
    std::vector<std::vector<std::string>> expected(2);
    std::vector<std::thread> threads;
    for (std::vector<std::string>& mine : expected) {
        threads.emplace_back([&] {
            while (!stop) {
                const handle_type first = ships.try_emplace(1U);
                if (!first) {
                    std::this_thread::yield();
                    continue;
                }
                const handle_type second = ships.revoke(first);
                const handle_type third = ships.revoke(second);
                ships.erase(third);
                mine.insert(mine.end(),
                            {line(first, "revoked"), line(second, "revoked"), line(third, "erased")});
                has_life_ended = true;
            }
        });
    }
    std::vector<std::string> told;
    const auto append = [&] {
        bytes_type delta;
        changes.append(*changes.frame() + 1, delta);
        const std::vector<told_lives> found = read_lives(delta);
        for (const told_life& each : found[0].lives) {
            if (each.end) {
                told.push_back(detail::name_of_handle(each.index, each.generation) + ": " +
                               std::string(to_string(each.end->event)));
            }
        }
    };
    for (int frame = 0; frame < 30 || !has_life_ended; ++frame) {
        ships.compact();
        std::this_thread::yield();
    }
    stop = true;
    for (std::thread& each : threads) {
        each.join();
    }
    ships.compact();
    append();
    std::vector<std::string> all = std::move(expected[0]);
    all.insert(all.end(), expected[1].begin(), expected[1].end());
    std::ranges::sort(all);
    std::ranges::sort(told);
    EXPECT_FALSE(all.empty());
    EXPECT_EQ(told, all);
}

TYPED_TEST(told_lives_of, are_those_of_a_random_game) {
    for (std::uint64_t seed = 1; seed != 31; ++seed) {
        true_lives<TypeParam> game(seed);
        for (int frame = 0; frame != 30; ++frame) {
            game.play_frame();
            const std::vector<std::string> told = game.told();
            ASSERT_THAT(told, testing::UnorderedElementsAreArray(game.take_expected()))
                << "frame " << frame << " of seed " << seed;
        }
    }
}

} // namespace
} // namespace handlepool::test
