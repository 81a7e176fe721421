// SPDX-License-Identifier: MIT

// The values of destroyed objects that a log keeps: of which objects, as of when, in which order, how long.

#include <handlepool/columns.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/raw_stable_pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/time/capture_ring.hpp>
#include <handlepool/time/change_log.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/message_of.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <class Log>
concept has_destroyed_values = requires(const Log& log) { log.destroyed_entries(0); };

/// Whether the log of such a pool can be asked to keep values.
template <class Pool>
constexpr bool can_keep_values() {
    static_assert(std::constructible_from<change_log<Pool>, Pool&>);
    constexpr bool can = std::constructible_from<change_log<Pool>, Pool&, keep_destroyed_t>;
    static_assert(can == has_destroyed_values<change_log<Pool>>);
    return can;
}
static_assert(can_keep_values<pool<std::string>>());
static_assert(can_keep_values<stable_pool<std::string>>());
static_assert(can_keep_values<raw_pool<>>());
static_assert(can_keep_values<pool<columns<std::string, int>>>());
static_assert(!can_keep_values<pool<std::unique_ptr<int>>>());
static_assert(!can_keep_values<stable_pool<std::unique_ptr<int>>>());
static_assert(!can_keep_values<pool<columns<std::string, std::unique_ptr<int>>>>());

/// What the log has of a frame, as a list of Value.
template <class Value, class Log>
std::vector<Value> values_of(const Log& log, std::uint64_t frame) {
    const auto entries = log.destroyed_entries(frame);
    EXPECT_TRUE(entries);
    EXPECT_FALSE(log.destroyed_entries(log.oldest()));
    const std::size_t count = entries->size();
    const auto before = log.changes_since(frame - 1);
    EXPECT_EQ(before->front().destroyed.size(), count);
    std::vector<Value> values;
    for (const auto& [handle, value] : *entries) {
        EXPECT_EQ(handle, before->front().destroyed[values.size()].handle);
        values.push_back(value);
    }
    return values;
}

/// A pool with four objects, of which a log has seen the births.
class destroyed_values_test : public testing::Test {
protected:
    using pool_type = pool<std::string>;
    using handle_type = pool_type::handle_type;
    using log_type = change_log<pool_type>;

    destroyed_values_test() {
        for (const char* const each : {"zero", "one", "two", "three"}) {
            handles_.push_back(pool_.emplace(each));
        }
        pool_.compact();
    }

    /// The values of the last frame, which has one for each element of its record.
    std::vector<std::string> last() const { return values_of<std::string>(log_, log_.frame()); }

    pool_type pool_{{.name = "texts", .capacity = 100, .reuse_delay = 0}};
    log_type log_{pool_, keep_destroyed, {.frames = 3}};
    std::vector<handle_type> handles_;
};

TEST_F(destroyed_values_test, are_in_the_order_of_the_record) {
    EXPECT_THAT(last(), IsEmpty());
    pool_.erase(handles_[3]);
    pool_.erase(handles_[0]);
    pool_.erase(pool_.revoke(handles_[2]));
    pool_.compact();
    EXPECT_THAT(last(), ElementsAre("zero", "two", "three"));
    EXPECT_EQ((*log_.destroyed_entries(2))[1].object, "two");
    pool_.compact();
    EXPECT_THAT(last(), IsEmpty());
}

TEST_F(destroyed_values_test, are_what_the_objects_were_when_they_were_destroyed) {
    std::string& two = pool_[handles_[2]];
    const scoped_hook early =
        pool_.on_destroy([](handle_type, std::string& object) { object += ", seen early"; });
    const scoped_hook late =
        pool_.on_destroy([](handle_type, std::string& object) { object += ", seen late"; }, hook_order::late);
    pool_.erase(handles_[2]);
    two += " and a half"; // it is in memory until the frame ends
    pool_.compact();
    EXPECT_THAT(last(), ElementsAre("two and a half, seen early"));
}

TEST_F(destroyed_values_test, of_objects_that_are_given_away) {
    std::vector<std::string> given;
    pool_.extract(handles_[1], [&](std::string&& object) { given.push_back(std::move(object)); });
    pool_.compact();
    EXPECT_THAT(last(), ElementsAre("one"));
    pool_.drain([&](handle_type, std::string&& object) { given.push_back(std::move(object)); });
    EXPECT_THAT(last(), ElementsAre("zero", "three", "two")); // the last one has come to the hole
    EXPECT_THAT(given, ElementsAre("one", "zero", "three", "two"));
}

TEST_F(destroyed_values_test, of_objects_that_end_together) {
    erase_if(pool_, [](const std::string& each) { return each.size() == 3; });
    pool_.compact();
    EXPECT_THAT(last(), ElementsAre("one", "two"));
    pool_.clear();
    pool_.emplace("four");
    pool_.compact();
    EXPECT_THAT(last(), ElementsAre("zero", "three"));
    pool_.reset();
    EXPECT_THAT(last(), ElementsAre("four"));
}

TEST_F(destroyed_values_test, of_objects_that_the_log_has_not_seen_there_are_none) {
    pool_.erase(pool_.emplace("unseen"));
    pool_.extract(pool_.emplace("unseen"), [](std::string&&) {});
    pool_.erase(handles_[0]);
    pool_.compact();
    EXPECT_THAT(last(), ElementsAre("zero"));
}

TEST_F(destroyed_values_test, of_a_compaction_with_a_budget_what_it_has_got_to) {
    pool_.erase(handles_[2]);
    pool_.erase(handles_[0]);
    pool_.compact_some(1);
    EXPECT_THAT(last(), ElementsAre("two"));
    pool_.compact_some(1);
    EXPECT_THAT(last(), ElementsAre("zero"));
}

TEST_F(destroyed_values_test, of_objects_that_were_erased_when_the_log_came) {
    pool_.erase(handles_[0]);
    log_type late(pool_, keep_destroyed);
    pool_.compact();
    EXPECT_THAT(values_of<std::string>(late, 1), ElementsAre("zero"));
}

TEST_F(destroyed_values_test, under_exclusive_access_as_of_the_call) {
    {
        auto alone = pool_.exclusive_access();
        alone.erase(handles_[1]); // 3 moves to 1
        const auto same_slot = alone.emplace("unseen");
        EXPECT_EQ(same_slot.index(), handles_[1].index());
        alone.erase(same_slot);
        alone[handles_[3]] = "three, changed";
        sort(alone, std::greater<>());
        alone.erase(handles_[3]);
        alone.erase(handles_[0]);
    }
    EXPECT_THAT(last(), ElementsAre("zero", "one", "three, changed"));
    {
        auto alone = pool_.exclusive_access();
        alone.clear();
    }
    EXPECT_THAT(last(), ElementsAre("two"));
}

TEST_F(destroyed_values_test, of_the_last_frame_stay_while_others_end_under_exclusive_access) {
    pool_.erase(handles_[0]);
    pool_.compact();
    pool_.compact();
    pool_.compact(); // the next frame replaces that one
    const auto entries = *log_.destroyed_entries(2);
    auto alone = pool_.exclusive_access();
    alone.erase(handles_[1]);
    EXPECT_EQ(entries[0].object, "zero");
    alone.compact();
    EXPECT_FALSE(log_.destroyed_entries(2));
    EXPECT_THAT(last(), ElementsAre("one"));
}

TEST_F(destroyed_values_test, are_kept_as_long_as_the_records) {
    for (const handle_type each : handles_) {
        pool_.erase(each);
        pool_.compact();
    }
    EXPECT_FALSE(log_.destroyed_entries(0));
    EXPECT_FALSE(log_.destroyed_entries(2));
    EXPECT_THAT(values_of<std::string>(log_, 3), ElementsAre("one"));
    EXPECT_THAT(values_of<std::string>(log_, 4), ElementsAre("two"));
    EXPECT_THAT(values_of<std::string>(log_, 5), ElementsAre("three"));
    EXPECT_EQ(message_of<std::out_of_range>([this] { static_cast<void>(log_.destroyed_entries(6)); }),
              "change_log of pool 'texts': frame 6 has not ended; the last one that has is 5");
}

TEST_F(destroyed_values_test, are_of_a_log_that_is_asked_to_keep_them) {
    const change_log without(pool_, {});
    EXPECT_EQ(message_of<std::logic_error>([&] { static_cast<void>(without.destroyed_entries(0)); }),
              "change_log of pool 'texts': values of destroyed objects are kept by a log that is made with "
              "keep_destroyed");
    EXPECT_EQ(message_of<std::invalid_argument>(
                  [this] { const log_type none(pool_, keep_destroyed, {.frames = 0}); }),
              "change_log of pool 'texts': frames is 0, and must be 1 to 65536");
}

TEST(destroyed_values, belong_to_the_memory_of_the_log) {
    pool<std::uint64_t> numbers({.name = "numbers", .capacity = 10'000});
    change_log log(numbers, keep_destroyed, {.frames = 1});
    std::vector<handle<std::uint64_t>> handles;
    numbers.emplace_n(10'000, std::back_inserter(handles), 1U);
    numbers.compact();
    const std::size_t before = log.memory().reserved;
    numbers.clear();
    numbers.compact();
    EXPECT_GE(log.memory().reserved, before + 10'000 * (sizeof(std::uint64_t) + sizeof(std::uint32_t)));
}

/// Knows how many of it there are.
struct counted_value {
    explicit counted_value(int& count) : living(&count) { ++count; }
    counted_value(const counted_value& other) : living(other.living) { ++*living; }
    counted_value& operator=(const counted_value&) = delete;
    counted_value(counted_value&& other) noexcept : living(other.living) { ++*living; }
    ~counted_value() { --*living; }
    int* living;
};

TEST(destroyed_values, end_with_their_frame_or_with_the_log) {
    int living = 0;
    std::optional<pool<counted_value>> objects(std::in_place,
                                               pool_options{.name = "counted", .capacity = 10});
    {
        change_log log(*objects, keep_destroyed, {.frames = 2});
        const auto handle = objects->emplace(living);
        objects->compact();
        objects->erase(handle);
        objects->compact();
        EXPECT_EQ(living, 1);
        objects->compact();
        EXPECT_EQ(living, 1);
        objects->compact();
        EXPECT_EQ(living, 0);
        const auto other = objects->emplace(living);
        objects->compact();
        objects->erase(other);
        objects->compact();
        objects->emplace(living);
        objects->compact();
        objects.reset();
        EXPECT_EQ(living, 2); // the value of that frame, and a copy of what lived to the end
        EXPECT_EQ(log.frame(), 7U);
        EXPECT_EQ((*log.destroyed_entries(6))[0].object.living, &living);
        EXPECT_EQ(log.destroyed_entries(7)->size(), 0U);
    }
    EXPECT_EQ(living, 0);
}

TEST(destroyed_values, may_end_others_when_they_end) {
    struct owner {
        pool<owner>* owners;
        handle<owner>* owned;
        ~owner() { owners->erase(*owned); }
    };
    pool<owner> owners({.name = "owners", .capacity = 10});
    change_log log(owners, keep_destroyed, {.frames = 1});
    handle<owner> owned;
    const auto first = owners.emplace(&owners, &owned);
    const auto last = owners.emplace(&owners, &owned);
    owners.compact();
    owners.erase(first);
    owners.compact();
    EXPECT_EQ((*log.destroyed_entries(2))[0].handle, first);
    owned = last;
    owners.compact(); // the copy ends
    EXPECT_EQ(owners.size(), 0U);
    owners.compact();
    EXPECT_EQ((*log.destroyed_entries(4))[0].handle, last);
    owned = {};
    auto alone = owners.exclusive_access();
    owned = alone.emplace(&owners, &owned);
    alone.compact(); // and so does the other one
    EXPECT_FALSE(alone.contains(owned));
    alone.compact();
    EXPECT_EQ(alone.items().size(), 0U);
    EXPECT_EQ(log.changes_since(log.frame() - 1)->front().never_seen, 0U);
}

TEST(destroyed_values, copies_that_throw_lose_a_frame) {
    struct fragile {
        explicit fragile(bool throws_) : throws(throws_) {}
        fragile(const fragile& other) : throws(other.throws) {
            if (throws) {
                throw std::runtime_error("fragile");
            }
        }
        fragile& operator=(const fragile&) = delete;
        fragile(fragile&& other) noexcept : throws(other.throws) {}
        ~fragile() = default;
        bool throws;
    };
    pool<fragile> objects({.name = "fragile", .capacity = 10});
    change_log log(objects, keep_destroyed, {.check_marks = false});
    const auto make = [&](bool throws) { return objects.emplace(throws); };
    const handle<fragile> handles[] = {make(false), make(true), make(false), make(false)};
    objects.compact();
    objects.erase(handles[0]);
    objects.erase(handles[1]);
    objects.erase(handles[2]);
    objects.compact();
    EXPECT_EQ(log.oldest(), 2U);
    EXPECT_FALSE(log.changes_since(1));
    EXPECT_FALSE(log.destroyed_entries(2));
    objects.erase(handles[3]);
    objects.compact();
    EXPECT_EQ(log.changes_since(2)->front().destroyed.size(), 1U);
    EXPECT_EQ(log.destroyed_entries(3)->size(), 1U);
}

TEST(destroyed_values, of_rows) {
    pool<columns<bool, std::string, bool>> rows({.name = "rows", .capacity = 10});
    change_log log(rows, keep_destroyed);
    std::vector<handle<columns<bool, std::string, bool>>> handles;
    for (const char* const each : {"zero", "one", "two"}) {
        handles.push_back(rows.emplace(true, each, false));
    }
    rows.compact();
    log.edit(handles[2])->get<2>() = true;
    rows.erase(handles[2]);
    rows.erase(handles[0]);
    rows.compact();
    const auto entries = *log.destroyed_entries(2);
    std::vector<std::tuple<bool, std::string, bool>> found;
    for (const auto& [handle, object] : entries) {
        const auto& [first, text, last] = object;
        found.emplace_back(first, text, last);
    }
    EXPECT_THAT(found, ElementsAre(std::tuple(true, "zero", false), std::tuple(true, "two", true)));
    static_assert(std::same_as<decltype(entries[0].object), row<const bool, const std::string, const bool>>);
}

TEST(destroyed_values, of_truths) {
    pool<bool> truths({.name = "truths", .capacity = 10});
    change_log log(truths, keep_destroyed);
    const auto yes = truths.emplace(true);
    const auto no = truths.emplace(false);
    truths.compact();
    truths.erase(no);
    truths.erase(yes);
    truths.compact();
    EXPECT_THAT(values_of<bool>(log, 2), ElementsAre(true, false));
}

template <class Pool>
void expect_values_of_bytes() {
    const raw_type type{.size = 72, .alignment = 64};
    Pool bytes({.name = "bytes", .capacity = 10}, type);
    change_log log(bytes, keep_destroyed, {.check_marks = false});
    std::vector<typename Pool::handle_type> handles;
    for (const int fill : {1, 2, 3}) {
        handles.push_back(bytes.emplace([&](void* memory) { std::memset(memory, fill, type.size); }));
    }
    bytes.compact();
    bytes.erase(handles[2]);
    bytes.erase(handles[1]);
    bytes.compact();
    const auto values = values_of<const void*>(log, 2);
    ASSERT_EQ(values.size(), 2U);
    for (std::size_t i = 0; i != 2; ++i) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values[i]) % type.alignment, 0U);
        const auto* const first = static_cast<const char*>(values[i]);
        EXPECT_EQ(std::string(first, type.size), std::string(type.size, static_cast<char>(2 + i)));
    }
}

TEST(destroyed_values, of_objects_of_run_time_types) {
    expect_values_of_bytes<raw_pool<>>();
    expect_values_of_bytes<raw_stable_pool<>>();
    const auto refuse = [](const raw_type& type) {
        raw_pool<> objects({.name = "objects", .capacity = 10}, type);
        return message_of<std::invalid_argument>(
            [&] { const change_log<raw_pool<>> log(objects, keep_destroyed); });
    };
    const std::string message = "change_log of pool 'objects': keep_destroyed is for objects that consist of "
                                "bytes, and their type has a function to relocate or destroy them";
    EXPECT_EQ(refuse({.size = 8, .alignment = 8, .relocate = [](void*, void*, void*) noexcept {}}), message);
    EXPECT_EQ(refuse({.size = 8, .alignment = 8, .destroy = [](void*, void*) noexcept {}}), message);
}

TEST(destroyed_values, of_objects_that_never_move_and_are_not_moved) {
    struct anchor {
        explicit anchor(int number_) : number(number_) {}
        anchor(const anchor&) = default;
        anchor& operator=(const anchor&) = delete;
        anchor(anchor&&) = delete;
        ~anchor() = default;
        int number;
    };
    stable_pool<anchor> anchors({.name = "anchors", .capacity = 10});
    change_log log(anchors, keep_destroyed);
    std::vector<handle<anchor>> handles;
    for (int i = 0; i != 5; ++i) {
        handles.push_back(anchors.emplace(i));
    }
    anchors.compact();
    for (const int each : {4, 1, 3}) {
        anchors.erase(handles[static_cast<std::size_t>(each)]);
    }
    anchors.compact();
    const auto entries = *log.destroyed_entries(2);
    ASSERT_EQ(entries.size(), 3U);
    for (const auto& [handle, object] : entries) {
        EXPECT_EQ(handles[static_cast<std::size_t>(object.number)], handle);
    }
}

TEST(destroyed_values, of_objects_that_are_cleared_to_be_used_again) {
    recycling_pool<std::string> texts({.name = "texts", .capacity = 10});
    change_log log(texts, keep_destroyed);
    const auto text = texts.emplace("what it was");
    texts.compact();
    texts.erase(text);
    texts.compact();
    EXPECT_THAT(values_of<std::string>(log, 2), ElementsAre("what it was"));
}

TEST(destroyed_values, of_what_a_restore_undoes) {
    pool<std::string> texts({.name = "texts", .capacity = 10});
    change_log log(texts, keep_destroyed);
    capture_ring<pool<std::string>> past(log);
    const auto old = texts.emplace("old");
    const auto other = texts.emplace("other");
    past.capture(1);
    *log.edit(old) = "old, edited";
    texts.erase(other);
    const auto undone = texts.emplace("undone");
    past.capture(2);
    EXPECT_THAT(values_of<std::string>(log, log.frame()), ElementsAre("other"));
    *log.edit(undone) = "undone, edited";
    const std::uint64_t seen = log.frame();
    past.restore(1);
    std::vector<std::string> values;
    std::vector<handle<std::string>> ended;
    const auto records = *log.changes_since(seen);
    for (const auto& record : records) {
        for (const auto& each : record.destroyed) {
            ended.push_back(each.handle);
        }
        const std::vector<std::string> of_frame = values_of<std::string>(log, record.frame);
        values.insert(values.end(), of_frame.begin(), of_frame.end());
    }
    EXPECT_THAT(ended, ElementsAre(undone));
    EXPECT_THAT(values, ElementsAre("undone, edited")); // and none of what is written to or comes back
    EXPECT_EQ(texts[old], "old");
    EXPECT_EQ(texts[other], "other");
    texts.erase(other);
    texts.compact();
    EXPECT_THAT(values_of<std::string>(log, log.frame()), ElementsAre("other"));
}

} // namespace
} // namespace handlepool::test
