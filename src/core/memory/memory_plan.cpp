// SPDX-License-Identifier: MIT
#include "round_up.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/memory/memory_plan.hpp>
#include <handlepool/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>

namespace handlepool::detail {

namespace {

// What a small plan is likely to use at the most.
constexpr std::size_t small_use = 64 * 1024;
// Mappings of at most so many bytes share the page of page tables that maps what they use: the system places
// one beside the other.
constexpr std::size_t sharing_size = virtual_memory::huge_page_size / 2;

} // namespace

void memory_plan::add(virtual_memory& array, const allocation_label& what_for, std::size_t size,
                      std::size_t alignment, std::size_t expected) {
    if (requests_.empty()) {
        requests_.reserve(40); // more than a pool has arrays
    }
    requests_.push_back({.array = &array,
                         .size = size,
                         .alignment = alignment,
                         .expected = expected,
                         .from_end = what_for.is_from_end(),
                         .rarely = what_for.is_rarely_used(),
                         .in_steps = what_for.is_in_steps(),
                         .offset = 0});
}

std::size_t memory_plan::requested() const noexcept {
    std::size_t sum = 0;
    for (const request& one : requests_) {
        sum += one.size;
    }
    return sum;
}

bool memory_plan::is_small() const noexcept {
    std::size_t expected = 0;
    for (const request& one : requests_) {
        expected += std::min(one.expected, small_use + 1); // of few arrays: no overflow
    }
    return expected <= small_use;
}

virtual_memory memory_plan::reserve(const allocation_label& what_for) {
    std::size_t total = 0;
    for (const request& one : requests_) {
        // With all that an alignment may add.
        const std::size_t most = one.size + std::max(one.alignment, 2 * virtual_memory::huge_page_size);
        if (most > virtual_memory::most_bytes - total) {
            throw_exception(reservation_failed(what_for.text().c_str(), virtual_memory::most_bytes, ENOMEM));
        }
        total += most;
    }
    laid_out_.reserve(requests_.size());
    if (is_small()) {
        lay_out_close_together();
    } else {
        lay_out_with_own_pages();
    }
    virtual_memory mapping;
    mapping.map(what_for, std::max<std::size_t>(size_, 1), alignment_);
    for (std::size_t i = 0; i != laid_out_.size(); ++i) {
        const request& one = laid_out_[i];
        const std::size_t end = i + 1 == laid_out_.size() ? mapping.extent_ : laid_out_[i + 1].offset;
        one.array->place(mapping.data_ + one.offset, end - one.offset);
        one.array->make_usable(what_for, one.in_steps);
        one.array->prefer_huge_pages(0, virtual_memory::huge_bytes(one.size, one.expected));
    }
    return mapping;
}

void memory_plan::put(const request& one, std::size_t offset) {
    alignment_ = std::max(alignment_, one.alignment);
    laid_out_.push_back(one);
    laid_out_.back().offset = offset;
    size_ = offset + one.size;
}

void memory_plan::lay_out_with_own_pages() {
    for (const request& one : requests_) {
        const bool huge = virtual_memory::huge_bytes(one.size, one.expected) != 0;
        request with_pages = one;
        with_pages.alignment =
            std::max({one.alignment, page_size_, huge ? virtual_memory::huge_page_size : 0});
        put(with_pages, round_up(size_, with_pages.alignment));
    }
}

void memory_plan::lay_out_close_together() {
    const auto rare =
        std::partition(requests_.begin(), requests_.end(), [](const request& one) { return !one.rarely; });
    lay_out_pairs({requests_.begin(), rare}, true);
    lay_out_pairs({rare, requests_.end()}, false);
}

void memory_plan::lay_out_pairs(std::vector<request> arrays, bool window) {
    const auto by_size = [](const request& one, const request& other) { return one.size < other.size; };
    const auto rising =
        std::partition(arrays.begin(), arrays.end(), [](const request& one) { return one.from_end; });
    std::sort(arrays.begin(), rising, by_size);
    std::sort(rising, arrays.end(), by_size);
    auto falling = arrays.begin();
    auto last_falling = rising;
    if (window && falling != last_falling) {
        --last_falling;
        std::size_t offset = place_before_junction(*last_falling);
        if (requested() > sharing_size) {
            // A page of page tables maps as much as a huge page does: the window begins with one.
            const std::size_t begin = (offset + last_falling->size) / page_size_;
            const std::size_t pages = virtual_memory::huge_page_size / page_size_;
            alignment_ = std::max(alignment_, virtual_memory::huge_page_size);
            offset += (round_up(begin, pages) - begin) * page_size_;
        }
        put(*last_falling, offset);
    }
    // Those that have no partner come first: they are the smallest ones, and fill pages.
    const auto pairs = std::min(last_falling - falling, arrays.end() - rising);
    for (auto one = rising; one != arrays.end(); ++one) {
        if (arrays.end() - one <= pairs) {
            put(*falling, place_before_junction(*falling));
            ++falling;
        }
        put(*one, next_place(*one));
    }
    for (; falling != last_falling; ++falling) {
        put(*falling, place_before_junction(*falling));
    }
}

std::size_t memory_plan::next_place(const request& one) const noexcept {
    return round_up(size_, std::max(one.alignment, cache_line)); // no two arrays share a cache line
}

std::size_t memory_plan::place_before_junction(const request& one) const noexcept {
    const std::size_t page = page_size_;
    const std::size_t alignment = std::max(one.alignment, cache_line);
    const std::size_t size = round_up(one.size, alignment);
    // Most of the page for the array after it, which is more often one of objects or of many slots.
    const std::size_t in_page = page / 4;
    const std::size_t junction = round_up(size_ + size + page - in_page, page) - page + in_page;
    return round_up(junction - size, alignment);
}

} // namespace handlepool::detail
