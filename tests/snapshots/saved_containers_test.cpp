// SPDX-License-Identifier: MIT

// Containers in snapshots: what they get, and what they refuse.

#include <handlepool/detail/text/message.hpp>
#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/property_store.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/stable_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/snapshots/made_snapshot.hpp>
#include <tests/support/message_of.hpp>

#include <cstddef>
#include <cstdint>
#include <istream>
#include <iterator>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct boat {
    std::uint32_t crew = 0;
};
using boat_handle = handle<boat>;

struct string_archive {
    void save(std::ostream& out, const std::string& saved) const { out << saved; }
    std::string load(std::istream& in) const {
        return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    }
};
/// Two keys that are hashed alike, wherever.
struct alike_hash {
    std::size_t operator()(std::uint32_t) const noexcept { return 1; }
};

constexpr property_path speed("speed");

class saved_containers : public testing::Test {
protected:
    using boats_type = pool<boat>;
    using number_index = handle_index<boat, std::uint32_t, default_layout, alike_hash>;

    saved_containers() {
        add(all_);
        for (std::uint32_t i = 0; i != 5; ++i) {
            boat_[i] = boats_->emplace(boat{i});
        }
        boats_->compact();
        attach();
        fill();
    }

    void attach() {
        set_.attach(*boats_);
        map_.attach(*boats_);
        words_.attach(*boats_);
        numbers_.attach(*boats_, [](const boat& each) { return each.crew / 2; });
        names_.attach(*boats_, [](const boat& each) { return "boat " + std::to_string(each.crew); });
        tree_.attach(*boats_);
        store_.attach(*boats_);
    }
    void fill() {
        for (const std::size_t i : {3U, 1U, 4U}) {
            set_.insert(boat_[i]);
            map_.try_emplace(boat_[i], boat{static_cast<std::uint32_t>(10 * i)});
            words_.try_emplace(boat_[i], std::to_string(i));
            store_.set(boat_[i], speed, static_cast<float>(i));
        }
        set_.erase(boat_[3]); // another one takes its place
        names_.rekey(boat_[2], "flagship");
        names_.erase(boat_[4]);
        numbers_.rekey(boat_[0], 7);
        numbers_.rekey(boat_[0], 0); // behind the other one that has it
        tree_.set_parent(boat_[1], boat_[3]);
        tree_.set_parent(boat_[2], boat_[3]);
        tree_.set_parent(boat_[4], boat_[3]);
        tree_.clear_parent(boat_[1]);
        tree_.set_parent(boat_[0], boat_[4]);
    }
    void add(snapshot& to) {
        to.add("set", set_);
        to.add("map", map_);
        to.add("words", words_, string_archive());
        to.add("numbers", numbers_);
        to.add("names", names_, string_archive());
        to.add("tree", tree_);
        to.add("store", store_);
        to.add("boats", *boats_);
    }
    snapshot_bytes saved() {
        snapshot_bytes bytes;
        all_.save(bytes);
        return bytes;
    }
    void expect_as_filled() {
        EXPECT_THAT(set_.handles(), ElementsAre(boat_[4], boat_[1]));
        EXPECT_THAT(map_.handles(), ElementsAre(boat_[3], boat_[1], boat_[4]));
        EXPECT_EQ(map_.at(boat_[4]).crew, 40U);
        EXPECT_THAT(words_.values(), ElementsAre("3", "1", "4"));
        EXPECT_THAT(numbers_.handles(), ElementsAre(boat_[0], boat_[1], boat_[2], boat_[3], boat_[4]));
        EXPECT_THAT(handles_of(numbers_.find_all(0)), ElementsAre(boat_[1], boat_[0]));
        EXPECT_THAT(handles_of(numbers_.find_all(1)), ElementsAre(boat_[2], boat_[3]));
        EXPECT_THAT(handles_of(numbers_.find_all(2)), ElementsAre(boat_[4]));
        EXPECT_EQ(names_.find("flagship"), boat_[2]);
        EXPECT_EQ(names_.find("boat 3"), boat_[3]);
        EXPECT_FALSE(names_.contains(boat_[4]));
        EXPECT_EQ(names_.handles().size(), 4U);
        EXPECT_THAT(tree_.roots(), ElementsAre(boat_[3], boat_[1]));
        EXPECT_THAT(tree_.children(boat_[3]), ElementsAre(boat_[4], boat_[2]));
        EXPECT_THAT(tree_.children(boat_[4]), ElementsAre(boat_[0]));
        EXPECT_EQ(tree_.parent(boat_[0]), boat_[4]);
        EXPECT_EQ(tree_.place(boat_[2]), 1U);
        EXPECT_EQ(tree_.size(), 5U);
        EXPECT_EQ(store_.size(), 3U);
        EXPECT_EQ(store_.view(boat_[4]).get<float>(speed), 4.0F);
        EXPECT_TRUE(set_.attached() && map_.attached() && words_.attached() && numbers_.attached() &&
                    names_.attached() && tree_.attached() && store_.attached());
    }
    template <class Range>
    static std::vector<boat_handle> handles_of(const Range& range) {
        return {range.begin(), range.end()};
    }
    /// Their payloads, by their names.
    static std::map<std::string, snapshot_bytes> containers_in(const snapshot_bytes& bytes) {
        const detail::snapshot_blocks blocks(bytes, "saved");
        std::map<std::string, snapshot_bytes> found;
        for (const detail::snapshot_block& each : blocks.all()) {
            if (each.kind == detail::block_kind::container) {
                found.emplace(each.name, snapshot_bytes(each.payload.begin(), each.payload.end()));
            }
        }
        return found;
    }
    static std::string name_of(boat_handle boat) {
        return detail::name_of_handle(boat.index(), boat.generation());
    }
    template <class Container>
    static std::string refusal_of(Container& here, const snapshot_bytes& bytes) {
        snapshot one;
        one.add("it", here);
        return message_of<invalid_snapshot>([&] { one.load(bytes, "game"); });
    }
    template <class Container>
    static snapshot_bytes saved_alone(Container& it) {
        snapshot one;
        one.add("it", it);
        snapshot_bytes bytes;
        one.save(bytes);
        return bytes;
    }

    std::unique_ptr<boats_type> boats_ =
        std::make_unique<boats_type>(pool_options{.name = "boats", .capacity = 100, .pool_id = 911});
    boat_handle boat_[5];
    handle_set<boat> set_;
    handle_map<boat, boat> map_;
    handle_map<boat, std::string> words_;
    number_index numbers_{duplicate_keys::allow};
    handle_index<boat, std::string> names_;
    hierarchy<boat> tree_{orphans::are_erased};
    property_store<boat> store_;
    snapshot all_;
};

TEST_F(saved_containers, have_what_they_had) {
    expect_as_filled();
    const snapshot_bytes bytes = saved();
    boats_->erase(boat_[3]);
    boats_->compact();
    EXPECT_EQ(boats_->size(), 4U - 3U); // with all below it
    boats_->emplace(boat{9});
    boats_->compact();
    all_.load(bytes);
    expect_as_filled();
    EXPECT_THAT(names_.refused(), IsEmpty());
    EXPECT_EQ(containers_in(saved()), containers_in(bytes));

    boats_->erase(boat_[3]); // they follow their pool
    boats_->compact();
    boats_->compact(); // the others of its tree
    EXPECT_THAT(set_.handles(), ElementsAre(boat_[1]));
    EXPECT_THAT(tree_.roots(), ElementsAre(boat_[1]));
    EXPECT_EQ(store_.size(), 1U);
    all_.load(bytes);
    expect_as_filled();
}

TEST_F(saved_containers, have_it_in_another_process) {
    const snapshot_bytes bytes = saved();
    boats_.reset();
    boats_ = std::make_unique<boats_type>(pool_options{.name = "boats", .capacity = 100, .pool_id = 911});
    set_ = {};
    map_ = {};
    words_ = {};
    numbers_ = number_index();
    names_ = handle_index<boat, std::string>();
    tree_ = hierarchy<boat>();
    store_ = property_store<boat>();
    attach();
    snapshot all;
    add(all);
    EXPECT_THAT(all.load(bytes), IsEmpty());
    expect_as_filled();
    snapshot_bytes again;
    all.save(again);
    EXPECT_EQ(containers_in(again), containers_in(bytes));
}

TEST_F(saved_containers, are_saved_when_hooks_have_done_their_work) {
    stable_pool<boat> harbours({.name = "harbours", .capacity = 10, .pool_id = 912});
    const auto harbour = harbours.emplace();
    const scoped_hook builds = harbours.on_destroy([&](auto, boat&) { // when the boats have been looked at
        set_.insert(boats_->emplace(boat{99}));
    });
    snapshot both;
    add(both);
    both.add("harbours", harbours);
    harbours.erase(harbour);
    snapshot_bytes bytes;
    both.save(bytes);
    EXPECT_THAT(both.load(bytes), IsEmpty());
    EXPECT_EQ(set_.size(), 3U);
    EXPECT_EQ(boats_->size(), 6U);
}

TEST_F(saved_containers, lack_those_that_hooks_end_during_the_load) {
    stable_pool<boat> harbours({.name = "harbours", .capacity = 10, .pool_id = 912});
    harbours.emplace();
    snapshot some; // and not the boats
    some.add("set", set_);
    some.add("map", map_);
    some.add("tree", tree_);
    some.add("store", store_);
    some.add("harbours", harbours);
    snapshot_bytes bytes;
    some.save(bytes);
    const scoped_hook sinks = harbours.on_destroy([&](auto, boat&) { boats_->erase(boat_[4]); });
    some.load(bytes);
    EXPECT_THAT(set_.handles(), ElementsAre(boat_[1]));
    EXPECT_THAT(map_.handles(), ElementsAre(boat_[3], boat_[1]));
    EXPECT_THAT(tree_.children(boat_[3]), ElementsAre(boat_[2]));
    EXPECT_FALSE(tree_.contains(boat_[4]));
    EXPECT_FALSE(store_.contains(boat_[4]));
    EXPECT_EQ(store_.size(), 2U);
}

TEST_F(saved_containers, without_an_attachment_have_any_members) {
    handle_set<boat> loose;
    loose.insert(boat_[1]);
    loose.insert(boat_[0]);
    boats_->erase(boat_[0]);
    boats_->compact();
    const snapshot_bytes bytes = saved_alone(loose);
    loose.clear();
    snapshot one;
    one.add("it", loose);
    one.load(bytes);
    EXPECT_THAT(loose.handles(), ElementsAre(boat_[1], boat_[0]));

    handle_set<boat> tight;
    tight.attach(*boats_);
    EXPECT_EQ(refusal_of(tight, bytes), "snapshot 'game', byte 88, block 'it': member 1, " +
                                            name_of(boat_[0]) +
                                            ", is not alive in the pool to which the container is attached");
    EXPECT_THAT(tight.handles(), IsEmpty());
}

TEST_F(saved_containers, refuse_members_that_will_not_live) {
    const snapshot_bytes bytes = saved();
    handle_set<boat> loose = set_;
    const boat_handle late = boats_->emplace(boat{5});
    boats_->compact();
    loose.insert(late);
    const snapshot_bytes with_late = saved_alone(loose);
    // The pool of the first, and the container of the second.
    snapshot_bytes mixed;
    detail::snapshot_writer to(mixed);
    const detail::snapshot_blocks first(bytes, "first");
    const detail::snapshot_blocks second(with_late, "second");
    const auto copy = [&to](const detail::snapshot_block& block, const char* name) {
        to.begin_block(block.kind, block.version, name, block.payload.size());
        to.bytes(block.payload.data(), block.payload.size());
        to.end_block();
    };
    copy(*second.find("it"), "set");
    copy(*first.find("boats"), "boats");
    to.finish();
    snapshot some;
    some.add("set", set_);
    some.add("boats", *boats_);
    EXPECT_EQ(message_of<invalid_snapshot>([&] { some.load(mixed, "game"); }),
              "snapshot 'game', byte 96, block 'set': member 2, " + name_of(late) +
                  ", is not alive in the pool that comes with it");
    EXPECT_EQ(boats_->size(), 6U);

    pool<boat> others({.name = "others", .capacity = 10, .pool_id = 913});
    handle_set<boat> elsewhere;
    elsewhere.attach(others);
    EXPECT_EQ(refusal_of(elsewhere, with_late),
              "snapshot 'game', byte 80, block 'it': member 0, " + name_of(boat_[4]) +
                  ", is of the pool with id 911; here the container is attached to that with id 913");
    property_store<boat> properties;
    properties.attach(others);
    EXPECT_EQ(refusal_of(properties, saved_alone(store_)),
              "snapshot 'game', byte 64, block 'it': bag 0, " + name_of(boat_[1]) +
                  ", is of the pool with id 911; here the container is attached to that with id 913");
}

/// Which then is no sign of it.
TEST(saved_containers_of_layouts, may_be_of_pools_with_the_same_id) {
    using small_layout = handle_layout<16, 12, 4>;
    pool<int, with_layout<small_layout>> small({.name = "small", .capacity = 10, .pool_id = 7});
    pool<int> large({.name = "large", .capacity = 10, .pool_id = 7});
    handle_set<int> set;
    hierarchy<int> tree(orphans::are_erased);
    property_store<int> bags;
    set.attach(large);
    tree.attach(large);
    bags.attach(large);
    snapshot all;
    all.add("small", small);
    all.add("large", large);
    all.add("set", set);
    all.add("tree", tree);
    all.add("bags", bags);
    large.erase(large.emplace(0));
    large.compact();
    const auto parent = large.emplace(1);
    const auto child = large.emplace(2);
    set.insert(parent);
    tree.set_parent(child, parent);
    bags.set(child, property_path("mass"), 2.0F);
    snapshot_bytes bytes;
    all.save(bytes);
    small.emplace(3);
    large.clear();
    EXPECT_EQ(all.load(bytes), std::vector<std::string>());
    EXPECT_EQ(small.size(), 0U);
    EXPECT_EQ(large.size(), 2U);
    EXPECT_TRUE(set.contains(parent) && tree.parent(child) == parent && bags.contains(child));

    small.emplace(3);
    snapshot_bytes both;
    all.save(both);
    const handle_renaming names = all.merge(both);
    std::vector<int> merged;
    names.for_each(large, [&](handle<int>, handle<int> now) { merged.push_back(*large.find(now)); });
    EXPECT_EQ(merged, (std::vector<int>{1, 2}));
    EXPECT_EQ(names.size(), 3U);
}

TEST_F(saved_containers, refuse_another_container_or_type) {
    handle_map<boat, std::uint32_t> numbers;
    hierarchy<boat> tree;
    handle_set<boat, script_layout> narrow;
    EXPECT_EQ(refusal_of(tree, saved_alone(set_)),
              "snapshot 'game', byte 60, block 'it': the container is a handle_set; here it is a hierarchy");
    EXPECT_EQ(
        refusal_of(store_, saved_alone(tree_)),
        "snapshot 'game', byte 60, block 'it': the container is a hierarchy; here it is a property_store");
    snapshot words;
    words.add("it", words_, string_archive());
    EXPECT_EQ(
        message_of<invalid_snapshot>([&] { words.load(saved_alone(map_), "game"); }),
        "snapshot 'game', byte 104, block 'it': the type of values has 4 bytes, alignment 4, version 0; "
        "here it has an archive, version 0");
    EXPECT_THAT(refusal_of(narrow, saved_alone(set_)),
                testing::StartsWith("snapshot 'game', byte 56, block"));
    expect_as_filled();
}

TEST_F(saved_containers, refuse_relations_that_are_none) {
    const snapshot_bytes good = saved_alone(tree_);
    const std::size_t payload = detail::snapshot_blocks(good, "good").find("it")->offset;
    const std::size_t parents = payload + detail::saved_container::bytes + 5 * 8;
    const std::size_t places = parents + 5 * 4;
    const auto refusal_with = [&](std::size_t at, std::uint32_t number) {
        snapshot_bytes bytes = good;
        put(bytes, at, number);
        put_hash(bytes, places + 5 * 4, std::span(bytes).subspan(payload, places + 5 * 4 - payload));
        return refusal_of(tree_, bytes);
    };
    ASSERT_THAT(tree_.handles(), ElementsAre(boat_[3], boat_[1], boat_[2], boat_[4], boat_[0]));
    EXPECT_EQ(refusal_with(parents, 5), // which is a grandchild
              "snapshot 'game', byte 120, block 'it': node 0, " + name_of(boat_[3]) + ", is below itself");
    EXPECT_EQ(refusal_with(parents + 8, 6), "snapshot 'game', byte 128, block 'it': node 2, " +
                                                name_of(boat_[2]) + ", has the parent 6; allowed are 0 to 5");
    EXPECT_EQ(refusal_with(places + 8, 0), "snapshot 'game', byte 152, block 'it': node 3, " +
                                               name_of(boat_[4]) +
                                               ", has place 0 among 2, as another one has");
    EXPECT_EQ(refusal_with(places + 16, 1), "snapshot 'game', byte 156, block 'it': node 4, " +
                                                name_of(boat_[0]) + ", has place 1 among 1");
    expect_as_filled();
}

TEST_F(saved_containers, refuse_keys_that_are_equal) {
    handle_index<boat, std::uint32_t> unique;
    unique.insert(boat_[0], 7);
    unique.insert(boat_[1], 8);
    snapshot_bytes bytes = saved_alone(unique);
    const std::size_t payload = detail::snapshot_blocks(bytes, "good").find("it")->offset;
    const auto header =
        detail::bytes_of({.name = {}, .type = detail::saved_type_of<std::uint32_t, detail::no_archive>()});
    const std::size_t size =
        detail::saved_container::bytes + 2 * 8 + static_cast<std::size_t>(header) + 2 * 4;
    put(bytes, payload + size - 4, std::uint32_t{7});
    put_hash(bytes, payload + (size + 7) / 8 * 8, std::span(bytes).subspan(payload, size));
    EXPECT_EQ(refusal_of(unique, bytes), "snapshot 'game', byte 139, block 'it': key 1 is that of a member "
                                         "before, and the index has none twice");
    EXPECT_EQ(unique.find(8), boat_[1]);
}

/// Each bit of the payloads, with the right hash.
TEST_F(saved_containers, take_no_payload_for_right_that_is_not) {
    const snapshot_bytes good = saved();
    std::size_t refused = 0;
    std::size_t taken = 0;
    const detail::snapshot_blocks blocks(good, "good");
    for (const detail::snapshot_block& block : blocks.all()) {
        if (block.kind != detail::block_kind::container) {
            continue;
        }
        for (std::size_t bit = 0; bit != 8 * block.payload.size(); ++bit) {
            snapshot_bytes bytes = good;
            bytes[block.offset + bit / 8] ^= std::byte{1} << (bit % 8);
            const std::size_t padded = (block.payload.size() + 7) / 8 * 8;
            put_hash(bytes, block.offset + padded,
                     std::span(bytes).subspan(block.offset, block.payload.size()));
            try {
                all_.load(bytes, "flipped");
                ++taken;                       // another value, key, option or order
                if (block.name != "numbers") { // where the order of keys that are equal no more means nothing
                    EXPECT_EQ(containers_in(saved()), containers_in(bytes)) << block.name << " bit " << bit;
                }
                boats_->erase(boat_[4]);
                boats_->compact();
                all_.load(good);
            } catch (const invalid_snapshot& error) {
                ++refused;
                EXPECT_THAT(error.what(), testing::StartsWith("snapshot 'flipped', byte "));
            }
            ASSERT_NO_FATAL_FAILURE(expect_as_filled());
        }
    }
    EXPECT_GT(refused, 4 * taken);
    EXPECT_GT(taken, 0U);
}

} // namespace
} // namespace handlepool::test
