// SPDX-License-Identifier: MIT

#include <handlepool/exclusive_pool.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/time/capture_ring.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/snapshots/made_snapshot.hpp>
#include <tests/support/message_of.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <istream>
#include <latch>
#include <memory>
#include <numeric>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct crate {
    std::uint32_t weight = 0;
    std::uint32_t content = 0;
};
struct label {
    explicit label(std::string words = {}) : text(std::move(words)) {}
    std::string text;
};
struct label_archive {
    void save(std::ostream& out, const label& saved) const { out << saved.text; }
    label load(std::istream& in) const {
        std::string words;
        std::getline(in, words, '\0');
        if (words == "?") {
            throw std::runtime_error("nobody can read this");
        }
        in.clear();
        return label(words);
    }
};
struct many_archive {
    void save(std::ostream& out, const std::vector<crate>& saved) const {
        if (saved.empty()) {
            throw std::runtime_error("nothing is no archive");
        }
        for (const crate& each : saved) {
            out.write(reinterpret_cast<const char*>(&each), sizeof each);
        }
    }
    std::vector<crate> load(std::istream& in) const {
        std::vector<crate> read;
        for (crate next; in.peek() != std::istream::traits_type::eof();) {
            in.read(reinterpret_cast<char*>(&next), sizeof next);
            read.push_back(next);
        }
        in.clear();
        return read;
    }
};
void copy_bytes(void* to, void* from, void*) noexcept {
    std::memcpy(to, from, 12);
}
struct score {
    static constexpr std::uint32_t snapshot_version = 2;
    int points = 0;
};
struct older_score {
    static constexpr std::uint32_t snapshot_version = 1;
    int points = 0;
};

class snapshot_test : public testing::Test {
protected:
    using crates_type = pool<crate>;
    using labels_type = stable_pool<label>;

    snapshot_test() {
        add(all_);
        heavy_ = crates_->emplace(crate{9, 1});
        light_ = crates_->emplace(crate{1, 2});
        word_ = labels_->emplace("word");
    }

    static pool_options options(const char* name, unsigned id) {
        return {.name = name, .capacity = 100, .pool_id = id};
    }
    void add(snapshot& to) {
        to.add("crates", *crates_);
        to.add("labels", *labels_, label_archive());
        to.add("score", score_);
    }
    snapshot_bytes saved() {
        snapshot_bytes bytes;
        all_.save(bytes);
        return bytes;
    }
    std::string refusal(const snapshot_bytes& bytes) {
        return message_of<invalid_snapshot>([&] { all_.load(bytes, "game"); });
    }
    /// What is there is what was there at first.
    void expect_as_made() {
        ASSERT_TRUE(crates_->contains(heavy_));
        EXPECT_EQ(crates_->find(heavy_)->weight, 9U);
        ASSERT_TRUE(crates_->contains(light_));
        ASSERT_TRUE(labels_->contains(word_));
        EXPECT_EQ(labels_->find(word_)->text, "word");
        EXPECT_EQ(crates_->size(), 2U);
        EXPECT_EQ(labels_->size(), 1U);
    }

    std::unique_ptr<crates_type> crates_ = std::make_unique<crates_type>(options("crates", 901));
    std::unique_ptr<labels_type> labels_ = std::make_unique<labels_type>(options("labels", 902));
    score score_;
    snapshot all_;
    handle<crate> heavy_;
    handle<crate> light_;
    handle<label> word_;
};

TEST_F(snapshot_test, all_is_as_it_was_saved) {
    score_.points = 7;
    const handle<crate> reserved = crates_->reserve_handle();
    const snapshot_bytes bytes = saved();
    score_.points = 8;
    crates_->erase(heavy_);
    crates_->find(light_)->weight = 5;
    const handle<crate> undone = crates_->emplace(crate{3, 3});
    crates_->compact();
    labels_->clear();
    labels_->compact();
    labels_->emplace("another");
    EXPECT_THAT(all_.load(bytes), IsEmpty());
    expect_as_made();
    EXPECT_EQ(score_.points, 7);
    EXPECT_EQ(crates_->find(light_)->weight, 1U);
    EXPECT_FALSE(crates_->contains(undone));
    EXPECT_EQ(crates_->state(reserved), handle_state::reserved);
    EXPECT_EQ(crates_->emplace(crate{4, 4}), undone); // the next one, as then
    EXPECT_EQ(crates_->items().size(), 2U);
    all_.load(bytes); // again
    expect_as_made();
}

TEST_F(snapshot_test, another_thread_makes_the_bytes_of_a_capture) {
    std::vector<crate> many(30'000); // more than is hashed at once
    all_.add("many", many, many_archive());
    score_.points = 7;
    captured_snapshot captured = all_.capture();
    score_.points = 8;
    many.clear();
    crates_->find(light_)->weight = 5;
    crates_->erase(heavy_);
    crates_->compact();
    labels_->clear();
    snapshot_bytes bytes;
    std::thread saver([&bytes, &captured] { bytes = std::move(captured).bytes(); });
    saver.join();
    EXPECT_THAT(std::move(captured).bytes(), IsEmpty());
    EXPECT_THAT(captured_snapshot().bytes(), IsEmpty());
    all_.load(bytes);
    expect_as_made();
    EXPECT_EQ(score_.points, 7);
    EXPECT_EQ(crates_->find(light_)->weight, 1U);
    EXPECT_EQ(many.size(), 30'000U);
}

TEST_F(snapshot_test, a_capture_takes_the_memory_of_an_earlier_one) {
    snapshot_bytes memory(1000, std::byte{1});
    const std::byte* const there = memory.data();
    const snapshot_bytes bytes = all_.capture(std::move(memory)).bytes();
    EXPECT_EQ(bytes.data(), there);
    all_.load(bytes);
    expect_as_made();
    const snapshot_bytes nothing = snapshot().capture().bytes();
    snapshot_bytes saved_nothing;
    snapshot().save(saved_nothing);
    EXPECT_EQ(nothing, saved_nothing);
}

TEST_F(snapshot_test, is_written_in_place_of_what_was_there) {
    std::vector<crate> many(30'000);
    snapshot values; // of pools the bytes would say how many frames there were
    values.add("score", score_);
    values.add("many", many, many_archive());
    snapshot_bytes expected;
    values.save(expected);
    for (const std::size_t former : {std::size_t{3}, expected.size() / 2, 2 * expected.size()}) {
        snapshot_bytes bytes(former, std::byte{7});
        values.save(bytes);
        EXPECT_TRUE(bytes == expected) << former;
        EXPECT_TRUE(values.capture(snapshot_bytes(former, std::byte{7})).bytes() == expected) << former;
    }
}

TEST_F(snapshot_test, leaves_no_bytes_when_an_archive_throws) {
    std::vector<crate> many;
    all_.add("many", many, many_archive());
    snapshot_bytes bytes(1000, std::byte{7});
    EXPECT_EQ(message_of<std::runtime_error>([&] { all_.save(bytes); }), "nothing is no archive");
    EXPECT_THAT(bytes, IsEmpty());
}

/// More than the caches keep: copied past them into bytes that are there, and back into the pool.
TEST_F(snapshot_test, a_large_pool_is_written_over_an_earlier_snapshot_of_it) {
    struct page {
        std::array<std::uint32_t, 1024> words;
    };
    constexpr std::uint32_t pages = 2500;
    pool<page> book({.name = "book", .capacity = pages, .pool_id = 903});
    const auto write_all = [&](std::uint32_t begin) {
        for (const auto& each : book.entries()) {
            auto& words = book.find(each.handle)->words;
            std::iota(words.begin(), words.end(), begin++);
        }
    };
    const auto read_all = [&] {
        std::vector<std::uint32_t> words;
        for (const page& each : book.items()) {
            words.insert(words.end(), each.words.begin(), each.words.end());
        }
        return words;
    };
    for (std::uint32_t i = 0; i != pages; ++i) {
        book.emplace();
    }
    book.compact();
    snapshot library;
    library.add("book", book);
    snapshot_bytes bytes;
    library.save(bytes);
    snapshot_bytes memory = bytes;
    write_all(5);
    const std::vector<std::uint32_t> written = read_all();
    library.save(bytes);
    captured_snapshot captured = library.capture(std::move(memory));
    write_all(6);
    std::thread saver([&] { memory = std::move(captured).bytes(); });
    saver.join();
    for (const snapshot_bytes* const each : {&bytes, &memory}) {
        write_all(7);
        library.load(*each);
        EXPECT_TRUE(read_all() == written);
    }
}

TEST_F(snapshot_test, a_capture_passes_on_what_an_archive_throws) {
    std::vector<crate> many;
    all_.add("many", many, many_archive());
    EXPECT_EQ(message_of<std::runtime_error>([&] { all_.capture(); }), "nothing is no archive");
    many.resize(1);
    all_.load(all_.capture().bytes());
    expect_as_made();
}

TEST_F(snapshot_test, other_pools_of_the_same_ids_go_on_from_it) {
    const snapshot_bytes bytes = saved();
    crates_.reset();
    labels_.reset();
    crates_ =
        std::make_unique<crates_type>(pool_options{.name = "more crates", .capacity = 1'000, .pool_id = 901});
    labels_ = std::make_unique<labels_type>(options("labels", 902));
    snapshot other;
    other.add("labels", *labels_, label_archive());
    other.add("crates", *crates_);
    EXPECT_THAT(other.load(bytes), ElementsAre("score"));
    expect_as_made();
}

TEST_F(snapshot_test, slots_of_threads_that_are_not_there_are_not_lost) {
    const pool_options of_many{.name = "many crates", .capacity = 5'000, .pool_id = 901};
    crates_.reset();
    crates_ = std::make_unique<crates_type>(of_many);
    heavy_ = crates_->emplace(crate{9, 9});
    snapshot all;
    add(all);
    std::vector<std::thread> threads;
    std::latch all_have_made(3); // so none has the number of one that has ended
    for (int i = 0; i != 3; ++i) {
        threads.emplace_back([&] { // which claims some slots for later
            crates_->emplace(crate());
            labels_->emplace("of another thread");
            all_have_made.arrive_and_wait();
        });
    }
    for (std::thread& each : threads) {
        each.join();
    }
    snapshot_bytes bytes;
    all.save(bytes);
    crates_.reset();
    labels_.reset();
    std::thread([&] { // the only one from here on
        crates_ = std::make_unique<crates_type>(of_many);
        labels_ = std::make_unique<labels_type>(options("labels", 902));
        snapshot again;
        add(again);
        again.load(bytes);
        for (std::size_t size = 4; size != of_many.capacity; ++size) {
            ASSERT_TRUE(crates_->try_emplace(crate())) << size;
        }
        for (std::size_t size = 4; size != 100; ++size) {
            ASSERT_TRUE(labels_->try_emplace("next")) << size;
        }
        EXPECT_FALSE(crates_->try_emplace(crate()));
        EXPECT_FALSE(labels_->try_emplace("next"));
    })
        .join();
    EXPECT_TRUE(crates_->contains(heavy_));
}

TEST_F(snapshot_test, holes_of_a_stable_pool_are_filled) {
    std::vector<handle<label>> many{word_};
    while (const handle<label> next = labels_->try_emplace("many")) {
        many.push_back(next);
    }
    labels_->compact();
    for (std::size_t i = 1; i < many.size(); i += 2) {
        labels_->erase(many[i]);
    }
    const snapshot_bytes bytes = saved();
    std::vector<const label*> then;
    labels_->for_each([&then](const label& each) { then.push_back(&each); });
    labels_->clear();
    labels_->compact();
    labels_->shrink_to_fit();
    all_.load(bytes);
    std::vector<const label*> now;
    labels_->for_each([&now](const label& each) { now.push_back(&each); });
    EXPECT_EQ(now, then); // the same places
    const label* const last = now.back();
    for (std::size_t i = 0; i != 10; ++i) {
        EXPECT_LT(labels_->find(labels_->emplace("next")), last); // in holes, without a compaction
    }
}

TEST_F(snapshot_test, nothing_and_nobody) {
    snapshot none;
    snapshot_bytes bytes;
    none.save(bytes);
    EXPECT_THAT(none.load(bytes), IsEmpty());
    EXPECT_EQ(refusal(bytes), "snapshot 'game': there is no block 'crates'");
    crates_->clear();
    labels_->clear();
    const snapshot_bytes empty = saved();
    crates_->emplace(crate());
    all_.load(empty);
    EXPECT_EQ(crates_->size(), 0U);
    EXPECT_FALSE(crates_->contains(heavy_));
    EXPECT_TRUE(crates_->idle());
}

TEST_F(snapshot_test, hooks_and_containers_are_told) {
    handle_set<crate> marked;
    marked.attach(*crates_);
    marked.insert(heavy_);
    const snapshot_bytes bytes = saved();
    std::vector<std::string> told;
    const scoped_hook ends = crates_->on_destroy(
        [&](handle<crate>, crate& ended) { told.push_back("end " + std::to_string(ended.weight)); });
    const scoped_hook births = crates_->on_birth([&](handle<crate>, crate& born) {
        told.push_back("birth " + std::to_string(born.weight) + " of " + std::to_string(crates_->size()) +
                       " and " + std::to_string(labels_->size()));
    });
    crates_->find(heavy_)->weight = 10;
    labels_->clear();
    all_.load(bytes);
    EXPECT_THAT(told, ElementsAre("end 10", "end 1", "birth 9 of 2 and 1", "birth 1 of 2 and 1"));
    EXPECT_EQ(marked.size(), 0U);
}

TEST_F(snapshot_test, tells_no_hook_of_an_object_that_another_hook_has_erased) {
    const snapshot_bytes bytes = saved();
    std::vector<handle<crate>> born;
    const scoped_hook births = crates_->on_birth([&](handle<crate> each, crate&) {
        born.push_back(each);
        crates_->erase(light_);
    });
    all_.load(bytes);
    EXPECT_THAT(born, ElementsAre(heavy_));
    crates_->compact();
    EXPECT_FALSE(crates_->contains(light_));
}

TEST_F(snapshot_test, tells_hooks_the_handle_that_another_hook_has_given_an_object) {
    const snapshot_bytes bytes = saved();
    std::vector<handle<crate>> born;
    handle<crate> renewed;
    const scoped_hook births = crates_->on_birth([&](handle<crate> each, crate&) {
        born.push_back(each);
        if (each == heavy_) {
            renewed = crates_->revoke(light_);
        }
    });
    all_.load(bytes);
    EXPECT_THAT(born, ElementsAre(heavy_, renewed));
    EXPECT_TRUE(renewed);
}

/// Slots that came back unused, far behind those that are in service afterwards.
TEST(snapshot_of_a_reset_pool, is_loaded_like_others) {
    const pool_options numbers_options{.name = "numbers", .capacity = 300, .pool_id = 903};
    pool<int> numbers(numbers_options);
    snapshot all;
    all.add("numbers", numbers);
    std::vector<handle<int>> reserved;
    for (int i = 0; i != 200; ++i) {
        reserved.push_back(numbers.reserve_handle());
    }
    for (const auto each : reserved) {
        numbers.cancel(each);
    }
    for (int i = 0; i != 150; ++i) { // out of those
        numbers.emplace(i);
    }
    numbers.reset();
    const auto one = numbers.emplace(1);
    snapshot_bytes bytes;
    all.save(bytes);
    numbers.clear();
    numbers.compact();
    all.load(bytes);
    EXPECT_EQ(numbers.size(), 1U);
    EXPECT_EQ(numbers[one], 1);
}

TEST_F(snapshot_test, logs_have_records_and_rings_go_back_to_before) {
    change_log log(*crates_);
    capture_ring ring(log);
    ring.capture(1);
    const snapshot_bytes bytes = saved();
    crates_->find(heavy_)->weight = 20;
    log.mark(heavy_);
    crates_->erase(light_);
    const handle<crate> later = crates_->emplace(crate{7, 7});
    ring.capture(2);
    const std::uint64_t seen = log.frame();
    all_.load(bytes);
    expect_as_made();
    const auto records = log.changes_since(seen);
    ASSERT_TRUE(records);
    std::vector<handle<crate>> ended;
    std::vector<handle<crate>> born;
    for (const auto& record : *records) {
        for (const auto& each : record.destroyed) {
            ended.push_back(each.handle);
        }
        for (const auto& each : record.born) {
            born.push_back(each.handle);
        }
    }
    EXPECT_THAT(ended, ElementsAre(heavy_, later));
    EXPECT_THAT(born, ElementsAre(heavy_, light_));
    ring.restore(2);
    EXPECT_EQ(crates_->find(heavy_)->weight, 20U);
    EXPECT_TRUE(crates_->contains(later));
    EXPECT_FALSE(crates_->contains(light_));
    ring.restore(1);
    expect_as_made();
}

TEST_F(snapshot_test, gives_out_no_handle_that_was_undone_and_stays_stale) {
    crates_type shelf({.name = "shelf", .capacity = 1, .reuse_delay = 0, .slot_limit = 1, .pool_id = 903});
    snapshot all;
    all.add("shelf", shelf);
    shelf.erase(shelf.emplace());
    shelf.compact(); // the slot waits
    change_log log(shelf);
    capture_ring ring(log, {.undone_stay_stale = true});
    ring.capture(1);
    snapshot_bytes bytes;
    all.save(bytes);
    const handle<crate> undone = shelf.emplace();
    EXPECT_THAT(ring.restore(1), ElementsAre(undone));
    all.load(bytes);
    EXPECT_EQ(shelf.emplace().generation(), undone.generation() + 2);
}

TEST_F(snapshot_test, counts_the_handles_that_were_reserved_then) {
    const handle<crate> then = crates_->reserve_handle();
    const snapshot_bytes bytes = saved();
    const handle<crate> since = crates_->reserve_handle();
    EXPECT_EQ(crates_->stats().slots_reserved, 2U);
    all_.load(bytes);
    EXPECT_EQ(crates_->stats().slots_reserved, 1U);
    EXPECT_TRUE(crates_->cancel(then));
    EXPECT_FALSE(crates_->cancel(since));
    EXPECT_EQ(crates_->stats().slots_reserved, 0U);
}

/// One that can't be copied, but can be written down.
class counted_life {
public:
    explicit counted_life(int number) : number_(std::make_unique<int>(number)) { ++living; }
    counted_life(counted_life&& other) noexcept = default;
    counted_life& operator=(counted_life&&) = delete;
    ~counted_life() { living -= number_ != nullptr ? 1 : 0; }

    const int* number() const { return number_.get(); }

    static inline int living = 0;

private:
    std::unique_ptr<int> number_;
};
struct life_archive {
    void save(std::ostream& out, const counted_life& saved) const { out << *saved.number(); }
    counted_life load(std::istream& in) const {
        int number = 0;
        in >> number;
        return counted_life(number);
    }
};

template <class Pool>
void expect_lives_to_come_back(const pool_options& of_pool) {
    {
        Pool lives(of_pool);
        change_log<Pool> log(lives);
        capture_ring<Pool> ring(log);
        snapshot all;
        all.add("lives", lives, life_archive());
        const auto one = lives.emplace(1);
        const auto two = lives.emplace(2);
        ring.capture(1);
        const int* const first = lives.find(one)->number();
        snapshot_bytes bytes;
        all.save(bytes);
        lives.erase(two);
        ring.capture(2);
        for (int i = 0; i != 3; ++i) {
            all.load(bytes);
            EXPECT_NE(lives.find(one)->number(), first); // another one of the same contents
            EXPECT_EQ(*lives.find(one)->number(), 1);
            EXPECT_TRUE(lives.contains(two));
            ring.restore(2);
            EXPECT_EQ(lives.find(one)->number(), first); // itself
            EXPECT_FALSE(lives.contains(two));
            EXPECT_EQ(counted_life::living, 2); // `two` is kept
        }
        all.load(bytes);
        ring.restore(1);
        EXPECT_EQ(lives.find(one)->number(), first);
        EXPECT_EQ(*lives.find(two)->number(), 2);
        EXPECT_EQ(counted_life::living, 2);
    }
    EXPECT_EQ(counted_life::living, 0);
}

TEST_F(snapshot_test, objects_that_can_not_be_copied_come_back_from_before_a_load) {
    expect_lives_to_come_back<pool<counted_life>>(options("lives", 906));
    expect_lives_to_come_back<stable_pool<counted_life>>(options("lives", 907));
}

TEST_F(snapshot_test, raw_objects_that_consist_of_bytes) {
    raw_pool<> bytes_of(options("raw", 903), {.size = 12, .alignment = 4});
    const auto made = bytes_of.emplace([](void* memory) { *static_cast<int*>(memory) = 77; });
    snapshot all;
    all.add("raw", bytes_of);
    snapshot_bytes bytes;
    all.save(bytes);
    bytes_of.clear();
    all.load(bytes);
    EXPECT_EQ(*static_cast<const int*>(bytes_of.find(made)), 77);
    raw_pool<> with_functions(
        options("other", 904),
        {.size = 12, .alignment = 4, .relocate = copy_bytes, .destroy = [](void*, void*) noexcept {}});
    EXPECT_EQ(
        message_of<std::invalid_argument>([&] { all.add("other", with_functions); }),
        "snapshot, 'other': a raw_type with a function to relocate or destroy objects is no type of such "
        "that consist of bytes");
}

TEST_F(snapshot_test, refuses_names) {
    EXPECT_EQ(message_of<std::invalid_argument>([&] { all_.add("score", score_); }),
              "snapshot, 'score': something has been added under this name already");
    EXPECT_EQ(message_of<std::invalid_argument>([&] { all_.add("", score_); }),
              "snapshot, '': the name has 0 bytes; 1 to 255 are allowed");
}

TEST_F(snapshot_test, refuses_what_others_saved) {
    const auto saved_by = [](auto add) {
        snapshot other;
        add(other);
        snapshot_bytes bytes;
        other.save(bytes);
        return bytes;
    };
    older_score old;
    snapshot mine;
    mine.add("score", score_);
    const auto mine_refuses = [&](const snapshot_bytes& bytes) {
        return message_of<invalid_snapshot>([&] { mine.load(bytes, "game"); });
    };
    EXPECT_EQ(
        mine_refuses(saved_by([&](snapshot& other) { other.add("score", old); })),
        "snapshot 'game', byte 56, block 'score': the type of the value has 4 bytes, alignment 4, version 1; "
        "here it has 4 bytes, alignment 4, version 2");
    EXPECT_EQ(mine_refuses(saved_by([&](snapshot& other) { other.add("score", *crates_); })),
              "snapshot 'game', byte 56, block 'score': the block is a pool; here it is a value");
    snapshot crates;
    crates.add("crates", *crates_);
    const auto crates_refuse = [&](const snapshot_bytes& bytes) {
        return message_of<invalid_snapshot>([&] { crates.load(bytes, "game"); });
    };
    EXPECT_EQ(
        crates_refuse(saved_by([&](snapshot& other) { other.add("crates", *labels_, label_archive()); })),
        "snapshot 'game', byte 60, block 'crates': the placement is stable; here it is dense");
    pool<crate> of_another_id(options("crates", 905));
    EXPECT_EQ(crates_refuse(saved_by([&](snapshot& other) { other.add("crates", of_another_id); })),
              "snapshot 'game', byte 64, block 'crates': the pool id is 905; here it is 901");
    const snapshot_bytes bytes = saved();
    crates_.reset();
    pool<std::uint64_t> numbers(options("crates", 901));
    snapshot of_numbers;
    of_numbers.add("crates", numbers);
    EXPECT_EQ(
        message_of<invalid_snapshot>([&] { of_numbers.load(bytes, "game"); }),
        "snapshot 'game', byte 144, block 'crates': the type of objects has 8 bytes, alignment 4, version 0; "
        "here it has 8 bytes, alignment 8, version 0, layout 'u64'");
}

TEST_F(snapshot_test, refuses_more_than_there_is_room_for) {
    const snapshot_bytes bytes = saved();
    crates_.reset();
    crates_ = std::make_unique<crates_type>(pool_options{.name = "small", .capacity = 1, .pool_id = 901});
    snapshot small;
    small.add("crates", *crates_);
    EXPECT_EQ(message_of<invalid_snapshot>([&] { small.load(bytes, "game"); }),
              "snapshot 'game', byte 76, block 'crates': 2 objects; here there are 1 at most");
    EXPECT_EQ(crates_->size(), 0U);
}

TEST_F(snapshot_test, says_what_an_archive_could_not_read) {
    labels_->emplace("?");
    const snapshot_bytes bytes = saved();
    labels_->erase(labels_->entries().begin()->handle);
    EXPECT_THAT(refusal(bytes),
                testing::EndsWith(", block 'labels': object 1 can't be read: nobody can read this"));
}

TEST_F(snapshot_test, is_not_made_under_exclusive_access) {
    snapshot_bytes bytes;
    {
        auto alone = crates_->exclusive_access();
        EXPECT_THROW(all_.save(bytes), compaction_conflict);
        EXPECT_THAT(bytes, IsEmpty());
    }
    bytes = saved();
    {
        auto alone = labels_->exclusive_access();
        EXPECT_THROW(all_.load(bytes), compaction_conflict);
    }
    expect_as_made();
    crates_->compact(); // its gate is open again
}

TEST_F(snapshot_test, takes_no_slot_without_an_object_for_one_that_has_one) {
    detail::saved_pool pool;
    pool.widths = detail::widths_of_layout<handle<crate>::layout>();
    pool.id = 901;
    pool.allocator.retired = 1;
    pool.generations = {1};
    snapshot_bytes bytes;
    detail::snapshot_writer to(bytes);
    to.begin_block(detail::block_kind::pool, 1, "crates", detail::bytes_of(pool));
    detail::write(to, pool);
    to.end_block();
    to.finish();
    snapshot all;
    all.add("crates", *crates_);
    EXPECT_EQ(
        message_of<invalid_snapshot>([&] { all.load(bytes, "game"); }),
        "snapshot 'game', byte 124, block 'crates': 1 slot is of an object by the generation, and 0 objects "
        "are there");
    expect_as_made();
}

/// Each bit of the payloads, with the right hash.
TEST_F(snapshot_test, takes_no_payload_for_right_that_is_not) {
    const handle<crate> dead = crates_->emplace(crate{2, 2});
    crates_->erase(dead);
    const handle<crate> reserved = crates_->reserve_handle();
    const snapshot_bytes good = saved();
    std::size_t refused = 0;
    std::size_t taken = 0;
    const detail::snapshot_blocks blocks(good, "good");
    for (const detail::snapshot_block& block : blocks.all()) {
        for (std::size_t bit = 0; bit != 8 * block.payload.size(); ++bit) {
            snapshot_bytes bytes = good;
            bytes[block.offset + bit / 8] ^= std::byte{1} << (bit % 8);
            const std::size_t padded = (block.payload.size() + 7) / 8 * 8;
            put_hash(bytes, block.offset + padded,
                     std::span(bytes).subspan(block.offset, block.payload.size()));
            try {
                all_.load(bytes);
                ++taken; // another value, or another handle
                snapshot_bytes again;
                all_.save(again);
                all_.load(again);
                crates_->emplace(crate());
                labels_->emplace("next");
                crates_->compact();
                labels_->compact();
                all_.load(good);
            } catch (const invalid_snapshot&) {
                ++refused;
            }
            ASSERT_NO_FATAL_FAILURE(expect_as_made());
            ASSERT_EQ(crates_->state(reserved), handle_state::reserved);
            ASSERT_EQ(crates_->state(dead), handle_state::stale);
        }
    }
    EXPECT_GT(refused, 10 * taken / 11);
    EXPECT_GT(taken, 0U);
}

} // namespace
} // namespace handlepool::test
