// SPDX-License-Identifier: MIT

// Values of maps and keys of indices whose types were others when they were saved.

#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
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
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct crane {};

/// What a crane carries: a weight, then a weight with a limit, and then a text.
struct load_of_old {
    float tons;
};
struct load_of_yesterday {
    static constexpr std::uint32_t snapshot_version = 1;
    float tons;
    float limit;
};
struct load_of_today {
    explicit load_of_today(std::string all) : text(std::move(all)) {}
    std::string text;
};
struct load_archive {
    void save(std::ostream& out, const load_of_today& saved) const { out << saved.text; }
    load_of_today load(std::istream& in) const {
        return load_of_today(std::string(std::istreambuf_iterator<char>(in), {}));
    }
};
auto yesterday_of_old() {
    return upgrade<load_of_old, load_of_yesterday>([](const load_of_old& old) {
        if (old.tons < 0) {
            throw std::runtime_error("nothing weighs less than nothing");
        }
        return load_of_yesterday{old.tons, 10};
    });
}
auto today_of_yesterday() {
    return upgrade<load_of_yesterday, load_of_today>([](const load_of_yesterday& old) {
        return load_of_today(std::to_string(static_cast<int>(old.tons)) + " of " +
                             std::to_string(static_cast<int>(old.limit)));
    });
}
struct width_then_height {
    static constexpr std::string_view snapshot_layout = "width:u16 height:u16";
    std::uint16_t width;
    std::uint16_t height;
};
struct height_then_width {
    static constexpr std::string_view snapshot_layout = "height:u16 width:u16";
    std::uint16_t height;
    std::uint16_t width;
};

class upgraded_containers : public testing::Test {
protected:
    /// A snapshot of it alone.
    template <class Container, class... Archive>
    static snapshot_bytes saved(Container& container, const Archive&... archive) {
        snapshot all;
        all.add("it", container, archive...);
        snapshot_bytes bytes;
        all.save(bytes);
        return bytes;
    }
    std::vector<std::string> texts(const handle_map<crane, load_of_today>& loads) {
        std::vector<std::string> found;
        loads.for_each([&found](auto, const load_of_today& each) { found.push_back(each.text); });
        return found;
    }

    pool<crane> cranes_{{.name = "cranes", .capacity = 10, .pool_id = 931}};
    handle<crane> first_ = cranes_.emplace();
    handle<crane> second_ = cranes_.emplace();
};

TEST_F(upgraded_containers, have_values_of_today) {
    handle_map<crane, load_of_old> old;
    old.try_emplace(second_, load_of_old{2});
    old.try_emplace(first_, load_of_old{1});
    handle_map<crane, load_of_yesterday> yesterday;
    yesterday.try_emplace(first_, load_of_yesterday{3, 4});
    handle_map<crane, load_of_today> today;
    snapshot all;
    all.add("it", today, load_archive(), yesterday_of_old(), today_of_yesterday());

    EXPECT_THAT(all.load(saved(old)), IsEmpty());
    EXPECT_THAT(today.handles(), ElementsAre(second_, first_));
    EXPECT_THAT(texts(today), ElementsAre("2 of 10", "1 of 10"));
    const snapshot_bytes of_today = saved(today, load_archive());
    EXPECT_THAT(all.load(saved(yesterday)), IsEmpty());
    EXPECT_THAT(texts(today), ElementsAre("3 of 4"));
    EXPECT_THAT(all.load(of_today), IsEmpty());
    EXPECT_THAT(texts(today), ElementsAre("2 of 10", "1 of 10"));
}

TEST_F(upgraded_containers, are_as_they_were_when_an_upgrade_fails) {
    handle_map<crane, load_of_old> old;
    old.try_emplace(first_, load_of_old{1});
    old.try_emplace(second_, load_of_old{-1});
    handle_map<crane, load_of_yesterday> yesterday;
    yesterday.try_emplace(first_, load_of_yesterday{3, 4});
    snapshot all;
    all.add("it", yesterday, yesterday_of_old());
    const snapshot_bytes bytes = saved(old);
    // Behind 56 bytes before the payload: the container, two members, and the numbers of the values.
    const std::size_t values = 56 + 24 + 2 * 8 + 40;
    EXPECT_EQ(message_of<invalid_snapshot>([&] { all.load(bytes, "game"); }),
              "snapshot 'game', byte " + std::to_string(values + 4) +
                  ", block 'it': value 1 can't be upgraded: nothing weighs less than nothing");
    ASSERT_THAT(yesterday.handles(), ElementsAre(first_));
    EXPECT_EQ(yesterday.find(first_)->tons, 3);
    EXPECT_EQ(yesterday.find(first_)->limit, 4);

    handle_map<crane, load_of_today> today; // that knows only one step
    snapshot one;
    one.add("it", today, load_archive(), today_of_yesterday());
    EXPECT_EQ(message_of<invalid_snapshot>([&] { one.load(bytes, "game"); }),
              "snapshot 'game', byte 96, block 'it': the type of values has 4 bytes, alignment 4, version 0; "
              "here it has an archive, version 0; there is an upgrade of 8 bytes, alignment 4, version 1");
}

TEST_F(upgraded_containers, know_layouts_apart) {
    handle_map<crane, width_then_height> old;
    old.try_emplace(first_, width_then_height{3, 4});
    handle_map<crane, height_then_width> turned;
    snapshot unaware;
    unaware.add("it", turned);
    EXPECT_EQ(message_of<invalid_snapshot>([&] { unaware.load(saved(old), "game"); }),
              "snapshot 'game', byte 88, block 'it': the type of values has 4 bytes, alignment 2, version 0, "
              "layout 'width:u16 height:u16'; here it has 4 bytes, alignment 2, version 0, layout "
              "'height:u16 width:u16'");
    snapshot all;
    all.add("it", turned, upgrade<width_then_height, height_then_width>([](width_then_height each) {
                return height_then_width{each.height, each.width};
            }));
    all.load(saved(old));
    EXPECT_EQ(turned.find(first_)->height, 4);
    EXPECT_EQ(turned.find(first_)->width, 3);
}

TEST_F(upgraded_containers, have_keys_of_today_which_differ) {
    handle_index<crane, std::uint16_t> old;
    old.insert(first_, 70);
    old.insert(second_, 20);
    handle_index<crane, std::uint64_t> today;
    snapshot all;
    all.add("it", today,
            upgrade<std::uint16_t, std::uint64_t>([](std::uint16_t key) { return std::uint64_t{key} / 10; }));
    const snapshot_bytes bytes = saved(old);
    all.load(bytes);
    EXPECT_EQ(today.find(7), first_);
    EXPECT_EQ(today.find(2), second_);
    EXPECT_EQ(today.size(), 2U);

    handle_index<crane, std::uint64_t> alike;
    snapshot wrong;
    wrong.add("it", alike,
              upgrade<std::uint16_t, std::uint64_t>([](std::uint16_t) { return std::uint64_t{7}; }));
    EXPECT_EQ(
        message_of<invalid_snapshot>([&] { wrong.load(bytes, "game"); }),
        "snapshot 'game', byte 139, block 'it': key 1 is that of a member before, and the index has none "
        "twice");
    EXPECT_TRUE(alike.empty());
}

} // namespace
} // namespace handlepool::test
