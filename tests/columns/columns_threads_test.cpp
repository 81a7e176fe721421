// SPDX-License-Identifier: MIT

// Rows that several threads create, look up, change and erase while one compacts.

#include <handlepool/columns.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/random.hpp>
#include <tests/support/row_consistency.hpp>
#include <tests/support/tabulate.hpp>
#include <tests/support/threads.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

template <class Policy>
class columns_in_threads : public testing::Test {
protected:
    // Elements of one byte: neighbours that belong to different threads share words.
    using pool_type = pool<columns<sized<1>, counted, std::uint64_t, sized<5>>, with_policy<Policy>>;
    using handle_type = typename pool_type::handle_type;

    handle_type create(std::uint64_t value) {
        return pool_.try_emplace(sized<1>(value), counted(people_, value), value, sized<5>(value));
    }
    /// Do all elements of the row hold this value?
    template <class Row>
    static bool is_whole(const Row& row, std::uint64_t value) {
        const auto& [byte, person, number, five] = row;
        const auto low = static_cast<unsigned char>(value);
        return byte.value() == low && person.value() == value && number == value && five.is_whole() &&
               five.value() == low;
    }

    census people_;
    pool_type pool_{{.name = "rows", .capacity = 2000}};
};

using policies = testing::Types<default_policy, support::tiny_policy<2>>;
TYPED_TEST_SUITE(columns_in_threads, policies);

TYPED_TEST(columns_in_threads, rows_stay_whole_while_another_thread_compacts_and_sorts) {
    constexpr std::size_t workers = 2;
    constexpr int steps = 4000;
    random_source random;
    std::vector<std::mt19937_64> engines{random.fork(), random.fork()};
    std::atomic<std::size_t> errors = 0;
    std::atomic<std::size_t> compactions = 0;
    const auto work = [&](std::size_t thread) {
        struct mine {
            typename TestFixture::handle_type handle;
            std::uint64_t value;
        };
        std::vector<mine> living;
        const auto expect = [&](bool condition) { errors += condition ? 0 : 1; };
        for (int i = 0; i < steps || compactions < 3; ++i) {
            const std::uint64_t value = std::uint64_t{thread} << 32 | static_cast<std::uint32_t>(i);
            if (living.size() < 500 && engines[thread]() % 2 == 0) {
                if (const auto made = this->create(value)) {
                    living.push_back({made, value});
                }
            } else if (!living.empty()) {
                mine& one = living[engines[thread]() % living.size()];
                {
                    const auto pinned = this->pool_.pin(one.handle);
                    expect(pinned && this->is_whole(*pinned, one.value));
                    expect(this->pool_.handle_of(pinned->template get<0>()) == one.handle);
                }
                if (engines[thread]() % 4 == 0) {
                    one.handle = this->pool_.revoke(one.handle);
                    expect(static_cast<bool>(one.handle));
                }
                if (engines[thread]() % 2 == 0) {
                    expect(this->pool_.erase(one.handle));
                    expect(!this->pool_.try_pin(one.handle));
                    one = living.back();
                    living.pop_back();
                }
            }
        }
        for (const mine& each : living) {
            expect(this->is_whole(*this->pool_.pin(each.handle), each.value));
        }
    };
    in_threads(workers, work, [&] {
        this->pool_.compact();
        switch (compactions++ % 4) {
        case 0:
            sort(this->pool_, [](auto a, auto b) {
                return a.template get<counted>().value() < b.template get<counted>().value();
            });
            break;
        case 2:
            sort_some_by<std::uint64_t>(this->pool_, [](std::uint64_t each) { return ~each; }, 100);
            break;
        default:
            break;
        }
        std::this_thread::yield();
    });
    EXPECT_EQ(errors, 0U);
    expect_consistent_rows(this->pool_);
    EXPECT_EQ(this->people_.alive(), static_cast<std::int64_t>(this->pool_.size()));
}

TYPED_TEST(columns_in_threads, exactly_one_erase_of_a_row_wins) {
    constexpr std::size_t rows = 500;
    const auto handles = tabulate(rows, [&](std::size_t i) { return this->create(i); });
    this->pool_.compact();
    std::atomic<std::size_t> won = 0;
    in_threads(3, [&](std::size_t) { won += this->pool_.erase(handles); });
    EXPECT_EQ(won, rows);
    thread_executor executor(2);
    EXPECT_EQ(this->pool_.compact(executor).removed, rows);
    EXPECT_EQ(this->people_.alive(), 0);
}

// Compaction's threads move neighbouring bytes.
TYPED_TEST(columns_in_threads, a_parallel_compaction_moves_whole_rows) {
    thread_executor executor(3);
    std::vector<typename TestFixture::handle_type> handles(2000);
    for (std::uint64_t round = 0; round != 4; ++round) {
        for (std::uint64_t i = 0; i != handles.size(); ++i) {
            if (!this->pool_.contains(handles[i])) {
                handles[i] = this->create(round << 20 | i);
            }
        }
        this->pool_.compact(executor);
        for (std::size_t i = round % 2; i < handles.size(); i += 2) {
            this->pool_.erase(handles[i]);
        }
        this->pool_.compact(executor);
        expect_consistent_rows(this->pool_);
        for (const auto handle : handles) {
            if (const auto found = this->pool_.find(handle)) {
                ASSERT_TRUE(this->is_whole(*found, found->template get<std::uint64_t>()));
            }
        }
    }
}

TYPED_TEST(columns_in_threads, a_loop_over_a_column_goes_on_while_others_create_and_erase) {
    const auto handles = tabulate(std::uint64_t{1000}, [&](std::uint64_t i) { return this->create(i); });
    this->pool_.compact();
    in_threads(2, [&](std::size_t thread) {
        if (thread == 0) {
            std::uint64_t sum = 0;
            std::as_const(this->pool_).template for_each<std::uint64_t>([&](std::uint64_t each) {
                sum += each;
            });
            EXPECT_EQ(sum, 1000U * 999 / 2) << "the erased are still there, the newborns not yet";
        } else {
            this->pool_.erase(handles);
            for (std::uint64_t i = 0; i != 1000; ++i) {
                this->create(i);
            }
        }
    });
    expect_consistent_rows(this->pool_);
}

} // namespace
} // namespace handlepool::test
