// SPDX-License-Identifier: MIT

// Rows of a snapshot that is merged into a living world: with their handles mapped, columns that only one
// side has, and nothing left of those that fail.

#include <handlepool/columns.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/snapshots/snapshot.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/snapshots/made_snapshot.hpp>
#include <tests/support/message_of.hpp>

#include <cstdint>
#include <istream>
#include <iterator>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;

/// Counts its objects, and may be cursed.
struct wagon_name {
    explicit wagon_name(std::string all) : words(std::move(all)) { ++alive; }
    wagon_name(wagon_name&& from) noexcept : words(std::move(from.words)) { ++alive; }
    wagon_name& operator=(wagon_name&&) noexcept = default;
    ~wagon_name() { --alive; }

    static inline int alive = 0;
    std::string words;
};
struct wagon_name_archive {
    void save(std::ostream& out, const wagon_name& saved) const { out << saved.words; }
    wagon_name load(std::istream& in) const {
        return wagon_name(std::string(std::istreambuf_iterator<char>(in), {}));
    }
};
struct coupling { // of wagons; which can't name their own type
    any_handle next;
    std::uint32_t load = 0;
};
template <class Map>
void for_each_handle(coupling& each, Map& map) {
    if (each.load == 13) {
        throw std::runtime_error("thirteen is too much");
    }
    map(each.next);
}
struct is_braked {};
struct is_braked_archive {
    void save(std::ostream&, const is_braked&) const {}
    is_braked load(std::istream&) const { return {}; }
};

template <class... Cs>
struct yard {
    using wagons_type = pool<columns<Cs...>>;

    template <class... Columns>
    explicit yard(unsigned id, std::size_t capacity, Columns... named)
        : wagons({.name = "wagons", .capacity = capacity, .pool_id = id}) {
        all.add("wagons", wagons, std::move(named)...);
    }
    snapshot_bytes saved() {
        snapshot_bytes bytes;
        all.save(bytes);
        return bytes;
    }
    std::vector<std::string> names() {
        wagons.compact();
        std::vector<std::string> found;
        for (const wagon_name& each : wagons.template items<wagon_name>()) {
            found.push_back(each.words);
        }
        return found;
    }

    wagons_type wagons;
    snapshot all;
};
using plain_yard = yard<wagon_name, is_braked, coupling>;

plain_yard plain(unsigned id, std::size_t capacity = 100) {
    return plain_yard(id, capacity, named_column("name", wagon_name_archive()), named_column("braked"),
                      named_column("coupling"));
}

/// Two wagons, of which the first knows the second.
struct two_wagons {
    explicit two_wagons(std::uint32_t load = 7)
        : second(from.wagons.emplace(wagon_name("second"), is_braked(), coupling{{}, load})),
          first(from.wagons.emplace(wagon_name("first"), is_braked(), coupling{second, 5})),
          bytes(from.saved()) {}

    plain_yard from = plain(961);
    plain_yard::wagons_type::handle_type second;
    plain_yard::wagons_type::handle_type first;
    snapshot_bytes bytes;
};

TEST(merged_rows, come_with_their_handles_again_and_again) {
    two_wagons prefab;
    plain_yard world = plain(962);
    world.wagons.emplace(wagon_name("own"));
    for (int time = 0; time != 2; ++time) {
        const handle_renaming names = world.all.merge(prefab.bytes);
        const auto first = names.find(prefab.first);
        const auto second = names.find(prefab.second);
        ASSERT_TRUE(world.wagons.contains(first) && world.wagons.contains(second));
        EXPECT_EQ(world.wagons.find(first)->get<wagon_name>().words, "first");
        EXPECT_EQ(world.wagons.find(first)->get<coupling>().next, any_handle(second));
        EXPECT_EQ(world.wagons.find(first)->get<coupling>().load, 5U);
        EXPECT_EQ(world.wagons.find(second)->get<coupling>().next, any_handle());
    }
    EXPECT_THAT(world.names(), ElementsAre("own", "second", "first", "second", "first"));
}

TEST(merged_rows, may_have_fewer_and_more_columns) {
    const two_wagons prefab;
    // Without the coupling, and with what is not there: of bytes, and of nothing at all though an archive has
    // it.
    yard<std::uint64_t, wagon_name, is_braked> world(963, 100, named_column("weight"),
                                                     named_column("name", wagon_name_archive()),
                                                     named_column("wet", is_braked_archive()));
    const auto names = world.all.merge(prefab.bytes);
    using other_row = handle<columns<std::uint64_t, wagon_name, is_braked>>;
    EXPECT_TRUE(world.wagons.contains(names.find(other_row::from_value(prefab.first.value()))));
    EXPECT_THAT(world.names(), ElementsAre("second", "first"));
    EXPECT_THAT(world.wagons.items<std::uint64_t>(), ElementsAre(0U, 0U));
}

TEST(merged_rows, that_fail_leave_nothing) {
    const two_wagons prefab(13); // the visitor of the last column throws, when the first one is made
    plain_yard world = plain(964);
    world.wagons.emplace(wagon_name("own"));
    const int alive = wagon_name::alive;
    EXPECT_EQ(message_of<std::runtime_error>([&] { world.all.merge(prefab.bytes); }), "thirteen is too much");
    EXPECT_EQ(world.wagons.stats().slots_reserved, 0U);
    EXPECT_THAT(world.names(), ElementsAre("own"));
    EXPECT_EQ(wagon_name::alive, alive);

    plain_yard full = plain(965, 3);
    while (full.wagons.try_emplace(wagon_name("own"))) {
    }
    full.wagons.compact();
    full.wagons.erase(full.wagons.handle_at(0)); // so that there is room for one of two
    const std::vector<std::string> before = full.names();
    EXPECT_THROW(full.all.merge(prefab.bytes), pool_exhausted);
    EXPECT_EQ(full.wagons.stats().slots_reserved, 0U);
    EXPECT_EQ(full.names(), before);
}

} // namespace
} // namespace handlepool::test
