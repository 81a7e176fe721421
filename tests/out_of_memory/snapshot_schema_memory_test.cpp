// SPDX-License-Identifier: MIT

// Saves and loads of rows and of older objects whose allocations fail: what is written stays as it was, and
// so does the world.

#include <handlepool/columns.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/snapshots/snapshot.hpp>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>

#include <cstddef>
#include <istream>
#include <iterator>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

class snapshot_schema_memory : public testing::TestWithParam<shortage> {
protected:
    struct motto {
        motto(std::string all = "a motto that no small string holds, of nobody") : words(std::move(all)) {}
        std::string words;
    };
    struct motto_archive {
        void save(std::ostream& out, const motto& saved) const { out << saved.words; }
        motto load(std::istream& in) const {
            std::string read(std::istreambuf_iterator<char>(in), {});
            return motto(std::move(read));
        }
    };
    using older_rows = pool<columns<float, motto, int>>;
    using rows = pool<columns<motto, double, motto>>;

    static constexpr std::string_view pool_name = "a pool whose name no small string holds";

    static void add_older(snapshot& to, older_rows& pool) {
        to.add(pool_name, pool, named_column("speed"),
               named_column("the motto, whose name no small string holds", motto_archive()),
               named_column("money, of which nobody knows any more"));
    }
    static void add(snapshot& to, rows& pool) {
        to.add(pool_name, pool, named_column("the motto, whose name no small string holds", motto_archive()),
               named_column("speed", upgrade<float, double>([](float old) {
                                const std::string long_text(100, 'x');
                                return old * static_cast<double>(long_text.size());
                            })),
               named_column("another motto, which is new", motto_archive()));
    }
    static pool_options options() { return {.name = "rows", .capacity = 100, .pool_id = 931}; }
    static std::vector<std::byte> older_save() {
        older_rows before(options());
        snapshot all;
        add_older(all, before);
        before.emplace(1.0F, motto("everybody has one, and this one is long"), 3);
        before.emplace(2.0F, motto("nobody needs it, and this one is longer"), 4);
        std::vector<std::byte> bytes;
        all.save(bytes);
        return bytes;
    }
};

TEST_P(snapshot_schema_memory, what_can_not_be_added_is_not) {
    rows pool(options());
    with_each_allocation_failing(GetParam(), [&](memory_shortage& short_of) {
        snapshot all;
        const bool failed = short_of.hits([&] { add(all, pool); });
        std::vector<std::byte> bytes;
        all.save(bytes);
        snapshot none;
        EXPECT_EQ(none.load(bytes).size(), failed ? 0U : 1U);
        if (failed) {
            add(all, pool);
        }
    });
}

TEST_P(snapshot_schema_memory, a_save_that_fails_is_none) {
    rows pool(options());
    snapshot all;
    add(all, pool);
    pool.emplace(motto("everybody has one, and this one is long"), 1.0);
    pool.emplace(motto("nobody needs it, and this one is longer"), 2.0);
    pool.compact();
    const std::size_t allocations = with_each_allocation_failing(GetParam(), [&](memory_shortage& short_of) {
        std::vector<std::byte> bytes = {std::byte{1}, std::byte{2}};
        const bool failed = short_of.interrupts([&] { all.save(bytes); });
        EXPECT_EQ(bytes.empty(), failed);
    });
    EXPECT_GT(allocations, 5U);
}

TEST_P(snapshot_schema_memory, a_load_that_fails_changes_nothing) {
    const std::vector<std::byte> older = older_save();
    rows pool(options());
    const auto here = pool.emplace(motto("it was here before, and stays"), 7.0);
    pool.compact();
    std::vector<std::byte> as_made;
    {
        snapshot all;
        add(all, pool);
        all.save(as_made);
    }
    std::size_t failures = 0;
    with_each_allocation_failing(GetParam(), [&](memory_shortage& short_of) {
        snapshot all;
        add(all, pool);
        std::size_t unknown = 0;
        if (short_of.interrupts([&] { unknown = all.load(older).size(); })) {
            ++failures;
            ASSERT_EQ(pool.size(), 1U);
            ASSERT_EQ(pool.find(here)->get<0>().words, "it was here before, and stays");
            ASSERT_EQ(pool.find(here)->get<1>(), 7);
            unknown = all.load(older).size(); // can be repeated
        }
        ASSERT_EQ(unknown, 1U);
        ASSERT_EQ(pool.items<1>().size(), 2U);
        EXPECT_EQ(pool.items<0>()[0].words, "everybody has one, and this one is long");
        EXPECT_EQ(pool.items<1>()[1], 200);
        EXPECT_EQ(pool.items<2>()[1].words, motto().words);
        all.load(as_made);
    });
    EXPECT_GT(failures, 20U);
}

INSTANTIATE_TEST_SUITE_P(shortages, snapshot_schema_memory, both_shortages, name_of_shortage);

} // namespace
} // namespace handlepool::test
