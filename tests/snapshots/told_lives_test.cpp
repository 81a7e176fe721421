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
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
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
                                     testing::StartsWith(world.name_of(kept) + ": created in first; ")));
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
    const auto told = read_lives(world.append());
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
    EXPECT_GT(life.beginning->frames_ago, 0U);
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
            [&] { read_lives(with_payload(delta, "lives", std::span(payload).first(size)), "cut"); });
        ASSERT_TRUE(message.starts_with("delta 'cut', byte ")) << size << ": " << message;
    }
    bytes_type longer = payload;
    longer.push_back(std::byte{0});
    EXPECT_NE(message_of<invalid_snapshot>([&] { read_lives(with_payload(delta, "lives", longer), "cut"); }),
              "");
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
        EXPECT_NE(
            message_of<invalid_snapshot>([&] { read_lives(with_payload(delta, "lives", large), "large"); }),
            "");
    }
}

// ---- Against the truth

/// Each call has a site of its own: so what is told of a life is known exactly.
TYPED_TEST(told_lives_of, are_those_of_a_random_game) {
    for (std::uint64_t seed = 1; seed != 21; ++seed) {
        random_source random(seed);
        pool_options options = options_of(1U << random.below(3));
        options.reuse_delay = random.below(2) * 16;
        told_world<TypeParam> world(options);
        using handle_type = typename TypeParam::handle_type;
        std::vector<handle_type> living;
        std::map<std::uint64_t, std::string> beginnings;
        std::vector<std::string> expected;
        int call = 0;
        const auto next_site = [&call] { return "call " + std::to_string(++call); };
        const auto ends = [&](handle_type handle, const std::string& how) {
            expected.push_back(world.name_of(handle) + ": " + beginnings.at(handle.value()) + "; " + how);
        };
        world.changes.begin(0);
        for (int frame = 0; frame != 30; ++frame) {
            const std::vector<handle_type> before = living;
            for (std::uint64_t i = random.below(20); i != 0; --i) {
                const std::string site = next_site();
                const scoped_site here(site);
                const std::uint64_t what = random.below(8);
                if (what < 4 && living.size() < 150) {
                    living.push_back(world.pool.emplace(1U));
                    beginnings[living.back().value()] = "created in " + site;
                } else if (!living.empty() && what < 7) {
                    const std::size_t which = random.below(living.size());
                    const handle_type ended = living[which];
                    living.erase(living.begin() + static_cast<std::ptrdiff_t>(which));
                    if (what == 6) {
                        world.pool.extract(ended, [](auto&&) {});
                    } else {
                        world.pool.erase(ended);
                    }
                    ends(ended, (what == 6 ? "extracted in " : "erased in ") + site);
                } else if (random.below(20) == 0) {
                    world.pool.clear();
                    for (const handle_type each : std::exchange(living, {})) {
                        ends(each, "cleared in " + site);
                    }
                }
            }
            for (const handle_type each : living) {
                if (std::ranges::find(before, each) == before.end()) {
                    expected.push_back(world.name_of(each) + ": " + beginnings.at(each.value()) + "; -");
                }
            }
            ASSERT_THAT(world.next_lines(), testing::UnorderedElementsAreArray(std::exchange(expected, {})))
                << "frame " << frame << " of seed " << seed;
        }
    }
}

} // namespace
} // namespace handlepool::test
