// SPDX-License-Identifier: MIT

// What each operation of a pool leaves in the record of its frame, and how records are read.

#include <handlepool/columns.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/raw_stable_pool.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/time/change_log.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/message_of.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

/// A pool with four objects, of which a log has seen the births.
class change_log_test : public testing::Test {
protected:
    using pool_type = pool<int>;
    using handle_type = pool_type::handle_type;
    using log_type = change_log<pool_type>;
    using record_type = log_type::record_type;

    change_log_test() {
        for (int i = 0; i != 4; ++i) {
            handles_.push_back(pool_.emplace(i));
        }
        pool_.compact();
    }

    /// The record of the last frame.
    record_type last() const { return *log_.changes_since(log_.frame() - 1)->begin(); }
    /// An empty one of that frame.
    record_type expected(std::size_t size) const {
        record_type record;
        record.frame = log_.frame();
        record.size = size;
        return record;
    }
    std::vector<position_range> uploads(std::size_t gap = 0) const {
        return log_.upload_ranges(log_.frame() - 1, gap).value();
    }

    pool_type pool_{{.name = "numbers", .capacity = 100, .reuse_delay = 0}};
    log_type log_{pool_, {.frames = 3}};
    std::vector<handle_type> handles_;
};

TEST_F(change_log_test, objects_that_came) {
    record_type record = expected(4);
    record.frame = 1;
    for (std::uint32_t i = 0; i != 4; ++i) {
        record.born.push_back({handles_[i], i});
    }
    EXPECT_EQ(last(), record);
    EXPECT_THAT(uploads(), ElementsAre(position_range{0, 4}));
}

TEST_F(change_log_test, a_frame_in_which_nothing_happened) {
    pool_.compact();
    EXPECT_EQ(last(), expected(4));
    EXPECT_TRUE(last().empty());
    EXPECT_EQ(log_.frame(), 2U);
    EXPECT_THAT(uploads(), IsEmpty());
}

TEST_F(change_log_test, an_object_that_went_and_the_last_one_in_its_place) {
    pool_.erase(handles_[1]);
    pool_.compact();
    record_type record = expected(3);
    record.destroyed = {{handles_[1], 1}};
    record.moved = {{handles_[3], 3, 1}};
    EXPECT_EQ(last(), record);
    EXPECT_THAT(uploads(), ElementsAre(position_range{1, 2}));
}

TEST_F(change_log_test, a_newborn_in_the_place_of_one_that_went) {
    pool_.erase(handles_[1]);
    const auto born = pool_.emplace(7);
    pool_.compact();
    record_type record = expected(4);
    record.destroyed = {{handles_[1], 1}};
    record.born = {{born, 1}};
    EXPECT_EQ(last(), record);
}

TEST_F(change_log_test, what_came_and_went_in_a_frame_is_counted) {
    pool_.erase(pool_.emplace(7));
    pool_.extract(pool_.emplace(8), [](int&&) {});
    pool_.compact();
    record_type record = expected(4);
    record.never_seen = 2;
    EXPECT_EQ(last(), record);
    EXPECT_FALSE(last().empty());
}

TEST_F(change_log_test, reserved_handles_are_in_no_list_before_their_objects) {
    const auto reserved = pool_.reserve_handle();
    const auto cancelled = pool_.reserve_handle();
    pool_.cancel(cancelled);
    pool_.compact();
    EXPECT_EQ(last(), expected(4));
    pool_.fulfill(reserved, 9);
    pool_.compact();
    record_type record = expected(5);
    record.born = {{reserved, 4}};
    EXPECT_EQ(last(), record);
}

TEST_F(change_log_test, another_handle) {
    const auto second = pool_.revoke(handles_[2]);
    const auto third = pool_.revoke(second);
    const auto newborn = pool_.revoke(pool_.emplace(5));
    pool_.compact();
    record_type record = expected(5);
    record.renamed = {{handles_[2], third, 2}};
    record.born = {{newborn, 4}};
    EXPECT_EQ(last(), record);
    EXPECT_THAT(uploads(), ElementsAre(position_range{4, 5}));
    pool_.erase(pool_.revoke(third)); // it goes under the handle that was told
    pool_.compact();
    record = expected(4);
    record.destroyed = {{third, 2}};
    record.moved = {{newborn, 4, 2}};
    EXPECT_EQ(last(), record);
}

TEST_F(change_log_test, another_handle_of_an_object_that_a_hook_erases) {
    const auto second = pool_.revoke(handles_[2]);
    const scoped_hook deaths = pool_.on_destroy([&](handle_type, int&) { pool_.erase(second); });
    pool_.erase(handles_[0]);
    pool_.compact();
    record_type record = expected(3);
    record.destroyed = {{handles_[0], 0}};
    record.moved = {{handles_[3], 3, 0}};
    record.renamed = {{handles_[2], second, 2}};
    EXPECT_EQ(last(), record);
    pool_.compact();
    record = expected(2);
    record.destroyed = {{second, 2}};
    EXPECT_EQ(last(), record);
}

TEST_F(change_log_test, edits_by_handle_and_by_position) {
    *log_.edit(handles_[3]) = 33;
    EXPECT_TRUE(log_.mark(handles_[0]));
    EXPECT_TRUE(log_.mark(handles_[0]));
    log_.mark_at(2);
    const auto newborn = pool_.emplace(4);
    EXPECT_TRUE(log_.mark(newborn)); // it is born, and not edited
    pool_.erase(handles_[0]);
    EXPECT_FALSE(log_.mark(handles_[0]));
    EXPECT_EQ(log_.edit(handles_[0]), nullptr);
    pool_.compact();
    record_type record = expected(4);
    record.destroyed = {{handles_[0], 0}};
    record.born = {{newborn, 0}};
    record.edited = {{handles_[2], 2}, {handles_[3], 3}};
    EXPECT_EQ(last(), record);
    EXPECT_THAT(uploads(), ElementsAre(position_range{0, 1}, position_range{2, 4}));
    EXPECT_THAT(uploads(1), ElementsAre(position_range{0, 4}));
    pool_.compact(); // marks are those of one frame
    EXPECT_EQ(last(), expected(4));
}

TEST_F(change_log_test, an_edited_object_that_moves) {
    log_.mark(handles_[3]);
    pool_.erase(handles_[0]);
    pool_.compact();
    record_type record = expected(3);
    record.destroyed = {{handles_[0], 0}};
    record.moved = {{handles_[3], 3, 0}};
    record.edited = {{handles_[3], 0}};
    EXPECT_EQ(last(), record);
    EXPECT_THAT(uploads(), ElementsAre(position_range{0, 1}));
}

TEST_F(change_log_test, clear) {
    pool_.clear();
    const auto born = pool_.emplace(9);
    pool_.compact();
    record_type record = expected(1);
    for (std::uint32_t i = 0; i != 4; ++i) {
        record.destroyed.push_back({handles_[i], i});
    }
    record.born = {{born, 0}};
    record.cleared = true;
    EXPECT_EQ(last(), record);
}

TEST_F(change_log_test, reset_and_drain_end_a_frame) {
    pool_.drain([](handle_type, int&&) {});
    record_type record = expected(0);
    for (std::uint32_t i = 0; i != 4; ++i) {
        record.destroyed.push_back({handles_[i], i});
    }
    record.cleared = true;
    EXPECT_EQ(last(), record);
    const auto born = pool_.emplace(9);
    pool_.compact();
    pool_.reset();
    record = expected(0);
    record.destroyed = {{born, 0}};
    record.cleared = true;
    record.reset = true;
    EXPECT_EQ(last(), record);
    EXPECT_EQ(log_.frame(), 4U);
    const auto next = pool_.emplace(10);
    pool_.compact();
    record = expected(1);
    record.born = {{next, 0}};
    EXPECT_EQ(last(), record);
}

TEST_F(change_log_test, a_sort_belongs_to_the_frame_in_which_it_comes) {
    sort(pool_, [](int one, int other) { return one > other; });
    pool_.compact();
    record_type record = expected(4);
    record.moved = {{handles_[0], 0, 3}, {handles_[1], 1, 2}, {handles_[2], 2, 1}, {handles_[3], 3, 0}};
    record.reordered = true;
    EXPECT_EQ(last(), record);
    sort(pool_, [](int one, int other) { return one > other; }); // moves nothing
    pool_.compact();
    EXPECT_EQ(last(), expected(4));
}

TEST_F(change_log_test, a_compaction_with_a_budget_tells_what_it_has_got_to) {
    std::vector<handle_type> more;
    pool_.emplace_n(10, std::back_inserter(more), 7);
    EXPECT_TRUE(log_.mark(more[9]));
    pool_.compact_some(6);
    record_type record = expected(10);
    for (std::uint32_t i = 0; i != 6; ++i) {
        record.born.push_back({more[i], 4 + i});
    }
    EXPECT_EQ(last(), record);
    pool_.compact();
    record = expected(14);
    for (std::uint32_t i = 6; i != 10; ++i) {
        record.born.push_back({more[i], 4 + i});
    }
    EXPECT_EQ(last(), record);
}

TEST_F(change_log_test, exclusive_access_is_one_frame) {
    handle_type born;
    {
        auto alone = pool_.exclusive_access();
        EXPECT_EQ(log_.frame(), 1U);
        alone.erase(handles_[0]);      // 3 moves to 0
        alone.erase(alone.emplace(1)); // in the slot that was freed
        born = alone.emplace(2);       // in it again
        alone.erase(handles_[3]);      // the newborn moves to 0
        handles_[1] = alone.revoke(handles_[1]);
        EXPECT_EQ(born.index(), handles_[0].index());
    }
    record_type record = expected(3);
    record.destroyed = {{handles_[0], 0}, {handles_[3], 3}};
    record.born = {{born, 0}};
    record.renamed = {{last().renamed.at(0).before, handles_[1], 1}};
    record.never_seen = 1;
    EXPECT_EQ(last(), record);
    EXPECT_EQ(last().renamed[0].before.index(), handles_[1].index());
    EXPECT_EQ(log_.frame(), 2U);
    {
        auto alone = pool_.exclusive_access();
        alone.emplace(5);
        alone.compact();
        EXPECT_EQ(log_.frame(), 3U);
        alone.emplace(6);
    }
    EXPECT_EQ(log_.frame(), 4U);
    EXPECT_EQ(log_.changes_since(2)->front().born.size(), 1U);
    EXPECT_EQ(log_.changes_since(3)->front().born.size(), 1U);
}

/// Calls what a test wants when it ends.
struct ending_number {
    explicit ending_number(int what) : number(what) {}
    ending_number(ending_number&& other) noexcept : number(std::exchange(other.number, 0)) {}
    ending_number& operator=(ending_number&&) = delete;
    ~ending_number() {
        if (number != 0 && at_end) {
            at_end();
        }
    }

    int number;
    static inline std::function<void()> at_end;
};

TEST(change_log_destructors, may_create_where_the_last_object_was_that_fills_the_hole) {
    pool<ending_number> numbers({.name = "numbers", .capacity = 10});
    const change_log log(numbers, {.check_marks = false});
    using record_type = decltype(log)::record_type;
    const auto first = numbers.emplace(1);
    const auto second = numbers.emplace(2);
    const auto third = numbers.emplace(3);
    numbers.compact();
    pool<ending_number>::handle_type born;
    {
        auto alone = numbers.exclusive_access();
        ending_number::at_end = [&] { born = alone.emplace(4); };
        alone.erase(first); // the third moves to 0, and the newborn comes to 2
        ending_number::at_end = nullptr;
    }
    record_type record;
    record.frame = 2;
    record.born = {{born, 2}};
    record.destroyed = {{first, 0}};
    record.moved = {{third, 2, 0}};
    record.size = 3;
    EXPECT_EQ(log.changes_since(1)->front(), record);
    EXPECT_THAT(log.upload_ranges(1), Optional(ElementsAre(position_range{0, 1}, position_range{2, 3})));
    EXPECT_EQ(numbers.handle_at(1), second);
}

TEST_F(change_log_test, readers_join_the_frames_that_they_have_not_seen) {
    log_.mark(handles_[0]);
    pool_.compact();
    pool_.erase(handles_[2]);
    pool_.compact();
    const auto records = log_.changes_since(1);
    ASSERT_TRUE(records);
    ASSERT_EQ(std::ranges::size(*records), 2U);
    EXPECT_EQ((*records)[0].edited.size(), 1U);
    EXPECT_EQ((*records)[1].destroyed.size(), 1U);
    EXPECT_EQ((*records)[1].frame, 3U);
    using records_type = std::remove_cvref_t<decltype(*records)>;
    static_assert(std::ranges::random_access_range<records_type> && std::ranges::view<records_type>);
    static_assert(std::ranges::borrowed_range<records_type> && std::ranges::sized_range<records_type>);
    static_assert(std::same_as<std::ranges::range_reference_t<records_type>, const record_type&>);
    EXPECT_EQ(records->begin()->frame, 2U);
    EXPECT_EQ(&records->front(), &*records->begin());
    EXPECT_EQ(&records->back(), &(*records)[1]);
    EXPECT_EQ(&records->end()[-1], &(*records)[1]);
    EXPECT_THAT(log_.upload_ranges(1), Optional(ElementsAre(position_range{0, 1}, position_range{2, 3})));
    EXPECT_THAT(log_.upload_ranges(0), Optional(ElementsAre(position_range{0, 3}))); // 3 is none any more
    EXPECT_EQ(std::ranges::size(*log_.changes_since(3)), 0U);
    EXPECT_THAT(log_.upload_ranges(3), Optional(IsEmpty()));
}

TEST_F(change_log_test, who_is_too_far_behind_finds_a_gap) {
    EXPECT_EQ(log_.oldest(), 0U);
    for (int i = 0; i != 3; ++i) {
        pool_.compact();
    }
    EXPECT_EQ(log_.frame(), 4U);
    EXPECT_EQ(log_.oldest(), 1U);
    EXPECT_TRUE(log_.changes_since(1));
    EXPECT_FALSE(log_.changes_since(0));
    EXPECT_FALSE(log_.upload_ranges(0));
    EXPECT_EQ(std::ranges::size(*log_.changes_since(1)), 3U);
}

TEST_F(change_log_test, frames_to_come_are_refused) {
    const std::string message =
        "change_log of pool 'numbers': frame 2 has not ended; the last one that has is 1";
    EXPECT_EQ(message_of<std::out_of_range>([this] { static_cast<void>(log_.changes_since(2)); }), message);
    EXPECT_EQ(message_of<std::out_of_range>([this] { static_cast<void>(log_.upload_ranges(2)); }), message);
    EXPECT_EQ(message_of<std::invalid_argument>([this] { const log_type none(pool_, {.frames = 0}); }),
              "change_log of pool 'numbers': frames is 0, and must be 1 to 65536");
    EXPECT_EQ(message_of<std::invalid_argument>([this] { const log_type none(pool_, {.frames = 65'537}); }),
              "change_log of pool 'numbers': frames is 65537, and must be 1 to 65536");
}

TEST_F(change_log_test, positions_of_objects) {
    EXPECT_THAT(log_.position_of(handles_[3]), Optional(3U));
    pool_.erase(handles_[0]);
    EXPECT_EQ(log_.position_of(handles_[0]), std::nullopt);
    EXPECT_EQ(log_.position_of(pool_.emplace(1)), std::nullopt); // not in the store yet
    EXPECT_EQ(log_.position_of(handle_type()), std::nullopt);
    pool_.compact();
    EXPECT_THAT(log_.position_of(handles_[3]), Optional(3U));
}

TEST_F(change_log_test, logs_of_one_pool_have_marks_of_their_own) {
    auto other = std::make_unique<log_type>(pool_);
    EXPECT_EQ(other->frame(), 0U);
    log_.mark(handles_[0]);
    other->mark(handles_[1]);
    handles_[2] = pool_.revoke(handles_[2]);
    pool_.compact();
    EXPECT_THAT(last().edited, ElementsAre(record_type::placed{handles_[0], 0}));
    const record_type& seen = other->changes_since(0)->front();
    EXPECT_THAT(seen.edited, ElementsAre(record_type::placed{handles_[1], 1}));
    EXPECT_EQ(seen.renamed, last().renamed);
    EXPECT_EQ(seen.renamed.size(), 1U);
    other.reset();
    pool_.erase(handles_[0]);
    pool_.compact();
    EXPECT_EQ(last().destroyed.size(), 1U);
}

TEST_F(change_log_test, a_log_that_comes_late_knows_what_there_is) {
    pool_.erase(handles_[0]);
    const auto newborn = pool_.emplace(5);
    log_type late(pool_);
    pool_.compact();
    record_type record = expected(4);
    record.frame = 1;
    record.destroyed = {{handles_[0], 0}};
    record.born = {{newborn, 0}};
    EXPECT_EQ(late.changes_since(0)->front(), record);
}

TEST_F(change_log_test, the_last_log_that_goes_leaves_the_pool_as_it_was) {
    auto own = std::make_unique<pool<int>>(pool_options{.name = "own", .capacity = 10});
    EXPECT_TRUE(own->idle());
    {
        const change_log log(*own);
        EXPECT_FALSE(own->idle()); // the log is told of each frame
        EXPECT_TRUE(log.attached());
    }
    own->compact();
    EXPECT_TRUE(own->idle());
    change_log log(*own);
    own.reset();
    EXPECT_FALSE(log.attached());
    EXPECT_EQ(log.frame(), 0U);
    EXPECT_EQ(message_of<std::out_of_range>([&] { static_cast<void>(log.changes_since(1)); }),
              "change_log of pool 'own': frame 1 has not ended; the last one that has is 0");
}

TEST_F(change_log_test, a_log_that_comes_late_is_not_told_of_a_sort_before_it) {
    pool<int> own({.name = "own", .capacity = 10});
    for (int i = 0; i != 4; ++i) {
        own.emplace(i);
    }
    own.compact();
    {
        const change_log former(own);
        sort(own, std::greater<>());
    }
    own.compact(); // nobody is told
    const change_log late(own);
    const auto first = own.handle_at(0);
    const auto last = own.handle_at(3);
    own.erase(first);
    own.compact();
    record_type record;
    record.frame = 1;
    record.size = 3;
    record.destroyed = {{first, 0}};
    record.moved = {{last, 3, 0}};
    EXPECT_EQ(late.changes_since(0)->front(), record);
}

TEST_F(change_log_test, known_objects_are_those_that_were_told_of) {
    std::vector<std::pair<handle_type, std::size_t>> known;
    const auto look = [&] {
        known.clear();
        log_.for_each_known(
            [&](handle_type handle, std::size_t position) { known.emplace_back(handle, position); });
    };
    pool_.erase(handles_[1]);
    const auto second = pool_.revoke(handles_[0]);
    pool_.erase(pool_.emplace(8));
    look();
    EXPECT_THAT(known, ElementsAre(std::pair(handles_[0], 0), std::pair(handles_[1], 1),
                                   std::pair(handles_[2], 2), std::pair(handles_[3], 3)));
    EXPECT_EQ(log_.told_at(1), handles_[1]);
    EXPECT_EQ(log_.told_at(4), handle_type());
    pool_.compact_some(2); // destroys one, and takes a dead newborn in
    EXPECT_EQ(pool_.items().size(), 4U);
    look();
    EXPECT_THAT(known,
                ElementsAre(std::pair(second, 0), std::pair(handles_[2], 2), std::pair(handles_[3], 3)));
    EXPECT_EQ(last().size, 3U);
}

using change_log_death_test = change_log_test;

TEST_F(change_log_death_test, a_checked_build_names_what_has_changed_without_a_mark) {
    if constexpr (detail::checked) {
        const auto change = [this] {
            pool_[handles_[3]] = 7;
            pool_.compact();
        };
        EXPECT_DEATH(change(), "pool 'numbers': #" + std::to_string(handles_[3].index()) + " generation " +
                                   std::to_string(handles_[3].generation()) +
                                   " has changed without a mark in the change_log that is to tell of it");
        EXPECT_DEATH(log_.mark_at(4),
                     "pool 'numbers': mark_at\\(\\) of a change_log was given a position that the "
                     "store doesn't have");
    }
    pool<int> unmarked({.name = "unmarked", .capacity = 10});
    const change_log log(unmarked, {.check_marks = false});
    const auto object = unmarked.emplace(1);
    unmarked.compact();
    unmarked[object] = 2;
    unmarked.compact();
    EXPECT_TRUE(log.changes_since(1)->front().empty());
}

TEST_F(change_log_death_test, what_moved_or_was_marked_may_have_changed) {
    *log_.edit(handles_[0]) = 7;
    pool_.compact();
    pool_[handles_[3]] = 8; // it moves
    pool_.erase(handles_[1]);
    pool_.compact();
    pool_.compact();
    EXPECT_EQ(log_.frame(), 4U);
}

TEST(change_log_pools, rows) {
    pool<columns<int, float>> rows({.name = "rows", .capacity = 10});
    change_log log(rows);
    const auto one = rows.emplace(1, 1.5F);
    const auto other = rows.emplace(2, 2.5F);
    rows.compact();
    log.edit(other)->get<float>() = 3.5F;
    log.mark_at(0);
    rows.erase(one);
    rows.compact();
    const auto& record = log.changes_since(1)->front();
    using placed = decltype(log)::record_type::placed;
    EXPECT_THAT(record.destroyed, ElementsAre(placed{one, 0}));
    EXPECT_THAT(record.edited, ElementsAre(placed{other, 0}));
    EXPECT_THAT(log.upload_ranges(1), Optional(ElementsAre(position_range{0, 1})));
}

TEST(change_log_pools, objects_of_run_time_types) {
    raw_pool<> dense({.name = "dense", .capacity = 10},
                     raw_type{.size = sizeof(int), .alignment = alignof(int)});
    raw_stable_pool<> stable({.name = "stable", .capacity = 10},
                             raw_type{.size = sizeof(int), .alignment = alignof(int)});
    const auto follow = [](auto& pool) {
        change_log log(pool);
        const auto one = pool.emplace();
        const auto other = pool.emplace();
        pool.compact();
        pool.erase(one);
        *static_cast<int*>(log.edit(other)) = 1;
        pool.compact();
        const auto& record = log.changes_since(1)->front();
        EXPECT_EQ(record.destroyed.size(), 1U);
        EXPECT_EQ(record.edited.size(), 1U);
        return std::pair(log.position_of(other).value(), record.moved.size());
    };
    EXPECT_EQ(follow(dense), std::pair(std::size_t{0}, std::size_t{1}));
    EXPECT_EQ(follow(stable), std::pair(std::size_t{1}, std::size_t{0}));
}

TEST(change_log_pools, places_of_a_pool_that_was_there_before_its_log) {
    stable_pool<int> numbers({.name = "numbers", .capacity = 200});
    std::vector<handle<int>> handles;
    numbers.emplace_n(150, std::back_inserter(handles), 1);
    numbers.compact();
    change_log log(numbers);
    numbers.reset();
    EXPECT_EQ(log.changes_since(0)->front().destroyed.size(), 150U);
    handles.clear();
    numbers.emplace_n(150, std::back_inserter(handles), 2);
    numbers.compact();
    EXPECT_EQ(log.changes_since(1)->front().born.size(), 150U);
    log.mark(handles[7]);
    numbers.compact();
    EXPECT_THAT(log.upload_ranges(2),
                Optional(ElementsAre(position_range{log.position_of(handles[7]).value(),
                                                    log.position_of(handles[7]).value() + 1})));
}

TEST(change_log_pools, destructors_and_hooks_may_use_pool_and_log) {
    struct chained {
        explicit chained(std::function<void()> end) : at_end(std::move(end)) {}
        chained(chained&& other) noexcept : at_end(std::exchange(other.at_end, nullptr)) {}
        chained& operator=(chained&&) = delete;
        ~chained() {
            if (at_end) {
                at_end();
            }
        }
        std::function<void()> at_end;
    };
    pool<chained> objects({.name = "chained", .capacity = 10});
    change_log log(objects);
    const auto ends = [&](handle<chained> next) {
        return [&objects, &log, next] {
            log.mark(next);
            objects.erase(next);
        };
    };
    const auto last = objects.emplace(std::function<void()>());
    const auto middle = objects.emplace(ends(last));
    const auto first = objects.emplace(ends(middle));
    objects.compact();
    std::vector<std::uint64_t> frames;
    const scoped_hook deaths = objects.on_destroy([&](auto, chained&) { frames.push_back(log.frame()); });
    objects.erase(first);
    for (int i = 0; i != 3; ++i) {
        objects.compact();
    }
    using placed = decltype(log)::record_type::placed;
    EXPECT_THAT((*log.changes_since(1))[0].destroyed, ElementsAre(placed{first, 2}));
    EXPECT_THAT((*log.changes_since(1))[1].destroyed, ElementsAre(placed{middle, 1}));
    EXPECT_THAT((*log.changes_since(1))[2].destroyed, ElementsAre(placed{last, 0}));
    EXPECT_THAT(frames, ElementsAre(1, 2, 3));
}

TEST(change_log_threads, mark_and_revoke_while_another_compacts) {
    pool<std::uint64_t> objects({.name = "objects", .capacity = 2'000, .reuse_delay = 0});
    change_log log(objects, {.frames = 4});
    using handle_type = pool<std::uint64_t>::handle_type;
    constexpr std::size_t threads = 2;
    constexpr int rounds = 20'000;
    std::atomic<std::size_t> at_work = threads;
    std::atomic<std::uint64_t> edits = 0;
    std::vector<std::jthread> workers;
    for (std::size_t worker = 0; worker != threads; ++worker) {
        workers.emplace_back([&, worker] {
            std::vector<handle_type> own;
            for (int round = 0; round != rounds; ++round) {
                const auto guard = objects.access();
                if (own.size() < 100) {
                    if (const handle_type made = objects.try_emplace(worker)) {
                        own.push_back(made);
                    }
                    continue;
                }
                handle_type& one = own[static_cast<std::size_t>(round) % own.size()];
                switch (round % 3) {
                case 0:
                    if (auto* const object = log.edit(one)) {
                        *object += threads;
                        edits += log.position_of(one) ? 1U : 0U;
                    }
                    break;
                case 1:
                    if (const handle_type given = objects.revoke(one)) {
                        one = given;
                    }
                    break;
                default:
                    objects.erase(std::exchange(one, own.back()));
                    own.pop_back();
                }
            }
            --at_work;
        });
    }
    // What the records tell, from the beginning, against the pool.
    std::vector<std::optional<handle_type>> told(4'000);
    std::uint64_t seen = 0;
    std::uint64_t edited = 0;
    const auto follow = [&] {
        objects.compact();
        const auto records = log.changes_since(seen);
        ASSERT_TRUE(records);
        for (const auto& record : *records) {
            for (const auto& each : record.destroyed) {
                ASSERT_EQ(std::exchange(told[each.position], std::nullopt), each.handle);
            }
            for (const auto& each : record.moved) {
                ASSERT_TRUE(told[each.from]);
            }
            std::vector<handle_type> moved;
            for (const auto& each : record.moved) {
                moved.push_back(std::exchange(told[each.from], std::nullopt).value());
            }
            for (std::size_t i = 0; i != moved.size(); ++i) {
                ASSERT_FALSE(told[record.moved[i].to]);
                told[record.moved[i].to] = moved[i];
            }
            for (const auto& each : record.renamed) {
                ASSERT_EQ(std::exchange(told[each.position], each.after), each.before);
            }
            for (const auto& each : record.born) {
                ASSERT_FALSE(std::exchange(told[each.position], each.handle));
            }
            edited += record.edited.size();
        }
        seen = log.frame();
    };
    while (at_work != 0) {
        follow();
    }
    workers.clear();
    follow();
    follow();
    std::size_t count = 0;
    for (const auto& [handle, object] : objects.entries()) {
        ASSERT_EQ(told[count], handle);
        ++count;
    }
    EXPECT_EQ(count, log.changes_since(seen - 1)->front().size);
    EXPECT_LE(edited, edits.load());
}

class sorted_frame : public testing::Test {
protected:
    using record = change_log<pool<int>>::record_type;

    void swap_last_two() {
        sort(numbers, [](int one, int other) { return place_of(one) < place_of(other); });
    }
    static int place_of(int number) { return number < 8 ? number : 17 - number; }
    record told() {
        numbers.compact();
        const auto frames = log.changes_since(0);
        EXPECT_EQ(frames->size(), 1U);
        return frames->front();
    }

    pool<int> numbers{{.name = "numbers", .capacity = 100}};
    change_log<pool<int>> log{[this]() -> pool<int>& {
        for (int i = 0; i != 10; ++i) {
            numbers.emplace(i);
        }
        numbers.compact();
        return numbers;
    }()};
};

TEST_F(sorted_frame, is_told_whoever_moved_last) {
    swap_last_two();
    numbers.erase(numbers.handle_at(5));
    const record frame = told();
    EXPECT_EQ(frame.moved.size(), 2U);
    EXPECT_TRUE(frame.reordered);
}

TEST_F(sorted_frame, is_told_if_those_that_it_moved_are_elsewhere_now) {
    swap_last_two();
    numbers.erase(numbers.handle_at(0));
    numbers.erase(numbers.handle_at(1));
    const record frame = told();
    EXPECT_EQ(frame.moved.size(), 2U) << "to where the others were";
    EXPECT_TRUE(frame.reordered);
}

TEST_F(sorted_frame, is_told_if_nothing_is_elsewhere_in_the_end) {
    swap_last_two();
    sort(numbers, std::less<int>());
    const record frame = told();
    EXPECT_TRUE(frame.moved.empty());
    EXPECT_TRUE(frame.reordered);
}

TEST_F(sorted_frame, is_none_if_the_sort_moves_nothing) {
    sort(numbers, std::less<int>());
    numbers.erase(numbers.handle_at(5));
    const record frame = told();
    EXPECT_EQ(frame.moved.size(), 1U);
    EXPECT_FALSE(frame.reordered);
}

} // namespace
} // namespace handlepool::test
