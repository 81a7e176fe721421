// SPDX-License-Identifier: MIT

// One pool with everything attached to it plays a long random game, in which every operation meets every
// companion; after each step all that can be seen is compared with a model.

#include "follower.hpp"

#include <gtest/gtest.h>
#include <tests/support/random.hpp>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

namespace handlepool::test {
namespace {

template <class Kind>
class all_features : public testing::Test {
protected:
    static std::uint64_t seeds() {
        const char* const wanted = std::getenv("HANDLEPOOL_SEEDS");
        return wanted != nullptr ? std::strtoull(wanted, nullptr, 0) : 2;
    }

    void step(game<Kind>& in) {
        switch (random_->below(12)) {
        case 0:
        case 1:
            for (std::uint64_t i = 0, changes = 1 + random_->below(6); i != changes; ++i) {
                change_members(in);
            }
            break;
        case 2:
            act_on_frames(in);
            break;
        case 3:
            act_on_the_past(in);
            break;
        default:
            act_on_objects(in, *in.pool);
        }
        EXPECT_EQ(check_log(in), 0U) << "a frame has ended that was not to end";
        check_pool(in, *in.pool);
        check_containers(in);
        check_captures(in, in.past);
        check_captures(in, in.other);
    }
    void steps(game<Kind>& in, int count) {
        check_log(in); // notes what it knows from the beginning
        for (int i = 0; i != count && !this->HasFailure(); ++i) {
            step(in);
        }
    }
    template <class Game>
    void play(const game<Kind>& in, Game game) {
        try {
            game();
        } catch (const std::exception& error) {
            ADD_FAILURE() << error.what();
        }
        if (this->HasFailure()) {
            ADD_FAILURE() << "the last operations were\n" << in.told();
        }
    }

    std::unique_ptr<random_source> random_;
};

TYPED_TEST_SUITE(all_features, all_kinds, kind_names);

TYPED_TEST(all_features, hold_in_one_random_game) {
    for (std::uint64_t seed = 1; seed <= this->seeds() && !this->HasFailure(); ++seed) {
        this->random_.reset(); // first: it ends what is printed of its seed
        this->random_ = std::make_unique<random_source>(seed);
        const std::int64_t alive = creature::alive;
        legacy<TypeParam> left;
        {
            game<TypeParam> origin(*this->random_);
            this->play(origin, [&] {
                this->steps(origin, 400);
                left = leave_legacy(origin);
            });
        }
        if (!this->HasFailure()) {
            game<TypeParam> standby(*this->random_);
            this->play(standby, [&] {
                inherit(standby, left);
                this->steps(standby, 100);
            });
        }
        EXPECT_EQ(creature::alive, alive) << "each object ends once";
    }
}

} // namespace
} // namespace handlepool::test
