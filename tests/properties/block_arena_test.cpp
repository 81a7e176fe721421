// SPDX-License-Identifier: MIT

// Blocks for bags: what is taken is nobody else's, and what is given back is taken again.

#include <handlepool/detail/memory/virtual_memory.hpp>
#include <handlepool/detail/properties/block_arena.hpp>

#include <gtest/gtest.h>
#include <tests/support/random.hpp>
#include <tests/support/tabulate.hpp>
#include <tests/support/threads.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::detail {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

TEST(block_class_test, sizes_ascend_by_a_half_or_a_third) {
    for (std::uint32_t i = 0; i + 1 != block_class::count; ++i) {
        const std::size_t bytes = block_class(i).bytes();
        const std::size_t next = block_class(i + 1).bytes();
        EXPECT_GT(next, bytes);
        EXPECT_LE(2 * next, 3 * bytes);
        EXPECT_EQ(block_class::of(bytes).number(), i);
        EXPECT_EQ(block_class::of(bytes + 1).number(), i + 1);
        EXPECT_EQ(bytes % 8, 0U);
    }
    EXPECT_EQ(block_class(0).bytes(), 24U);
    EXPECT_EQ(block_class::of(0).number(), 0U);
    EXPECT_EQ(block_class::of(65'536).number(), block_class::count - 1);
}

/// A block that knows what its owner has written to it.
struct owned_block {
    block where;
    block_class size;
    std::byte mark;

    void write(block_arena& arena) const { std::memset(arena[where], static_cast<int>(mark), size.bytes()); }
    bool is_untouched(block_arena& arena) const {
        return std::all_of(arena[where], arena[where] + size.bytes(),
                           [this](std::byte each) { return each == mark; });
    }
};

TEST(block_arena_test, no_two_blocks_overlap) {
    test::random_source random;
    block_arena arena(16 * mebibyte);
    std::vector<owned_block> owned;
    for (int step = 0; step != 20'000; ++step) {
        if (!owned.empty() && random.below(100) < 45) {
            std::swap(owned[random.below(owned.size())], owned.back());
            const owned_block last = owned.back();
            owned.pop_back();
            ASSERT_TRUE(last.is_untouched(arena));
            arena.give_back(last.where, last.size);
            continue;
        }
        const block_class size(
            static_cast<std::uint32_t>(random.below(random.one_in(20) ? block_class::count : 8)));
        const std::optional<block> taken = arena.take(size);
        ASSERT_TRUE(taken);
        owned.push_back({*taken, size, static_cast<std::byte>(step)});
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(arena[*taken]) % 8, 0U);
        owned.back().write(arena);
    }
    EXPECT_EQ(arena.in_use(), owned.size());
    for (const owned_block& each : owned) {
        ASSERT_TRUE(each.is_untouched(arena));
    }
}

TEST(block_arena_test, gives_out_again_what_was_given_back) {
    block_arena arena(mebibyte);
    const block_class size(3);
    std::set<block> first;
    for (int i = 0; i != 1000; ++i) {
        first.insert(*arena.take(size));
    }
    EXPECT_EQ(first.size(), 1000U);
    for (const block each : first) {
        arena.give_back(each, size);
    }
    EXPECT_EQ(arena.in_use(), 0U);
    std::size_t again = 0;
    for (int i = 0; i != 1000; ++i) {
        again += first.count(*arena.take(size));
    }
    EXPECT_GE(again, 976U) << "1,024 are in magazines of 64, and nothing else is taken";
}

TEST(block_arena_test, has_nothing_more_when_its_memory_is_used_up) {
    block_arena arena(1000);
    const block_class size(0);
    std::vector<block> taken;
    while (const std::optional<block> next = arena.take(size)) {
        std::memset(arena[*next], 1, size.bytes());
        taken.push_back(*next);
    }
    EXPECT_EQ(taken.size(), (1000 - 8) / 24);
    EXPECT_FALSE(arena.take(block_class(5)));
    EXPECT_EQ(arena.in_use(), taken.size());
    arena.give_back(taken.back(), size);
    EXPECT_EQ(arena.take(size), taken.back());
    EXPECT_FALSE(block_arena(0).take(size));
    EXPECT_FALSE(block_arena(8).take(size));
}

TEST(block_arena_test, memory_is_ready_ahead_of_its_use_by_an_eighth_or_a_huge_page_at_most) {
    constexpr std::size_t page = 65'536; // or less
    block_arena arena(100 * mebibyte);
    const block_class size = block_class::of(64);
    std::size_t used = 0;
    std::size_t ahead = 0; // at how many of the looks
    for (std::size_t looks = 1; looks != 65; ++looks) {
        for (; used < looks * mebibyte / 8; used += size.bytes()) {
            std::memset(arena[*arena.take(size)], 1, size.bytes());
        }
        const std::size_t resident = arena.memory().resident;
        ASSERT_GE(resident, used);
        const std::size_t part = used / 8 + 2 * page;
        const bool may_be_huge = used + part > 2 * virtual_memory::huge_page_size;
        ASSERT_LE(resident, used + part + (may_be_huge ? virtual_memory::huge_page_size : 0));
        // A huge page would look like more that is ready.
        ahead += used >= mebibyte && !may_be_huge && resident > used + used / 32 + 16'384 ? 1U : 0U;
    }
    if (virtual_memory probe("probe", 2 * page, 1, 1, 0); probe.populate(0, page), probe.resident() != 0) {
        EXPECT_GT(ahead, 15U);
    }
}

TEST(block_arena_test, begins_again_to_have_memory_ready_when_it_was_cleared_or_trimmed) {
    const block_class size = block_class::of(4096);
    block_arena arena(100 * mebibyte);
    const auto use = [&](std::size_t bytes) {
        for (std::size_t used = 0; used < bytes; used += size.bytes()) {
            std::memset(arena[*arena.take(size)], 1, size.bytes());
        }
        return arena.memory().resident - bytes;
    };
    const std::size_t ready = use(3 * mebibyte);
    arena.clear();
    EXPECT_EQ(use(3 * mebibyte), ready);
    arena.trim();
    EXPECT_LE(arena.memory().resident, 3 * mebibyte + 65'536);
    EXPECT_EQ(use(size.bytes()) > 3 * mebibyte + 65'536, ready > 65'536) << "after the next block";
}

TEST(block_arena_test, takes_no_memory_beyond_its_own_when_it_is_used_up) {
    for (const std::size_t bytes : {mebibyte, 3 * mebibyte}) { // the larger has address space to spare
        block_arena arena(bytes);
        const block_class size = block_class::of(4096);
        while (const std::optional<block> next = arena.take(size)) {
            std::memset(arena[*next], 1, size.bytes());
        }
        EXPECT_GT(arena.memory().resident, bytes - 65'536);
        EXPECT_LE(arena.memory().resident, bytes);
    }
}

TEST(block_arena_test, is_no_larger_than_its_blocks_have_numbers) {
    EXPECT_EQ(block_arena(100'000 * mebibyte).memory().reserved, 32'768 * mebibyte);
}

TEST(block_arena_test, is_as_new_when_it_was_cleared) {
    block_arena arena(100 * mebibyte);
    for (int i = 0; i != 1000; ++i) {
        std::memset(arena[*arena.take(block_class::of(65'536))], 1, 65'536);
    }
    EXPECT_GT(arena.memory().resident, 60 * mebibyte);
    arena.clear();
    EXPECT_EQ(arena.in_use(), 0U);
    EXPECT_LT(arena.memory().resident, mebibyte / 8) << "what was populated and not used went back, too";
    const std::optional<block> taken = arena.take(block_class(0));
    ASSERT_TRUE(taken);
    std::memset(arena[*taken], 1, 24);
}

TEST(block_arena_test, keeps_nothing_ready_when_it_was_trimmed_and_begins_again) {
    constexpr std::size_t page = 65'536; // or less
    const block_class size = block_class::of(64);
    for (const std::size_t wanted : {std::size_t{0}, mebibyte, 4 * mebibyte - page, 5 * mebibyte}) {
        block_arena arena(100 * mebibyte);
        std::vector<owned_block> owned;
        const auto use = [&](std::size_t bytes) {
            for (; owned.size() * size.bytes() < bytes; owned.back().write(arena)) {
                owned.push_back({*arena.take(size), size, static_cast<std::byte>(owned.size() % 251)});
            }
        };
        use(wanted);
        for (int round = 0; round != 2; ++round) {
            arena.trim();
            ASSERT_LE(arena.memory().resident, wanted + page) << wanted;
        }
        const std::size_t trimmed = arena.memory().resident;
        use(wanted + mebibyte);
        EXPECT_GE(arena.memory().resident, trimmed + mebibyte - page);
        EXPECT_TRUE(std::all_of(owned.begin(), owned.end(),
                                [&](const owned_block& each) { return each.is_untouched(arena); }));
        EXPECT_EQ(arena.in_use(), owned.size());
        arena.clear();
        EXPECT_LT(arena.memory().resident, mebibyte / 8);
    }
}

TEST(block_arena_test, has_no_block_of_before_when_it_was_cleared) {
    block_arena arena(mebibyte);
    const block_class size(1);
    const std::size_t fitting = (mebibyte - 8) / size.bytes() / 64 * 64;
    for (int round = 0; round != 3; ++round) {
        std::set<block> taken;
        for (std::size_t i = 0; i != fitting; ++i) {
            const std::optional<block> next = arena.take(size);
            ASSERT_TRUE(next) << "all of the memory is there again";
            ASSERT_TRUE(taken.insert(*next).second) << "once";
        }
        for (const block each : taken) { // now in magazines and the depot
            arena.give_back(each, size);
        }
        arena.clear();
    }
}

TEST(block_arena_test, threads_take_what_others_gave_back) {
    // One thread takes, the other gives back: without an exchange the first would always need fresh memory.
    constexpr std::size_t rounds = 20'000;
    constexpr std::size_t room = 64;
    block_arena arena(mebibyte);
    const block_class size(4);
    std::vector<std::atomic<block>> passed(room);
    std::atomic<bool> failed = false;
    test::in_threads(2, [&](std::size_t thread) {
        for (std::size_t i = 0; i != rounds && !failed; ++i) {
            std::atomic<block>& place = passed[i % room];
            if (thread == 0) {
                const std::optional<block> taken = arena.take(size);
                if (!taken) {
                    failed = true;
                    return;
                }
                std::memset(arena[*taken], 1, size.bytes());
                while (place.load() != block::none && !failed) {
                    std::this_thread::yield();
                }
                place.store(*taken);
            } else {
                block taken = block::none;
                while ((taken = place.exchange(block::none)) == block::none && !failed) {
                    std::this_thread::yield();
                }
                if (taken != block::none) {
                    arena.give_back(taken, size);
                }
            }
        }
    });
    EXPECT_FALSE(failed) << "two megabytes of blocks passed through one";
    EXPECT_EQ(arena.in_use(), 0U);
}

TEST(block_arena_test, threads_never_have_one_block_at_the_same_time) {
    block_arena arena(64 * mebibyte);
    test::random_source random;
    auto engines = test::tabulate(4, [&](int) { return random.fork(); });
    std::atomic<int> damaged = 0;
    test::in_threads(4, [&](std::size_t thread) {
        std::mt19937_64& engine = engines[thread];
        std::vector<owned_block> owned;
        for (int step = 0; step != 5'000; ++step) {
            if (owned.size() > 100 || (!owned.empty() && engine() % 2 == 0)) {
                std::swap(owned[engine() % owned.size()], owned.back());
                damaged += owned.back().is_untouched(arena) ? 0 : 1;
                arena.give_back(owned.back().where, owned.back().size);
                owned.pop_back();
            } else {
                const block_class size(static_cast<std::uint32_t>(engine() % 6));
                owned.push_back({*arena.take(size), size, static_cast<std::byte>(engine())});
                owned.back().write(arena);
            }
        }
        for (const owned_block& each : owned) {
            damaged += each.is_untouched(arena) ? 0 : 1;
            arena.give_back(each.where, each.size);
        }
    });
    EXPECT_EQ(damaged, 0);
    EXPECT_EQ(arena.in_use(), 0U);
}

// Several threads share a set of magazines.
TEST(block_arena_test, more_threads_than_sets_of_magazines_do_the_same) {
    constexpr std::size_t many = 80;
    block_arena arena(16 * mebibyte);
    const block_class size(0);
    std::atomic<int> damaged = 0;
    test::in_threads(many, [&](std::size_t thread) {
        std::vector<owned_block> owned;
        for (int round = 0; round != 200; ++round) {
            for (int i = 0; i != 10; ++i) {
                owned.push_back({*arena.take(size), size, static_cast<std::byte>(thread)});
                owned.back().write(arena);
            }
            for (; owned.size() > 3; owned.pop_back()) {
                damaged += owned.back().is_untouched(arena) ? 0 : 1;
                arena.give_back(owned.back().where, size);
            }
        }
    });
    EXPECT_EQ(damaged, 0);
    EXPECT_EQ(arena.in_use(), 3 * many);
}

TEST(block_arena_test, never_has_fewer_blocks_in_use_than_none) {
    block_arena arena(mebibyte);
    const block_class size(0);
    std::atomic<block> passed = block::none;
    std::atomic<bool> done = false;
    test::in_threads(3, [&](std::size_t thread) {
        if (thread == 2) {
            std::size_t most = 0;
            for (int i = 0; i != 5'000; ++i) {
                most = std::max(most, arena.in_use());
            }
            EXPECT_LT(most, 1000U);
            done = true;
        }
        while (!done) {
            if (thread == 0 && passed == block::none) {
                passed = *arena.take(size);
            } else if (const block taken = thread == 1 ? passed.exchange(block::none) : block::none;
                       taken != block::none) {
                arena.give_back(taken, size);
            } else {
                std::this_thread::yield();
            }
        }
    });
}

// Blocks so large that a magazine has one: all threads are always at the depot.
TEST(block_arena_test, threads_meet_at_the_depot) {
    constexpr std::size_t at_once = 5;
    block_arena arena(mebibyte);
    const block_class size = block_class::of(4096);
    std::atomic<int> damaged = 0;
    test::in_threads(4, [&](std::size_t thread) {
        for (int round = 0; round != 40'000; ++round) {
            std::array<block, at_once> own{};
            for (block& each : own) {
                each = *arena.take(size);
                std::memset(arena[each], static_cast<int>(thread), 64);
            }
            for (const block each : own) {
                damaged += arena[each][0] == static_cast<std::byte>(thread) ? 0 : 1;
                arena.give_back(each, size);
            }
        }
    });
    EXPECT_EQ(damaged, 0);
    EXPECT_EQ(arena.in_use(), 0U);
    EXPECT_LT(arena.memory().resident, mebibyte / 2);
}

} // namespace
} // namespace handlepool::detail
