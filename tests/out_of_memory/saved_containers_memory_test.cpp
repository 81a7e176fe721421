// SPDX-License-Identifier: MIT

// Saves, loads and merges of pools and containers whose allocations fail: what is written stays as it was,
// and the world too, or is as empty as a load may leave it; the same call works when memory is there again.

#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/key_table.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/property_store.hpp>
#include <handlepool/snapshots/snapshot.hpp>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>

#include <cstddef>
#include <cstdint>
#include <istream>
#include <iterator>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

class saved_containers_memory : public testing::TestWithParam<shortage> {};

struct passenger {
    std::string name;
};
struct string_of_passenger_archive {
    void save(std::ostream& out, const std::string& saved) const { out << saved; }
    std::string load(std::istream& in) const {
        return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    }
};
struct passenger_archive {
    void save(std::ostream& out, const passenger& saved) const { out << saved.name; }
    passenger load(std::istream& in) const {
        passenger read;
        std::getline(in, read.name); // which says what it has no memory for by the stream alone
        return read;
    }
};
constexpr property_path seat("seat");

std::string long_text(std::size_t number) {
    return "what no small string holds: " + std::to_string(number);
}

class train {
public:
    train() {
        set_.attach(passengers_);
        map_.attach(passengers_);
        index_.attach(passengers_, [](const passenger& each) { return each.name; });
        tree_.attach(passengers_);
        bags_.attach(passengers_);
        bags_.set_names(names_);
        names_.add(seat);
        all_.add("passengers", passengers_, passenger_archive());
        all_.add("set", set_);
        all_.add("map", map_, string_of_passenger_archive());
        all_.add("index", index_, string_of_passenger_archive());
        all_.add("tree", tree_);
        all_.add("bags", bags_, names_in_file::included);
        all_.add("motto", motto_, string_of_passenger_archive());
    }

    void fill(std::size_t count) {
        for (std::size_t i = 0; i != count; ++i) {
            const auto made = passengers_.emplace(passenger{long_text(i % 7)});
            set_.insert(made);
            map_.try_emplace(made, long_text(i));
            if (i == 0) {
                first_ = made;
            } else {
                tree_.set_parent(made, first_);
            }
            bags_.set(made, seat, static_cast<float>(i));
        }
        passengers_.compact();
    }
    void empty() {
        passengers_.clear();
        passengers_.compact();
    }
    void compact() { passengers_.compact(); }
    std::size_t reserved() const { return passengers_.stats().slots_reserved; }
    snapshot& all() { return all_; }

    std::string text() const {
        std::ostringstream out;
        for (const auto each : passengers_.entries()) {
            out << each.handle.index() << ' ' << each.object.name << '\n';
        }
        for (const auto each : set_) {
            out << each.index() << ' ';
        }
        map_.for_each(
            [&out](auto each, const std::string& value) { out << each.index() << ' ' << value << '\n'; });
        for (const auto each : index_.handles()) {
            out << each.index() << ' ' << *index_.key_of(each) << '\n';
        }
        for (const auto each : index_.refused()) {
            out << each.index() << ' ';
        }
        for (const auto each : tree_.handles()) {
            out << each.index() << " below " << tree_.parent(each).index() << '\n';
        }
        bags_.for_each(
            [&out](auto each, property_view bag) { out << each.index() << ' ' << *bag.get<float>(seat); });
        return out.str() + motto_;
    }

private:
    pool<passenger> passengers_{{.name = "passengers", .capacity = 100, .pool_id = 931}};
    handle_set<passenger> set_;
    handle_map<passenger, std::string> map_;
    handle_index<passenger, std::string> index_;
    hierarchy<passenger> tree_;
    key_table names_;
    property_store<passenger> bags_;
    std::string motto_ = long_text(99);
    handle<passenger> first_;
    snapshot all_;
};

TEST_P(saved_containers_memory, a_save_that_fails_is_none) {
    train saved;
    saved.fill(20);
    std::vector<std::byte> whole;
    saved.all().save(whole);
    for (const std::size_t former : {std::size_t{3}, whole.size() / 2, whole.size() + 100}) {
        const std::size_t allocations =
            with_each_allocation_failing(GetParam(), [&](memory_shortage& short_of) {
                std::vector<std::byte> bytes(former, std::byte{7});
                const bool failed = short_of.hits([&] { saved.all().save(bytes); });
                EXPECT_EQ(bytes.size(), failed ? 0U : whole.size()) << former;
            });
        EXPECT_GT(allocations, 20U);
    }
}

TEST_P(saved_containers_memory, a_load_that_fails_can_be_repeated) {
    train world;
    world.fill(20);
    std::vector<std::byte> bytes;
    world.all().save(bytes);
    const std::string as_saved = world.text();
    world.empty();
    world.fill(3);
    std::vector<std::byte> other;
    world.all().save(other);
    const std::string before = world.text();
    ASSERT_NE(before, as_saved);
    std::size_t unchanged = 0;
    with_each_allocation_failing(GetParam(), [&](memory_shortage& short_of) {
        if (short_of.hits([&] { world.all().load(bytes); })) {
            unchanged += world.text() == before ? 1U : 0U;
            world.all().load(bytes);
        }
        ASSERT_EQ(world.text(), as_saved);
        world.all().load(other);
        ASSERT_EQ(world.text(), before);
    });
    EXPECT_GT(unchanged, 100U);
}

TEST_P(saved_containers_memory, a_merge_that_fails_leaves_nothing) {
    train world;
    world.fill(20);
    std::vector<std::byte> bytes;
    world.all().save(bytes);
    world.empty();
    world.fill(3);
    std::vector<std::byte> other;
    world.all().save(other);
    const std::string before = world.text();
    const std::size_t allocations = with_each_allocation_failing(GetParam(), [&](memory_shortage& short_of) {
        const bool failed =
            short_of.hits([&] { EXPECT_EQ(world.all().merge(bytes, "here", {.values = true}).size(), 20U); });
        world.compact();
        EXPECT_EQ(world.text() == before, failed);
        EXPECT_EQ(world.reserved(), 0U);
        world.all().load(other);
        ASSERT_EQ(world.text(), before);
    });
    EXPECT_GT(allocations, 100U);
}

INSTANTIATE_TEST_SUITE_P(shortages, saved_containers_memory, both_shortages, name_of_shortage);

} // namespace
} // namespace handlepool::test
