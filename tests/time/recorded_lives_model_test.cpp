// SPDX-License-Identifier: MIT

// What a pool says of the ends of lives after random events on one slot and restores, against a model.

#include <handlepool/call_site.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/time/capture_ring.hpp>
#include <handlepool/time/change_log.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>

namespace handlepool::test {
namespace {

template <class Pool>
class course {
public:
    course(unsigned seed, bool undone_stay_stale)
        : random_(seed), ring_(log_, {.frames = 16, .undone_stay_stale = undone_stay_stale}) {}

    /// One event, in a place of its own.
    void go_on() {
        place_ = "place " + std::to_string(++places_);
        const scoped_site here(place_);
        while (!happens(random_() % 7)) {
        }
        story_ += place_ + (now_.alive ? " alive; " : reserved_ ? " reserved; " : "; ");
    }

    void compare() const {
        for (const auto& [value, expected] : now_.ends) {
            const recorded_life life = pool_.life_of(handle_type::from_value(value));
            std::string told;
            if (life.end && !life.end->is_undone) {
                told = std::string(to_string(life.end->event)) + " in " + life.end->site.name();
            }
            ASSERT_EQ(told, expected) << pool_.describe(handle_type::from_value(value)) << '\n' << story_;
        }
    }

private:
    using handle_type = typename Pool::handle_type;
    struct state {
        handle_type alive{};
        std::map<std::uint64_t, std::string> ends{}; // by the handle's value; none if it is alive
    };

    /// Returns whether the event was possible.
    bool happens(std::uint_fast32_t event) {
        switch (event) {
        case 0: {
            if (now_.alive || reserved_) {
                return false;
            }
            now_.alive = pool_.emplace(1);
            begin(now_.alive);
            return true;
        }
        case 1: {
            if (!now_.alive) {
                return false;
            }
            pool_.erase(now_.alive);
            end("erased");
            now_.alive = {};
            pool_.compact();
            return true;
        }
        case 2: {
            if (!now_.alive) {
                return false;
            }
            const handle_type renewed = pool_.revoke(now_.alive);
            end("revoked");
            now_.alive = renewed;
            begin(renewed);
            return true;
        }
        case 3: {
            if (now_.alive || reserved_) {
                return false;
            }
            reserved_ = pool_.reserve_handle();
            return true;
        }
        case 4: {
            if (!reserved_) {
                return false;
            }
            pool_.cancel(reserved_);
            reserved_ = {};
            pool_.compact();
            return true;
        }
        case 5: {
            if (reserved_) {
                return false;
            }
            pool_.compact();
            ring_.capture(++frame_);
            captured_[frame_] = now_;
            return true;
        }
        default: {
            if (frame_ == 0) {
                return false;
            }
            frame_ -= frame_ == 1 ? 0 : random_() % 2;
            ring_.restore(frame_);
            now_ = captured_.at(frame_);
            reserved_ = {};
            return true;
        }
        }
    }
    void begin(handle_type handle) {
        if (handle) {
            now_.ends[handle.value()] = "";
        }
    }
    void end(const char* how) { now_.ends[now_.alive.value()] = how + (" in " + place_); }

    std::mt19937 random_;
    Pool pool_{{.name = "ships", .capacity = 1, .reuse_delay = 0, .record_lives = 64}};
    change_log<Pool> log_{pool_};
    capture_ring<Pool> ring_;
    state now_{};
    handle_type reserved_{};
    std::map<std::uint64_t, state> captured_{}; // by the frame
    std::uint64_t frame_ = 0;
    int places_ = 0;
    std::string place_{};
    std::string story_{};
};

template <class Pool>
struct recorded_courses : testing::Test {};
using pools = testing::Types<pool<int>, stable_pool<int>>;
TYPED_TEST_SUITE(recorded_courses, pools);

TYPED_TEST(recorded_courses, are_told_as_they_were) {
    for (unsigned seed = 0; seed != 300; ++seed) {
        course<TypeParam> one(seed, seed % 2 == 0);
        for (int i = 0; i != 25; ++i) {
            one.go_on();
            one.compare();
            if (this->HasFatalFailure()) {
                return;
            }
        }
    }
}

} // namespace
} // namespace handlepool::test
