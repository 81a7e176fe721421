// SPDX-License-Identifier: MIT

// Constructors, destructors, hooks, sinks and predicates that use the view, or the pool itself, while one of
// the view's operations runs.

#include <handlepool/error.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/stable_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/consistency.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/message_of.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

/// Calls back when it is made, and when it ends, unless it was moved from.
struct caller {
    explicit caller(int name, std::function<void()> at_birth = {}, std::function<void()> at_death = {})
        : number(name), dying(std::move(at_death)) {
        if (at_birth) {
            at_birth();
        }
    }
    caller(caller&& other) noexcept : number(other.number), dying(std::exchange(other.dying, nullptr)) {}
    caller& operator=(caller&&) = delete;
    ~caller() {
        if (dying) {
            std::exchange(dying, nullptr)();
        }
    }

    int number;
    std::function<void()> dying;
};

template <class Placement>
class exclusive_reentrance : public testing::Test {
protected:
    using traits = with_placement<Placement>;
    using pool_type = pool<caller, traits>;
    using view_type = exclusive_pool<caller, traits>;
    using handle_type = typename pool_type::handle_type;

    template <class View>
    static std::vector<int> numbers(View& view) {
        std::vector<int> found;
        for (const caller& each : view) {
            found.push_back(each.number);
        }
        std::sort(found.begin(), found.end());
        return found;
    }

    pool_type pool_{{.name = "pool", .capacity = 1000}};
};

using placements = testing::Types<dense_placement, stable_placement>;
TYPED_TEST_SUITE(exclusive_reentrance, placements);

TYPED_TEST(exclusive_reentrance, of_a_constructor_that_creates_and_erases) {
    for (const bool by_view : {true, false}) {
        this->pool_.clear();
        this->pool_.compact();
        {
            auto alone = this->pool_.exclusive_access();
            const auto use = [&](auto function) { by_view ? function(alone) : function(this->pool_); };
            const auto old = alone.emplace(1);
            alone.emplace(2);
            typename TestFixture::handle_type inner;
            const auto outer = alone.emplace(3, [&] {
                use([&](auto& pool) {
                    inner = pool.emplace(4);
                    EXPECT_TRUE(pool.erase(old));
                    EXPECT_FALSE(pool.erase(old));
                    EXPECT_EQ(pool.at(inner).number, 4);
                });
            });
            EXPECT_FALSE(alone.contains(old));
            EXPECT_EQ(alone.at(outer).number, 3);
            EXPECT_EQ(alone.at(inner).number, 4);
            EXPECT_EQ(this->numbers(alone), (std::vector<int>{2, 3, 4}));
            EXPECT_EQ(alone.size(), 3U);
            EXPECT_TRUE(alone.erase(inner));
            EXPECT_TRUE(alone.erase(outer));
            EXPECT_EQ(this->numbers(alone), (std::vector<int>{2}));
        }
        expect_consistent(this->pool_);
        EXPECT_EQ(this->pool_.size(), 1U);
    }
}

// However an object comes, its constructor runs within a step: what looks at the pool there does not compact
// it, with the object in the middle.
TYPED_TEST(exclusive_reentrance, of_constructors_of_all_ways_to_create) {
    using own_handle = typename TestFixture::handle_type;
    std::string refusal;
    {
        auto alone = this->pool_.exclusive_access();
        alone.emplace(1);
        int next = 100;
        std::vector<own_handle> gone;
        const std::function<void()> look = [&] {
            gone.push_back(alone.emplace(next++));
            static_cast<void>(this->numbers(alone));
            static_cast<void>(alone.size());
            static_cast<void>(alone.stats());
            EXPECT_TRUE(alone.erase(gone.back()));
            alone.emplace(next++);
            EXPECT_FALSE(alone.try_compact());
            refusal = message_of<compaction_conflict>([&] { alone.compact(); });
        };
        alone.emplace(2, look);
        alone.emplace_with([&](own_handle) { return caller(3, look); });
        EXPECT_TRUE(alone.try_emplace_with([&](own_handle) { return caller(4, look); }));
        alone.fulfill(alone.reserve_handle(), 5, look);
        EXPECT_TRUE(alone.try_fulfill(alone.reserve_handle(), 6, look));
        std::vector<own_handle> several;
        alone.emplace_n(2, std::back_inserter(several), 7, look);
        EXPECT_EQ(this->numbers(alone),
                  (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 7, 101, 103, 105, 107, 109, 111, 113}));
        EXPECT_EQ(alone.size(), 15U);
        for (const own_handle each : gone) {
            EXPECT_FALSE(alone.contains(each));
        }
    }
    EXPECT_EQ(refusal, "handlepool: pool 'pool': an operation on the whole pool was asked for by a "
                       "constructor, destructor, hook or sink");
    expect_consistent(this->pool_);
    EXPECT_EQ(this->pool_.size(), 15U);
}

TYPED_TEST(exclusive_reentrance, of_a_factory_that_creates_an_object_before_its_own) {
    typename TestFixture::handle_type inner;
    {
        auto alone = this->pool_.exclusive_access();
        alone.emplace_with([&](auto) {
            alone.emplace(2);
            return caller(1);
        });
        EXPECT_EQ(this->numbers(alone), (std::vector<int>{1, 2}));
        alone.fulfill(alone.reserve_handle(), 3, [&] { alone.emplace(4); });
        std::vector<typename TestFixture::handle_type> several;
        bool first = true;
        alone.emplace_n(3, std::back_inserter(several), 5, [&] {
            if (std::exchange(first, false)) {
                alone.emplace(6);
            }
        });
        EXPECT_EQ(this->numbers(alone), (std::vector<int>{1, 2, 3, 4, 5, 5, 5, 6}));
        EXPECT_EQ(message_of<compaction_conflict>([&] {
                      alone.emplace_with([&](auto) {
                          alone.reset();
                          return caller(7);
                      });
                  }),
                  "handlepool: pool 'pool': an operation on the whole pool was asked for by a constructor, "
                  "destructor, hook or sink");
        const auto failing = [&](auto) -> caller {
            inner = alone.emplace_with([](auto) { return caller(8); });
            static_cast<void>(this->numbers(alone));
            throw std::runtime_error("no object");
        };
        EXPECT_THROW(alone.emplace_with(failing), std::runtime_error);
        EXPECT_EQ(this->numbers(alone), (std::vector<int>{1, 2, 3, 4, 5, 5, 5, 6, 8}));
        EXPECT_TRUE(alone.contains(inner));
        EXPECT_EQ(alone.stats().newborn, 0U);
        EXPECT_TRUE(alone.idle());
    }
    expect_consistent(this->pool_);
    EXPECT_TRUE(this->pool_.idle());
}

// Whatever fails leaves no place behind that the next object would take out of turn.
TYPED_TEST(exclusive_reentrance, of_constructors_that_throw_at_the_end_of_a_group) {
    {
        auto alone = this->pool_.exclusive_access();
        for (int i = 0; i != 63; ++i) {
            alone.emplace(i);
        }
        const auto fail = [] { throw std::runtime_error("no object"); };
        EXPECT_THROW(alone.emplace(63, [&] { alone.emplace(64, fail); }), std::runtime_error);
        for (int i = 0; i != 200; ++i) {
            alone.emplace(i);
        }
        EXPECT_EQ(alone.size(), 263U);
        EXPECT_EQ(std::distance(alone.begin(), alone.end()), 263);
    }
    expect_consistent(this->pool_);
}
TYPED_TEST(exclusive_reentrance, of_a_failed_batch_in_a_group_with_holes) {
    using own_handle = typename TestFixture::handle_type;
    {
        auto alone = this->pool_.exclusive_access();
        std::vector<own_handle> made;
        while (made.size() != 128) {
            made.push_back(alone.emplace(0));
        }
        for (std::size_t i = 0; i != 128; i += 2) {
            alone.erase(made[i]);
        }
        alone.emplace(1);
        std::vector<own_handle> none;
        EXPECT_THROW(alone.emplace_n(5, std::back_inserter(none),
                                     [](std::size_t i) {
                                         if (i == 4) {
                                             throw std::runtime_error("no object");
                                         }
                                         return caller(2);
                                     }),
                     std::runtime_error);
        std::vector<own_handle> more;
        for (int i = 0; i != 29; ++i) {
            more.push_back(alone.emplace(i));
        }
        alone.erase(more[3]);
        for (int i = 0; i != 6; ++i) {
            alone.emplace_with([](auto) { return caller(5); });
        }
        EXPECT_EQ(alone.size(), 99U);
        EXPECT_EQ(alone.stats().dense, 99U);
        EXPECT_EQ(std::distance(alone.begin(), alone.end()), 99);
    }
    expect_consistent(this->pool_);
}

TYPED_TEST(exclusive_reentrance, takes_effect_when_the_call_ends_that_ran_it) {
    for (const bool by_view : {true, false}) {
        SCOPED_TRACE(by_view);
        auto alone = this->pool_.exclusive_access();
        alone.clear();
        int ended = 0;
        const auto make = [&] { return alone.emplace(1, [] {}, [&] { ++ended; }); };
        const auto use = [&](auto function) { by_view ? function(alone) : function(this->pool_); };
        const auto a = make();
        alone.emplace(2, [&] { use([&](auto& pool) { pool.erase(a); }); });
        EXPECT_EQ(ended, 1);
        const auto b = make();
        EXPECT_THROW(alone.emplace(3,
                                   [&] {
                                       use([&](auto& pool) { pool.erase(b); });
                                       throw std::runtime_error("no object");
                                   }),
                     std::runtime_error);
        EXPECT_EQ(ended, 2);
        const auto c = make();
        const auto d = make();
        const scoped_hook hook = alone.on_destroy([&](auto handle, caller&) {
            if (handle == c) {
                use([&](auto& pool) { pool.erase(d); });
            }
        });
        alone.erase(c);
        EXPECT_EQ(ended, 4);
        // What comes the usual way is in its place when it has come.
        const auto e = alone.emplace_with([](auto) { return caller(9); });
        const caller* const place = alone.find(e);
        EXPECT_EQ(alone.handle_of(*place), e);
        static_cast<void>(this->numbers(alone));
        EXPECT_EQ(alone.find(e), place);
        alone.clear();
    }
}

TYPED_TEST(exclusive_reentrance, of_a_destructor_that_creates_and_erases) {
    for (const bool by_view : {true, false}) {
        this->pool_.clear();
        this->pool_.compact();
        {
            auto alone = this->pool_.exclusive_access();
            const auto use = [&](auto function) { by_view ? function(alone) : function(this->pool_); };
            const auto other = alone.emplace(1);
            typename TestFixture::handle_type born;
            typename TestFixture::handle_type dying;
            dying = alone.emplace(
                2, [] {},
                [&] {
                    use([&](auto& pool) {
                        EXPECT_FALSE(pool.contains(dying));
                        EXPECT_TRUE(pool.erase(other));
                        born = pool.emplace(3);
                    });
                    EXPECT_EQ(alone.size(), 2U);
                });
            alone.emplace(4);
            EXPECT_TRUE(alone.erase(dying));
            EXPECT_EQ(this->numbers(alone), (std::vector<int>{3, 4}));
            EXPECT_EQ(alone.at(born).number, 3);
            EXPECT_FALSE(alone.contains(other));
            EXPECT_EQ(alone.size(), 2U);
        }
        expect_consistent(this->pool_);
    }
}

TYPED_TEST(exclusive_reentrance, of_a_chain_of_destructors) {
    {
        auto alone = this->pool_.exclusive_access();
        constexpr int length = 50;
        int ended = 0;
        std::vector<typename TestFixture::handle_type> chain(length + 1);
        for (int i = length; i-- != 0;) {
            const auto number = static_cast<std::size_t>(i);
            chain[number] = alone.emplace(
                i, [] {},
                [&, number] {
                    ++ended;
                    alone.erase(chain[number + 1]);
                });
        }
        const auto survivor = alone.emplace(-1);
        EXPECT_TRUE(alone.erase(chain[0]));
        EXPECT_EQ(ended, length); // without a look at the store
        EXPECT_EQ(this->numbers(alone), (std::vector<int>{-1}));
        EXPECT_TRUE(alone.contains(survivor));
    }
    expect_consistent(this->pool_);
}

TYPED_TEST(exclusive_reentrance, of_a_clear_whose_objects_create_others) {
    auto alone = this->pool_.exclusive_access();
    std::vector<typename TestFixture::handle_type> made;
    for (int i = 0; i != 100; ++i) {
        made.push_back(alone.emplace(
            i, [] {},
            [&, i] {
                EXPECT_FALSE(alone.contains(made[static_cast<std::size_t>((i + 1) % 100)]));
                if (i % 10 == 0) {
                    alone.emplace(1000 + i);
                }
            }));
    }
    alone.clear();
    EXPECT_EQ(alone.size(), 10U);
    EXPECT_EQ(this->numbers(alone),
              (std::vector<int>{1000, 1010, 1020, 1030, 1040, 1050, 1060, 1070, 1080, 1090}));
    for (const auto each : made) {
        EXPECT_FALSE(alone.contains(each));
    }
    alone.clear();
    EXPECT_TRUE(alone.empty());
}

TYPED_TEST(exclusive_reentrance, of_a_constructor_that_throws_after_it) {
    {
        auto alone = this->pool_.exclusive_access();
        const auto old = alone.emplace(1);
        typename TestFixture::handle_type inner;
        for (int round = 0; round != 3; ++round) {
            EXPECT_THROW(alone.emplace(2,
                                       [&] {
                                           inner = alone.emplace(3);
                                           throw std::runtime_error("not made");
                                       }),
                         std::runtime_error);
            EXPECT_EQ(alone.at(inner).number, 3);
            EXPECT_EQ(this->numbers(alone), (std::vector<int>{1, 3}));
            const auto next = alone.emplace(4);
            EXPECT_TRUE(alone.erase(next));
            EXPECT_TRUE(alone.erase(inner));
        }
        EXPECT_THROW(alone.emplace(2,
                                   [&] {
                                       inner = alone.emplace(5);
                                       throw std::runtime_error("not made");
                                   }),
                     std::runtime_error);
        const auto next = alone.emplace(6); // nobody has looked at the store in between
        EXPECT_TRUE(alone.erase(inner));
        EXPECT_EQ(this->numbers(alone), (std::vector<int>{1, 6}));
        EXPECT_TRUE(alone.contains(old));
        EXPECT_TRUE(alone.contains(next));
    }
    expect_consistent(this->pool_);
}

TYPED_TEST(exclusive_reentrance, of_many_objects_that_are_made_together) {
    {
        auto alone = this->pool_.exclusive_access();
        std::vector<typename TestFixture::handle_type> made;
        std::vector<typename TestFixture::handle_type> inner;
        const auto make = [&](std::size_t i) {
            return caller(static_cast<int>(i), [&] { inner.push_back(alone.emplace(1000)); });
        };
        alone.emplace_n(10, std::back_inserter(made), make);
        EXPECT_EQ(alone.size(), 20U);
        EXPECT_EQ(this->numbers(alone).size(), 20U);
        for (std::size_t i = 0; i != 10; ++i) {
            EXPECT_EQ(alone.at(made[i]).number, static_cast<int>(i));
            EXPECT_EQ(alone.at(inner[i]).number, 1000);
        }
        EXPECT_EQ(alone.erase(made), 10U);
        EXPECT_EQ(alone.erase(inner), 10U);
        EXPECT_TRUE(alone.empty());
    }
    expect_consistent(this->pool_);
}

TYPED_TEST(exclusive_reentrance, of_hooks_sinks_and_predicates) {
    {
        auto alone = this->pool_.exclusive_access();
        int deaths = 0;
        const scoped_hook hook = alone.on_destroy([&](auto handle, caller& object) {
            EXPECT_FALSE(alone.contains(handle));
            EXPECT_EQ(alone.stats().alive, alone.size());
            if (object.number < 3) {
                alone.emplace(object.number + 10);
            }
            ++deaths;
        });
        const auto one = alone.emplace(1);
        const auto two = alone.emplace(2);
        EXPECT_TRUE(alone.erase(one));
        EXPECT_EQ(deaths, 1);
        EXPECT_EQ(this->numbers(alone), (std::vector<int>{2, 11}));
        EXPECT_TRUE(alone.extract(two, [&](caller&& taken) { alone.emplace(taken.number + 20); }));
        EXPECT_EQ(this->numbers(alone), (std::vector<int>{11, 12, 22}));
        EXPECT_EQ(erase_if(alone,
                           [&](const caller& each) {
                               if (each.number == 11) {
                                   alone.emplace(33);
                               }
                               return each.number < 20;
                           }),
                  2U);
        EXPECT_EQ(this->numbers(alone), (std::vector<int>{22, 33}));
        EXPECT_EQ(alone.drain([&](auto, caller&& taken) { alone.emplace(taken.number + 100); }), 2U);
        EXPECT_EQ(this->numbers(alone), (std::vector<int>{122, 133}));
        EXPECT_EQ(alone.size(), 2U);
        EXPECT_EQ(alone.stats().created, 8U);
    }
    expect_consistent(this->pool_);
}

TYPED_TEST(exclusive_reentrance, finds_the_room_that_an_erase_has_just_made) {
    std::vector<typename TestFixture::handle_type> made;
    auto alone = this->pool_.exclusive_access();
    for (int i = 0; i != 1000; ++i) {
        made.push_back(alone.emplace(i));
    }
    for (std::size_t round = 0; round + 2 < made.size(); round += 2) {
        EXPECT_TRUE(alone.erase(made[round]));
        EXPECT_TRUE(alone.erase(made[round + 1]));
        made[round] = alone.emplace(
            1, [&] { made[round + 1] = round % 4 == 0 ? this->pool_.try_emplace(2) : alone.try_emplace(2); });
        ASSERT_TRUE(alone.contains(made[round + 1])) << round;
    }
    EXPECT_EQ(alone.size(), 1000U);
    EXPECT_FALSE(alone.try_emplace(3));
}

TYPED_TEST(exclusive_reentrance, of_a_hook_for_births) {
    auto alone = this->pool_.exclusive_access();
    std::vector<int> born;
    const scoped_hook hook = alone.on_birth([&](auto, caller& object) {
        born.push_back(object.number);
        if (object.number == 1) {
            alone.emplace(2);
        }
    });
    alone.emplace(1);
    EXPECT_EQ(this->numbers(alone), (std::vector<int>{1, 2}));
    EXPECT_EQ(born, (std::vector<int>{1, 2}));
}

TYPED_TEST(exclusive_reentrance, is_refused_to_what_takes_the_whole_pool) {
    auto alone = this->pool_.exclusive_access();
    std::string compaction;
    const auto one = alone.emplace(1, [&] {
        compaction = message_of<compaction_conflict>([&] { alone.compact(); });
        EXPECT_THROW(alone.reset(), compaction_conflict);
        EXPECT_THROW(alone.shrink_to_fit(), compaction_conflict);
        EXPECT_FALSE(alone.try_shrink_to_fit());
        EXPECT_FALSE(alone.try_compact());
    });
    EXPECT_EQ(compaction, "handlepool: pool 'pool': an operation on the whole pool was asked for by a "
                          "constructor, destructor, hook or sink");
    EXPECT_TRUE(alone.contains(one));
    EXPECT_TRUE(alone.try_compact());
}

// What ends is no object of the pool any more, for whoever asks meanwhile.
TYPED_TEST(exclusive_reentrance, of_hooks_and_destructors_that_count) {
    std::vector<std::size_t> seen;
    auto alone = this->pool_.exclusive_access();
    const auto count = [&] {
        seen.push_back(alone.size());
        EXPECT_EQ(alone.stats().alive, alone.size());
    };
    {
        const scoped_hook hook = alone.on_destroy([&](auto, const caller&) { count(); });
        const auto first = alone.emplace(1);
        alone.emplace(2);
        alone.erase(first);
        EXPECT_EQ(seen, std::vector<std::size_t>{1});
        seen.clear();
        alone.emplace(3);
        alone.emplace(4);
        alone.clear();
        EXPECT_EQ(seen, std::vector<std::size_t>(3, 0));
    }
    seen.clear();
    for (int i = 0; i != 5; ++i) {
        alone.emplace(i, std::function<void()>(), count);
    }
    alone.clear();
    EXPECT_EQ(seen, std::vector<std::size_t>(5, 0));
}

// What waits for order's sake ends with the view, which is whole until then.
TEST(exclusive_reentrance_of_order, of_a_destructor_that_runs_when_the_view_ends) {
    pool<caller> objects({.name = "pool", .capacity = 100, .keep_order = true});
    std::vector<bool> found;
    {
        auto alone = objects.exclusive_access();
        const auto kept = alone.emplace(1);
        const auto erased = alone.emplace(2, nullptr, [&, kept] {
            found.push_back(alone.contains(kept) && alone.find(kept)->number == 1);
            found.push_back(alone.erase(kept));
            found.push_back(alone.contains(kept));
        });
        alone.erase(erased);
        EXPECT_EQ(found, std::vector<bool>());
    }
    EXPECT_EQ(found, std::vector({true, true, false}));
    EXPECT_EQ(objects.size(), 0U);
    expect_consistent(objects);
}

} // namespace
} // namespace handlepool::test
