// SPDX-License-Identifier: MIT

// Pools of rows in snapshots: each column by itself, under a name.

#include <handlepool/columns.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/time/little_endian.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/snapshots/snapshot.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/snapshots/made_snapshot.hpp>
#include <tests/support/message_of.hpp>

#include <cstddef>
#include <cstdint>
#include <istream>
#include <iterator>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct spot {
    float x = 0;
    float y = 0;
};
struct title {
    explicit title(std::string all = "nobody") : words(std::move(all)) {}
    std::string words;
};
struct title_archive {
    void save(std::ostream& out, const title& saved) const { out << saved.words; }
    title load(std::istream& in) const {
        std::string words(std::istreambuf_iterator<char>(in), {});
        if (words == "?") {
            throw std::runtime_error("nobody can read this");
        }
        return title(words);
    }
};
struct is_awake {};
struct armor { // nobody knows how much
    explicit armor(int plates) : plates_(plates) {}
    int plates_;
};
struct later_spot : spot {
    static constexpr std::uint32_t snapshot_version = 3;
};
struct named_spot {
    static constexpr std::string_view snapshot_layout = "x:f32 y:f32";
    float x;
    float y;
};
struct turned_spot {
    static constexpr std::string_view snapshot_layout = "y:f32 x:f32";
    float y;
    float x;
};
struct no_anchor {
    no_anchor() { throw std::runtime_error("it is nowhere"); }
    explicit no_anchor(int) {}
    std::uint8_t depth = 0;
};

/// A pool of rows, and a snapshot of it alone.
template <class... Cs>
class saved_table {
public:
    using pool_type = pool<columns<Cs...>>;

    template <class... Columns>
    explicit saved_table(Columns... named) : rows({.name = "movers", .capacity = 100, .pool_id = 911}) {
        all.add("movers", rows, std::move(named)...);
    }

    snapshot_bytes saved() {
        snapshot_bytes bytes;
        all.save(bytes);
        return bytes;
    }
    std::string refusal(const snapshot_bytes& bytes) {
        return message_of<invalid_snapshot>([&] { all.load(bytes, "game"); });
    }

    pool_type rows;
    snapshot all;
};

using movers_table = saved_table<spot, int, title, is_awake>;

/// Two rows, the first of which ends here, with its pool.
snapshot_bytes two_movers() {
    movers_table table(named_column("spot"), named_column("health"), named_column("title", title_archive()),
                       named_column("awake"));
    table.rows.emplace(spot{1, 2}, 30, title("captain"));
    table.rows.emplace(spot{3, 4}, 50, title("cook"));
    return table.saved();
}

TEST(snapshot_columns, all_is_as_it_was_saved) {
    movers_table table(named_column("spot"), named_column("health"), named_column("title", title_archive()),
                       named_column("awake"));
    const auto captain = table.rows.emplace(spot{1, 2}, 30, title("captain"));
    const auto cook = table.rows.emplace(spot{3, 4}, 50, title("cook"));
    const auto reserved = table.rows.reserve_handle();
    const snapshot_bytes bytes = table.saved();
    table.rows.find(captain)->get<int>() = 5;
    table.rows.find(captain)->get<title>().words = "was a captain, and has no ship any more";
    table.rows.erase(cook);
    const auto undone = table.rows.emplace();
    table.rows.compact();
    EXPECT_THAT(table.all.load(bytes), IsEmpty());
    EXPECT_EQ(table.rows.size(), 2U);
    EXPECT_FALSE(table.rows.contains(undone));
    EXPECT_EQ(table.rows.state(reserved), handle_state::reserved);
    EXPECT_EQ(table.rows.find(captain)->get<spot>().y, 2);
    EXPECT_EQ(table.rows.find(captain)->get<int>(), 30);
    EXPECT_EQ(table.rows.find(captain)->get<title>().words, "captain");
    EXPECT_EQ(table.rows.find(cook)->get<spot>().x, 3);
    EXPECT_EQ(table.rows.find(cook)->get<title>().words, "cook");
    EXPECT_THAT(table.rows.items<int>(), ElementsAre(30, 50));
    EXPECT_EQ(table.rows.emplace(), undone); // the next one, as then
}

TEST(snapshot_columns, hold_many_rows) {
    movers_table table(named_column("spot"), named_column("health"), named_column("title", title_archive()),
                       named_column("awake"));
    std::vector<int> healths;
    for (int i = 0; i != 100; ++i) {
        table.rows.emplace(spot{static_cast<float>(i), 0}, i, title(std::to_string(i)));
        healths.push_back(i);
    }
    const snapshot_bytes bytes = table.saved();
    table.rows.clear();
    table.all.load(bytes);
    EXPECT_THAT(table.rows.items<int>(), testing::ElementsAreArray(healths));
    for (int i = 0; i != 100; ++i) {
        EXPECT_EQ(table.rows.items<spot>()[static_cast<std::size_t>(i)].x, static_cast<float>(i));
        EXPECT_EQ(table.rows.items<title>()[static_cast<std::size_t>(i)].words, std::to_string(i));
    }
}

TEST(snapshot_columns, are_known_by_their_names) {
    const snapshot_bytes bytes = two_movers();
    saved_table<is_awake, int, title, spot> table(named_column("awake"), named_column("health"),
                                                  named_column("title", title_archive()),
                                                  named_column("spot"));
    EXPECT_THAT(table.all.load(bytes), IsEmpty());
    EXPECT_EQ(table.rows.items<spot>()[1].x, 3);
    EXPECT_THAT(table.rows.items<int>(), ElementsAre(30, 50));
    EXPECT_EQ(table.rows.items<title>()[0].words, "captain");
}

TEST(snapshot_columns, of_the_same_type_do_not_mix) {
    snapshot_bytes bytes;
    {
        saved_table<int, int> table(named_column("hull"), named_column("shield"));
        table.rows.emplace(1, 2);
        bytes = table.saved();
    }
    saved_table<int, int> table(named_column("shield"), named_column("hull"));
    table.all.load(bytes);
    EXPECT_THAT(table.rows.items<0>(), ElementsAre(2));
    EXPECT_THAT(table.rows.items<1>(), ElementsAre(1));
}

TEST(snapshot_columns, that_a_file_has_not_have_their_defaults) {
    const snapshot_bytes bytes = two_movers();
    saved_table<spot, title, std::uint64_t, later_spot> table(named_column("spot"),
                                                              named_column("motto", title_archive()),
                                                              named_column("money"), named_column("home"));
    EXPECT_THAT(table.all.load(bytes, "game"), ElementsAre("movers.health", "movers.title", "movers.awake"));
    EXPECT_EQ(table.rows.items<spot>()[1].y, 4);
    EXPECT_EQ(table.rows.items<title>()[1].words, "nobody");
    EXPECT_THAT(table.rows.items<std::uint64_t>(), ElementsAre(0U, 0U));
    EXPECT_EQ(table.rows.items<later_spot>()[0].x, 0);
    snapshot nobody_knows_the_pool;
    EXPECT_THAT(nobody_knows_the_pool.load(bytes), ElementsAre("movers"));
}

TEST(snapshot_columns, that_nobody_knows_are_those_of_the_last_load) {
    const snapshot_bytes both = two_movers();
    snapshot_bytes one;
    {
        saved_table<spot> table(named_column("spot"));
        table.rows.emplace(spot{5, 6});
        one = table.saved();
    }
    saved_table<spot> table(named_column("spot"));
    for (int i = 0; i != 2; ++i) {
        EXPECT_THAT(table.all.load(both), ElementsAre("movers.health", "movers.title", "movers.awake"));
    }
    EXPECT_THAT(table.all.load(one), IsEmpty());
}

TEST(snapshot_columns, without_a_default_must_be_there) {
    const snapshot_bytes bytes = two_movers();
    saved_table<spot, armor> table(named_column("spot"), named_column("armor"));
    const auto here = table.rows.emplace(spot{7, 7}, armor(3));
    EXPECT_EQ(table.refusal(bytes),
              "snapshot 'game', byte 378, block 'movers': column 'armor' isn't there, and "
              "its type has no default");
    EXPECT_EQ(table.rows.find(here)->get<armor>().plates_, 3); // nothing has changed
    const snapshot_bytes own = table.saved();
    table.rows.clear();
    table.all.load(own);
    EXPECT_EQ(table.rows.find(here)->get<armor>().plates_, 3);
}

TEST(snapshot_columns, with_a_default_that_throws_are_refused) {
    const snapshot_bytes bytes = two_movers();
    saved_table<spot, no_anchor> table(named_column("spot"), named_column("anchor"));
    table.rows.emplace(spot{7, 7}, no_anchor(1));
    EXPECT_EQ(table.refusal(bytes), "snapshot 'game', byte 378, block 'movers': object 0 of column 'anchor' "
                                    "can't be made anew: it is nowhere");
    EXPECT_EQ(table.rows.size(), 1U);
}

TEST(snapshot_columns, of_other_types_are_refused) {
    const snapshot_bytes bytes = two_movers();
    const auto refusal_by = [&bytes]<class C>(const C*, const char* name, auto... archive) {
        saved_table<C> table(named_column(name, archive...));
        table.rows.emplace();
        const std::string refusal = table.refusal(bytes);
        EXPECT_EQ(table.rows.size(), 1U);
        return refusal;
    };
    EXPECT_EQ(
        refusal_by(static_cast<later_spot*>(nullptr), "spot"),
        "snapshot 'game', byte 144, block 'movers': the type of column 'spot' has 8 bytes, alignment 4, "
        "version 0; here it has 8 bytes, alignment 4, version 3");
    EXPECT_EQ(
        refusal_by(static_cast<std::uint64_t*>(nullptr), "spot"),
        "snapshot 'game', byte 144, block 'movers': the type of column 'spot' has 8 bytes, alignment 4, "
        "version 0; here it has 8 bytes, alignment 8, version 0, layout 'u64'");
    EXPECT_EQ(
        refusal_by(static_cast<float*>(nullptr), "health"),
        "snapshot 'game', byte 204, block 'movers': the type of column 'health' has 4 bytes, alignment 4, "
        "version 0, layout 'i32'; here it has 4 bytes, alignment 4, version 0, layout 'f32'");
    EXPECT_EQ(
        refusal_by(static_cast<named_spot*>(nullptr), "spot"),
        "snapshot 'game', byte 144, block 'movers': the type of column 'spot' has 8 bytes, alignment 4, "
        "version 0; here it has 8 bytes, alignment 4, version 0, layout 'x:f32 y:f32'");
    EXPECT_EQ(
        refusal_by(static_cast<title*>(nullptr), "spot", title_archive()),
        "snapshot 'game', byte 144, block 'movers': the type of column 'spot' has 8 bytes, alignment 4, "
        "version 0; here it has an archive, version 0");
    EXPECT_EQ(
        refusal_by(static_cast<spot*>(nullptr), "title"),
        "snapshot 'game', byte 261, block 'movers': the type of column 'title' has an archive, version 0; "
        "here it has 8 bytes, alignment 4, version 0");
}

TEST(snapshot_columns, of_another_layout_are_refused) {
    snapshot_bytes bytes;
    {
        saved_table<named_spot> table(named_column("spot"));
        table.rows.emplace(named_spot{1, 2});
        bytes = table.saved();
    }
    {
        saved_table<named_spot> table(named_column("spot"));
        table.all.load(bytes);
        EXPECT_EQ(table.rows.items<0>()[0].y, 2);
    }
    saved_table<turned_spot> table(named_column("spot"));
    EXPECT_EQ(
        table.refusal(bytes),
        "snapshot 'game', byte 136, block 'movers': the type of column 'spot' has 8 bytes, alignment 4, "
        "version 0, layout 'x:f32 y:f32'; here it has 8 bytes, alignment 4, version 0, layout 'y:f32 "
        "x:f32'");
}

TEST(snapshot_columns, say_what_an_archive_could_not_read) {
    movers_table table(named_column("spot"), named_column("health"), named_column("title", title_archive()),
                       named_column("awake"));
    table.rows.emplace(spot(), 1, title("captain"));
    table.rows.emplace(spot(), 2, title("?"));
    EXPECT_EQ(table.refusal(table.saved()), "snapshot 'game', byte 329, block 'movers': object 1 of column "
                                            "'title' can't be read: nobody can read this");
    EXPECT_EQ(table.rows.size(), 2U);
    EXPECT_EQ(table.rows.items<title>()[0].words, "captain");
}

TEST(snapshot_columns, are_no_objects_and_no_values) {
    snapshot_bytes of_objects;
    {
        pool<std::uint32_t> numbers({.name = "numbers", .capacity = 100, .pool_id = 911});
        numbers.emplace(1U);
        snapshot all;
        all.add("movers", numbers);
        all.save(of_objects);
    }
    snapshot_bytes of_rows;
    {
        saved_table<std::uint32_t> table(named_column("number"));
        EXPECT_EQ(table.refusal(of_objects),
                  "snapshot 'game', byte 136, block 'movers': objects are no rows; here they are rows");
        table.rows.emplace(1U);
        of_rows = table.saved();
    }
    pool<std::uint32_t> numbers({.name = "numbers", .capacity = 100, .pool_id = 911});
    snapshot all;
    all.add("movers", numbers);
    EXPECT_EQ(message_of<invalid_snapshot>([&] { all.load(of_rows, "game"); }),
              "snapshot 'game', byte 136, block 'movers': objects are rows; here they are no rows");
}

TEST(snapshot_columns, names_are_checked_when_they_are_added) {
    pool<columns<int, int>> rows({.name = "movers", .capacity = 10});
    snapshot all;
    const auto refusal_of = [&](const char* one, const char* other) {
        return message_of<std::invalid_argument>(
            [&] { all.add("movers", rows, named_column(one), named_column(other)); });
    };
    EXPECT_EQ(refusal_of("hull", "hull"),
              "snapshot, 'movers': two columns have the name 'hull'; each needs its own");
    EXPECT_EQ(refusal_of("hull", ""),
              "snapshot, 'movers': of a column, the name has 0 bytes; 1 to 255 are allowed");
    EXPECT_EQ(refusal_of("a\nb", "c"),
              "snapshot, 'movers': of a column, the name has the control character 10 at byte 1; none is "
              "allowed");
    all.add("movers", rows, named_column("hull"), named_column("shield")); // the pool's name was not taken
}

/// The bytes of a snapshot of one block, whose name has up to 8, with another byte and the right hash.
snapshot_bytes with_byte(snapshot_bytes bytes, std::size_t at, std::uint8_t byte) {
    bytes[at] = std::byte{byte};
    const std::size_t payload_at = 56;
    const auto size = static_cast<std::size_t>(detail::from_little_endian<std::uint64_t>(bytes.data() + 16));
    put_hash(bytes, payload_at + (size + 7) / 8 * 8, std::span(bytes).subspan(payload_at, size));
    return bytes;
}

TEST(snapshot_columns, have_names_that_are_there_once) {
    saved_table<int, int> table(named_column("hull"), named_column("helm"));
    const snapshot_bytes bytes = table.saved();
    const std::size_t helm_at = 215;
    ASSERT_EQ(bytes[helm_at + 3], std::byte{'m'});
    snapshot_bytes twice = with_byte(bytes, helm_at + 1, 'u');
    twice = with_byte(twice, helm_at + 3, 'l');
    EXPECT_EQ(table.refusal(twice),
              "snapshot 'game', byte 175, block 'movers': column 'hull' is there twice");
    EXPECT_EQ(
        table.refusal(with_byte(bytes, helm_at, '\n')),
        "snapshot 'game', byte 215, block 'movers': of a column, the name has the control character 10 at "
        "byte 0; none is allowed");
}

TEST(snapshot_columns, have_no_more_archived_bytes_than_they_say) {
    const snapshot_bytes bytes = two_movers();
    movers_table table(named_column("spot"), named_column("health"), named_column("title", title_archive()),
                       named_column("awake"));
    const std::size_t sizes_at = 306; // of 7 and 4 bytes
    EXPECT_EQ(table.refusal(with_byte(bytes, sizes_at, 8)),
              "snapshot 'game', byte 314, block 'movers': an object of 4 bytes is expected, and 3 are left");
    EXPECT_EQ(table.refusal(with_byte(bytes, sizes_at, 6)),
              "snapshot 'game', byte 322, block 'movers': 1 bytes are those of no object");
}

TEST(snapshot_columns, announce_what_is_there) {
    pool<std::uint32_t> numbers({.name = "numbers", .capacity = 100, .pool_id = 911});
    numbers.emplace(1U);
    snapshot all;
    all.add("movers", numbers);
    snapshot_bytes bytes;
    all.save(bytes);
    const auto refusal_with = [&](std::size_t at, std::uint8_t byte) {
        return message_of<invalid_snapshot>([&] { all.load(with_byte(bytes, at, byte), "game"); });
    };
    const std::size_t columns_at = 132;
    EXPECT_EQ(refusal_with(columns_at, 2),
              "snapshot 'game', byte 132, block 'movers': the objects are no rows, and have 2 columns");
    EXPECT_EQ(refusal_with(columns_at + 4, 2),
              "snapshot 'game', byte 136, block 'movers': elements are encoded in way 2; known are 0 and 1");
    EXPECT_EQ(refusal_with(columns_at + 28, 3), "snapshot 'game', byte 179, block 'movers': 1 objects of 4 "
                                                "bytes are expected, and 3 bytes are there");
    EXPECT_EQ(refusal_with(columns_at + 28, 5),
              "snapshot 'game', byte 179, block 'movers': 5 bytes of elements are expected, and 4 are left");
    EXPECT_EQ(refusal_with(columns_at + 37, 200),
              "snapshot 'game', byte 176, block 'movers': the payload ends early: 51200 bytes are expected, "
              "and 7 bytes are there");
    EXPECT_EQ(refusal_with(columns_at + 40, 7),
              "snapshot 'game', byte 176, block 'movers': of a layout, the name has the control character 1 "
              "at byte 3; none is allowed");
    EXPECT_EQ(numbers.size(), 1U);
}

/// Each bit of the payload, with the right hash.
TEST(snapshot_columns, take_no_payload_for_right_that_is_not) {
    const snapshot_bytes good = two_movers();
    movers_table table(named_column("spot"), named_column("health"), named_column("title", title_archive()),
                       named_column("awake"));
    table.all.load(good);
    const detail::snapshot_blocks blocks(good, "good");
    const detail::snapshot_block& block = blocks.all()[0];
    std::size_t refused = 0;
    std::size_t taken = 0;
    for (std::size_t bit = 0; bit != 8 * block.payload.size(); ++bit) {
        snapshot_bytes bytes = good;
        bytes[block.offset + bit / 8] ^= std::byte{1} << (bit % 8);
        put_hash(bytes, block.offset + (block.payload.size() + 7) / 8 * 8,
                 std::span(bytes).subspan(block.offset, block.payload.size()));
        try {
            table.all.load(bytes);
            ++taken; // another value, another handle, or a column that is not known
            ASSERT_EQ(table.rows.size(), 2U);
            table.all.load(good);
        } catch (const invalid_snapshot& error) {
            ASSERT_TRUE(std::string_view(error.what()).starts_with("snapshot 'in memory', byte "));
            ++refused;
        }
        ASSERT_THAT(table.rows.items<int>(), ElementsAre(30, 50));
        ASSERT_EQ(table.rows.items<title>()[1].words, "cook");
    }
    EXPECT_GT(refused, 1000U);
    EXPECT_GT(taken, 100U);
}

} // namespace
} // namespace handlepool::test
