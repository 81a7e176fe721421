// SPDX-License-Identifier: MIT
#include <handlepool/detail/memory/memory_plan.hpp>
#include <handlepool/detail/memory/virtual_array.hpp>
#include <handlepool/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;
using testing::HasSubstr;
using testing::ThrowsMessage;

const std::size_t page = virtual_memory::page_size();
constexpr std::size_t mib = std::size_t{1} << 20;

using bytes = virtual_array<unsigned char>;

std::uintptr_t address_of(const void* data) {
    return reinterpret_cast<std::uintptr_t>(data);
}

/// Arrays of one small plan, which share pages: of odd sizes, some of them used from their end.
struct neighbours {
    memory_plan plan;
    allocation_label usual{allocation_label::of_pool("test", &plan)};
    std::vector<std::unique_ptr<bytes>> arrays;
    virtual_memory mapping;

    neighbours() {
        for (const std::size_t size : {1U, 3000U, 64U, 5000U, 700U, 9001U}) {
            arrays.push_back(std::make_unique<bytes>(usual.part(" array"), size, 0));
            arrays.push_back(std::make_unique<bytes>(usual.from_end(), size, 0));
            arrays.push_back(std::make_unique<bytes>(usual.rarely(), size, 0));
        }
        mapping = plan.reserve("test memory");
    }

    static unsigned char pattern(std::size_t array, std::size_t i) {
        return static_cast<unsigned char>(1 + (array * 7 + i) % 255);
    }
    void fill() {
        for (std::size_t array = 0; array != arrays.size(); ++array) {
            for (std::size_t i = 0; i != arrays[array]->size(); ++i) {
                (*arrays[array])[i] = pattern(array, i);
            }
        }
    }
    /// Bytes that are not as fill() has left them.
    std::size_t changed(std::size_t array, std::size_t first, std::size_t last) const {
        std::size_t count = 0;
        for (std::size_t i = first; i != last; ++i) {
            count += (*arrays[array])[i] != pattern(array, i) ? 1U : 0U;
        }
        return count;
    }
    memory_use memory() const {
        memory_use sum;
        for (const auto& array : arrays) {
            sum = sum + array->memory();
        }
        return sum;
    }
};

TEST(memory_plan_test, arrays_are_zero_at_first_and_do_not_overlap) {
    neighbours all;
    for (const auto& array : all.arrays) {
        EXPECT_TRUE(std::all_of(array->data(), array->data() + array->size(), [](auto c) { return c == 0; }));
    }
    all.fill();
    for (std::size_t array = 0; array != all.arrays.size(); ++array) {
        EXPECT_EQ(all.changed(array, 0, all.arrays[array]->size()), 0U) << array;
    }
}

TEST(memory_plan_test, small_arrays_share_pages_but_no_cache_lines) {
    neighbours all;
    std::vector<std::uintptr_t> lines;
    for (const auto& array : all.arrays) {
        for (std::uintptr_t line = address_of(array->data()) / cache_line;
             line <= address_of(array->data() + array->size() - 1) / cache_line; ++line) {
            lines.push_back(line);
        }
    }
    std::sort(lines.begin(), lines.end());
    EXPECT_EQ(std::adjacent_find(lines.begin(), lines.end()), lines.end());
    EXPECT_LT((lines.back() - lines.front()) * cache_line, 26 * page) << "of one window, and what is rare";
}

TEST(memory_plan_test, neighbours_survive_what_is_given_back_at_every_offset) {
    neighbours all;
    for (std::size_t array = 0; array != all.arrays.size(); ++array) {
        bytes& given_back = *all.arrays[array];
        const std::size_t size = given_back.size();
        for (std::size_t first = 0; first < size; first += 1 + size / 7) {
            for (std::size_t last = first; last <= size;
                 last = last == size ? size + 1 : std::min(size, last + 1 + size / 5)) {
                all.fill();
                given_back.release(first, last);
                for (std::size_t other = 0; other != all.arrays.size(); ++other) {
                    ASSERT_TRUE(other == array || all.changed(other, 0, all.arrays[other]->size()) == 0)
                        << other << " beside " << array << " from " << first << " to " << last;
                }
                for (std::size_t i = first; i != last; ++i) { // gone or not
                    ASSERT_TRUE(given_back[i] == 0 || given_back[i] == all.pattern(array, i));
                }
                given_back.discard(first, last);
                ASSERT_TRUE(std::all_of(given_back.data() + first, given_back.data() + last,
                                        [](auto c) { return c == 0; }));
                ASSERT_EQ(all.changed(array, 0, first), 0U);
                ASSERT_EQ(all.changed(array, last, size), 0U);
                for (std::size_t other = 0; other != all.arrays.size(); ++other) {
                    ASSERT_TRUE(other == array || all.changed(other, 0, all.arrays[other]->size()) == 0)
                        << other << " beside " << array << " from " << first << " to " << last;
                }
            }
        }
    }
}

TEST(memory_plan_test, whole_pages_of_an_array_go_back) {
    memory_plan plan;
    const allocation_label purpose = allocation_label::of_pool("test", &plan);
    bytes before(purpose, 100, 0);
    bytes array(purpose, 40 * page, 0);
    const virtual_memory mapping = plan.reserve("test memory");
    std::fill(array.data(), array.data() + array.size(), std::uint8_t{1});
    before[99] = 1;
    EXPECT_GE(array.memory().resident, 40 * page);
    EXPECT_LE(array.memory().resident, 41 * page) << "it begins within a page";
    array.discard();
    EXPECT_LE(array.memory().resident, page) << "the first page is another one's too";
    EXPECT_EQ(before[99], 1);
}

TEST(memory_plan_test, a_page_that_several_share_counts_once) {
    neighbours all;
    EXPECT_EQ(all.memory().resident, 0U);
    bytes& one = *all.arrays[0];
    one[0] = 1;
    EXPECT_EQ(all.memory().resident, page);
    const std::uintptr_t its_page = address_of(one.data()) / page;
    for (const auto& array : all.arrays) {
        for (std::size_t i = 0; i != array->size(); ++i) {
            if (address_of(array->data() + i) / page == its_page) {
                (*array)[i] = 1;
            }
        }
    }
    EXPECT_EQ(all.memory().resident, page);
    all.fill();
    std::vector<std::uintptr_t> pages;
    std::size_t size = 0;
    for (const auto& array : all.arrays) {
        size += array->size();
        for (std::uintptr_t each = address_of(array->data()) / page;
             each <= address_of(array->data() + array->size() - 1) / page; ++each) {
            pages.push_back(each);
        }
    }
    std::sort(pages.begin(), pages.end());
    pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
    EXPECT_EQ(all.memory().resident, pages.size() * page);
    EXPECT_EQ(all.memory().reserved, size);
}

struct alignas(4096) page_cell {
    unsigned char first;
};

TEST(memory_plan_test, each_array_is_aligned_as_it_asks) {
    for (const std::size_t expected : {std::size_t{0}, mib}) { // close together, and with own pages
        memory_plan plan;
        const allocation_label purpose = allocation_label::of_pool("test", &plan);
        virtual_array<page_cell> cells(purpose, 3, 0);
        virtual_array<page_cell> cells_from_end(purpose.from_end(), 3, 0);
        bytes odd(purpose, 77, 0);
        bytes objects(purpose, mib, expected, mib);
        virtual_array<std::uint64_t> words(purpose.from_end(), 5, 0);
        const virtual_memory mapping = plan.reserve("test memory");
        EXPECT_EQ(address_of(cells.data()) % alignof(page_cell), 0U);
        EXPECT_EQ(address_of(cells_from_end.data()) % alignof(page_cell), 0U);
        EXPECT_EQ(address_of(objects.data()) % mib, 0U);
        EXPECT_EQ(address_of(words.data()) % cache_line, 0U);
        objects[mib - 1] = 1;
        odd[76] = 1;
        cells[2].first = cells_from_end[0].first = 1;
        words[4] = 1;
    }
}

TEST(memory_plan_test, arrays_of_a_large_plan_have_their_own_pages) {
    memory_plan plan;
    const allocation_label purpose = allocation_label::of_pool("test", &plan);
    bytes small(purpose, 10, 0);
    bytes large(purpose, 8 * mib, 8 * mib);
    bytes from_end(purpose.from_end(), 10, 0);
    const virtual_memory mapping = plan.reserve("test memory");
    EXPECT_EQ(address_of(small.data()) % page, 0U);
    EXPECT_EQ(address_of(large.data()) % (2 * mib), 0U) << "huge pages";
    EXPECT_EQ(address_of(from_end.data()) % page, 0U);
    std::fill(large.data(), large.data() + large.size(), std::uint8_t{1});
    EXPECT_EQ(large.memory().resident, 8 * mib);
    large.discard();
    EXPECT_EQ(large.memory().resident, 0U);
    EXPECT_EQ(large.memory().reserved, 8 * mib);
}

TEST(memory_plan_test, a_small_mapping_is_as_large_as_its_arrays) {
    const neighbours all; // so the system can put many of them on one page of page tables
    std::size_t sum = 0;
    for (const auto& array : all.arrays) {
        sum += array->size();
    }
    EXPECT_LE(all.mapping.size(), sum + 12 * page);
}

TEST(memory_plan_test, what_a_large_mapping_is_likely_to_use_has_one_page_of_page_tables) {
    std::vector<virtual_memory> mappings;
    for (std::size_t i = 0; i != 200; ++i) { // wherever the system puts it
        memory_plan plan;
        const allocation_label purpose = allocation_label::of_pool("test", &plan);
        const bytes shards(purpose.from_end(), mib + i % 7 * page, 100);
        const bytes slots(purpose, 5000, 5000);
        const bytes objects(purpose, 3 * mib, 100);
        mappings.push_back(plan.reserve("test memory"));
        ASSERT_EQ((address_of(shards.data() + shards.size()) - 1) / (2 * mib),
                  address_of(objects.data() + 6 * page) / (2 * mib));
    }
}

// As on machines with such pages; each is a multiple of this one's.
TEST(memory_plan_test, arrays_are_laid_out_for_pages_of_any_size) {
    for (const std::size_t kib : {4U, 16U, 64U}) {
        const std::size_t size = kib * 1024;
        if (size < page) {
            continue;
        }
        memory_plan large(size);
        const allocation_label of_large = allocation_label::of_pool("large", &large);
        bytes some(of_large, 10, 0);
        bytes many(of_large, mib, mib);
        bytes from_end(of_large.from_end(), 10, 0);
        const virtual_memory mapping = large.reserve("large");
        for (const bytes* each : {&some, &many, &from_end}) {
            EXPECT_EQ(address_of(each->data()) % size, 0U) << kib << " KiB";
        }
        EXPECT_GE(address_of(many.data()) - address_of(some.data()), size) << "no page belongs to two";

        // One that is used from its end and one that is used from its beginning meet within a page.
        memory_plan small(size);
        const allocation_label of_small = allocation_label::of_pool("small", &small);
        bytes falling(of_small.from_end(), 3 * size, 0);
        bytes rising(of_small, 2 * size, 0);
        const virtual_memory close(small.reserve("small"));
        EXPECT_EQ((address_of(falling.data()) + falling.size() - 1) / size, address_of(rising.data()) / size)
            << kib << " KiB";
        EXPECT_GE(address_of(rising.data()), address_of(falling.data()) + falling.size());
        std::fill(falling.data(), falling.data() + falling.size(), std::uint8_t{1});
        std::fill(rising.data(), rising.data() + rising.size(), std::uint8_t{2});
        falling.discard();
        EXPECT_EQ(std::count(rising.data(), rising.data() + rising.size(), 2),
                  static_cast<std::ptrdiff_t>(rising.size()));
        EXPECT_EQ(std::count(falling.data(), falling.data() + falling.size(), 0),
                  static_cast<std::ptrdiff_t>(falling.size()));
    }
}

TEST(memory_plan_test, arrays_without_elements_and_no_arrays_are_sizes_too) {
    memory_plan nothing;
    EXPECT_NE(nothing.reserve("nothing").data(), nullptr);
    memory_plan plan;
    const allocation_label purpose = allocation_label::of_pool("test", &plan);
    bytes empty(purpose, 0, 0);
    bytes empty_from_end(purpose.from_end(), 0, 0);
    const virtual_memory mapping = plan.reserve("test memory");
    empty.discard();
    empty_from_end.release(0, 0);
    EXPECT_EQ(empty.memory().resident, 0U);
}

TEST(memory_plan_test, sizes_that_no_address_space_has_are_refused_by_name) {
    memory_plan plan;
    const allocation_label purpose = allocation_label::of_pool("ships", &plan);
    constexpr std::size_t much = std::numeric_limits<std::size_t>::max() / 8;
    EXPECT_THAT([&] { const virtual_array<std::uint64_t> one(purpose.part(" slots"), much, 0); },
                ThrowsMessage<reservation_failed>(HasSubstr("pool 'ships' slots: cannot reserve")));
    std::vector<std::unique_ptr<bytes>> arrays; // each fits, but not all together
    for (int i = 0; i != 20; ++i) {
        arrays.push_back(std::make_unique<bytes>(purpose, much, 0));
    }
    EXPECT_THAT([&] { const virtual_memory all = plan.reserve(purpose.part(" memory")); },
                ThrowsMessage<reservation_failed>(HasSubstr("pool 'ships' memory: cannot reserve")));
    memory_plan other; // which the system refuses
    const bytes large(allocation_label::of_pool("boats", &other), std::size_t{1} << 50, 0);
    EXPECT_THAT([&] { const virtual_memory all = other.reserve("boats"); },
                ThrowsMessage<reservation_failed>(HasSubstr("boats: cannot reserve")));
}

// Under ThreadSanitizer, a write outside of the array that is discarded is a race.
TEST(memory_plan_test, an_array_can_be_discarded_while_others_use_its_neighbours) {
    using words = virtual_array<std::atomic<std::uint64_t>>;
    memory_plan plan;
    const allocation_label purpose = allocation_label::of_pool("test", &plan);
    words before(purpose.from_end(), 700, 0);
    words discarded(purpose, 800, 0);
    words after(purpose, 900, 0);
    const virtual_memory mapping = plan.reserve("test memory");
    std::atomic<bool> done{false};
    std::jthread neighbour([&] {
        for (std::uint64_t round = 1; !done.load(std::memory_order::relaxed); ++round) {
            for (words* each : {&before, &after}) {
                for (std::size_t i = 0; i != each->size(); ++i) {
                    (*each)[i].store(round, std::memory_order::relaxed);
                }
                for (std::size_t i = 0; i != each->size(); ++i) {
                    ASSERT_EQ((*each)[i].load(std::memory_order::relaxed), round);
                }
            }
        }
    });
    for (std::uint64_t round = 1; round != 2000; ++round) {
        for (std::size_t i = 0; i != discarded.size(); ++i) {
            discarded[i].store(round, std::memory_order::relaxed);
        }
        discarded.discard();
        ASSERT_EQ(discarded[round % discarded.size()].load(std::memory_order::relaxed), 0U);
    }
    done.store(true, std::memory_order::relaxed);
}

} // namespace
} // namespace handlepool::test
