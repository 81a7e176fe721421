// SPDX-License-Identifier: MIT

// Random operations of every kind on pools of each placement and on a container of each kind, and a replica
// that follows them: at each frame each handle that was ever made is in the same state, and the objects and
// all that the containers have are the same in the same order. After a last frame both do the same, and the
// replica gives the handles that the origin has given.

#include "followed_world.hpp"

#include <handlepool/handle_set.hpp>
#include <handlepool/snapshots/replica.hpp>

#include <gtest/gtest.h>
#include <tests/support/random.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

template <class Case>
class replica_oracle : public testing::Test {
protected:
    void TearDown() override { EXPECT_EQ(counted_object::living, 0) << "each destructor runs once"; }

    using handle_type = typename Case::handle_type;
    using world_type = followed_world<Case>;
    using state_list = std::vector<std::pair<handle_state, std::uint64_t>>;
    using object_list = std::vector<std::pair<handle_type, std::uint64_t>>;

    /// What the origin was when a frame ended.
    struct told_frame {
        std::vector<std::byte> delta;
        std::vector<handle_type> ever;
        state_list states;
        object_list objects;
        std::string contents;
    };

    /// Both have the same pool id, one after the other.
    static pool_options options() {
        pool_options both = Case::options();
        both.pool_id = Case::is_dense ? 87 : 88;
        return both;
    }

    /// The life of an origin, up to its end.
    void live(random_source& random) {
        const auto origin = std::make_unique<world_type>(8, options());
        origin->play(random.bits(), 300);
        origin->play_with_containers(random.bits(), 100);
        origin->prune();
        snapshot_ = origin->save();
        origin->recorder().begin(0);
        ever_ = origin->ever();
        frames_.clear();
        for (std::uint64_t frame = 1, last = 1 + random.below(60); frame <= last; ++frame) {
            origin->play(random.bits(), static_cast<int>(random.below(random.one_in(8) ? 300 : 40)));
            origin->play_with_containers(random.bits(), static_cast<int>(random.below(40)));
            origin->prune();
            std::vector<std::byte> delta = origin->append(frame);
            frames_.push_back({std::move(delta), origin->ever(), origin->states(origin->ever()),
                               origin->objects(), origin->contents()});
        }
        future_ = random.bits();
        next_id_ = origin->next_id();
        origin->do_only_what_follows_from_a_snapshot();
        origin->play(future_, 300);
        origin->play_with_containers(future_, 100);
        handles_then_ = origin->ever();
        states_then_ = origin->states(handles_then_);
        calls_then_ = origin->calls();
        contents_then_ = origin->contents();
    }

    /// Follows it, and takes over.
    void follow() {
        world_type world(64, options());
        replica follower;
        world.add_to(follower);
        ASSERT_EQ(follower.load(snapshot_, 0), std::vector<std::string>());
        for (std::size_t i = 0; i != frames_.size(); ++i) {
            const told_frame& told = frames_[i];
            const std::uint64_t seen = world.log().frame();
            const object_list before = world.objects();
            handle_set<typename Case::object_type> members;
            members.attach(world.pool());
            for (const auto& [handle, value] : before) {
                members.insert(handle);
            }
            follower.apply(told.delta);
            ASSERT_EQ(follower.frame(), i + 1);
            ASSERT_EQ(world.states(told.ever), told.states) << "frame " << i + 1;
            ASSERT_EQ(world.objects(), told.objects) << "frame " << i + 1;
            ASSERT_EQ(world.pool().size(), told.objects.size());
            ASSERT_EQ(world.contents(), told.contents) << "frame " << i + 1;
            check_records(world, seen, before, members);
        }
        follower.take_over();
        world.ever() = frames_.back().ever;
        world.next_id() = next_id_;
        world.do_only_what_follows_from_a_snapshot();
        world.play(future_, 300);
        world.play_with_containers(future_, 100);
        ASSERT_EQ(world.ever(), handles_then_);
        ASSERT_EQ(world.states(handles_then_), states_then_);
        ASSERT_EQ(world.calls(), calls_then_);
        ASSERT_EQ(world.contents(), contents_then_);
    }

private:
    /// The records of a log that is attached here lead from the objects before to those after.
    void check_records(world_type& world, std::uint64_t seen, const object_list& before,
                       handle_set<typename Case::object_type>& members) {
        std::map<handle_type, bool> living; // and whether it was told as edited
        for (const auto& [handle, value] : before) {
            living[handle] = false;
        }
        const auto records = world.log().changes_since(seen);
        ASSERT_TRUE(records);
        for (const auto& record : *records) {
            for (const auto& each : record.destroyed) {
                ASSERT_EQ(living.erase(each.handle), 1U);
            }
            for (const auto& each : record.renamed) {
                ASSERT_EQ(living.erase(each.before), 1U);
                members.erase(each.before); // as with any revoke
                living[each.after] = false;
            }
            for (const auto& each : record.born) {
                ASSERT_TRUE(living.emplace(each.handle, true).second);
            }
            for (const auto& each : record.edited) {
                living.at(each.handle) = true;
            }
        }
        for (const handle_type each : members) {
            ASSERT_TRUE(world.pool().contains(each));
        }
        const std::map<handle_type, std::uint64_t> values(before.begin(), before.end());
        const object_list now = world.objects();
        ASSERT_EQ(living.size(), now.size());
        for (const auto& [handle, value] : now) {
            ASSERT_TRUE(living.contains(handle));
            if (const auto found = values.find(handle); found != values.end() && found->second != value) {
                ASSERT_TRUE(living.at(handle)) << "changed, and not told";
            }
        }
    }

    std::vector<std::byte> snapshot_;
    std::vector<handle_type> ever_;
    std::vector<told_frame> frames_;
    std::uint64_t future_ = 0;
    std::uint64_t next_id_ = 0;
    std::vector<handle_type> handles_then_;
    state_list states_then_;
    std::uint64_t calls_then_ = 0;
    std::string contents_then_;
};

// Of few generations, none are left for another pool of that id.
using followed_cases = testing::Types<
    told_case<told_number, default_traits>, told_case<told_number, with_policy<told_blocks>, true, 5>,
    told_case<told_text, with_policy<told_blocks>>, told_case<told_text, with_policy<told_blocks>, true>,
    told_case<told_number, with_placement<stable_placement>>,
    told_case<told_text, with_placement<stable_placement, with_policy<told_blocks>>, false, 3>,
    told_case<told_text, with_placement<recycling_placement, with_policy<told_blocks>>>>;
TYPED_TEST_SUITE(replica_oracle, followed_cases);

TYPED_TEST(replica_oracle, a_replica_is_what_its_origin_was_and_takes_over) {
    random_source random;
    for (int round = 0; round != 12; ++round) {
        this->live(random);
        this->follow();
        if (this->HasFatalFailure()) {
            FAIL() << "round " << round;
        }
    }
}

} // namespace
} // namespace handlepool::test
