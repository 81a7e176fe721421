// SPDX-License-Identifier: MIT

// Deltas of a whole world: several pools with hooks, what is attached to them, and merges.

#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/error.hpp>
#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/property_store.hpp>
#include <handlepool/snapshots/delta_recorder.hpp>
#include <handlepool/snapshots/replay.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/time/change_log.hpp>

#include <gtest/gtest.h>
#include <tests/support/message_of.hpp>
#include <tests/support/random.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <iterator>
#include <map>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

struct cart_driver;
struct cart {
    std::uint32_t load = 0;
    handle<cart_driver> driver;
};
struct cart_driver {
    std::uint32_t age = 0;
    handle<cart> drives;
};
template <class Map>
void for_each_handle(cart& each, Map& map) {
    map(each.driver);
}
template <class Map>
void for_each_handle(cart_driver& each, Map& map) {
    map(each.drives);
}
struct word_archive {
    void save(std::ostream& out, const std::string& saved) const { out << saved; }
    std::string load(std::istream& in) const {
        return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    }
};

constexpr property_path tolls("tolls");

/// Two pools, what is attached to them, a snapshot of all and a recorder of the same.
class road {
public:
    /// Containers first: a delta has the frame's end of all pools, whatever the order.
    explicit road(std::uint32_t first_id = 1)
        : carts_({.name = "carts", .capacity = 600, .pool_id = first_id}),
          drivers_({.name = "drivers", .capacity = 600, .pool_id = first_id + 1}) {
        full_.attach(carts_);
        tree_.attach(carts_);
        tolls_.attach(carts_);
        titles_.attach(drivers_);
        by_age_.attach(drivers_, [](const cart_driver& each) { return each.age % 16; });
        add_attached(all_);
        all_.add("carts", carts_);
        all_.add("drivers", drivers_);
        add_attached(recorder_);
        recorder_.add("carts", cart_log_);
        recorder_.add("drivers", driver_log_);
    }

    std::vector<std::byte> save() {
        std::vector<std::byte> bytes;
        all_.save(bytes);
        return bytes;
    }
    std::vector<std::byte> append(std::uint64_t frame) {
        std::vector<std::byte> bytes;
        recorder_.append(frame, bytes);
        return bytes;
    }

    void play(random_source& random) {
        for (std::uint64_t i = random.below(5); i != 0; --i) {
            const auto driver =
                drivers_.emplace(cart_driver{static_cast<std::uint32_t>(random.below(60)), {}});
            const auto made = carts_.emplace(cart{static_cast<std::uint32_t>(random.below(9)), driver});
            driver_log_.edit(driver)->drives = made;
            if (random.one_in(2)) {
                full_.insert(made);
                titles_.try_emplace(driver, "no. " + std::to_string(made.value() % 1'000));
            }
            if (random.one_in(2)) {
                tolls_.set(made, tolls, static_cast<float>(random.below(100)));
            }
            if (const auto parent = any(random, carts_); parent && random.one_in(2)) {
                tree_.try_set_parent(made, parent);
            }
        }
        for (std::uint64_t i = random.below(4); i != 0; --i) {
            if (auto* const edited = cart_log_.edit(any(random, carts_))) {
                ++edited->load;
            }
            full_.erase(any(random, carts_));
            tree_.clear_parent(any(random, carts_));
        }
        for (std::uint64_t i = random.below(4); i != 0; --i) {
            carts_.erase(any(random, carts_));
            drivers_.erase(any(random, drivers_));
        }
    }

    pool<cart>& carts() { return carts_; }
    stable_pool<cart_driver>& drivers() { return drivers_; }
    handle_set<cart>& full() { return full_; }
    snapshot& all() { return all_; }
    delta_recorder& recorder() { return recorder_; }

    template <class Pool>
    static typename Pool::handle_type any(random_source& random, Pool& pool) {
        std::vector<typename Pool::handle_type> handles;
        for (const auto each : pool.entries()) {
            if (pool.contains(each.handle)) { // not erased in this frame
                handles.push_back(each.handle);
            }
        }
        return handles.empty() ? typename Pool::handle_type()
                               : handles[static_cast<std::size_t>(random.below(handles.size()))];
    }

private:
    template <class To>
    void add_attached(To& to) {
        to.add("full", full_);
        to.add("tree", tree_);
        to.add("titles", titles_, word_archive());
        to.add("by age", by_age_);
        to.add("tolls", tolls_);
    }

    pool<cart> carts_;
    stable_pool<cart_driver> drivers_;
    handle_set<cart> full_;
    hierarchy<cart> tree_;
    handle_map<cart_driver, std::string> titles_;
    handle_index<cart_driver, std::uint32_t> by_age_;
    property_store<cart> tolls_;
    change_log<pool<cart>> cart_log_{carts_};
    change_log<stable_pool<cart_driver>> driver_log_{drivers_};
    snapshot all_;
    delta_recorder recorder_;
};

using named_payloads = std::map<std::string, std::vector<std::byte>>;

/// What a snapshot has, but for how many frames its pools have had: a save after a delta ends another one.
named_payloads contents_of(const std::vector<std::byte>& bytes) {
    constexpr std::ptrdiff_t turns = 48; // in the payload of a pool
    const detail::snapshot_blocks blocks(bytes, "a test");
    named_payloads all;
    for (const detail::snapshot_block& block : blocks.all()) {
        std::vector<std::byte> payload(block.payload.begin(), block.payload.end());
        if (block.kind == detail::block_kind::pool) {
            std::fill_n(payload.begin() + turns, 8, std::byte());
        }
        all.emplace(block.name, std::move(payload));
    }
    return all;
}
std::vector<std::byte> saved_now(const replay& past) {
    std::vector<std::byte> bytes;
    past.save(bytes);
    return bytes;
}

TEST(recorded_world, has_its_containers_at_each_frame) {
    random_source random;
    road here;
    here.play(random);
    replay past(here.save(), 0);
    here.recorder().begin(0);
    for (std::uint64_t frame = 1; frame != 200; ++frame) {
        here.play(random);
        past.apply(here.append(frame));
        ASSERT_EQ(contents_of(saved_now(past)), contents_of(here.save())) << "frame " << frame;
        if (random.one_in(20)) {
            here.all().load(saved_now(past));
            ASSERT_EQ(contents_of(saved_now(past)), contents_of(here.save())) << "frame " << frame;
        }
    }
}

TEST(recorded_world, has_merged_objects_whenever_they_come) {
    random_source random;
    std::vector<std::byte> prefab;
    {
        road workshop(7);
        workshop.play(random);
        workshop.play(random);
        prefab = workshop.save();
    }
    road here;
    replay past(here.save(), 0);
    here.recorder().begin(0);
    for (std::uint64_t frame = 1; frame != 40; ++frame) {
        here.play(random);
        const handle_renaming names = here.all().merge(prefab);
        if (random.one_in(2)) { // and end before the delta
            names.for_each(here.carts(), [&](auto, auto now) { here.carts().erase(now); });
        }
        here.play(random);
        if (random.one_in(3)) { // which ends the frame before
            here.save();
        }
        past.apply(here.append(frame));
        ASSERT_EQ(contents_of(saved_now(past)), contents_of(here.save())) << "frame " << frame;
    }
}

TEST(recorded_world, is_of_one_moment_whatever_hooks_do_in_other_pools) {
    road here;
    // The pool of carts comes first, and so does its end of the frame.
    const scoped_hook falls = here.drivers().on_destroy([&](auto, const cart_driver& each) {
        here.carts().erase(each.drives);
        here.full().insert(here.carts().emplace(cart{77, {}}));
    });
    const auto driver = here.drivers().emplace(cart_driver{40, {}});
    here.drivers().find(driver)->drives = here.carts().emplace(cart{5, driver});
    here.full().insert(here.drivers().find(driver)->drives);
    replay past(here.save(), 0);
    here.recorder().begin(0);
    here.drivers().erase(driver);
    past.apply(here.append(1));
    here.all().load(saved_now(past));
    ASSERT_EQ(here.carts().items().size(), 1U);
    EXPECT_EQ(here.carts().items()[0].load, 77U);
    EXPECT_EQ(here.full().size(), 1U);
    EXPECT_EQ(here.drivers().size(), 0U);
}

TEST(recorded_world, refuses_a_frame_that_does_not_end_and_tells_of_it_in_the_next_one) {
    road here;
    bool endless = false;
    const scoped_hook first = here.drivers().on_destroy([&](auto, const cart_driver&) {
        if (endless) {
            here.carts().erase(here.carts().emplace(cart{}));
        }
    });
    const scoped_hook second = here.carts().on_destroy([&](auto, const cart&) {
        if (endless) {
            here.drivers().erase(here.drivers().emplace(cart_driver{}));
        }
    });
    const auto driver = here.drivers().emplace(cart_driver{40, {}});
    replay past(here.save(), 0);
    here.recorder().begin(0);

    here.drivers().erase(driver);
    endless = true;
    std::vector<std::byte> delta(3);
    const std::string problem =
        "delta_recorder: hooks create or erase objects again and again at the end of a frame";
    EXPECT_EQ(message_of<compaction_conflict>([&] { here.recorder().append(1, delta); }), problem);
    EXPECT_EQ(delta.size(), 3U);
    EXPECT_EQ(here.recorder().frame(), 0U);

    endless = false;
    here.full().insert(here.carts().emplace(cart{6, {}})); // nobody is kept away
    past.apply(here.append(2));
    EXPECT_EQ(contents_of(saved_now(past)), contents_of(here.save()));

    here.carts().erase(here.carts().emplace(cart{7, {}}));
    endless = true;
    EXPECT_EQ(message_of<compaction_conflict>([&] { here.recorder().begin(3); }), problem);
    EXPECT_EQ(here.recorder().frame(), std::nullopt);
    endless = false;
    here.carts().emplace(cart{8, {}});
}

TEST(recorded_world, needs_the_containers_of_its_snapshot) {
    road here;
    change_log log(here.carts());
    delta_recorder pools_alone;
    pools_alone.add("carts", log);
    const auto ended = here.carts().emplace(cart{5, {}});
    here.full().insert(ended);
    replay past(here.save(), 0);
    pools_alone.begin(0);
    here.carts().erase(ended);
    std::vector<std::byte> delta;
    pools_alone.append(1, delta);
    past.apply(delta);
    EXPECT_EQ(message_of<invalid_snapshot>([&] { here.all().load(saved_now(past)); }),
              "snapshot 'in memory', byte 80, block 'full': member 0, " +
                  detail::name_of_handle(ended.index(), ended.generation()) +
                  ", is not alive in the pool that comes with it");
}

TEST(delta_recorder, refuses_containers_under_names_that_are_taken) {
    handle_set<cart> set;
    property_store<cart> store;
    delta_recorder recorder;
    recorder.add("full", set);
    const std::string problem = "delta_recorder, 'full': something has been added under this name already";
    EXPECT_EQ(message_of<std::invalid_argument>([&] { recorder.add("full", set); }), problem);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { recorder.add("full", store); }), problem);
}

} // namespace
} // namespace handlepool::test
