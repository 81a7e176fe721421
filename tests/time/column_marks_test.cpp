// SPDX-License-Identifier: MIT

// Marks of columns: which positions of a column a reader has to look at.

#include <handlepool/columns.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/time/capture_ring.hpp>
#include <handlepool/time/change_log.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/message_of.hpp>
#include <tests/support/random.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
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

using ranges_type = std::vector<position_range>;

// ---- How columns may be named

template <class Log, std::size_t... Indices>
concept can_mark_indices =
    requires(Log& log, typename Log::handle_type handle) { log.template mark<Indices...>(handle); };
template <class Log, class... Columns>
concept can_mark_types =
    requires(Log& log, typename Log::handle_type handle) { log.template mark<Columns...>(handle); };
template <class Log, class C>
concept can_ask_for_type = requires(Log& log) {
    log.template upload_ranges<C>(0);
    log.template edit<C>(typename Log::handle_type());
    log.template mark_at<C>(0);
};

using log_of_rows = change_log<pool<columns<int, float, int>>>;
static_assert(can_mark_indices<log_of_rows, 0, 2>);
static_assert(!can_mark_indices<log_of_rows, 3>);
static_assert(can_mark_types<log_of_rows, float>);
static_assert(!can_mark_types<log_of_rows, int>); // of two columns
static_assert(!can_mark_types<log_of_rows, double>);
static_assert(can_ask_for_type<log_of_rows, float>);
static_assert(!can_ask_for_type<log_of_rows, int>);
static_assert(!can_mark_indices<change_log<pool<int>>, 0>);
static_assert(!can_mark_types<change_log<pool<int>>, int>);
static_assert(!can_mark_types<change_log<stable_pool<int>>, int>);

// ---- What is written where

class column_marks_test : public testing::Test {
protected:
    using pool_type = pool<columns<int, float, char>>;
    using handle_type = pool_type::handle_type;
    using log_type = change_log<pool_type>;

    column_marks_test() {
        for (int i = 0; i != 6; ++i) {
            handles_.push_back(pool_.emplace(i, static_cast<float>(i), 'a'));
        }
        pool_.compact();
    }

    ranges_type all(std::size_t gap = 0) const { return log_.upload_ranges(log_.frame() - 1, gap).value(); }
    template <class C>
    ranges_type of(std::size_t gap = 0) const {
        return log_.upload_ranges<C>(log_.frame() - 1, gap).value();
    }

    pool_type pool_{{.name = "rows", .capacity = 100, .reuse_delay = 0}};
    log_type log_{pool_, {.frames = 3, .mark_columns = true}};
    std::vector<handle_type> handles_;
};

TEST_F(column_marks_test, births_write_all_columns) {
    EXPECT_THAT(of<int>(), ElementsAre(position_range{0, 6}));
    EXPECT_THAT(of<float>(), ElementsAre(position_range{0, 6}));
    EXPECT_THAT(of<char>(), ElementsAre(position_range{0, 6}));
    EXPECT_THAT(all(), ElementsAre(position_range{0, 6}));
}

TEST_F(column_marks_test, edits_of_a_column_write_that_one) {
    float* const element = log_.edit<float>(handles_[1]);
    ASSERT_EQ(element, &pool_.items<float>()[1]);
    *element = 7;
    *log_.edit<0>(handles_[2]) = 8;
    EXPECT_TRUE((log_.mark<int, char>(handles_[4])));
    EXPECT_TRUE((log_.mark<1, 2>(handles_[5])));
    log_.mark_at<char>(0);
    log_.mark_at<0, 1>(0);
    pool_.compact();
    EXPECT_THAT(of<int>(), ElementsAre(position_range{0, 1}, position_range{2, 3}, position_range{4, 5}));
    EXPECT_THAT(of<float>(), ElementsAre(position_range{0, 2}, position_range{5, 6}));
    EXPECT_THAT(of<char>(), ElementsAre(position_range{0, 1}, position_range{4, 6}));
    EXPECT_THAT(of<char>(3), ElementsAre(position_range{0, 6}));
    EXPECT_THAT(log_.upload_ranges<2>(1), Optional(of<char>()));
    EXPECT_THAT(all(), ElementsAre(position_range{0, 3}, position_range{4, 6}));
    std::vector<handle_type> edited; // once each
    for (const auto& each : log_.changes_since(1)->front().edited) {
        edited.push_back(each.handle);
    }
    EXPECT_THAT(edited, ElementsAre(handles_[0], handles_[1], handles_[2], handles_[4], handles_[5]));
    pool_.compact(); // marks are those of one frame
    EXPECT_THAT(of<int>(), IsEmpty());
    EXPECT_THAT(of<char>(), IsEmpty());
    EXPECT_TRUE(log_.changes_since(2)->front().empty());
}

TEST_F(column_marks_test, marks_without_a_column_write_all) {
    log_.edit(handles_[1])->get<float>() = 7;
    EXPECT_TRUE(log_.mark(handles_[3]));
    log_.mark_at(5);
    pool_.compact();
    const ranges_type expected{{1, 2}, {3, 4}, {5, 6}};
    EXPECT_EQ(of<int>(), expected);
    EXPECT_EQ(of<float>(), expected);
    EXPECT_EQ(of<char>(), expected);
    EXPECT_EQ(all(), expected);
}

TEST_F(column_marks_test, moves_write_all_columns) {
    *log_.edit<float>(handles_[5]) = 7;
    *log_.edit<float>(handles_[2]) = 8;
    pool_.erase(handles_[0]); // 5 moves there
    pool_.compact();
    EXPECT_THAT(of<int>(), ElementsAre(position_range{0, 1}));
    EXPECT_THAT(of<float>(), ElementsAre(position_range{0, 1}, position_range{2, 3}));
    sort_by(pool_, [](const auto& each) { return -each.template get<int>(); });
    pool_.compact();
    EXPECT_THAT(of<char>(), ElementsAre(position_range{1, 5})); // 5, 4, 3, 2, 1: the first one has stayed
}

TEST_F(column_marks_test, stale_handles_are_refused) {
    pool_.erase(handles_[0]);
    EXPECT_EQ(log_.edit<float>(handles_[0]), nullptr);
    EXPECT_EQ(log_.edit<0>(handle_type()), nullptr);
    EXPECT_FALSE(log_.mark<float>(handles_[0]));
    EXPECT_FALSE((log_.mark<0, 2>(handles_[0])));
    pool_.compact();
    EXPECT_THAT(log_.changes_since(1)->front().edited, IsEmpty());
}

TEST_F(column_marks_test, marks_of_objects_that_come_or_go_are_in_no_record) {
    const auto newborn = pool_.emplace(9, 9.0F, 'z');
    EXPECT_TRUE(log_.mark<float>(newborn));
    EXPECT_TRUE(log_.mark<float>(handles_[5]));
    pool_.erase(handles_[5]);
    pool_.compact();
    EXPECT_THAT(log_.changes_since(1)->front().edited, IsEmpty());
    EXPECT_THAT(of<float>(), ElementsAre(position_range{5, 6})); // where it was born
    EXPECT_THAT(of<int>(), ElementsAre(position_range{5, 6}));
}

TEST_F(column_marks_test, frames_are_joined) {
    *log_.edit<float>(handles_[1]) = 7;
    pool_.compact();
    *log_.edit<float>(handles_[2]) = 7;
    *log_.edit<int>(handles_[4]) = 7;
    pool_.compact();
    EXPECT_THAT(log_.upload_ranges<float>(1), Optional(ElementsAre(position_range{1, 3})));
    EXPECT_THAT(log_.upload_ranges<int>(1), Optional(ElementsAre(position_range{4, 5})));
    EXPECT_THAT(log_.upload_ranges<char>(1), Optional(IsEmpty()));
    ranges_type visited;
    EXPECT_TRUE(
        log_.for_each_upload_range<float>(1, 0, [&](position_range each) { visited.push_back(each); }));
    EXPECT_TRUE(log_.for_each_upload_range<0>(1, 0, [&](position_range each) { visited.push_back(each); }));
    EXPECT_THAT(visited, ElementsAre(position_range{1, 3}, position_range{4, 5}));
    pool_.compact();
    pool_.compact();
    EXPECT_FALSE(log_.upload_ranges<float>(1));
    EXPECT_FALSE(log_.for_each_upload_range<0>(1, 0, [](position_range) {}));
    EXPECT_EQ(message_of<std::out_of_range>([this] { static_cast<void>(log_.upload_ranges<float>(6)); }),
              "change_log of pool 'rows': frame 6 has not ended; the last one that has is 5");
}

TEST_F(column_marks_test, of_a_log_without_them_are_those_of_rows) {
    log_type plain(pool_);
    *log_.edit<float>(handles_[1]) = 7;
    EXPECT_EQ(plain.edit<float>(handles_[1]), &pool_.items<float>()[1]);
    EXPECT_TRUE((plain.mark<0, 2>(handles_[3])));
    plain.mark_at<char>(5);
    pool_.compact();
    const ranges_type expected{{1, 2}, {3, 4}, {5, 6}};
    EXPECT_THAT(plain.upload_ranges(0), Optional(expected));
    EXPECT_THAT(plain.upload_ranges<float>(0), Optional(expected));
    EXPECT_THAT(plain.upload_ranges<2>(0), Optional(expected));
    EXPECT_LT(plain.memory().reserved, log_.memory().reserved);
}

TEST_F(column_marks_test, are_for_pools_of_columns) {
    pool<int> numbers({.name = "numbers", .capacity = 10});
    EXPECT_EQ(message_of<std::invalid_argument>(
                  [&] { const change_log<pool<int>> log(numbers, {.mark_columns = true}); }),
              "change_log of pool 'numbers': mark_columns is for pools of columns");
}

TEST_F(column_marks_test, stay_with_a_row_that_moves_under_exclusive_access) {
    {
        auto alone = pool_.exclusive_access();
        *log_.edit<float>(handles_[5]) = 7;
        alone.erase(handles_[1]); // 5 moves there at once
        *log_.edit<char>(handles_[5]) = 'b';
        *log_.edit<char>(handles_[0]) = 'c';
    }
    EXPECT_THAT(of<int>(), ElementsAre(position_range{1, 2}));
    EXPECT_THAT(of<float>(), ElementsAre(position_range{1, 2}));
    EXPECT_THAT(of<char>(), ElementsAre(position_range{0, 2}));
}

TEST_F(column_marks_test, a_restore_writes_all_columns_of_what_it_writes_to) {
    capture_ring<pool_type> past(log_);
    past.capture(1);
    *log_.edit<float>(handles_[2]) = 7;
    past.capture(2);
    EXPECT_THAT(of<float>(), ElementsAre(position_range{2, 3}));
    EXPECT_THAT(of<int>(), IsEmpty());
    past.restore(1);
    EXPECT_EQ(pool_.items<float>()[2], 2.0F);
    EXPECT_THAT(of<int>(), ElementsAre(position_range{2, 3}));
    EXPECT_THAT(of<float>(), ElementsAre(position_range{2, 3}));
    EXPECT_THAT(of<char>(), ElementsAre(position_range{2, 3}));
}

using column_marks_death_test = column_marks_test;

TEST_F(column_marks_death_test, a_checked_build_names_the_column_that_has_changed_without_a_mark) {
    if constexpr (detail::checked) {
        const std::string object = "pool 'rows': #" + std::to_string(handles_[3].index()) + " generation " +
                                   std::to_string(handles_[3].generation());
        const auto change = [this] {
            log_.edit<int>(handles_[3]);
            pool_[handles_[3]].get<float>() = 77;
            pool_.compact();
        };
        EXPECT_DEATH(change(), object + " has changed in column 1 without a mark in the change_log that is "
                                        "to tell of it");
        const auto change_other = [this] {
            log_.mark<0, 1>(handles_[3]);
            pool_[handles_[3]].get<char>() = 'x';
            pool_.compact();
        };
        EXPECT_DEATH(change_other(), object + " has changed in column 2 without a mark");
        EXPECT_DEATH(log_.mark_at<float>(6),
                     "pool 'rows': mark_at\\(\\) of a change_log was given a position that the store "
                     "doesn't have");
    }
    pool_[handles_[3]].get<float>() = 77;
    log_.mark<float>(handles_[3]);
    pool_[handles_[2]].get<char>() = 'x';
    log_.mark(handles_[2]);
    pool_.compact();
    EXPECT_EQ(log_.frame(), 2U);
}

TEST(column_marks, of_threads_that_write_columns_of_the_same_rows) {
    using pool_type = pool<columns<std::uint32_t, std::uint64_t, std::uint8_t>>;
    constexpr std::uint32_t rows = 300;
    pool_type objects({.name = "objects", .capacity = rows});
    change_log log(objects, {.frames = 2, .mark_columns = true});
    std::vector<pool_type::handle_type> handles;
    for (std::uint32_t i = 0; i != rows; ++i) {
        handles.push_back(objects.emplace(i, std::uint64_t{0}, std::uint8_t{0}));
    }
    objects.compact();
    for (std::uint32_t round = 0; round != 50; ++round) {
        const auto is_chosen = [round](std::uint32_t row, std::uint32_t column) {
            return (row * 7 + column * 11 + round) % (column + 3) == 0;
        };
        {
            std::vector<std::jthread> workers;
            workers.emplace_back([&] {
                for (std::uint32_t row = 0; row != rows; ++row) {
                    if (is_chosen(row, 0)) {
                        ++*log.edit<0>(handles[row]);
                    }
                }
            });
            workers.emplace_back([&] {
                for (std::uint32_t row = 0; row != rows; ++row) {
                    if (is_chosen(row, 1)) {
                        ++*log.edit<std::uint64_t>(handles[row]);
                    }
                }
            });
            for (int i = 0; i != 2; ++i) { // two that mark the same
                workers.emplace_back([&] {
                    for (std::uint32_t row = 0; row != rows; ++row) {
                        if (is_chosen(row, 2)) {
                            log.mark_at<2>(row);
                        }
                    }
                });
            }
        }
        objects.compact();
        const auto check = [&](std::uint32_t column, const std::optional<ranges_type>& ranges) {
            std::set<std::size_t> written;
            for (const auto& [first, last] : ranges.value()) {
                for (std::size_t i = first; i != last; ++i) {
                    written.insert(i);
                }
            }
            for (std::uint32_t row = 0; row != rows; ++row) {
                ASSERT_EQ(written.contains(row), is_chosen(row, column)) << row << " " << column;
            }
        };
        const std::uint64_t seen = log.frame() - 1;
        check(0, log.upload_ranges<0>(seen));
        check(1, log.upload_ranges<1>(seen));
        check(2, log.upload_ranges<2>(seen));
    }
}

// ---- An oracle: copies of the columns, and what may be written in a frame

class column_marks_oracle : public testing::Test {
protected:
    using id_type = std::uint64_t;
    using pool_type = pool<columns<id_type, std::uint32_t, std::uint16_t>>;
    using handle_type = pool_type::handle_type;

    template <class Pool>
    void create(Pool& pool) {
        const handle_type made = pool.try_emplace(next_id_, std::uint32_t{0}, std::uint16_t{0});
        if (made) {
            living_.push_back(made);
            ++next_id_;
        }
    }
    template <class Pool>
    void end_one(Pool& pool) {
        if (!living_.empty()) {
            std::swap(living_[random_.below(living_.size())], living_.back());
            pool.erase(living_.back());
            living_.pop_back();
        }
    }
    void edit_one() {
        if (living_.empty()) {
            return;
        }
        const handle_type handle = living_[random_.below(living_.size())];
        const id_type id = pool_[handle].get<0>();
        switch (random_.below(5)) {
        case 0:
            ++*log_.edit<std::uint32_t>(handle);
            edited_[1].insert(id);
            break;
        case 1:
            ++*log_.edit<2>(handle);
            edited_[2].insert(id);
            break;
        case 2:
            EXPECT_TRUE((log_.mark<1, 2>(handle)));
            ++pool_[handle].get<1>();
            ++pool_[handle].get<2>();
            edited_[1].insert(id);
            edited_[2].insert(id);
            break;
        case 3:
            if (const auto position = log_.position_of(handle)) {
                log_.mark_at<std::uint16_t>(*position);
                ++pool_[handle].get<2>();
                edited_[2].insert(id);
            }
            break;
        default: {
            const auto row = log_.edit(handle);
            ++row->get<1>();
            for (auto& each : edited_) {
                each.insert(id);
            }
        }
        }
    }
    template <class Pool>
    void step(Pool& pool) {
        switch (random_.below(12)) {
        case 0:
        case 1:
        case 2:
            create(pool);
            break;
        case 3:
        case 4:
            end_one(pool);
            break;
        case 5:
            if (!living_.empty()) {
                handle_type& which = living_[random_.below(living_.size())];
                which = pool.revoke(which);
            }
            break;
        case 6:
            if (random_.one_in(30)) {
                sort_by(pool, [salt = random_.bits()](const auto& each) {
                    return (each.template get<0>() ^ salt) * 0x9e3779b97f4a7c15U >> 40;
                });
            }
            break;
        default:
            edit_one();
        }
    }
    void end_the_frame() {
        switch (random_.below(4)) {
        case 0:
            pool_.compact_some(random_.below(20));
            break;
        case 1: {
            auto alone = pool_.exclusive_access();
            for (std::size_t i = 0, steps = random_.below(30); i != steps; ++i) {
                step(alone);
            }
            break;
        }
        default:
            pool_.compact();
        }
        check();
    }

    void check() {
        const std::vector<id_type> before = std::exchange(ids_, {});
        const std::vector<bool> was_dead = std::exchange(dead_, {});
        const auto ids = pool_.items<0>();
        ids_.assign(ids.begin(), ids.end());
        for (const handle_type each : pool_.handles()) {
            dead_.push_back(!pool_.contains(each));
        }
        check_column<0>(before, was_dead);
        check_column<1>(before, was_dead);
        check_column<2>(before, was_dead);
        for (auto& each : edited_) {
            each.clear();
        }
    }
    /// The ranges of a column are where it was written, and no more; dead rows may be left out.
    template <std::size_t Column>
    void check_column(const std::vector<id_type>& before, const std::vector<bool>& was_dead) {
        const auto ranges = log_.upload_ranges<Column>(log_.frame() - 1);
        ASSERT_TRUE(ranges);
        std::vector<bool> uploaded(ids_.size());
        for (const auto& [first, last] : *ranges) {
            ASSERT_LT(first, last);
            ASSERT_LE(last, ids_.size());
            for (std::size_t i = first; i != last; ++i) {
                uploaded[i] = true;
            }
        }
        for (std::size_t i = 0; i != ids_.size(); ++i) {
            const bool is_known = !dead_[i] && (i >= before.size() || !was_dead[i]);
            const bool is_written =
                i >= before.size() || before[i] != ids_[i] || edited_[Column].contains(ids_[i]);
            if (is_known) {
                ASSERT_EQ(uploaded[i], is_written) << "column " << Column << ", position " << i;
            }
        }
    }

    random_source random_;
    pool_type pool_{{.name = "rows", .capacity = 300, .reuse_delay = 0, .slot_limit = 3'000'000}};
    change_log<pool_type> log_{pool_, {.frames = 2, .mark_columns = true}};
    std::vector<handle_type> living_;
    std::vector<id_type> ids_; // by position, when the last frame ended
    std::vector<bool> dead_;
    std::set<id_type> edited_[3];
    id_type next_id_ = 1;
};

TEST_F(column_marks_oracle, each_column_tells_what_was_written_there) {
    for (int i = 0; i != 20'000 && !HasFatalFailure(); ++i) {
        if (random_.one_in(25)) {
            end_the_frame();
        } else {
            step(pool_);
        }
    }
    EXPECT_GT(log_.frame(), 500U);
}

} // namespace
} // namespace handlepool::test
