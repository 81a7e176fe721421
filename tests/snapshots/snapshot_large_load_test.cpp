// SPDX-License-Identifier: MIT

// Objects of so many bytes that a load into an empty pool copies them to their places while it hashes them.

#include <handlepool/detail/memory/large_copy.hpp>
#include <handlepool/detail/snapshots/content_hash.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/error.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/scoped_hook.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/snapshots/upgrade.hpp>
#include <handlepool/time/change_log.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <src/shared/refusal_text.hpp>
#include <tests/snapshots/made_snapshot.hpp>
#include <tests/support/message_of.hpp>
#include <tests/support/poisoned.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A page of a book, which can be seen to be the right one, and whole.
struct saved_page {
    static constexpr std::size_t words = 128;

    explicit saved_page(std::uint64_t number = 0) {
        for (std::size_t i = 0; i != words; ++i) {
            text[i] = number * words + i;
        }
    }
    bool is(std::uint64_t number) const { return text == saved_page(number).text; }

    std::array<std::uint64_t, words> text;
};
/// One of an older edition, of the same size.
struct first_page {
    static constexpr std::uint32_t snapshot_version = 1;
    std::array<std::uint64_t, saved_page::words> text;
};

constexpr std::uint32_t page_count = 9'000;
static_assert(page_count * sizeof(saved_page) > detail::too_much_for_caches);

const pool_options book_options{.capacity = 2 * page_count, .pool_id = 7};

class snapshot_large_load : public testing::Test {
protected:
    /// Pages of which every third one was erased.
    static std::vector<handle<saved_page>> fill(pool<saved_page>& pages) {
        std::vector<handle<saved_page>> all;
        for (std::uint64_t i = 0; i != page_count + page_count / 2; ++i) {
            all.push_back(pages.emplace(i));
        }
        for (std::size_t i = 0; i < all.size(); i += 3) {
            pages.erase(all[i]);
        }
        pages.compact();
        return all;
    }
    static snapshot_bytes saved(pool<saved_page>& pages) {
        snapshot book;
        book.add("pages", pages);
        snapshot_bytes bytes;
        book.save(bytes);
        return bytes;
    }
    /// All handles name their pages, or none, and the pool has nothing else.
    void expect_book(const pool<saved_page>& pages) const {
        ASSERT_EQ(pages.size(), page_count);
        for (std::size_t i = 0; i != all_.size(); ++i) {
            const saved_page* const found = pages.find(all_[i]);
            ASSERT_EQ(found != nullptr, i % 3 != 0) << i;
            ASSERT_TRUE(found == nullptr || found->is(i)) << i;
        }
    }
    std::vector<handle<saved_page>> all_;
    snapshot_bytes bytes_ = [this] {
        pool<saved_page> pages(book_options);
        all_ = fill(pages);
        return saved(pages);
    }();
};

TEST_F(snapshot_large_load, into_an_empty_pool_gives_all) {
    pool<saved_page> pages(book_options);
    snapshot book;
    book.add("pages", pages);
    EXPECT_THAT(book.load(bytes_), IsEmpty());
    expect_book(pages);
    for (const saved_page& each : pages.items()) {
        EXPECT_FALSE(is_poisoned(&each));
    }
    EXPECT_EQ(saved(pages).size(), bytes_.size());
    pages.emplace(1U);
    pages.compact();
    EXPECT_TRUE(pages.items().back().is(1));
}

TEST_F(snapshot_large_load, twice_gives_all) {
    pool<saved_page> pages(book_options);
    snapshot book;
    book.add("pages", pages);
    book.load(bytes_);
    book.load(bytes_);
    expect_book(pages);
    pages.clear();
    pages.compact();
    book.load(bytes_);
    expect_book(pages);
}

TEST_F(snapshot_large_load, of_damaged_bytes_names_the_damage_and_leaves_an_empty_pool) {
    pool<saved_page> pages(book_options);
    snapshot book;
    book.add("pages", pages);
    const detail::snapshot_block block = *detail::snapshot_blocks(bytes_, "it").find("pages");
    const std::size_t hash_at = block.offset + (block.payload.size() + 7) / 8 * 8;
    const saved_page* const first = [&] {
        book.load(bytes_);
        const saved_page* const front = pages.items().data();
        pages.clear();
        pages.compact();
        return front;
    }();
    for (const std::size_t damaged : {
             block.offset,                                  // the layout of the handles
             block.offset + 20,                             // how many objects there are
             block.offset + 21,                             // ... more than there are bytes
             block.offset + 23,                             // ... more than the pool takes
             block.offset + 64,                             // a generation
             hash_at - page_count * sizeof(saved_page),     // the first byte of the first page
             hash_at - page_count * sizeof(saved_page) / 2, // one in the middle
             hash_at - 1,                                   // the last one
         }) {
        snapshot_bytes bytes = bytes_;
        bytes[damaged] ^= std::byte{0x10};
        const auto hash_of = [&](const snapshot_bytes& of) {
            return detail::content_hash_of(std::span(of).subspan(block.offset, block.payload.size()));
        };
        EXPECT_EQ(message_of<invalid_snapshot>([&] { book.load(bytes, "a.save"); }),
                  "snapshot 'a.save', byte " + std::to_string(hash_at) +
                      ", block 'pages': the payload is damaged: its hash is " +
                      detail::text_of_hash(hash_of(bytes)) + ", and " +
                      detail::text_of_hash(hash_of(bytes_)) + " is expected")
            << damaged;
        EXPECT_EQ(pages.size(), 0U);
        EXPECT_EQ(is_poisoned(first), HANDLEPOOL_ADDRESS_SANITIZER != 0);
        EXPECT_EQ(pages.compact().removed, 0U); // the gate is open again
    }
    book.load(bytes_);
    expect_book(pages);
}

TEST_F(snapshot_large_load, that_is_refused_leaves_what_waits) {
    pool<saved_page> pages(book_options);
    snapshot book;
    book.add("pages", pages);
    pages.emplace(3U);
    bytes_.back() ^= std::byte{1};
    EXPECT_THROW(book.load(bytes_), invalid_snapshot);
    EXPECT_FALSE(pages.idle());
}

TEST_F(snapshot_large_load, that_is_refused_ends_no_frame) {
    pool<saved_page> pages(book_options);
    change_log log(pages);
    snapshot book;
    book.add("pages", pages);
    const std::byte good = std::exchange(bytes_.back(), ~bytes_.back());
    EXPECT_THROW(book.load(bytes_), invalid_snapshot);
    EXPECT_EQ(log.frame(), 0U);
    {
        const auto guard = pages.access();
        EXPECT_THROW(book.load(bytes_), invalid_snapshot) << "as without the guard";
    }
    bytes_.back() = good;
    book.load(bytes_);
    expect_book(pages);
    EXPECT_EQ(log.changes_since(0)->back().born.size(), page_count);
}

TEST_F(snapshot_large_load, that_is_refused_leaves_places_for_what_is_created) {
    pool<saved_page> pages(book_options);
    snapshot book;
    std::uint32_t more = 0;
    book.add("pages", pages);
    book.add("more", more);
    EXPECT_EQ(message_of<invalid_snapshot>([&] { book.load(bytes_, "a.save"); }),
              "snapshot 'a.save': there is no block 'more'");
    const auto next = pages.emplace(3U);
    pages.compact();
    EXPECT_TRUE(pages.find(next)->is(3));
    EXPECT_EQ(pages.size(), 1U);
    pages.shrink_to_fit();
    EXPECT_TRUE(pages.find(next)->is(3));
}

// The bytes that were copied are those of the older type.
TEST_F(snapshot_large_load, of_an_older_type_makes_its_objects_anew) {
    all_.clear();
    snapshot_bytes bytes;
    {
        pool<first_page> old(book_options);
        snapshot former;
        former.add("pages", old);
        for (std::uint64_t i = 0; i != page_count; ++i) {
            all_.push_back(
                handle<saved_page>::from_value(old.emplace(first_page{saved_page(i).text}).value()));
        }
        former.save(bytes);
    }

    pool<saved_page> pages(book_options);
    snapshot book;
    book.add("pages", pages, upgrade<first_page, saved_page>([](const first_page& each) {
                 return saved_page(each.text[0] + 1);
             }));
    book.load(bytes);
    ASSERT_EQ(pages.size(), page_count);
    for (std::size_t i = 0; i != all_.size(); ++i) {
        ASSERT_TRUE(pages.find(all_[i])->is(i * saved_page::words + 1)) << i;
    }
}

// A compaction puts it where the objects of the snapshot were already.
TEST_F(snapshot_large_load, outlives_what_a_hook_creates_meanwhile) {
    pool<saved_page> pages(book_options);
    pool<int> authors({.capacity = 10, .pool_id = 8});
    snapshot book;
    book.add("pages", pages);
    book.add("authors", authors);
    all_ = fill(pages);
    snapshot_bytes bytes;
    book.save(bytes);
    pages.clear();
    authors.emplace(1);
    pages.compact();
    authors.compact();
    std::uint64_t created = 0;
    const scoped_hook author_ends =
        authors.on_destroy([&](auto, int&) { pages.emplace(1'000'000 + created++); });
    const scoped_hook page_ends = pages.on_destroy([&](auto, saved_page&) {
        if (created != 10) {
            pages.emplace(1'000'000 + created++);
        }
    });
    book.load(bytes);
    EXPECT_EQ(created, 10U);
    expect_book(pages);
}

TEST_F(snapshot_large_load, is_refused_while_this_thread_has_a_guard) {
    pool<saved_page> pages(book_options);
    snapshot book;
    book.add("pages", pages);
    {
        const auto guard = pages.access();
        EXPECT_THROW(book.load(bytes_), compaction_conflict);
    }
    EXPECT_EQ(pages.size(), 0U);
    book.load(bytes_);
    expect_book(pages);
}

TEST_F(snapshot_large_load, of_raw_objects_gives_all) {
    const raw_type type{.size = sizeof(saved_page), .alignment = alignof(saved_page)};
    raw_pool<> pages(book_options, type);
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i != page_count; ++i) {
        const saved_page made(i);
        all.push_back(pages.emplace([&](void* memory) { std::memcpy(memory, &made, sizeof made); }).value());
    }
    snapshot book;
    book.add("pages", pages);
    snapshot_bytes bytes;
    book.save(bytes);
    pages.clear();
    pages.compact();
    book.load(bytes);
    ASSERT_EQ(pages.size(), page_count);
    for (std::size_t i = 0; i != all.size(); ++i) {
        const void* const found = pages.find(raw_pool<>::handle_type::from_value(all[i]));
        ASSERT_TRUE(found != nullptr && static_cast<const saved_page*>(found)->is(i)) << i;
    }
}

// Two loads at once, each of its own pool.
TEST_F(snapshot_large_load, in_two_threads_gives_both) {
    pool<saved_page> one(book_options);
    std::optional<pool<saved_page>> other;
    other.emplace(pool_options{.capacity = 2 * page_count, .pool_id = 9});
    all_ = fill(*other);
    const snapshot_bytes bytes = saved(*other);
    other->clear();
    other->compact();
    const auto load = [](pool<saved_page>& into, const snapshot_bytes& from) {
        snapshot book;
        book.add("pages", into);
        for (int i = 0; i != 5; ++i) {
            into.clear();
            into.compact();
            book.load(from);
        }
    };
    std::thread first(load, std::ref(one), std::cref(bytes_));
    load(*other, bytes);
    first.join();
    expect_book(*other);
    EXPECT_EQ(one.size(), page_count);
    EXPECT_TRUE(std::ranges::equal(one.items(), other->items(), {}, &saved_page::text, &saved_page::text));
}

TEST(snapshot_blocks, copies_the_ends_that_are_wanted) {
    const snapshot_bytes bytes = two_blocks();
    std::array<std::byte, 3> end{};
    std::vector<std::string> asked;
    const detail::snapshot_blocks blocks(
        bytes, {.kind = "snapshot", .origin = "a.save"}, [&](const detail::snapshot_block& block) {
            asked.emplace_back(block.name);
            return block.name == "ships" ? std::span<std::byte>(end) : std::span<std::byte>();
        });
    EXPECT_THAT(asked, ElementsAre("ships", "a day", "end"));
    EXPECT_THAT(end, ElementsAre(std::byte{3}, std::byte{4}, std::byte{5}));
    EXPECT_EQ(blocks.all().size(), 2U);
}

} // namespace
} // namespace handlepool::test
