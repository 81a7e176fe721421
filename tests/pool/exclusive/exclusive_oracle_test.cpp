// SPDX-License-Identifier: MIT

// Random operations against an oracle, in threads, in compactions of all kinds, and by views for one thread.

#include <handlepool/exclusive_pool.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <tests/support/pool_oracle.hpp>
#include <tests/support/random.hpp>
#include <tests/support/threads.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <random>
#include <vector>

namespace handlepool::test {
namespace {

template <class Case>
class exclusive_oracle : public pool_oracle<Case> {
protected:
    using base = pool_oracle<Case>;
    using typename base::handle_type;
    using typename base::pool_type;
    using typename base::population;

    static constexpr std::size_t most = 100;

    /// What step() leaves out, all of it at once.
    template <class View>
    void stride(View& alone, population& mine, std::mt19937_64& random) {
        switch (random() % 8) {
        case 0: {
            const std::size_t count = mine.living.size() < most ? random() % (most - mine.living.size()) : 0;
            std::vector<handle_type> made;
            const std::uint64_t value = mine.next_value++;
            const auto make = [&](std::size_t) { return counted(this->counts_, value); };
            if (alone.try_emplace_n(count, std::back_inserter(made), make)) {
                mine.expect(made.size() == count);
                for (const handle_type each : made) {
                    mine.expect(mine.living.emplace(each, value).second);
                }
            }
            break;
        }
        case 1: {
            const std::uint64_t odd = random() % 2;
            const std::size_t erased =
                erase_if(alone, [&](const counted& each) { return each.value() % 2 == odd; });
            std::size_t expected = 0;
            for (population& one : all_) {
                for (auto each = one.living.begin(); each != one.living.end();) {
                    if (each->second % 2 == odd) {
                        one.dead.push_back(each->first);
                        each = one.living.erase(each);
                        ++expected;
                    } else {
                        ++each;
                    }
                }
            }
            mine.expect(erased == expected);
            break;
        }
        case 2:
            if (const handle_type reserved = alone.try_reserve_handle()) {
                mine.expect(alone.state(reserved) == handle_state::reserved);
                if (random() % 2 == 0 && mine.living.size() < most) {
                    const std::uint64_t value = mine.next_value++;
                    mine.expect(alone.try_fulfill(reserved, this->counts_, value));
                    mine.living.emplace(reserved, value);
                } else {
                    mine.expect(alone.cancel(reserved));
                    mine.dead.push_back(reserved);
                }
            }
            break;
        case 3:
            if (!mine.living.empty()) {
                const handle_type old = this->any_of(mine, random);
                if (const handle_type now = alone.revoke(old)) {
                    mine.living.emplace(now, mine.living[old]);
                    mine.living.erase(old);
                    mine.dead.push_back(old);
                }
            }
            break;
        case 4:
            if (!mine.living.empty()) {
                const handle_type victim = this->any_of(mine, random);
                std::optional<std::uint64_t> delivered;
                mine.expect(alone.extract(victim, [&](counted&& object) { delivered = object.value(); }));
                mine.expect(delivered == mine.living[victim]);
                mine.living.erase(victim);
                mine.dead.push_back(victim);
            }
            break;
        case 5: {
            std::vector<handle_type> victims;
            for (const auto& [handle, value] : mine.living) {
                if (random() % 4 == 0) {
                    victims.push_back(handle);
                }
            }
            mine.expect(alone.erase(victims) == victims.size());
            for (const handle_type victim : victims) {
                mine.living.erase(victim);
                mine.dead.push_back(victim);
            }
            break;
        }
        case 6:
            if (random() % 16 == 0) {
                random() % 2 == 0 ? alone.clear() : alone.reset();
                for (population& one : all_) {
                    for (const auto& [handle, value] : one.living) {
                        one.dead.push_back(handle);
                    }
                    one.living.clear();
                }
            }
            break;
        default:
            alone.compact();
        }
    }

    /// The store has exactly the living, and nothing waits.
    template <class View>
    void expect_exact(View& alone) {
        std::size_t living = 0;
        for (const population& one : all_) {
            living += one.living.size();
        }
        EXPECT_EQ(alone.size(), living);
        std::size_t visited = 0;
        for (const counted& each : alone) {
            const handle_type handle = alone.handle_of(each);
            const bool known = std::any_of(all_.begin(), all_.end(), [&](const population& one) {
                const auto found = one.living.find(handle);
                return found != one.living.end() && found->second == each.value();
            });
            EXPECT_TRUE(known) << alone.describe(handle);
            ++visited;
        }
        EXPECT_EQ(visited, living);
        EXPECT_EQ(this->counts_.alive(), static_cast<std::int64_t>(living));
        EXPECT_TRUE(alone.idle());
    }

    /// Frames of threads, of a compaction or none, and of a view.
    void run(pool_type& pool, int frames) {
        random_source random(13);
        thread_executor executor(2);
        all_ = std::vector<population>(2);
        std::vector<std::mt19937_64> engines{random.fork(), random.fork()};
        all_[1].next_value = std::uint64_t{1} << 32;
        for (int frame = 0; frame != frames && !testing::Test::HasFailure(); ++frame) {
            in_threads(2, [&](std::size_t thread) {
                for (int i = 0; i != 50; ++i) {
                    this->step(pool, all_[thread], engines[thread], most);
                }
            });
            switch (random.below(4)) {
            case 0:
                pool.compact();
                break;
            case 1:
                pool.compact(executor);
                break;
            case 2:
                pool.compact_some(random.below(40));
                break;
            default:
                break;
            }
            {
                auto alone = pool.exclusive_access();
                expect_exact(alone);
                for (std::uint64_t i = random.below(200); i != 0; --i) {
                    const std::size_t whose = random.below(2);
                    if (random.one_in(10)) {
                        stride(alone, all_[whose], engines[whose]);
                    } else {
                        this->step(alone, all_[whose], engines[whose], most);
                    }
                    if (random.one_in(20)) {
                        expect_exact(alone);
                    }
                }
                expect_exact(alone);
            }
            if (random.one_in(2)) {
                this->expect_same(pool, all_);
            }
        }
        this->expect_same(pool, all_);
    }

    std::vector<population> all_;
};

TYPED_TEST_SUITE(exclusive_oracle, oracle_cases);

TYPED_TEST(exclusive_oracle, agrees) {
    typename TestFixture::pool_type pool(TypeParam::options());
    this->run(pool, 60);
}

TYPED_TEST(exclusive_oracle, agrees_with_hooks_and_a_container) {
    typename TestFixture::pool_type pool(TypeParam::options());
    handle_set<counted, typename TypeParam::layout> members;
    members.attach(pool);
    std::size_t ended = 0;
    const scoped_hook deaths = pool.on_destroy([&](auto handle, const counted&) {
        ended += handle ? 1 : 0;
        members.erase(handle);
    });
    std::size_t born = 0;
    const scoped_hook births =
        pool.on_birth([&](auto handle, const counted&) { born += members.insert(handle) ? 1 : 0; });
    this->run(pool, 20);
    EXPECT_EQ(members.size(), pool.size());
    EXPECT_GE(ended, born - members.size());
}

TYPED_TEST(exclusive_oracle, agrees_with_memory_of_frames_and_in_order) {
    pool_options options = TypeParam::options();
    options.remember_frames = true;
    options.keep_order = !std::is_same_v<typename TypeParam::placement, stable_placement>;
    typename TestFixture::pool_type pool(options);
    this->run(pool, 20);
}

} // namespace
} // namespace handlepool::test
