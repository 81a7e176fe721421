// SPDX-License-Identifier: MIT

// Snapshots that are merged into a living world: against copies made by hand, and what is left of those that
// fail.

#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/property_store.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/stable_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/snapshots/made_snapshot.hpp>
#include <tests/support/message_of.hpp>
#include <tests/support/random.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <istream>
#include <iterator>
#include <map>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct cannon {
    std::uint32_t calibre = 0;
    handle<cannon> next;
    any_handle fort; // of the other pool
};
template <class Map>
void for_each_handle(cannon& each, Map& map) {
    map(each.next);
    map(each.fort);
}
struct fortress {
    std::string name;
    handle<cannon> gate;
    void clear() noexcept { name.clear(); }
};
template <class Map>
void for_each_handle(fortress& each, Map& map) {
    if (each.name == "cursed") {
        throw std::runtime_error("nobody enters here");
    }
    map(each.gate);
}
struct fortress_archive {
    void save(std::ostream& out, const fortress& saved) const {
        out << saved.gate.value() << ' ' << saved.name;
    }
    fortress load(std::istream& in) const {
        std::uint64_t gate = 0;
        fortress read;
        in >> gate >> read.name;
        read.gate = handle<cannon>::from_value(gate);
        return read;
    }
};
constexpr property_path range_path("range");

/// Two pools and what belongs to them.
template <class Cannons, class Forts>
class battery {
public:
    battery(unsigned cannons_id, unsigned forts_id, std::size_t capacity = 1000)
        : cannons({.name = "cannons", .capacity = capacity, .pool_id = cannons_id}),
          forts({.name = "forts", .capacity = capacity, .pool_id = forts_id}) {
        set.attach(cannons);
        map.attach(cannons);
        index.attach(forts, [](const fortress& each) { return each.name.size(); });
        tree.attach(cannons);
        bags.attach(cannons);
        all.add("index", index); // before its pool
        all.add("cannons", cannons);
        all.add("forts", forts, fortress_archive());
        all.add("set", set);
        all.add("map", map);
        all.add("tree", tree);
        all.add("bags", bags);
        all.add("best", best);
    }

    snapshot_bytes saved() {
        snapshot_bytes bytes;
        all.save(bytes);
        return bytes;
    }
    handle<cannon> add(std::uint32_t calibre) {
        const handle<cannon> made = cannons.emplace(cannon{calibre, {}, {}});
        set.insert(made);
        bags.set(made, range_path, static_cast<float>(calibre));
        return made;
    }
    bool nothing_waits_or_lives() {
        cannons.compact();
        forts.compact();
        return cannons.size() + forts.size() + set.size() + map.size() + index.handles().size() +
                   tree.size() + bags.size() + cannons.stats().slots_reserved +
                   forts.stats().slots_reserved ==
               0;
    }

    Cannons cannons;
    Forts forts;
    handle_set<cannon> set;
    handle_map<cannon, handle<fortress>> map;
    handle_index<fortress, std::size_t> index{duplicate_keys::allow};
    hierarchy<cannon> tree;
    property_store<cannon> bags;
    handle<cannon> best;
    snapshot all;
};
using plain_battery = battery<pool<cannon>, pool<fortress>>;
using stable_battery = battery<stable_pool<cannon>, recycling_pool<fortress>>;

/// Two cannons and a fort, which know each other.
template <class Battery>
void fill_battery(Battery& all) {
    const auto small = all.add(8);
    const auto large = all.add(24);
    const auto fort = all.forts.emplace(fortress{"north", large});
    all.cannons.find(small)->next = large;
    all.cannons.find(small)->fort = fort;
    all.cannons.find(large)->next = small;
    all.map.try_emplace(large, fort);
    all.tree.set_parent(small, large);
    all.best = large;
}
template <class Battery>
void expect_filled(Battery& all, const handle_renaming& names, handle<cannon> small_before,
                   handle<cannon> large_before) {
    const auto small = names.find(small_before);
    const auto large = names.find(large_before);
    ASSERT_TRUE(all.cannons.contains(small) && all.cannons.contains(large));
    const cannon& one = *all.cannons.find(small);
    const cannon& other = *all.cannons.find(large);
    EXPECT_EQ(one.calibre, 8U);
    EXPECT_EQ(one.next, large);
    EXPECT_EQ(other.calibre, 24U);
    EXPECT_EQ(other.next, small);
    EXPECT_FALSE(other.fort);
    const handle<fortress> fort = *all.map.find(large);
    EXPECT_EQ(one.fort, any_handle(fort));
    ASSERT_TRUE(all.forts.contains(fort));
    EXPECT_EQ(all.forts.find(fort)->name, "north");
    EXPECT_EQ(all.forts.find(fort)->gate, large);
    EXPECT_TRUE(all.set.contains(small) && all.set.contains(large));
    EXPECT_FALSE(all.map.contains(small));
    EXPECT_EQ(all.tree.parent(small), large);
    EXPECT_EQ(all.bags.view(small).template get<float>(range_path), 8.0F);
    EXPECT_EQ(*all.index.key_of(fort), 5U);
}

TEST(merged_snapshot, adds_a_prefab_again_and_again) {
    plain_battery prefab(941, 942);
    fill_battery(prefab);
    const snapshot_bytes bytes = prefab.saved();
    const auto small = prefab.cannons.entries().begin()->handle;
    const auto large = prefab.best;

    stable_battery world(943, 944); // of other placements
    const auto own = world.add(99);
    std::vector<handle_renaming> times;
    for (int i = 0; i != 3; ++i) {
        times.push_back(world.all.merge(bytes));
    }
    world.cannons.compact();
    world.forts.compact();
    for (const handle_renaming& each : times) {
        expect_filled(world, each, small, large);
        EXPECT_EQ(each.size(), 3U);
        EXPECT_THAT(each.passed_over(), IsEmpty());
        std::vector<handle<cannon>> before;
        each.for_each(world.cannons, [&](handle<cannon> was, handle<cannon> now) {
            before.push_back(was);
            EXPECT_EQ(each.find(was), now);
        });
        EXPECT_THAT(before, ElementsAre(small, large));
    }
    EXPECT_NE(times[0].find(small), times[1].find(small));
    EXPECT_EQ(world.cannons.size(), 7U);
    EXPECT_EQ(world.forts.size(), 3U);
    EXPECT_EQ(world.index.handles().size(), 3U);
    EXPECT_EQ(world.tree.roots().size(), 3U);
    EXPECT_EQ(world.cannons.find(own)->calibre, 99U);
    EXPECT_FALSE(world.best); // values stay
}

using flagged_layout = handle_layout<20, 16, 8, 20>;
struct flagged {
    handle<flagged, flagged_layout> next;
};
template <class Map>
void for_each_handle(flagged& each, Map& map) {
    map(each.next);
}

TEST(merged_snapshot, leaves_user_bits_what_they_are) {
    pool<flagged, with_layout<flagged_layout>> links({.name = "links", .capacity = 100});
    const auto first = links.emplace();
    const auto second = links.emplace(flagged{first.with_user(77)});
    snapshot all;
    all.add("links", links);
    snapshot_bytes bytes;
    all.save(bytes);
    const handle_renaming names = all.merge(bytes);
    const auto now = names.find(first);
    ASSERT_TRUE(links.contains(now));
    EXPECT_NE(now, first);
    EXPECT_EQ(now.user(), 0U);
    EXPECT_EQ(names.find(first.with_user(5)).user(), 5U);
    const auto next = links.find(names.find(second))->next;
    EXPECT_EQ(next.without_user(), now);
    EXPECT_EQ(next.user(), 77U);
}

TEST(merged_snapshot, can_be_of_the_same_pools) {
    plain_battery world(941, 942);
    fill_battery(world);
    const snapshot_bytes bytes = world.saved();
    const auto small = world.cannons.entries().begin()->handle;
    const auto large = world.best;
    const handle_renaming names = world.all.merge(bytes, "here", {.values = true});
    expect_filled(world, names, small, large);
    EXPECT_EQ(world.cannons.find(small)->next, large);
    EXPECT_EQ(world.best, names.find(large)); // a value that was asked for
    EXPECT_EQ(world.cannons.size(), 4U);
    EXPECT_FALSE(names.find(names.find(small)));
}

TEST(merged_snapshot, lets_handles_out_of_it_become_null_or_stay) {
    plain_battery prefab(941, 942);
    fill_battery(prefab);
    const auto gone = prefab.cannons.emplace();
    const auto reserved = prefab.cannons.reserve_handle();
    const auto foreign = any_handle::from_value(handle_layout<32, 22, 10>::value_of(7, 999U << 22 | 3U));
    const auto of_gone = prefab.cannons.emplace(cannon{1, gone, foreign});
    const auto of_reserved = prefab.cannons.emplace(cannon{2, reserved, foreign});
    const auto revoked = prefab.cannons.emplace(); // whose slot has an object
    prefab.cannons.revoke(revoked);
    const auto of_revoked = prefab.cannons.emplace(cannon{3, revoked, foreign});
    prefab.cannons.erase(gone);
    const snapshot_bytes bytes = prefab.saved();
    plain_battery world(943, 944);
    for (const outside_handles outside : {outside_handles::become_null, outside_handles::stay}) {
        const handle_renaming names = world.all.merge(bytes, "here", {.outside = outside});
        EXPECT_FALSE(names.find(reserved));
        for (const auto each : {of_gone, of_reserved, of_revoked}) {
            const cannon& merged = *world.cannons.find(names.find(each));
            EXPECT_FALSE(merged.next);
            EXPECT_EQ(merged.fort, outside == outside_handles::stay ? foreign : any_handle());
        }
    }
}

TEST(merged_snapshot, passes_over_what_is_not_on_both_sides) {
    plain_battery world(943, 944);
    snapshot some;
    pool<cannon> cannons({.name = "some", .capacity = 10, .pool_id = 941});
    int waves = 4;
    some.add("cannons", cannons);
    some.add("waves", waves);
    cannons.emplace(cannon{3, {}, {}});
    snapshot_bytes bytes;
    some.save(bytes);
    const handle_renaming names = world.all.merge(bytes);
    EXPECT_THAT(names.passed_over(),
                ElementsAre("waves", "index", "forts", "set", "map", "tree", "bags", "best"));
    EXPECT_EQ(world.cannons.size(), 1U);
}

TEST(merged_snapshot, leaves_nothing_of_what_fails) {
    plain_battery prefab(941, 942);
    fill_battery(prefab);
    const snapshot_bytes good = prefab.saved();
    prefab.forts.emplace(fortress{"cursed", prefab.best});
    const snapshot_bytes cursed = prefab.saved();

    plain_battery world(943, 944, 64);
    EXPECT_EQ(message_of<std::runtime_error>([&] { world.all.merge(cursed); }), "nobody enters here");
    EXPECT_TRUE(world.nothing_waits_or_lives());
    plain_battery full(945, 946, 64);
    while (full.forts.try_emplace(fortress{"full", {}})) {
    }
    EXPECT_THROW(full.all.merge(good), pool_exhausted);
    full.forts.clear();
    EXPECT_TRUE(full.nothing_waits_or_lives());
    snapshot_bytes damaged = good;
    damaged[good.size() / 2] ^= std::byte{1};
    EXPECT_THROW(world.all.merge(damaged, "damaged"), invalid_snapshot);
    EXPECT_TRUE(world.nothing_waits_or_lives());

    handle_set<cannon> loose;    // which keeps what it gets
    hierarchy<cannon> elsewhere; // which refuses cannons of another pool
    pool<cannon> others({.name = "others", .capacity = 10, .pool_id = 947});
    elsewhere.insert(others.emplace());
    snapshot wrong;
    wrong.add("cannons", world.cannons);
    wrong.add("set", loose);
    wrong.add("tree", elsewhere);
    EXPECT_EQ(
        message_of<std::invalid_argument>([&] { wrong.merge(good); }),
        "hierarchy: an object of the pool with id 943 can't be a member beside those of the pool with id "
        "947");
    EXPECT_EQ(elsewhere.size(), 1U);
    EXPECT_TRUE(loose.empty());
    EXPECT_TRUE(world.nothing_waits_or_lives());
    world.all.merge(good); // and then it works
    EXPECT_EQ(world.cannons.size(), 2U);
}

TEST(merged_snapshot, refuses_two_pools_with_one_id) {
    pool<cannon> some({.name = "some", .capacity = 10, .pool_id = 941});
    pool<cannon> others({.name = "others", .capacity = 10, .pool_id = 942});
    some.emplace(cannon{1, {}, {}});
    others.emplace(cannon{2, {}, {}});
    snapshot all;
    all.add("some", some);
    all.add("others", others);
    snapshot_bytes bytes;
    all.save(bytes);
    const detail::snapshot_blocks blocks(bytes, "a test");
    snapshot_bytes same;
    detail::snapshot_writer to(same);
    for (const detail::snapshot_block& each : blocks.all()) { // the pool of the first one, twice
        const detail::snapshot_block& written = blocks.all()[0];
        to.begin_block(each.kind, each.version, each.name, written.payload.size());
        to.bytes(written.payload.data(), written.payload.size());
        to.end_block();
    }
    to.finish();
    const std::size_t offset = detail::snapshot_blocks(same, "a test").find("others")->offset;
    EXPECT_EQ(
        message_of<invalid_snapshot>([&] { all.merge(same, "game"); }),
        "snapshot 'game', byte " + std::to_string(offset) +
            ", block 'others': the pool has id 941, and so has that of block 'some'; handles are of one "
            "of them");
    EXPECT_EQ(some.size() + others.size(), 2U);
    EXPECT_EQ(some.stats().slots_reserved + others.stats().slots_reserved, 0U);
}

/// Of a pool whose handles have another layout.
struct gunner {
    handle<gunner, script_layout> deputy;
    handle<cannon> at;
};
template <class Map>
void for_each_handle(gunner& each, Map& map) {
    map(each.deputy);
    map(each.at);
}

TEST(merged_snapshot, tells_pools_of_two_layouts_apart_that_have_one_id) {
    pool<cannon> cannons({.name = "cannons", .capacity = 10, .pool_id = 50});
    pool<gunner, with_layout<script_layout>> gunners({.name = "gunners", .capacity = 10, .pool_id = 50});
    const auto gun = cannons.emplace(cannon{8, {}, {}});
    const auto deputy = gunners.emplace(gunner{{}, gun});
    const auto first = gunners.emplace(gunner{deputy, gun});
    snapshot all;
    all.add("cannons", cannons);
    all.add("gunners", gunners);
    snapshot_bytes bytes;
    all.save(bytes);
    const handle_renaming names = all.merge(bytes, "game");
    const gunner* const again = gunners.find(names.find(first));
    ASSERT_NE(again, nullptr);
    EXPECT_NE(names.find(deputy), deputy);
    EXPECT_EQ(again->deputy, names.find(deputy));
    EXPECT_TRUE(gunners.contains(again->deputy));
    EXPECT_EQ(again->at, names.find(gun));
    EXPECT_TRUE(cannons.contains(again->at));
}

TEST(merged_snapshot, gives_no_key_that_another_object_has) {
    pool<fortress> forts({.name = "forts", .capacity = 10, .pool_id = 942});
    handle_index<fortress, std::string> names;
    names.attach(forts, [](const fortress& each) { return each.name; });
    const auto north = forts.emplace(fortress{"north", {}});
    snapshot all;
    all.add("forts", forts, fortress_archive());
    struct name_archive {
        void save(std::ostream& out, const std::string& saved) const { out << saved; }
        std::string load(std::istream& in) const { return {std::istreambuf_iterator<char>(in), {}}; }
    };
    all.add("names", names, name_archive());
    snapshot_bytes bytes;
    all.save(bytes);
    const auto again = all.merge(bytes).find(north);
    forts.compact();
    EXPECT_EQ(names.find("north"), north);
    EXPECT_EQ(names.key_of(again), nullptr);
    EXPECT_THAT(names.refused(), ElementsAre(again));
}

TEST(merged_snapshot, refuses_objects_that_it_can_not_look_into) {
    raw_pool<> raw({.name = "raw", .capacity = 10, .pool_id = 948}, {.size = 8, .alignment = 8});
    snapshot all;
    all.add("raw", raw);
    snapshot_bytes bytes;
    all.save(bytes);
    EXPECT_EQ(message_of<invalid_snapshot>([&] { all.merge(bytes, "game"); }),
              "snapshot 'game', byte 56, block 'raw': objects of raw pools, and such as can't be moved, "
              "can't be merged");
}

/// Random batteries, merged into one that has been used, against what is copied by hand.
TEST(merged_snapshot, is_a_copy_by_hand) {
    random_source random;
    const auto below = [&random](std::uint64_t end) { return random.bits() % end; };
    plain_battery from(941, 942);
    stable_battery to(943, 944);
    for (int round = 0; round != 30; ++round) {
        std::vector<handle<cannon>> cannons;
        std::vector<handle<fortress>> forts;
        const std::size_t count = 1 + below(30);
        for (std::size_t i = 0; i != count; ++i) {
            cannons.push_back(from.add(static_cast<std::uint32_t>(i)));
            forts.push_back(from.forts.emplace(fortress{std::string(1 + below(3), 'x'), {}}));
        }
        for (std::size_t i = 0; i != count; ++i) {
            from.cannons.find(cannons[i])->next = cannons[below(count)];
            from.cannons.find(cannons[i])->fort = forts[below(count)];
            from.forts.find(forts[i])->gate = cannons[below(count)];
            from.map.try_emplace(cannons[below(count)], forts[below(count)]);
            static_cast<void>(from.tree.try_set_parent(cannons[below(count)], cannons[below(count)]));
        }
        for (std::size_t i = 0; i != count / 4; ++i) {
            from.cannons.erase(cannons[below(count)]);
            from.forts.erase(forts[below(count)]);
        }
        const std::size_t lived = to.cannons.size();
        const handle_renaming names = to.all.merge(from.saved());
        ASSERT_EQ(to.cannons.size(), lived + from.cannons.size());
        const auto expect_same = [](auto found, auto before, const auto& there, auto now) {
            EXPECT_EQ(found, there.contains(before) ? now : decltype(now)());
        };
        for (const auto each : from.cannons.entries()) {
            const handle<cannon> now = names.find(each.handle);
            const cannon& copy = *to.cannons.find(now);
            ASSERT_EQ(copy.calibre, each.object.calibre);
            expect_same(copy.next, each.object.next, from.cannons, names.find(each.object.next));
            const auto fort = handle<fortress>::from_value(each.object.fort.value());
            expect_same(copy.fort, fort, from.forts, any_handle(names.find(fort)));
            ASSERT_EQ(to.set.contains(now), from.set.contains(each.handle));
            ASSERT_EQ(to.map.contains(now), from.map.contains(each.handle));
            if (from.map.contains(each.handle)) {
                EXPECT_EQ(to.map.at(now), names.find(from.map.at(each.handle)));
            }
            ASSERT_EQ(to.tree.contains(now), from.tree.contains(each.handle));
            ASSERT_EQ(to.tree.parent(now), names.find(from.tree.parent(each.handle)));
            std::vector<handle<cannon>> children;
            for (const auto child : from.tree.children(each.handle)) {
                children.push_back(names.find(child));
            }
            EXPECT_THAT(to.tree.children(now), testing::ElementsAreArray(children));
            EXPECT_EQ(to.bags.view(now).get<float>(range_path),
                      from.bags.view(each.handle).get<float>(range_path));
        }
        for (const auto each : from.forts.entries()) {
            const auto now = names.find(each.handle);
            EXPECT_EQ(to.forts.find(now)->name, each.object.name);
            expect_same(to.forts.find(now)->gate, each.object.gate, from.cannons,
                        names.find(each.object.gate));
            EXPECT_EQ(*to.index.key_of(now), each.object.name.size());
        }
        from.cannons.clear();
        from.forts.clear();
        from.cannons.compact();
        from.forts.compact();
        to.cannons.compact();
        to.forts.compact();
        if (to.cannons.size() > 500) {
            to.cannons.clear();
            to.forts.clear();
            to.cannons.compact();
            to.forts.compact();
        }
    }
}

TEST(merged_snapshot, keeps_the_order_in_which_objects_got_equal_keys) {
    pool<int> numbers({.name = "numbers", .capacity = 10, .pool_id = 945});
    handle_index<int, int> index(duplicate_keys::allow);
    const auto one = numbers.emplace(1);
    const auto other = numbers.emplace(2);
    index.insert(one, 1);
    index.insert(other, 7);
    index.rekey(one, 7);
    snapshot all;
    all.add("numbers", numbers);
    all.add("index", index);
    snapshot_bytes bytes;
    all.save(bytes);
    const auto names = all.merge(bytes);
    std::vector<handle<int>> found;
    for (const handle<int> each : index.find_all(7)) {
        found.push_back(each);
    }
    EXPECT_THAT(found, ElementsAre(other, one, names.find(other), names.find(one)));
}

struct moon {
    int size = 0;
};
struct planet {
    int size = 0;
};

// Of a hierarchy that was not attached, and so keeps nodes whose objects have ended.
TEST(merged_snapshot, makes_roots_of_nodes_whose_parents_have_ended) {
    snapshot_bytes prefab;
    handle<cannon> child;
    {
        pool<cannon> cannons({.name = "cannons", .capacity = 10});
        hierarchy<cannon> tree;
        const auto parent = cannons.emplace();
        child = cannons.emplace();
        tree.set_parent(child, parent);
        cannons.erase(parent);
        snapshot saved;
        saved.add("cannons", cannons);
        saved.add("tree", tree);
        saved.save(prefab);
    }
    pool<cannon> cannons({.name = "cannons", .capacity = 10});
    hierarchy<cannon> tree;
    tree.attach(cannons);
    snapshot world;
    world.add("cannons", cannons);
    world.add("tree", tree);
    const auto now = world.merge(prefab).find(child);
    EXPECT_TRUE(cannons.contains(now));
    EXPECT_EQ(std::vector(tree.roots().begin(), tree.roots().end()), std::vector{now});
}

TEST(merged_snapshot, gives_keys_that_are_handles_the_new_ones) {
    pool<planet> planets({.name = "planets", .capacity = 10, .pool_id = 946});
    pool<moon> moons({.name = "moons", .capacity = 10, .pool_id = 947});
    handle_index<moon, handle<planet>> by_planet;
    const auto centre = planets.emplace(planet{9});
    const auto satellite = moons.emplace(moon{1});
    by_planet.insert(satellite, centre);
    snapshot all;
    all.add("planets", planets);
    all.add("moons", moons);
    all.add("by planet", by_planet);
    snapshot_bytes bytes;
    all.save(bytes);
    const auto names = all.merge(bytes);
    EXPECT_EQ(by_planet.find(centre), satellite);
    EXPECT_EQ(by_planet.find(names.find(centre)), names.find(satellite));
}

} // namespace
} // namespace handlepool::test
