// SPDX-License-Identifier: MIT

// Objects that can't be copied are taken back as themselves: those that ended are kept until nothing brings
// them back any more.

#include <handlepool/columns.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/time/capture_ring.hpp>
#include <handlepool/time/world.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/message_of.hpp>
#include <tests/support/random.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Has something that can't be copied, and counts those that live. In a recycling pool it is cleared and
/// assigned to.
class unique_life {
public:
    explicit unique_life(int number) : socket_(std::make_unique<int>(number)) {
        ++living;
        ++objects;
    }
    unique_life(unique_life&& other) noexcept : socket_(std::move(other.socket_)) {
        ++objects;
        moves.emplace(number(), std::this_thread::get_id());
    }
    unique_life& operator=(unique_life&&) = delete;
    unique_life& operator=(int number) {
        socket_ = std::make_unique<int>(number);
        ++living;
        return *this;
    }
    ~unique_life() {
        end();
        --objects;
    }
    void clear() noexcept {
        cleared += socket_ == nullptr ? 0 : 1;
        end();
    }

    int number() const { return socket_ == nullptr ? 0 : *socket_; }
    void change(int number) { *socket_ = number; }
    const int* socket() const { return socket_.get(); }

    static inline int living = 0;
    static inline int objects = 0; // and those that are empty
    static inline int cleared = 0;
    static inline std::function<void(int)> at_end;
    static inline std::multimap<int, std::thread::id> moves; // of which number, by whom

private:
    void end() noexcept {
        if (const std::unique_ptr<int> socket = std::move(socket_)) {
            --living;
            if (at_end) {
                at_end(*socket);
            }
        }
    }

    std::unique_ptr<int> socket_;
};

/// Expects that none is left when the pools have ended that come after it.
struct ends_all_lives {
    ends_all_lives() = default;
    ends_all_lives(const ends_all_lives&) = delete;
    ends_all_lives& operator=(const ends_all_lives&) = delete;
    ~ends_all_lives() { EXPECT_EQ(unique_life::objects, 0); }
};

template <class Placement>
class captured_lives : public testing::Test {
protected:
    using pool_type = pool<unique_life, with_placement<Placement>>;
    using handle_type = typename pool_type::handle_type;

    ~captured_lives() override { unique_life::at_end = nullptr; }

    std::vector<int> numbers() const {
        std::vector<int> all;
        for (const unique_life& each : pool_) {
            all.push_back(each.number());
        }
        return all;
    }
    std::vector<std::pair<handle_type, const unique_life*>> places() const {
        std::vector<std::pair<handle_type, const unique_life*>> all;
        for (const auto& [handle, each] : pool_.entries()) {
            all.emplace_back(handle, &each);
        }
        return all;
    }

    /// One before the second capture, and one after it.
    void end_two_lives() {
        const auto a = pool_.emplace(1);
        const auto b = pool_.emplace(2);
        ring_->capture(1);
        pool_.erase(a);
        ring_->capture(2);
        pool_.erase(b);
        pool_.compact();
    }

    ends_all_lives check_;
    pool_type pool_{{.name = "lives", .capacity = 10, .reuse_delay = 0}};
    change_log<pool_type> log_{pool_};
    std::optional<capture_ring<pool_type>> ring_{std::in_place, log_, capture_ring_options{.frames = 3}};
};

using lives_placements = testing::Types<dense_placement, stable_placement, recycling_placement>;
TYPED_TEST_SUITE(captured_lives, lives_placements);

TYPED_TEST(captured_lives, come_back_as_themselves) {
    const auto a = this->pool_.emplace(1);
    const auto b = this->pool_.emplace(2);
    const auto c = this->pool_.emplace(3);
    this->ring_->capture(1);
    const int* const socket = this->pool_[a].socket();
    const auto places = this->places();
    this->log_.edit(c)->change(30);
    this->pool_.erase(a);
    this->pool_.erase(b);
    const auto d = this->pool_.emplace(4);
    this->ring_->capture(2);
    EXPECT_EQ(unique_life::living, 4);
    EXPECT_THAT(this->ring_->restore(1), ElementsAre(d));
    EXPECT_EQ(unique_life::living, 3);
    EXPECT_THAT(this->numbers(), ElementsAre(1, 2, 30)); // contents stay
    EXPECT_EQ(this->places(), places);
    EXPECT_EQ(this->pool_[a].socket(), socket);
    EXPECT_EQ(this->pool_.emplace(5), d);
}

TYPED_TEST(captured_lives, are_kept_until_nothing_brings_them_back) {
    std::vector<int> ended;
    unique_life::at_end = [&](int number) { ended.push_back(number); };
    const auto a = this->pool_.emplace(1);
    const auto b = this->pool_.emplace(2);
    this->ring_->capture(1);
    this->pool_.erase(a);
    this->ring_->capture(2);
    this->pool_.erase(b);
    this->ring_->capture(3);
    EXPECT_THAT(ended, IsEmpty());
    this->ring_->confirm(2);
    EXPECT_THAT(std::exchange(ended, {}), ElementsAre(1));
    this->ring_->capture(4);
    EXPECT_THAT(ended, IsEmpty());
    this->ring_->capture(5); // frame 2 falls out of the ring
    EXPECT_THAT(ended, ElementsAre(2));
    EXPECT_EQ(unique_life::living, 0);
}

TYPED_TEST(captured_lives, that_no_capture_has_end_at_once) {
    std::vector<int> ended;
    unique_life::at_end = [&](int number) { ended.push_back(number); };
    this->pool_.erase(this->pool_.emplace(1));
    this->pool_.compact();
    EXPECT_THAT(std::exchange(ended, {}), ElementsAre(1));
    this->ring_->capture(1);
    this->pool_.erase(this->pool_.emplace(2));
    this->pool_.compact();
    EXPECT_THAT(std::exchange(ended, {}), ElementsAre(2));
    const auto c = this->pool_.emplace(3);
    this->pool_.compact();
    this->pool_.erase(c);
    this->ring_->capture(2);
    EXPECT_THAT(ended, ElementsAre(3));
}

TYPED_TEST(captured_lives, end_with_the_ring) {
    this->end_two_lives();
    EXPECT_EQ(unique_life::living, 2);
    this->ring_.reset();
    EXPECT_EQ(unique_life::living, 0);
    this->pool_.erase(this->pool_.emplace(3));
    this->pool_.compact();
    EXPECT_EQ(unique_life::living, 0);
    this->ring_.emplace(this->log_);
    const auto c = this->pool_.emplace(4);
    this->ring_->capture(1);
    this->pool_.erase(c);
    this->ring_->restore(1);
    EXPECT_THAT(this->numbers(), ElementsAre(4));
}

TYPED_TEST(captured_lives, end_when_the_pool_is_reset) {
    const auto a = this->pool_.emplace(1);
    this->pool_.emplace(2);
    this->ring_->capture(1);
    this->pool_.erase(a);
    this->pool_.compact();
    this->pool_.reset();
    EXPECT_EQ(unique_life::living, 1); // the one that was kept
    this->ring_->capture(2);
    EXPECT_EQ(unique_life::living, 0);
    const auto c = this->pool_.emplace(3);
    this->ring_->capture(3);
    this->pool_.erase(c);
    this->ring_->restore(3);
    EXPECT_THAT(this->numbers(), ElementsAre(3));
    this->ring_->restore(2);
    EXPECT_EQ(unique_life::living, 0);
}

TYPED_TEST(captured_lives, are_not_taken_for_those_that_come_after_a_reset) {
    const auto a = this->pool_.emplace(1);
    const auto b = this->pool_.emplace(2);
    this->pool_.compact();
    this->ring_->capture(1);
    this->pool_.reset();
    EXPECT_EQ(unique_life::living, 0);
    const auto c = this->pool_.emplace(3);
    const auto d = this->pool_.emplace(4);
    ASSERT_EQ(c.index(), a.index());
    ASSERT_EQ(d.index(), b.index());
    this->pool_.compact();
    this->pool_.erase(c);
    EXPECT_TRUE(this->pool_.extract(d, [](unique_life&&) {}));
    this->pool_.compact();
    EXPECT_EQ(unique_life::living, 0) << "no capture has them";
    this->ring_->capture(2);
    EXPECT_EQ(this->ring_->size(), 1U);
    this->ring_->restore(2);
    EXPECT_THAT(this->numbers(), IsEmpty());
}

TYPED_TEST(captured_lives, are_not_taken_for_others_of_their_slot) {
    typename TestFixture::pool_type small(
        {.name = "small", .capacity = 1, .reuse_delay = 0, .slot_limit = 1});
    change_log log(small);
    capture_ring ring(log);
    const auto a = small.emplace(1);
    ring.capture(1);
    small.erase(a);
    small.compact();
    const auto b = small.emplace(2);
    ring.capture(2);
    small.erase(b);
    small.compact();
    small.emplace(3);
    ring.capture(3);
    ring.restore(2);
    EXPECT_EQ(small[b].number(), 2);
    EXPECT_EQ(unique_life::living, 2);
    ring.restore(1);
    EXPECT_EQ(small[a].number(), 1);
    EXPECT_EQ(unique_life::living, 1);
}

TYPED_TEST(captured_lives, have_their_former_handles_again) {
    const auto a = this->pool_.emplace(1);
    this->ring_->capture(1);
    const auto b = this->pool_.revoke(a);
    this->ring_->capture(2);
    const auto c = this->pool_.revoke(b);
    this->pool_.erase(c);
    this->ring_->capture(3);
    EXPECT_THAT(this->ring_->restore(2), ElementsAre(c));
    EXPECT_EQ(this->pool_[b].number(), 1);
    EXPECT_THAT(this->ring_->restore(1), ElementsAre(b));
    EXPECT_EQ(this->pool_[a].number(), 1);
    EXPECT_EQ(unique_life::living, 1);
}

TYPED_TEST(captured_lives, can_end_by_one_thread_alone) {
    std::vector<typename TestFixture::handle_type> handles;
    for (int i = 1; i != 6; ++i) {
        handles.push_back(this->pool_.emplace(i));
    }
    this->ring_->capture(1);
    {
        auto alone = this->pool_.exclusive_access();
        alone.erase(handles[1]);
        alone.emplace(6);
        EXPECT_EQ(unique_life::living, 6);
        alone.clear();
        EXPECT_EQ(unique_life::living, 5);
    }
    this->ring_->restore(1);
    EXPECT_THAT(this->numbers(), ElementsAre(1, 2, 3, 4, 5));
    this->pool_.clear();
    this->ring_->restore(1);
    EXPECT_THAT(this->numbers(), ElementsAre(1, 2, 3, 4, 5));
}

/// Runs each range in a thread of its own.
struct threads_by_range {
    template <class Body>
    void for_ranges(std::size_t count, std::size_t grain, Body&& body) const {
        for (std::size_t first = 0; first < count; first += grain) {
            std::thread([&] { body(first, std::min(first + grain, count)); }).join();
        }
    }
};

TYPED_TEST(captured_lives, are_kept_by_the_thread_that_compacts) {
    typename TestFixture::pool_type many({.name = "many", .capacity = 3'000});
    change_log log(many);
    capture_ring ring(log);
    std::vector<typename TestFixture::handle_type> handles;
    for (int i = 0; i != 3'000; ++i) {
        handles.push_back(many.emplace(i));
    }
    ring.capture(1);
    for (const auto each : handles) {
        many.erase(each);
    }
    unique_life::moves.clear();
    threads_by_range threads;
    many.compact(threads);
    EXPECT_EQ(unique_life::moves.size(), handles.size());
    EXPECT_THAT(unique_life::moves, testing::Each(testing::Pair(testing::_, std::this_thread::get_id())));
    ring.restore(1);
    EXPECT_EQ(many.size(), handles.size());
}

TYPED_TEST(captured_lives, that_were_handed_over_can_not_come_back) {
    this->pool_.emplace(1);
    this->ring_->capture(1);
    const auto b = this->pool_.emplace(2);
    this->ring_->capture(2);
    std::vector<unique_life> taken;
    this->pool_.extract(b, [&](unique_life&& each) { taken.push_back(std::move(each)); });
    this->ring_->capture(3);
    EXPECT_EQ(
        message_of<std::logic_error>([&] { this->ring_->restore(2); }),
        "capture_ring of pool 'lives': frame 2 can't be restored: the object of handle #1 generation 1 was "
        "handed over by extract() or drain(), or there was no memory to keep it");
    EXPECT_EQ(this->ring_->newest(), 3U);
    EXPECT_THAT(this->numbers(), ElementsAre(1));
    EXPECT_EQ(taken[0].number(), 2);
    this->ring_->restore(3);
    this->ring_->restore(1); // where it was not there yet
    EXPECT_THAT(this->numbers(), ElementsAre(1));

    const auto c = this->pool_.emplace(3);
    this->ring_->capture(4);
    this->pool_.drain(
        [&](typename TestFixture::handle_type, unique_life&& each) { taken.push_back(std::move(each)); });
    EXPECT_THROW(this->ring_->restore(4), std::logic_error);
    EXPECT_THROW(this->ring_->restore(1), std::logic_error);
    EXPECT_EQ(this->pool_.state(c), handle_state::stale);
    this->ring_->capture(5);
    this->ring_->drop_newest();
    EXPECT_THROW(this->ring_->restore(4), std::logic_error);
    this->ring_->capture(5);
    this->ring_->restore(5);
    EXPECT_THAT(this->numbers(), IsEmpty());
    this->ring_->confirm(5);
    this->ring_->restore(5);
}

TYPED_TEST(captured_lives, stay_kept_when_the_newest_capture_is_dropped) {
    this->end_two_lives();
    this->ring_->drop_newest();
    EXPECT_EQ(unique_life::living, 2);
    this->ring_->restore(1);
    EXPECT_THAT(this->numbers(), ElementsAre(1, 2));
    this->ring_->drop_newest(); // none is left
    this->pool_.clear();
    this->ring_->capture(3);
    EXPECT_EQ(unique_life::living, 0);
}

TYPED_TEST(captured_lives, that_were_handed_over_are_missed_by_no_capture_in_place_of_a_dropped_one) {
    const auto a = this->pool_.emplace(1);
    this->pool_.emplace(2);
    this->ring_->capture(1);
    this->ring_->capture(2);
    EXPECT_TRUE(this->pool_.extract(a, [](unique_life&&) {}));
    this->pool_.compact();
    this->ring_->drop_newest();
    this->ring_->capture(3); // in which it does not live, though it is the second one, too
    this->pool_.emplace(3);
    this->ring_->restore(3);
    EXPECT_THAT(this->numbers(), ElementsAre(2));
    EXPECT_THROW(this->ring_->restore(1), std::logic_error);
    this->ring_->restore(3);
    EXPECT_THAT(this->numbers(), ElementsAre(2));
}

TYPED_TEST(captured_lives, that_a_hook_hands_over_during_a_restore_are_missed) {
    const auto a = this->pool_.emplace(1);
    this->ring_->capture(1);
    this->pool_.emplace(2);
    this->ring_->capture(2);
    std::vector<unique_life> taken;
    {
        const scoped_hook deaths =
            this->pool_.on_destroy([&](typename TestFixture::handle_type, const unique_life&) {
                this->pool_.extract(a, [&](unique_life&& each) { taken.push_back(std::move(each)); });
            });
        EXPECT_EQ(
            message_of<std::logic_error>([&] { this->ring_->restore(1); }),
            "capture_ring of pool 'lives': frame 1 can't be restored: the object of handle #0 generation 1 "
            "was handed over by extract() or drain(), or there was no memory to keep it");
    }
    EXPECT_EQ(taken.size(), 1U);
    EXPECT_THAT(this->numbers(), IsEmpty());
    this->ring_->capture(3);
    this->pool_.emplace(3);
    this->ring_->restore(3);
    EXPECT_THAT(this->numbers(), IsEmpty());
}

TYPED_TEST(captured_lives, end_when_no_capture_is_left) {
    const auto a = this->pool_.emplace(1);
    this->ring_->capture(1);
    this->pool_.erase(a);
    this->pool_.compact();
    EXPECT_EQ(unique_life::living, 1);
    this->ring_->drop_newest();
    EXPECT_EQ(unique_life::living, 0);
    const auto b = this->pool_.emplace(2);
    this->ring_->capture(2);
    this->pool_.erase(b);
    this->pool_.compact();
    this->pool_.reset();
    EXPECT_THROW(this->ring_->restore(2), std::logic_error);
    EXPECT_EQ(unique_life::living, 0);
    this->pool_.erase(this->pool_.emplace(3));
    this->pool_.compact();
    EXPECT_EQ(unique_life::living, 0);
}

TYPED_TEST(captured_lives, end_at_once_when_the_only_capture_that_had_them_was_dropped) {
    const auto a = this->pool_.emplace(1);
    this->pool_.emplace(2);
    this->ring_->capture(1);
    this->ring_->drop_newest();
    this->pool_.erase(a);
    this->pool_.compact();
    EXPECT_EQ(unique_life::living, 1);
    this->ring_->capture(2);
    EXPECT_THAT(this->numbers(), ElementsAre(2));
    this->pool_.clear();
    this->ring_->restore(2);
    EXPECT_THAT(this->numbers(), ElementsAre(2));
}

TYPED_TEST(captured_lives, that_were_handed_over_are_forgotten_with_their_captures) {
    std::uint64_t frame = 0;
    const auto play = [&] {
        for (int i = 0; i != 1'000; ++i) {
            const auto each = this->pool_.emplace(i);
            this->ring_->capture(++frame);
            this->pool_.extract(each, [](unique_life&& taken) { const unique_life end = std::move(taken); });
        }
        return this->ring_->memory().resident;
    };
    const std::size_t then = play();
    EXPECT_EQ(play(), then);
}

TYPED_TEST(captured_lives, have_one_ring) {
    EXPECT_EQ(message_of<std::logic_error>([&] { capture_ring other(this->log_); }),
              "capture_ring of pool 'lives': objects that can't be copied are kept by another ring already");
    this->ring_.reset();
    const capture_ring other(this->log_);
}

TYPED_TEST(captured_lives, may_use_the_pool_when_they_end) {
    const auto a = this->pool_.emplace(1);
    const auto b = this->pool_.emplace(2);
    const auto c = this->pool_.emplace(3);
    unique_life::at_end = [&](int number) {
        if (number < 3) {
            this->pool_.erase(number == 1 ? b : c);
            this->pool_.try_emplace(number + 10);
        }
    };
    this->ring_->capture(1);
    this->pool_.erase(a);
    this->ring_->capture(2);
    this->ring_->capture(3);
    this->ring_->capture(4);
    EXPECT_TRUE(this->pool_.contains(c));
    EXPECT_FALSE(this->pool_.contains(b)); // ended by a's end
    this->ring_->capture(5);
    this->ring_->confirm(5);
    this->pool_.compact();
    EXPECT_THAT(this->numbers(), testing::UnorderedElementsAre(11, 12));
    unique_life::at_end = nullptr;
}

TYPED_TEST(captured_lives, belong_to_a_world) {
    this->ring_.reset();
    this->ring_.emplace(this->log_, capture_ring_options{.frames = 4});
    world game({.frames = 3});
    int score = 1;
    game.add(*this->ring_);
    game.add(score);
    const auto a = this->pool_.emplace(1);
    game.capture(1);
    this->pool_.erase(a);
    score = 2;
    game.capture(2);
    game.restore(1);
    EXPECT_EQ(score, 1);
    EXPECT_EQ(this->pool_[a].number(), 1);
}

// ---- Where objects stay

struct few_a_group : default_policy {
    static constexpr std::size_t nursery_chunk = 4;
};

template <class Placement>
class lives_that_stay : public testing::Test {
protected:
    using pool_type = pool<unique_life, with_placement<Placement, with_policy<few_a_group>>>;
    using handle_type = typename pool_type::handle_type;

    std::vector<std::pair<int, const unique_life*>> places() const {
        std::vector<std::pair<int, const unique_life*>> all;
        for (const unique_life& each : pool_) {
            all.emplace_back(each.number(), &each);
        }
        return all;
    }
    /// The object takes the place of one that has ended, in a group that is claimed again.
    handle_type emplace_in_hole(int number) { return pool_.exclusive_access().emplace(number); }

    ends_all_lives check_;
    pool_type pool_{{.name = "lives", .capacity = 10'000, .reuse_delay = 0}};
    change_log<pool_type> log_{pool_};
    capture_ring<pool_type> ring_{log_, {.frames = 4}};
};
using lives_staying = testing::Types<stable_placement, recycling_placement>;
TYPED_TEST_SUITE(lives_that_stay, lives_staying);

TYPED_TEST(lives_that_stay, leave_their_places_to_others_until_they_come_back) {
    auto& pool = this->pool_;
    auto& ring = this->ring_;
    const auto a = pool.emplace(1);
    const auto b = pool.emplace(2);
    const auto c = pool.emplace(3);
    pool.emplace(4);
    pool.emplace(5);
    ring.capture(1);
    const auto first = this->places();
    pool.erase(a);
    pool.erase(b);
    ring.capture(2); // which offers their places
    pool.shrink_to_fit();
    this->emplace_in_hole(6);
    const auto e = this->emplace_in_hole(7);
    ring.capture(3);
    const auto second = this->places();
    EXPECT_THAT(second, ElementsAre(std::pair(6, first[0].second), std::pair(7, first[1].second), first[2],
                                    first[3], first[4]));
    pool.erase(e);
    ring.capture(4);
    pool.emplace(8);
    this->log_.edit(c)->change(3);

    unique_life::moves.clear();
    ring.restore(3);
    EXPECT_EQ(this->places(), second);
    ring.restore(1);
    EXPECT_EQ(this->places(), first);
    EXPECT_EQ(pool[a].number(), 1);
    EXPECT_EQ(pool[b].number(), 2);
    for (int i = 3; i != 6; ++i) {
        EXPECT_EQ(unique_life::moves.count(i), 0U); // they live then and now
    }
    EXPECT_EQ(unique_life::living, 5);
}

TYPED_TEST(lives_that_stay, come_back_to_groups_that_had_gone_out_of_service) {
    auto& many = this->pool_;
    auto& ring = this->ring_;
    ring.capture(1);
    std::vector<typename TestFixture::handle_type> handles;
    for (int i = 0; i != 3'000; ++i) {
        handles.push_back(many.emplace(i));
    }
    ring.capture(2);
    std::vector<const unique_life*> addresses;
    for (const auto each : handles) {
        addresses.push_back(&many[each]);
    }
    many.clear();
    many.compact();
    many.shrink_to_fit();
    EXPECT_EQ(unique_life::living, 3'000);
    ring.restore(2);
    for (std::size_t i = 0; i != handles.size(); ++i) {
        ASSERT_EQ(many.find(handles[i]), addresses[i]);
        ASSERT_EQ(addresses[i]->number(), static_cast<int>(i));
    }
    ring.restore(1);
    EXPECT_EQ(unique_life::living, 0);
    EXPECT_EQ(many.emplace(1), handles[0]);
    EXPECT_EQ(many.find(handles[0]), addresses[0]);
}

TYPED_TEST(lives_that_stay, are_kept_again_in_the_same_memory) {
    std::uint64_t frame = 0;
    const auto play = [&] {
        for (int i = 0; i != 1'000; ++i) {
            const auto each = this->pool_.emplace(i);
            this->ring_.capture(++frame);
            this->pool_.erase(each);
            this->ring_.capture(frame + 1);
            this->ring_.restore(frame);
            this->pool_.erase(each);
        }
        return this->ring_.memory().resident;
    };
    const std::size_t then = play();
    EXPECT_EQ(play(), then);
    EXPECT_LT(unique_life::living, 5);
}

class lives_of_a_recycling_pool : public lives_that_stay<recycling_placement> {};

TEST_F(lives_of_a_recycling_pool, are_made_anew_where_one_was_taken_out) {
    const handle_type a = pool_.emplace(1);
    for (int i = 2; i != 6; ++i) {
        pool_.emplace(i);
    }
    ring_.capture(1);
    const auto first = places();
    pool_.erase(a);
    ring_.capture(2);
    EXPECT_EQ(unique_life::objects, 5); // none is left at its place
    const handle_type b = emplace_in_hole(6);
    EXPECT_EQ(&pool_[b], first[0].second);
    pool_.erase(b);
    pool_.compact();
    EXPECT_EQ(unique_life::objects, 6); // this one is
    EXPECT_EQ(&pool_[emplace_in_hole(7)], first[0].second);
    EXPECT_EQ(unique_life::objects, 6);
    std::vector<int> ended;
    unique_life::at_end = [&](int number) { ended.push_back(number); };
    unique_life::cleared = 0;
    ring_.restore(1);
    EXPECT_THAT(ended, ElementsAre(7));
    EXPECT_EQ(places(), first);
    EXPECT_EQ(unique_life::objects, 5);
    pool_.erase(a);
    ring_.capture(2);
    EXPECT_THAT(ended, ElementsAre(7));
    ring_.confirm(2);
    EXPECT_THAT(ended, ElementsAre(7, 1)); // cleared, then destroyed
    EXPECT_EQ(unique_life::cleared, 2);
    EXPECT_EQ(unique_life::objects, 4);
    unique_life::at_end = nullptr;
}

TEST(captured_rows, come_back_as_themselves_when_a_column_can_not_be_copied) {
    using pool_type = pool<columns<int, unique_life>>;
    pool_type rows({.name = "rows", .capacity = 10});
    change_log<pool_type> log(rows);
    capture_ring<pool_type> ring(log);
    const auto a = rows.emplace(10, unique_life(1));
    const auto b = rows.emplace(20, unique_life(2));
    ring.capture(1);
    const int* const socket = rows.find(a)->get<unique_life>().socket();
    rows.erase(a);
    rows.emplace(30, unique_life(3));
    ring.capture(2);
    ring.restore(1);
    EXPECT_EQ(rows.find(a)->get<unique_life>().socket(), socket);
    EXPECT_EQ(rows.find(a)->get<int>(), 10);
    EXPECT_EQ(rows.find(b)->get<int>(), 20);
    EXPECT_EQ(rows.handle_at(0), a);
    EXPECT_EQ(unique_life::living, 2);
}

// ---- Random operations

template <class Placement, bool KeepOrder, bool StayStale>
struct lives_case {
    using placement = Placement;
    static constexpr bool is_dense = std::is_same_v<Placement, dense_placement>;
    static constexpr bool keep_order = KeepOrder;
    static constexpr bool stay_stale = StayStale;
};

template <class Case>
class captured_lives_oracle : public testing::Test {
protected:
    using pool_type = pool<unique_life, with_placement<typename Case::placement, with_policy<few_a_group>>>;
    using handle_type = typename pool_type::handle_type;
    struct entry {
        handle_type handle;
        const int* socket;
        const unique_life* address;
        friend bool operator==(const entry&, const entry&) = default;
    };
    static constexpr std::size_t kept = 4;

    std::vector<entry> now() const {
        std::vector<entry> all;
        for (const auto& [handle, each] : pool_.entries()) {
            all.push_back({.handle = handle, .socket = each.socket(), .address = &each});
        }
        return all;
    }
    handle_type any() { return living_[random_.below(living_.size())]; }
    template <class Pool>
    void act(Pool& pool) {
        switch (random_.below(6)) {
        case 0:
        case 1:
            if (const handle_type made = pool.try_emplace(next_++)) {
                living_.push_back(made);
            }
            break;
        case 2:
        case 3:
            if (!living_.empty()) {
                pool.erase(any());
            }
            break;
        case 4:
            if (!living_.empty()) {
                if (const handle_type given = pool.revoke(any())) {
                    living_.push_back(given);
                }
            }
            break;
        default:
            if (random_.one_in(30)) {
                pool.clear();
            } else if (random_.one_in(20) && !living_.empty()) {
                has_extracted_ = true;
                pool.extract(any(), [this](unique_life&& each) { taken_.push_back(std::move(each)); });
            }
        }
    }
    void run_frame() {
        for (std::size_t steps = random_.below(25); steps != 0; --steps) {
            switch (random_.below(10)) {
            case 0: {
                auto alone = pool_.exclusive_access();
                for (std::size_t i = random_.below(10); i != 0; --i) {
                    act(alone);
                }
                break;
            }
            case 1:
                pool_.compact_some(random_.below(10));
                break;
            case 2:
                if constexpr (!Case::is_dense) {
                    if (random_.one_in(5)) {
                        pool_.shrink_to_fit();
                    }
                } else if (random_.one_in(5)) {
                    const std::uint64_t salt = random_.bits();
                    sort_by(pool_, [salt](const unique_life& each) {
                        return (static_cast<std::uint64_t>(each.number()) ^ salt) * 0x9e3779b97f4a7c15U;
                    });
                }
                break;
            default:
                act(pool_);
            }
        }
        std::erase_if(living_, [this](handle_type each) { return !pool_.contains(each); });
    }
    void capture() {
        ring_.capture(++frame_);
        pictures_[frame_] = now();
        if (pictures_.size() > kept) {
            pictures_.erase(pictures_.begin());
        }
    }
    void restore(std::uint64_t frame) {
        if (random_.one_in(2) || has_extracted_) {
            pool_.compact(); // which hands over
        }
        has_extracted_ = false;
        bool expected = true;
        for (const entry& wanted : pictures_[frame]) {
            expected = expected && std::ranges::none_of(taken_, [&wanted](const unique_life& each) {
                           return each.socket() == wanted.socket;
                       });
        }
        bool restored = true;
        try {
            ring_.restore(frame);
        } catch (const std::logic_error&) {
            restored = false;
        }
        ASSERT_EQ(restored, expected);
        if (restored) {
            pictures_.erase(pictures_.upper_bound(frame), pictures_.end());
            frame_ = frame;
            EXPECT_EQ(now(), pictures_[frame]);
            living_.clear();
            for (const entry& each : pictures_[frame]) {
                EXPECT_TRUE(pool_.contains(each.handle));
                living_.push_back(each.handle);
            }
            ++restored_;
        }
    }
    /// Objects live as long as the pool, a picture or somebody else has them, and no longer.
    void check() const {
        std::set<const int*> all;
        for (const auto& [frame, picture] : pictures_) {
            for (const entry& each : picture) {
                all.insert(each.socket);
            }
        }
        for (const entry& each : now()) {
            all.insert(each.socket);
        }
        for (const unique_life& each : taken_) {
            all.insert(each.socket());
        }
        ASSERT_EQ(static_cast<std::size_t>(unique_life::living), all.size());
    }

    ends_all_lives check_;
    random_source random_;
    pool_type pool_{{.name = "lives",
                     .capacity = 40,
                     .reuse_delay = 0,
                     .slot_limit = 60,
                     .keep_order = Case::keep_order}};
    change_log<pool_type> log_{pool_};
    capture_ring<pool_type> ring_{log_, {.frames = kept, .undone_stay_stale = Case::stay_stale}};
    std::vector<handle_type> living_; // and some that are stale
    std::vector<unique_life> taken_;
    std::map<std::uint64_t, std::vector<entry>> pictures_;
    bool has_extracted_ = false; // since the last capture or restore, perhaps
    int next_ = 1;
    std::uint64_t frame_ = 0;
    std::size_t restored_ = 0;
};

using lives_cases =
    testing::Types<lives_case<dense_placement, false, false>, lives_case<dense_placement, true, false>,
                   lives_case<dense_placement, false, true>, lives_case<stable_placement, false, false>,
                   lives_case<stable_placement, false, true>, lives_case<recycling_placement, false, false>,
                   lives_case<recycling_placement, false, true>>;
TYPED_TEST_SUITE(captured_lives_oracle, lives_cases);

TYPED_TEST(captured_lives_oracle, a_restored_pool_has_the_objects_that_it_had) {
    this->capture();
    for (int i = 0; i != 600 && !this->HasFailure(); ++i) {
        this->run_frame();
        switch (this->random_.below(6)) {
        case 0:
        case 1:
            this->restore(this->frame_ - this->random_.below(this->pictures_.size()));
            break;
        case 2:
            if (this->random_.one_in(4)) {
                const std::uint64_t frame = this->frame_ - this->random_.below(this->pictures_.size());
                this->ring_.confirm(frame);
                this->pictures_.erase(this->pictures_.begin(), this->pictures_.find(frame));
            }
            this->pool_.compact();
            break;
        case 3:
            if (this->random_.one_in(4) && this->pictures_.size() > 1) {
                this->ring_.drop_newest();
                this->pictures_.erase(std::prev(this->pictures_.end()));
                --this->frame_;
            }
            this->pool_.compact();
            break;
        default:
            this->capture();
        }
        this->check();
    }
    EXPECT_GT(this->restored_, 10U);
}

} // namespace
} // namespace handlepool::test
