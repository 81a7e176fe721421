// SPDX-License-Identifier: MIT

// Handles that a restore has undone stay stale for ever, if that is wanted: no handle is given out twice,
// whatever is done before and after.

#include <handlepool/exclusive_pool.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/time/capture_ring.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/message_of.hpp>
#include <tests/support/random.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A pool with one slot, whose ring keeps what it undoes stale.
template <class Traits = default_traits>
struct one_slot {
    using pool_type = pool<int, Traits>;
    using handle_type = typename pool_type::handle_type;

    pool_type numbers{{.name = "numbers", .capacity = 1, .reuse_delay = 0, .slot_limit = 1}};
    change_log<pool_type> log{numbers};
    capture_ring<pool_type> ring{log, {.undone_stay_stale = true}};
};

TEST(handles_that_stay_stale, are_not_given_out_again_where_the_slot_was_free) {
    one_slot world;
    world.ring.capture(1);
    const auto undone = world.numbers.emplace(1);
    EXPECT_THAT(world.ring.restore(1), ElementsAre(undone));
    const auto next = world.numbers.emplace(2);
    EXPECT_EQ(next.generation(), undone.generation() + 2);
    EXPECT_FALSE(world.numbers.contains(undone));
    EXPECT_THAT(world.ring.restore(1), ElementsAre(next)); // of the other one, it has told
}

TEST(handles_that_stay_stale, are_not_given_out_again_when_the_object_is_erased) {
    one_slot world;
    const auto kept = world.numbers.emplace(1);
    world.ring.capture(1);
    world.numbers.erase(kept);
    world.numbers.compact();
    const auto undone = world.numbers.emplace(2);
    EXPECT_THAT(world.ring.restore(1), ElementsAre(undone));
    EXPECT_TRUE(world.numbers.contains(kept));
    world.numbers.erase(kept);
    world.numbers.compact();
    EXPECT_EQ(world.numbers.emplace(3).generation(), undone.generation() + 2);
}

TEST(handles_that_stay_stale, are_told_by_the_restore_that_undoes_them_also_after_a_later_one_was_undone) {
    one_slot world;
    world.ring.capture(1);
    const auto first = world.numbers.emplace(1);
    world.ring.capture(2);
    const auto renamed = world.numbers.revoke(first);
    EXPECT_THAT(world.ring.restore(2), ElementsAre(renamed));
    EXPECT_TRUE(world.numbers.contains(first));
    EXPECT_THAT(world.ring.restore(1), ElementsAre(first));
    const auto reserved = world.numbers.reserve_handle();
    world.ring.capture(2);
    world.numbers.cancel(reserved);
    EXPECT_THAT(world.ring.restore(2), IsEmpty());
    EXPECT_THAT(world.ring.restore(1), ElementsAre(reserved));
}

TEST(handles_that_stay_stale, are_told_by_another_ring_which_undoes_them_too) {
    one_slot world;
    capture_ring<one_slot<>::pool_type> other(world.log);
    other.capture(1);
    world.ring.capture(1);
    const auto first = world.numbers.emplace(1);
    EXPECT_THAT(world.ring.restore(1), ElementsAre(first));
    const auto second = world.numbers.emplace(2);
    EXPECT_THAT(other.restore(1), ElementsAre(first, second));
}

TEST(handles_that_stay_stale, are_not_given_out_again_by_one_thread_alone) {
    one_slot world;
    const auto kept = world.numbers.emplace(1);
    world.ring.capture(1);
    world.numbers.erase(kept);
    world.numbers.compact();
    const auto undone = world.numbers.emplace(2);
    world.ring.restore(1);
    auto alone = world.numbers.exclusive_access();
    EXPECT_TRUE(alone.erase(kept));
    const auto next = alone.emplace(3);
    EXPECT_EQ(next.generation(), undone.generation() + 2);
    alone.clear();
    EXPECT_EQ(alone.emplace(4).generation(), next.generation() + 2);
}

TEST(handles_that_stay_stale, are_not_given_out_again_by_a_revoke) {
    one_slot world;
    const auto kept = world.numbers.emplace(1);
    world.ring.capture(1);
    const auto undone = world.numbers.revoke(kept);
    EXPECT_THAT(world.ring.restore(1), ElementsAre(undone));
    const auto next = world.numbers.revoke(kept);
    EXPECT_EQ(next.generation(), undone.generation() + 2);
    EXPECT_FALSE(world.numbers.contains(undone));
    EXPECT_EQ(world.numbers[next], 1);
    EXPECT_EQ(world.numbers.revoke(next).generation(), next.generation() + 2);
}

TEST(handles_that_stay_stale, are_not_given_out_again_when_a_reservation_is_cancelled) {
    one_slot world;
    const auto reserved = world.numbers.reserve_handle();
    world.ring.capture(1);
    world.numbers.fulfill(reserved, 1);
    const auto undone = world.numbers.revoke(reserved);
    EXPECT_THAT(world.ring.restore(1), ElementsAre(undone));
    EXPECT_EQ(world.numbers.state(reserved), handle_state::reserved);
    EXPECT_EQ(world.numbers.state(undone), handle_state::stale);
    EXPECT_TRUE(world.numbers.cancel(reserved));
    EXPECT_EQ(world.numbers.reserve_handle().generation(), undone.generation() + 2);
}

TEST(handles_that_stay_stale, are_told_of_once) {
    one_slot world;
    world.ring.capture(1);
    const auto reserved = world.numbers.reserve_handle();
    EXPECT_THAT(world.ring.restore(1), ElementsAre(reserved));
    EXPECT_THAT(world.ring.restore(1), IsEmpty());
}

TEST(handles_that_stay_stale, are_not_given_out_again_by_another_ring) {
    one_slot world;
    capture_ring<pool<int>> plain(world.log);
    plain.capture(1);
    world.ring.capture(1);
    const auto undone = world.numbers.emplace(1);
    world.ring.restore(1);
    const auto next = world.numbers.emplace(2);
    plain.restore(1); // undoes it, but leaves the slot above what the other one has undone
    EXPECT_EQ(world.numbers.emplace(3), next);
    EXPECT_FALSE(world.numbers.contains(undone));
}

TEST(handles_that_stay_stale, are_not_given_out_again_after_a_reset_or_by_the_next_pool) {
    std::uint32_t id = 0;
    handle<int> undone;
    // A slot that is new again, and one whose object is there again.
    for (const bool is_new : {true, false}) {
        {
            one_slot world;
            id = world.numbers.id();
            const handle<int> kept = is_new ? handle<int>() : world.numbers.emplace(1);
            world.ring.capture(1);
            const handle<int> first = is_new ? world.numbers.emplace(1) : world.numbers.revoke(kept);
            undone = world.numbers.revoke(first);
            world.ring.restore(1);
            world.numbers.reset();
            world.ring.capture(2);
            EXPECT_GT(world.numbers.emplace(2).generation(), undone.generation());
            world.numbers.compact();
            undone = world.numbers.revoke(world.numbers.handle_at(0));
            world.ring.restore(2);
        }
        pool<int> other({.name = "other", .capacity = 1, .pool_id = id});
        EXPECT_GT(other.emplace(1).generation(), undone.generation());
    }
}

struct two_objects_a_slot : default_traits {
    using layout = handle_layout<24, 3, 4, 0>; // generations 1, 3 and 5
};

TEST(handles_that_stay_stale, need_generations) {
    one_slot<two_objects_a_slot> world;
    const auto kept = world.numbers.emplace(1);
    world.ring.capture(1);
    auto last = kept;
    while (const auto given = world.numbers.revoke(last)) {
        last = given;
    }
    world.ring.capture(2);
    const auto refused = [&] { return message_of<std::overflow_error>([&] { world.ring.restore(1); }); };
    const std::string message = "capture_ring of pool 'numbers': frame 1 can't be restored: slot 0 has used "
                                "up its generations since, "
                                "and its handles could not stay stale";
    EXPECT_EQ(refused(), message);
    EXPECT_EQ(world.ring.newest(), 2U);
    EXPECT_TRUE(world.numbers.contains(last));
    world.numbers.erase(last);
    EXPECT_EQ(refused(), message);
    EXPECT_THAT(world.ring.restore(2), IsEmpty());
    EXPECT_TRUE(world.numbers.contains(last));
    world.ring.drop_newest();
    EXPECT_EQ(refused(), message);
    EXPECT_EQ(world.ring.newest(), 1U);
}

TEST(handles_that_stay_stale, need_generations_that_hooks_may_use_up) {
    using pool_type = pool<int, two_objects_a_slot>;
    pool_type numbers({.name = "numbers", .capacity = 2, .reuse_delay = 0, .slot_limit = 2});
    change_log<pool_type> log(numbers);
    capture_ring<pool_type> ring(log, {.undone_stay_stale = true});
    ring.capture(1);
    numbers.emplace(0);
    ring.capture(2);
    const scoped_hook deaths = numbers.on_destroy([&](auto, int& each) {
        if (each != 4) { // five objects, of the six that two slots can have
            EXPECT_TRUE(numbers.try_emplace(each + 1));
        }
    });
    const std::string message = message_of<std::overflow_error>([&] { ring.restore(1); });
    const auto refusal = [](const char* slot) {
        return std::string("capture_ring of pool 'numbers': frame 1 can't be restored: slot ") + slot +
               " has used up its generations since, and its handles could not stay stale";
    };
    EXPECT_THAT(message, testing::AnyOf(refusal("0"), refusal("1")));
    EXPECT_EQ(ring.newest(), 1U);
    EXPECT_EQ(numbers.size(), 0U);
}

// ---- Random operations

struct small_stale_blocks : default_policy {
    static constexpr std::size_t claim_size = 4;
    static constexpr std::size_t nursery_chunk = 4;
    static constexpr std::size_t removal_chunk = 4;
    static constexpr std::size_t freelist_block = 8;
};

template <class Traits, std::size_t ReuseDelay, bool KeepOrder>
struct stale_case {
    using pool_type = pool<std::uint64_t, Traits>;
    static pool_options options() {
        return {.name = "stale",
                .capacity = 60,
                .reuse_delay = ReuseDelay,
                .slot_limit = 2'000,
                .keep_order = KeepOrder};
    }
};
struct some_generations : default_traits {
    using layout = handle_layout<24, 5, 3, 0>;
};

template <class Case>
class stale_futures : public testing::Test {
protected:
    using pool_type = typename Case::pool_type;
    using handle_type = typename pool_type::handle_type;
    static constexpr std::size_t kept = 4;

    struct picture {
        std::vector<handle_type> living; // in any order
        std::vector<handle_type> reserved;
        std::set<handle_type> ever; // given out until then
    };

    /// Refuses a handle that was ever given out before.
    void give_out(handle_type handle, std::vector<handle_type>& to) {
        if (handle) {
            EXPECT_TRUE(ever_.insert(handle).second) << handle.index() << ' ' << handle.generation();
            to.push_back(handle);
        }
    }
    handle_type take(std::vector<handle_type>& from) {
        std::swap(from[random_.below(from.size())], from.back());
        const handle_type handle = from.back();
        from.pop_back();
        return handle;
    }

    template <class Pool>
    void act(Pool& pool) {
        std::vector<handle_type>& living = now_.living;
        switch (random_.below(9)) {
        case 0:
        case 1:
            give_out(pool.try_emplace(next_id_++), living);
            break;
        case 2: {
            std::vector<handle_type> made;
            pool.try_emplace_n(1 + random_.below(5), std::back_inserter(made), next_id_++);
            for (const handle_type each : made) {
                give_out(each, living);
            }
            break;
        }
        case 3:
        case 4:
            if (!living.empty()) {
                EXPECT_TRUE(pool.erase(take(living)));
            }
            break;
        case 5:
            if (!living.empty()) {
                if (const handle_type given = pool.revoke(living.back())) {
                    living.pop_back();
                    give_out(given, living);
                }
            }
            break;
        case 6:
            give_out(pool.try_reserve_handle(), now_.reserved);
            break;
        case 7:
            if (!now_.reserved.empty()) {
                const handle_type reserved = take(now_.reserved);
                if (random_.one_in(2) && pool.try_fulfill(reserved, next_id_++)) {
                    living.push_back(reserved);
                } else {
                    EXPECT_TRUE(pool.cancel(reserved));
                }
            }
            break;
        default:
            if (random_.one_in(10)) {
                pool.clear();
                living.clear();
            } else if (!living.empty()) {
                pool.extract(take(living), [](std::uint64_t&&) {});
            }
        }
    }
    void run_frame() {
        for (std::size_t steps = random_.below(20); steps != 0; --steps) {
            switch (random_.below(8)) {
            case 0: {
                auto alone = pool_.exclusive_access();
                for (std::size_t i = random_.below(20); i != 0; --i) {
                    act(alone);
                }
                break;
            }
            case 1:
                std::thread([this] { act(pool_); }).join();
                break;
            case 2:
                pool_.compact();
                break;
            default:
                act(pool_);
            }
        }
    }
    void capture() {
        ring_.capture(++frame_);
        now_.ever = ever_;
        pictures_.emplace_back(frame_, now_);
        if (pictures_.size() > kept) {
            pictures_.erase(pictures_.begin());
        }
    }
    void restore() {
        const auto which = pictures_.begin() + static_cast<std::ptrdiff_t>(random_.below(pictures_.size()));
        std::vector<handle_type> undone;
        try {
            undone = ring_.restore(which->first);
        } catch (const std::overflow_error&) {
            ++refused_;
            return; // all is as it was
        }
        expect_told(which->second.ever, std::set<handle_type>(undone.begin(), undone.end()));
        now_ = which->second;
        frame_ = which->first;
        pictures_.erase(std::next(which), pictures_.end());
        ++restored_;
    }
    /// All that were given out since then, some of which may have been told by an earlier restore.
    void expect_told(const std::set<handle_type>& before, const std::set<handle_type>& undone) {
        for (const handle_type each : ever_) {
            if (!told_.contains(each)) { // or it may be told again, as it stays stale
                EXPECT_EQ(undone.contains(each), !before.contains(each))
                    << each.index() << ' ' << each.generation();
            }
        }
        told_.insert(undone.begin(), undone.end());
    }
    void check() {
        std::set<handle_type> living(now_.living.begin(), now_.living.end());
        const std::set<handle_type> reserved(now_.reserved.begin(), now_.reserved.end());
        for (const handle_type each : ever_) {
            const handle_state expected = living.contains(each)     ? handle_state::alive
                                          : reserved.contains(each) ? handle_state::reserved
                                                                    : handle_state::stale;
            ASSERT_EQ(pool_.state(each), expected) << each.index() << ' ' << each.generation();
        }
        EXPECT_EQ(pool_.size(), living.size());
        EXPECT_EQ(pool_.stats().slots_reserved, reserved.size());
    }

    random_source random_;
    pool_type pool_{Case::options()};
    change_log<pool_type> log_{pool_};
    capture_ring<pool_type> ring_{log_, {.frames = kept, .undone_stay_stale = true}};
    picture now_;
    std::vector<std::pair<std::uint64_t, picture>> pictures_;
    std::set<handle_type> ever_;
    std::set<handle_type> told_; // by restores
    std::uint64_t next_id_ = 1;
    std::uint64_t frame_ = 0;
    std::size_t restored_ = 0;
    std::size_t refused_ = 0;
};

using stale_cases = testing::Types<stale_case<default_traits, 0, false>,
                                   stale_case<with_policy<small_stale_blocks>, 0, false>,
                                   stale_case<with_policy<small_stale_blocks>, 3, true>,
                                   stale_case<with_policy<small_stale_blocks, some_generations>, 0, false>>;
TYPED_TEST_SUITE(stale_futures, stale_cases);

TYPED_TEST(stale_futures, give_no_handle_out_twice) {
    this->capture();
    for (int i = 0; i != 400 && !this->HasFailure(); ++i) {
        this->run_frame();
        if (this->random_.one_in(3)) {
            this->restore();
        } else if (this->random_.one_in(60)) {
            this->pool_.reset();
            this->pictures_.clear();
            this->now_ = {};
            this->capture();
        } else {
            this->capture();
        }
        this->check();
    }
    EXPECT_GT(this->restored_, 0U);
}

} // namespace
} // namespace handlepool::test
