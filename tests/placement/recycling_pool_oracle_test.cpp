// SPDX-License-Identifier: MIT

// Random operations on a recycling_pool against an oracle, a map of what must be alive. The objects notice
// whatever is done to them in the wrong order.

#include <handlepool/recycling_pool.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/consistency.hpp>
#include <tests/support/random.hpp>
#include <tests/support/recycled_object.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <type_traits>
#include <vector>

namespace handlepool::test {
namespace {

template <std::size_t Batch>
struct batches_of {
    using policy = std::conditional_t<Batch == 64, default_policy, support::tiny_policy<Batch>>;
    static pool_options options(std::size_t queue) {
        pool_options result{.name = "recycled", .capacity = 150, .reuse_delay = 0};
        if (queue != 0) {
            result.removal_queue_size = queue;
        }
        return result;
    }
};

template <class Case>
class recycling_pool_oracle : public testing::Test {
protected:
    using pool_type = recycling_pool<recycled_object, with_policy<typename Case::policy>>;
    using handle_type = typename pool_type::handle_type;

    handle_type any_of_the_living() {
        return std::next(living_.begin(), static_cast<std::ptrdiff_t>(random_.below(living_.size())))->first;
    }
    void expect_alive(handle_type handle, std::uint64_t value) {
        if (handle) {
            EXPECT_TRUE(living_.emplace(handle, value).second);
            EXPECT_EQ(pool_->find(handle)->value(), value);
        }
    }

    void create(std::uint64_t value) {
        if (random_.one_in(5)) {
            seen_.fail_at(static_cast<std::int64_t>(random_.below(3)));
        }
        try {
            switch (random_.below(6)) {
            case 0:
                expect_alive(pool_->try_emplace(), 0);
                break;
            case 1:
                expect_alive(pool_->try_emplace(value), value);
                break;
            case 2:
                expect_alive(pool_->try_emplace_with([&](auto, recycled_object& object) { object = value; }),
                             value);
                break;
            case 3:
                if (const handle_type reserved = pool_->try_reserve_handle()) {
                    reserved_.push_back(reserved);
                }
                break;
            case 4:
                if (!reserved_.empty() && random_.one_in(4)) {
                    EXPECT_TRUE(pool_->cancel(reserved_.back()));
                    reserved_.pop_back();
                } else if (!reserved_.empty()) {
                    pool_->fulfill(reserved_.back(), value);
                    expect_alive(reserved_.back(), value);
                    reserved_.pop_back();
                }
                break;
            default: {
                std::vector<handle_type> made;
                pool_->try_emplace_n(random_.below(10), std::back_inserter(made), value);
                for (const handle_type each : made) {
                    expect_alive(each, value);
                }
            }
            }
        } catch (const construction_failure&) {
        }
        seen_.fail_never();
    }

    void end_some() {
        if (living_.empty()) {
            return;
        }
        const handle_type victim = any_of_the_living();
        const std::uint64_t value = living_[victim];
        switch (random_.below(4)) {
        case 0:
            EXPECT_TRUE(pool_->extract(
                victim, [value](recycled_object&& object) { EXPECT_EQ(object.value(), value); }));
            living_.erase(victim);
            break;
        case 1: {
            const handle_type next = pool_->revoke(victim);
            living_.erase(victim);
            expect_alive(next, value);
            break;
        }
        default:
            EXPECT_TRUE(pool_->erase(victim));
            living_.erase(victim);
        }
    }

    void end_all() {
        switch (random_.below(4)) {
        case 0:
            pool_->clear();
            break;
        case 1:
            pool_->reset();
            reserved_.clear();
            break;
        case 2:
            EXPECT_EQ(pool_->drain([&](auto handle, recycled_object&& object) {
                EXPECT_EQ(object.value(), living_.at(handle));
            }),
                      living_.size());
            break;
        default:
            EXPECT_EQ(erase_if(*pool_, [](const recycled_object&) { return true; }), living_.size());
        }
        living_.clear();
    }

    void expect_same() {
        expect_consistent(*pool_);
        ASSERT_EQ(pool_->size(), living_.size());
        for (const auto& [handle, value] : living_) {
            const auto* const found = pool_->find(handle);
            ASSERT_NE(found, nullptr);
            ASSERT_EQ(found->value(), value);
        }
        EXPECT_GE(seen_.constructed() - seen_.destroyed(), static_cast<std::int64_t>(living_.size()));
        EXPECT_GE(seen_.cleared(), static_cast<std::int64_t>(pool_->stats().destroyed));
    }

    void run(const pool_options& options) {
        pool_type pool(options);
        pool_ = &pool;
        for (std::uint64_t frame = 1; frame != 300 && !testing::Test::HasFailure(); ++frame) {
            for (std::uint64_t i = random_.below(60); i != 0; --i) {
                random_.one_in(2) ? create(frame * 100 + i) : end_some();
            }
            if (random_.one_in(20)) {
                end_all();
            }
            expect_same();
            if (random_.one_in(10)) {
                pool.shrink_to_fit();
            }
        }
    }

private:
    recycled_object::counts seen_;
    random_source random_{17};
    pool_type* pool_ = nullptr;
    std::map<handle_type, std::uint64_t> living_;
    std::vector<handle_type> reserved_;
};

using cases = testing::Types<batches_of<1>, batches_of<2>, batches_of<64>>;
TYPED_TEST_SUITE(recycling_pool_oracle, cases);

TYPED_TEST(recycling_pool_oracle, agrees) {
    this->run(TypeParam::options(0));
}
TYPED_TEST(recycling_pool_oracle, agrees_when_erases_leave_no_record) {
    this->run(TypeParam::options(1));
}

} // namespace
} // namespace handlepool::test
