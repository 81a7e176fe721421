// SPDX-License-Identifier: MIT

// Objects that can't be copied are taken back as themselves: those that ended are kept until nothing brings
// them back any more.

#include <handlepool/columns.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/sort.hpp>
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
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Has something that can't be copied, and counts those that live.
class unique_life {
public:
    explicit unique_life(int number) : socket_(std::make_unique<int>(number)) { ++living; }
    unique_life(unique_life&& other) noexcept : socket_(std::move(other.socket_)) {
        movers.insert(std::this_thread::get_id());
    }
    unique_life& operator=(unique_life&&) = delete;
    ~unique_life() {
        if (socket_ != nullptr) {
            --living;
            if (at_end) {
                at_end(*socket_);
            }
        }
    }

    int number() const { return *socket_; }
    void change(int number) { *socket_ = number; }
    const int* socket() const { return socket_.get(); }

    static inline int living = 0;
    static inline std::function<void(int)> at_end;
    static inline std::set<std::thread::id> movers; // threads that have moved one

private:
    std::unique_ptr<int> socket_;
};

class captured_lives : public testing::Test {
protected:
    using pool_type = pool<unique_life>;
    using handle_type = pool_type::handle_type;

    ~captured_lives() override { unique_life::at_end = nullptr; }

    std::vector<int> numbers() const {
        std::vector<int> all;
        for (const unique_life& each : pool_.items()) {
            all.push_back(each.number());
        }
        return all;
    }

    pool_type pool_{{.name = "lives", .capacity = 10, .reuse_delay = 0}};
    change_log<pool_type> log_{pool_};
    std::optional<capture_ring<pool_type>> ring_{std::in_place, log_, capture_ring_options{.frames = 3}};
};

TEST_F(captured_lives, come_back_as_themselves) {
    const handle_type a = pool_.emplace(1);
    const handle_type b = pool_.emplace(2);
    const handle_type c = pool_.emplace(3);
    ring_->capture(1);
    const int* const socket = pool_[a].socket();
    log_.edit(c)->change(30);
    pool_.erase(a);
    pool_.erase(b);
    const handle_type d = pool_.emplace(4);
    ring_->capture(2);
    EXPECT_EQ(unique_life::living, 4);
    EXPECT_THAT(ring_->restore(1), ElementsAre(d));
    EXPECT_EQ(unique_life::living, 3);
    EXPECT_THAT(numbers(), ElementsAre(1, 2, 30)); // contents stay
    EXPECT_EQ(pool_.handle_at(0), a);
    EXPECT_EQ(pool_.handle_at(1), b);
    EXPECT_EQ(pool_.handle_at(2), c);
    EXPECT_EQ(pool_[a].socket(), socket);
    EXPECT_EQ(pool_.emplace(5), d);
}

TEST_F(captured_lives, are_kept_until_nothing_brings_them_back) {
    std::vector<int> ended;
    unique_life::at_end = [&](int number) { ended.push_back(number); };
    const handle_type a = pool_.emplace(1);
    const handle_type b = pool_.emplace(2);
    ring_->capture(1);
    pool_.erase(a);
    ring_->capture(2);
    pool_.erase(b);
    ring_->capture(3);
    EXPECT_THAT(ended, IsEmpty());
    ring_->confirm(2);
    EXPECT_THAT(std::exchange(ended, {}), ElementsAre(1));
    ring_->capture(4);
    EXPECT_THAT(ended, IsEmpty());
    ring_->capture(5); // frame 2 falls out of the ring
    EXPECT_THAT(ended, ElementsAre(2));
    EXPECT_EQ(unique_life::living, 0);
}

TEST_F(captured_lives, that_no_capture_has_end_at_once) {
    std::vector<int> ended;
    unique_life::at_end = [&](int number) { ended.push_back(number); };
    pool_.erase(pool_.emplace(1));
    pool_.compact();
    EXPECT_THAT(std::exchange(ended, {}), ElementsAre(1));
    ring_->capture(1);
    pool_.erase(pool_.emplace(2));
    pool_.compact();
    EXPECT_THAT(std::exchange(ended, {}), ElementsAre(2));
    const handle_type c = pool_.emplace(3);
    pool_.compact();
    pool_.erase(c);
    ring_->capture(2);
    EXPECT_THAT(ended, ElementsAre(3));
}

TEST_F(captured_lives, end_with_the_ring) {
    const handle_type a = pool_.emplace(1);
    const handle_type b = pool_.emplace(2);
    ring_->capture(1);
    pool_.erase(a);
    ring_->capture(2);
    pool_.erase(b);
    pool_.compact();
    EXPECT_EQ(unique_life::living, 2);
    ring_.reset();
    EXPECT_EQ(unique_life::living, 0);
    pool_.erase(pool_.emplace(3));
    pool_.compact();
    EXPECT_EQ(unique_life::living, 0);
    ring_.emplace(log_);
    const handle_type c = pool_.emplace(4);
    ring_->capture(1);
    pool_.erase(c);
    ring_->restore(1);
    EXPECT_THAT(numbers(), ElementsAre(4));
}

TEST_F(captured_lives, end_when_the_pool_is_reset) {
    const handle_type a = pool_.emplace(1);
    pool_.emplace(2);
    ring_->capture(1);
    pool_.erase(a);
    pool_.compact();
    pool_.reset();
    EXPECT_EQ(unique_life::living, 1); // the one that was kept
    ring_->capture(2);
    EXPECT_EQ(unique_life::living, 0);
    const handle_type c = pool_.emplace(3);
    ring_->capture(3);
    pool_.erase(c);
    ring_->restore(3);
    EXPECT_THAT(numbers(), ElementsAre(3));
    ring_->restore(2);
    EXPECT_EQ(unique_life::living, 0);
}

TEST_F(captured_lives, are_not_taken_for_others_of_their_slot) {
    pool_type small({.name = "small", .capacity = 1, .reuse_delay = 0, .slot_limit = 1});
    change_log<pool_type> log(small);
    capture_ring<pool_type> ring(log);
    const handle_type a = small.emplace(1);
    ring.capture(1);
    small.erase(a);
    small.compact();
    const handle_type b = small.emplace(2);
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

TEST_F(captured_lives, have_their_former_handles_again) {
    const handle_type a = pool_.emplace(1);
    ring_->capture(1);
    const handle_type b = pool_.revoke(a);
    ring_->capture(2);
    const handle_type c = pool_.revoke(b);
    pool_.erase(c);
    ring_->capture(3);
    EXPECT_THAT(ring_->restore(2), ElementsAre(c));
    EXPECT_EQ(pool_[b].number(), 1);
    EXPECT_THAT(ring_->restore(1), ElementsAre(b));
    EXPECT_EQ(pool_[a].number(), 1);
    EXPECT_EQ(unique_life::living, 1);
}

TEST_F(captured_lives, can_end_by_one_thread_alone) {
    std::vector<handle_type> handles;
    for (int i = 1; i != 6; ++i) {
        handles.push_back(pool_.emplace(i));
    }
    ring_->capture(1);
    {
        auto alone = pool_.exclusive_access();
        alone.erase(handles[1]);
        alone.emplace(6);
        EXPECT_EQ(unique_life::living, 6);
        alone.clear();
        EXPECT_EQ(unique_life::living, 5);
    }
    ring_->restore(1);
    EXPECT_THAT(numbers(), ElementsAre(1, 2, 3, 4, 5));
    pool_.clear();
    ring_->restore(1);
    EXPECT_THAT(numbers(), ElementsAre(1, 2, 3, 4, 5));
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

TEST_F(captured_lives, are_kept_by_the_thread_that_compacts) {
    pool_type many({.name = "many", .capacity = 3'000});
    change_log<pool_type> log(many);
    capture_ring<pool_type> ring(log);
    std::vector<handle_type> handles;
    for (int i = 0; i != 3'000; ++i) {
        handles.push_back(many.emplace(i));
    }
    ring.capture(1);
    for (const handle_type each : handles) {
        many.erase(each);
    }
    unique_life::movers.clear();
    threads_by_range threads;
    many.compact(threads);
    EXPECT_THAT(unique_life::movers, ElementsAre(std::this_thread::get_id()));
    ring.restore(1);
    EXPECT_EQ(many.size(), handles.size());
}

TEST_F(captured_lives, that_were_handed_over_can_not_come_back) {
    pool_.emplace(1);
    ring_->capture(1);
    const handle_type b = pool_.emplace(2);
    ring_->capture(2);
    std::vector<unique_life> taken;
    pool_.extract(b, [&](unique_life&& each) { taken.push_back(std::move(each)); });
    ring_->capture(3);
    EXPECT_EQ(
        message_of<std::logic_error>([&] { ring_->restore(2); }),
        "capture_ring of pool 'lives': frame 2 can't be restored: the object of handle #1 generation 1 was "
        "handed over by extract() or drain(), or there was no memory to keep it");
    EXPECT_EQ(ring_->newest(), 3U);
    EXPECT_THAT(numbers(), ElementsAre(1));
    EXPECT_EQ(taken[0].number(), 2);
    ring_->restore(3);
    ring_->restore(1); // where it was not there yet
    EXPECT_THAT(numbers(), ElementsAre(1));

    const handle_type c = pool_.emplace(3);
    ring_->capture(4);
    pool_.drain([&](handle_type, unique_life&& each) { taken.push_back(std::move(each)); });
    EXPECT_THROW(ring_->restore(4), std::logic_error);
    EXPECT_THROW(ring_->restore(1), std::logic_error);
    EXPECT_EQ(pool_.state(c), handle_state::stale);
    ring_->capture(5);
    ring_->drop_newest();
    EXPECT_THROW(ring_->restore(4), std::logic_error);
    ring_->capture(5);
    ring_->restore(5);
    EXPECT_THAT(numbers(), IsEmpty());
    ring_->confirm(5);
    ring_->restore(5);
}

TEST_F(captured_lives, stay_kept_when_the_newest_capture_is_dropped) {
    const handle_type a = pool_.emplace(1);
    const handle_type b = pool_.emplace(2);
    ring_->capture(1);
    pool_.erase(a);
    ring_->capture(2);
    pool_.erase(b);
    pool_.compact();
    ring_->drop_newest();
    EXPECT_EQ(unique_life::living, 2);
    ring_->restore(1);
    EXPECT_THAT(numbers(), ElementsAre(1, 2));
    ring_->drop_newest(); // none is left
    pool_.clear();
    ring_->capture(3);
    EXPECT_EQ(unique_life::living, 0);
}

TEST_F(captured_lives, that_a_hook_hands_over_during_a_restore_are_missed) {
    const handle_type a = pool_.emplace(1);
    ring_->capture(1);
    pool_.emplace(2);
    ring_->capture(2);
    std::vector<unique_life> taken;
    {
        const scoped_hook deaths = pool_.on_destroy([&](handle_type, const unique_life&) {
            pool_.extract(a, [&](unique_life&& each) { taken.push_back(std::move(each)); });
        });
        EXPECT_EQ(
            message_of<std::logic_error>([&] { ring_->restore(1); }),
            "capture_ring of pool 'lives': frame 1 can't be restored: the object of handle #0 generation 1 "
            "was handed over by extract() or drain(), or there was no memory to keep it");
    }
    EXPECT_EQ(taken.size(), 1U);
    EXPECT_THAT(numbers(), IsEmpty());
    ring_->capture(3);
    pool_.emplace(3);
    ring_->restore(3);
    EXPECT_THAT(numbers(), IsEmpty());
}

TEST_F(captured_lives, end_when_no_capture_is_left) {
    const handle_type a = pool_.emplace(1);
    ring_->capture(1);
    pool_.erase(a);
    pool_.compact();
    EXPECT_EQ(unique_life::living, 1);
    ring_->drop_newest();
    EXPECT_EQ(unique_life::living, 0);
    const handle_type b = pool_.emplace(2);
    ring_->capture(2);
    pool_.erase(b);
    pool_.compact();
    pool_.reset();
    EXPECT_THROW(ring_->restore(2), std::logic_error);
    EXPECT_EQ(unique_life::living, 0);
    pool_.erase(pool_.emplace(3));
    pool_.compact();
    EXPECT_EQ(unique_life::living, 0);
}

TEST_F(captured_lives, that_were_handed_over_are_forgotten_with_their_captures) {
    std::uint64_t frame = 0;
    const auto play = [&] {
        for (int i = 0; i != 1'000; ++i) {
            const handle_type each = pool_.emplace(i);
            ring_->capture(++frame);
            pool_.extract(each, [](unique_life&& taken) { const unique_life end = std::move(taken); });
        }
        return ring_->memory().resident;
    };
    const std::size_t then = play();
    EXPECT_EQ(play(), then);
}

TEST_F(captured_lives, have_one_ring) {
    EXPECT_EQ(message_of<std::logic_error>([&] { capture_ring<pool_type> other(log_); }),
              "capture_ring of pool 'lives': objects that can't be copied are kept by another ring already");
    ring_.reset();
    const capture_ring<pool_type> other(log_);
}

TEST_F(captured_lives, may_use_the_pool_when_they_end) {
    const handle_type a = pool_.emplace(1);
    const handle_type b = pool_.emplace(2);
    const handle_type c = pool_.emplace(3);
    unique_life::at_end = [&](int number) {
        if (number < 3) {
            pool_.erase(number == 1 ? b : c);
            pool_.try_emplace(number + 10);
        }
    };
    ring_->capture(1);
    pool_.erase(a);
    ring_->capture(2);
    ring_->capture(3);
    ring_->capture(4);
    EXPECT_TRUE(pool_.contains(c));
    EXPECT_FALSE(pool_.contains(b)); // ended by a's end
    ring_->capture(5);
    ring_->confirm(5);
    pool_.compact();
    EXPECT_THAT(numbers(), testing::UnorderedElementsAre(11, 12));
    unique_life::at_end = nullptr;
}

TEST_F(captured_lives, belong_to_a_world) {
    ring_.reset();
    ring_.emplace(log_, capture_ring_options{.frames = 4});
    world game({.frames = 3});
    int score = 1;
    game.add(*ring_);
    game.add(score);
    const handle_type a = pool_.emplace(1);
    game.capture(1);
    pool_.erase(a);
    score = 2;
    game.capture(2);
    game.restore(1);
    EXPECT_EQ(score, 1);
    EXPECT_EQ(pool_[a].number(), 1);
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

template <bool KeepOrder, bool StayStale>
struct lives_case {
    static constexpr bool keep_order = KeepOrder;
    static constexpr bool stay_stale = StayStale;
};

template <class Case>
class captured_lives_oracle : public testing::Test {
protected:
    using pool_type = pool<unique_life>;
    using handle_type = pool_type::handle_type;
    using entry = std::pair<handle_type, const int*>;
    static constexpr std::size_t kept = 4;

    std::vector<entry> now() const {
        std::vector<entry> all;
        for (const auto& [handle, each] : pool_.entries()) {
            all.emplace_back(handle, each.socket());
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
                if (random_.one_in(5)) {
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
        for (const auto& [handle, object] : pictures_[frame]) {
            expected = expected && std::ranges::none_of(taken_, [wanted = object](const unique_life& each) {
                           return each.socket() == wanted;
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
            for (const auto& [handle, socket] : pictures_[frame]) {
                EXPECT_TRUE(pool_.contains(handle));
                living_.push_back(handle);
            }
            ++restored_;
        }
    }
    /// Objects live as long as the pool, a picture or somebody else has them, and no longer.
    void check() const {
        std::set<const int*> all;
        for (const auto& [frame, picture] : pictures_) {
            for (const auto& [handle, socket] : picture) {
                all.insert(socket);
            }
        }
        for (const auto& [handle, socket] : now()) {
            all.insert(socket);
        }
        for (const unique_life& each : taken_) {
            all.insert(each.socket());
        }
        ASSERT_EQ(static_cast<std::size_t>(unique_life::living), all.size());
    }

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
    testing::Types<lives_case<false, false>, lives_case<true, false>, lives_case<false, true>>;
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
