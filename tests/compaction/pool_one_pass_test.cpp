// SPDX-License-Identifier: MIT
#include <handlepool/executor.hpp>
#include <handlepool/policy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/scoped_hook.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/stats.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <tests/support/hostile_types.hpp>
#include <tests/support/random.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// One thread compacts in one pass over the records and one over the newborns, where executors with threads
// need two of each. Both must do the same.
namespace handlepool::test {
namespace {

/// Each loop of a compaction is divided, also where one thread would do.
struct divided_policy : default_policy {
    static constexpr std::size_t compaction_grain = 3;
};

struct numbered {
    explicit numbered(std::uint64_t number) : value(number) {}
    std::uint64_t value;
};

/// A pool that goes through all that frames can bring, and writes down what can be seen of it.
template <class Pool, class Executor>
class diary {
public:
    explicit diary(std::uint64_t seed) : random_(seed) {}

    void frame() {
        for (std::uint64_t left = random_.below(300); left != 0 && pool_.size() < 1000; --left) {
            if (random_.one_in(16)) {
                leave_vacated_place();
            } else {
                handles_.push_back(pool_.emplace(++made_));
            }
        }
        for (std::uint64_t left = random_.below(300); left != 0 && !handles_.empty(); --left) {
            std::swap(handles_[random_.below(handles_.size())], handles_.back());
            EXPECT_TRUE(pool_.erase(handles_.back()));
            dead_ = handles_.back();
            handles_.pop_back();
        }
        write_down(random_.one_in(2) ? pool_.compact(executor_)
                                     : pool_.compact_some(random_.below(200), executor_));
    }

    void listen() {
        hooks_.push_back(pool_.on_destroy([this](auto, auto& object) { written.push_back(object.value); }));
        hooks_.push_back(pool_.on_birth([this](auto, auto& object) { written.push_back(object.value); }));
    }

    std::vector<std::uint64_t> written;
    std::vector<std::string> described;

private:
    void write_down(const compaction_stats& stats) {
        for (const std::size_t number : {stats.removed, stats.born, stats.moved, stats.retired, stats.size,
                                         stats.waiting_removals, stats.waiting_newborns}) {
            written.push_back(number);
        }
        written.push_back(pool_.idle() ? 1 : 0);
        for (const numbered& each : pool_) {
            written.push_back(each.value);
        }
        describe(dead_);
        if (!handles_.empty()) {
            describe(handles_[random_.below(handles_.size())]);
        }
    }

    /// Without the name of the handle: pools that were made one after the other begin with different
    /// generations.
    void describe(typename Pool::handle_type handle) {
        const std::string text = pool_.describe(handle);
        described.push_back(text.substr(text.find(':')));
    }

    /// A constructor fails after it has made another object.
    void leave_vacated_place() {
        EXPECT_THROW(pool_.emplace_with([this](auto) -> numbered {
            handles_.push_back(pool_.emplace(++made_));
            throw construction_failure();
        }),
                     construction_failure);
    }

    random_source random_;
    Executor executor_;
    Pool pool_{{.name = "diary", .capacity = 2000, .remember_frames = true}};
    std::vector<typename Pool::handle_type> handles_;
    typename Pool::handle_type dead_;
    std::uint64_t made_ = 0;
    std::vector<scoped_hook> hooks_;
};

struct three_threads : thread_executor {
    three_threads() : thread_executor(3) {}
};

template <class Alone, class Divided>
struct pools {
    using alone = diary<Alone, inline_executor>;
    using divided = diary<Divided, three_threads>;
};

template <class Pools>
class one_pass : public testing::Test {
protected:
    static void expect_the_same(std::uint64_t seeds, auto prepare) {
        for (std::uint64_t seed = 1; seed != seeds + 1; ++seed) {
            typename Pools::alone alone(seed);
            typename Pools::divided divided(seed);
            prepare(alone);
            prepare(divided);
            for (int frame = 0; frame != 30; ++frame) {
                alone.frame();
                divided.frame();
                ASSERT_EQ(alone.written, divided.written) << "seed " << seed << ", frame " << frame;
                ASSERT_EQ(alone.described, divided.described) << "seed " << seed << ", frame " << frame;
            }
        }
    }
};

using all_pools =
    testing::Types<pools<pool<numbered>, pool<numbered, with_policy<divided_policy>>>,
                   pools<stable_pool<numbered>, stable_pool<numbered, with_policy<divided_policy>>>>;
TYPED_TEST_SUITE(one_pass, all_pools);

TYPED_TEST(one_pass, leaves_the_same_objects_in_the_same_order_as_threads) {
    this->expect_the_same(10, [](auto&) {});
}

TYPED_TEST(one_pass, calls_hooks_in_the_same_order_as_beside_threads) {
    this->expect_the_same(5, [](auto& one) { one.listen(); });
}

} // namespace
} // namespace handlepool::test
