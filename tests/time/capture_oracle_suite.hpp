// SPDX-License-Identifier: MIT
#pragma once

// Random operations of every kind, captures, and restores to random frames: a pool is what a picture of it
// showed that was made the slow way, each handle ever made is in the state that it was in, and the same calls
// lead to the same pictures again.

#include <handlepool/exclusive_pool.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/thread_executor.hpp>
#include <handlepool/time/capture_ring.hpp>

#include <gtest/gtest.h>
#include <tests/support/random.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {

struct plain_thing {
    explicit plain_thing(std::uint64_t number) : id(number) {}
    void change(std::uint64_t by) { value += by; }
    auto contents() const { return std::pair(id, value); }
    std::uint64_t id;
    std::uint64_t value = 0;
};
/// One that owns memory, and can't be assigned.
struct owning_thing {
    explicit owning_thing(std::uint64_t number) : id(number) {}
    void change(std::uint64_t by) { value += std::string(30 + by % 20, 'x'); }
    auto contents() const { return std::pair(id, value); }
    const std::uint64_t id;
    std::string value;
};

struct captured_blocks : default_policy {
    static constexpr std::size_t claim_size = 4;
    static constexpr std::size_t nursery_chunk = 4;
    static constexpr std::size_t removal_chunk = 4;
    static constexpr std::size_t freelist_block = 8;
};

/// One that can't be copied: it comes back as itself, with what it contains by then, which stays the same.
struct unique_thing {
    explicit unique_thing(std::uint64_t number) : id(std::make_unique<std::uint64_t>(number)) {}
    unique_thing(unique_thing&&) noexcept = default;
    unique_thing& operator=(unique_thing&&) noexcept = default;
    ~unique_thing() = default;
    static void change(std::uint64_t) {}
    auto contents() const { return *id; }
    std::unique_ptr<std::uint64_t> id;
};

/// What a constructor throws.
struct no_object {};

// ---- The kinds of pools: how objects are made, changed and read

template <class Object>
struct typed_objects {
    template <class Traits>
    using pool_type = pool<Object, Traits>;
    template <class Traits>
    static pool_type<Traits> empty(const pool_options& options) {
        return pool_type<Traits>(options);
    }

    template <class Pool>
    static auto make(Pool& pool, std::uint64_t id) {
        return pool.try_emplace(id);
    }
    template <class Pool>
    static void make_several(Pool& pool, std::size_t count, std::uint64_t& id,
                             std::vector<typename Pool::handle_type>& made) {
        pool.try_emplace_n(count, std::back_inserter(made), [&id](std::size_t) { return Object(id++); });
    }
    template <class Pool>
    static bool fulfill(Pool& pool, typename Pool::handle_type handle, std::uint64_t id) {
        return pool.try_fulfill(handle, id);
    }
    template <class Pool, class Body>
    static void fail_to_make(Pool& pool, Body body) {
        pool.try_emplace_with([&](auto handle) -> Object {
            body(handle);
            throw no_object();
        });
    }
    static void change(Object* object, std::uint64_t by) { object->change(by); }
    /// Whether a restore brings back what extract() has handed over; and what a sink does with an object.
    static constexpr bool copies = std::is_copy_constructible_v<Object>;
    static void end(const Object&) {}
    static auto contents(const Object& object) { return object.contents(); }
    static const void* address(const Object& object) { return &object; }
    static std::uint64_t key(const Object& object) {
        if constexpr (copies) {
            return object.id;
        } else {
            return object.contents();
        }
    }
};

template <class Kind, class Traits, bool KeepOrder, std::size_t ReuseDelay, std::size_t LogFrames>
struct captured_case {
    using kind = Kind;
    using traits = Traits;
    static constexpr std::size_t log_frames = LogFrames;
    static constexpr bool is_dense = std::is_same_v<typename Traits::placement, dense_placement>;
    static pool_options options() {
        return {.name = "captured",
                .capacity = 300,
                .reuse_delay = ReuseDelay,
                .slot_limit = 100'000,
                .keep_order = KeepOrder};
    }
};

template <class Case>
class capture_oracle : public testing::Test {
protected:
    using kind = typename Case::kind;
    using pool_type = typename kind::template pool_type<typename Case::traits>;
    using handle_type = typename pool_type::handle_type;
    using log_type = change_log<pool_type>;
    static constexpr std::size_t kept = 5;

    capture_oracle() {
        members_.attach(pool_);
        std::thread([this] { pool_.erase(kind::make(pool_, 0)); }).join(); // its shard is there from here on
    }

    /// All that a user can see of the pool, and of the users' own state.
    struct picture {
        using contents = decltype(kind::contents(std::declval<typename pool_type::const_reference>()));
        std::vector<std::tuple<handle_type, contents, const void*>> store; // in the order of positions
        std::vector<handle_type> living;
        std::vector<handle_type> reserved;
        std::set<handle_type> given_out;
        std::uint64_t next_id = 1;
    };

    picture now() const {
        picture seen = world_;
        seen.store.clear();
        for (const auto& [handle, each] : std::as_const(pool_).entries()) {
            seen.store.emplace_back(handle, kind::contents(each), kind::address(each));
        }
        return seen;
    }
    void expect_equal(const picture& seen, const picture& then) {
        ASSERT_EQ(seen.store.size(), then.store.size());
        for (std::size_t i = 0; i != seen.store.size(); ++i) {
            ASSERT_EQ(seen.store[i], then.store[i]) << i << " of " << seen.store.size();
        }
        EXPECT_EQ(pool_.size(), then.store.size());
        EXPECT_EQ(pool_.stats().slots_reserved, then.reserved.size());
        std::set<handle_type> alive;
        for (const auto& each : then.store) {
            alive.insert(std::get<0>(each));
        }
        const std::set<handle_type> reserved(then.reserved.begin(), then.reserved.end());
        for (const handle_type each : ever_) {
            const handle_state expected = alive.contains(each)      ? handle_state::alive
                                          : reserved.contains(each) ? handle_state::reserved
                                                                    : handle_state::stale;
            ASSERT_EQ(pool_.state(each), expected) << each.index() << ' ' << each.generation();
        }
    }

    // ---- A frame, a function of the pool, the users' state and a number

    void run_frame(std::uint64_t seed) {
        std::mt19937_64 random(seed);
        const auto below = [&random](std::uint64_t end) { return random() % end; };
        for (std::uint64_t steps = below(40); steps != 0; --steps) {
            switch (below(26)) {
            case 0:
            case 1:
            case 2:
            case 3:
            case 4:
                remember(kind::make(pool_, world_.next_id++));
                break;
            case 5: {
                std::vector<handle_type> made;
                kind::make_several(pool_, 1 + below(20), world_.next_id, made);
                for (const handle_type each : made) {
                    remember(each);
                }
                break;
            }
            case 6:
                if (const handle_type reserved = pool_.try_reserve_handle()) {
                    give_out(reserved);
                    world_.reserved.push_back(reserved);
                }
                break;
            case 7:
                if (!world_.reserved.empty()) {
                    const handle_type handle = take(world_.reserved, below(world_.reserved.size()));
                    if (below(2) == 0) {
                        EXPECT_TRUE(pool_.cancel(handle));
                    } else if (kind::fulfill(pool_, handle, world_.next_id++)) {
                        world_.living.push_back(handle);
                    } else {
                        world_.reserved.push_back(handle);
                    }
                }
                break;
            case 8:
            case 9:
            case 10:
            case 11:
                if (!world_.living.empty()) {
                    pool_.erase(take(world_.living, below(world_.living.size())));
                }
                break;
            case 12:
                if (!world_.living.empty()) {
                    const handle_type handle = take(world_.living, below(world_.living.size()));
                    if constexpr (kind::copies) {
                        pool_.extract(handle, [](auto&& each) { kind::end(each); });
                    } else {
                        pool_.erase(handle);
                    }
                }
                break;
            case 13:
                if (!world_.living.empty()) {
                    handle_type& which = world_.living[below(world_.living.size())];
                    if (const handle_type given = pool_.revoke(which)) {
                        members_.erase(which);
                        which = given;
                        give_out(given);
                    }
                }
                break;
            case 14:
            case 15:
            case 16:
            case 17:
                if (!world_.living.empty()) {
                    if (const auto found = log_.edit(world_.living[below(world_.living.size())])) {
                        kind::change(found, below(100));
                    }
                }
                break;
            case 18:
                if constexpr (Case::is_dense) {
                    const std::uint64_t salt = random();
                    const auto key = [salt](const auto& each) {
                        return (kind::key(each) ^ salt) * 0x9e3779b97f4a7c15U;
                    };
                    if (below(2) == 0) {
                        sort_some_by(pool_, key, below(60));
                    } else if (below(3) == 0) {
                        sort_by(pool_, key);
                    }
                }
                break;
            case 19:
                if (below(12) == 0) {
                    pool_.clear();
                    world_.living.clear();
                }
                break;
            case 20:
                if (below(4) == 0) {
                    auto alone = pool_.exclusive_access();
                    for (std::uint64_t i = below(30); i != 0; --i) {
                        if (below(2) == 0) {
                            remember(kind::make(alone, world_.next_id++));
                        } else if (!world_.living.empty()) {
                            alone.erase(take(world_.living, below(world_.living.size())));
                        }
                    }
                }
                break;
            case 21:
                pool_.compact_some(below(20));
                break;
            case 22:
                pool_.compact(threads_);
                break;
            case 23:
                if (below(6) == 0) {
                    pool_.shrink_to_fit();
                }
                break;
            case 24: // constructors that throw when they have made others
                try {
                    kind::fail_to_make(pool_, [&](handle_type unborn) {
                        give_out(unborn);
                        for (std::uint64_t i = below(6); i != 0; --i) {
                            remember(kind::make(pool_, world_.next_id++));
                        }
                    });
                } catch (const no_object&) {
                }
                break;
            default:
                // Another thread, with a claim and queues of its own.
                std::thread([&] {
                    for (std::uint64_t i = below(6); i != 0; --i) {
                        remember(kind::make(pool_, world_.next_id++));
                    }
                    if (!world_.living.empty()) {
                        pool_.erase(take(world_.living, below(world_.living.size())));
                    }
                }).join();
            }
        }
    }
    void give_out(handle_type handle) {
        world_.given_out.insert(handle);
        ever_.insert(handle);
    }
    void remember(handle_type handle) {
        if (handle) {
            give_out(handle);
            world_.living.push_back(handle);
            members_.insert(handle);
        }
    }
    static handle_type take(std::vector<handle_type>& from, std::size_t which) {
        std::swap(from[which], from.back());
        const handle_type handle = from.back();
        from.pop_back();
        return handle;
    }

    void capture() {
        ++frame_;
        ring_.capture(frame_);
        while (pictures_.size() > kept - 1 && pictures_.begin()->first + kept <= frame_) {
            pictures_.erase(pictures_.begin());
        }
        pictures_[frame_] = now();
        expect_equal(now(), now());
        check_followers();
    }
    /// A frame as a function of a number, then its picture.
    void play(std::uint64_t seed) {
        run_frame(seed);
        capture();
        seeds_[frame_] = seed;
    }
    void restore(std::uint64_t frame) {
        const std::set<handle_type> given_out = world_.given_out;
        const std::vector<handle_type> undone = ring_.restore(frame);
        const auto found = pictures_.find(frame);
        ASSERT_NE(found, pictures_.end());
        world_ = found->second;
        frame_ = frame;
        pictures_.erase(std::next(found), pictures_.end());
        expect_equal(now(), world_);
        std::vector<handle_type> expected;
        std::ranges::set_difference(given_out, world_.given_out, std::back_inserter(expected));
        std::ranges::sort(expected, {},
                          [](handle_type each) { return std::tuple(each.index(), each.generation()); });
        EXPECT_EQ(undone, expected);
        check_followers();
        EXPECT_EQ(ring_.newest(), frame);
    }

    /// The records of a log tell what happened, attached containers have none but the living, and what is
    /// confirmed is what had been given out when the oldest frame ended.
    void check_followers() {
        const auto records = follower_.changes_since(seen_);
        ASSERT_TRUE(records);
        for (const auto& record : *records) {
            for (const auto& each : record.destroyed) {
                EXPECT_EQ(known_.erase(each.handle), 1U);
            }
            for (const auto& each : record.moved) {
                for (const auto& renamed : record.renamed) {
                    if (renamed.after == each.handle) {
                        known_.erase(renamed.before);
                    }
                }
                known_[each.handle] = each.to;
            }
            for (const auto& each : record.renamed) {
                known_.erase(each.before);
                known_[each.after] = each.position;
            }
            for (const auto& each : record.born) {
                EXPECT_TRUE(known_.emplace(each.handle, each.position).second);
            }
        }
        seen_ = follower_.frame();
        std::map<handle_type, std::size_t> expected;
        for (const handle_type each : pool_.handles()) {
            expected[each] = log_.position_of(each).value();
            if constexpr (Case::is_dense) {
                EXPECT_EQ(expected[each], expected.size() - 1);
            }
        }
        EXPECT_EQ(known_, expected);
        for (const handle_type each : members_) {
            EXPECT_TRUE(pool_.contains(each));
        }
        const std::uint64_t oldest = *ring_.oldest();
        ASSERT_TRUE(pictures_.contains(oldest));
        for (const handle_type each : ever_) {
            EXPECT_EQ(ring_.is_confirmed(each), pictures_[oldest].given_out.contains(each));
        }
        EXPECT_EQ(ring_.size(), pictures_.size());
    }

    random_source random_;
    pool_type pool_ = kind::template empty<typename Case::traits>(Case::options());
    log_type log_{pool_, {.frames = Case::log_frames}};
    capture_ring<pool_type> ring_{log_, {.frames = kept}};
    log_type follower_{pool_, {.frames = 1000, .check_marks = false}};
    handle_set<typename handle_type::element_type, typename Case::traits::layout> members_;
    thread_executor threads_{2};
    picture world_;
    std::set<handle_type> ever_;
    std::map<std::uint64_t, picture> pictures_; // by frame
    std::map<std::uint64_t, std::uint64_t> seeds_;
    std::map<handle_type, std::size_t> known_;
    std::uint64_t seen_ = 0;
    std::uint64_t frame_ = 0;
};

struct few_generations : default_traits {
    using layout = handle_layout<24, 4, 4, 0>;
};

TYPED_TEST_SUITE_P(capture_oracle);

TYPED_TEST_P(capture_oracle, a_restored_pool_is_what_it_was_and_goes_on_as_it_did) {
    this->play(this->random_.bits());
    for (int i = 0; i != 400 && !this->HasFailure(); ++i) {
        switch (this->random_.below(8)) {
        case 0: { // the same frames again
            const std::uint64_t end = this->frame_;
            const auto before = this->pictures_;
            const std::uint64_t back = this->random_.below(this->pictures_.size());
            this->run_frame(this->random_.bits()); // which is undone too
            this->restore(end - back);
            while (this->frame_ != end && !this->HasFailure()) {
                this->play(this->seeds_.at(this->frame_ + 1));
                const auto& then = before.at(this->frame_);
                EXPECT_EQ(this->world_.given_out, then.given_out);
                this->expect_equal(this->now(), then);
            }
            break;
        }
        case 1: // another course of events
            if (this->random_.one_in(2)) {
                this->run_frame(this->random_.bits());
            }
            this->restore(this->frame_ - this->random_.below(this->pictures_.size()));
            break;
        case 2:
            if (this->random_.one_in(4)) {
                const std::uint64_t frame = this->frame_ - this->random_.below(this->pictures_.size());
                this->ring_.confirm(frame);
                this->pictures_.erase(this->pictures_.begin(), this->pictures_.find(frame));
                EXPECT_EQ(this->ring_.oldest(), frame);
            }
            break;
        default:
            this->play(this->random_.bits());
        }
    }
}

REGISTER_TYPED_TEST_SUITE_P(capture_oracle, a_restored_pool_is_what_it_was_and_goes_on_as_it_did);

} // namespace handlepool::test
