// SPDX-License-Identifier: MIT
#include "round_up.hpp"
#include "system_memory.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/memory/memory_plan.hpp>
#include <handlepool/detail/memory/virtual_memory.hpp>
#include <handlepool/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace handlepool::detail {

namespace {

// A range that is likely to use fewer does without: the first touch of a page takes all of it.
constexpr std::size_t fewest_huge_pages = 2;
// A smaller range takes its memory at once.
constexpr std::size_t smallest_in_steps = 256 * 1024;

std::uintptr_t address_of(const std::byte* data) noexcept {
    return reinterpret_cast<std::uintptr_t>(data);
}

/// Writes to what is not zero only: a page that was never written to takes memory for the first write, not
/// for reading it.
void make_zero(std::byte* first, std::byte* last) noexcept {
    static constexpr std::array<std::byte, 4096> zeroes{};
    while (first != last) {
        const std::size_t size = std::min(zeroes.size(), static_cast<std::size_t>(last - first));
        if (std::memcmp(first, zeroes.data(), size) != 0) {
            std::memset(first, 0, size);
        }
        first += size;
    }
}

} // namespace

std::size_t virtual_memory::page_size() noexcept {
    return system_memory::page_size();
}

std::size_t virtual_memory::huge_bytes(std::size_t size, std::size_t expected) noexcept {
    // Only what is likely to be used in full: beyond it, small pages follow the use more closely.
    const std::size_t huge_pages = std::min(expected, size) / huge_page_size;
    return huge_pages >= fewest_huge_pages ? huge_pages * huge_page_size : 0;
}

virtual_memory::virtual_memory(const allocation_label& what_for, std::size_t count, std::size_t element_size,
                               std::size_t alignment, std::size_t expected)
    : virtual_memory() { // so that the destructor runs when this throws
    if (count > most_bytes / element_size) {
        throw_exception(reservation_failed(what_for.text().c_str(), most_bytes, ENOMEM));
    }
    const std::size_t size = std::max<std::size_t>(count * element_size, 1);
    const std::size_t likely = std::min(expected, count) * element_size;
    if (what_for.plan() != nullptr) {
        what_for.plan()->add(*this, what_for, size, alignment, likely);
        size_ = size;
        return;
    }
    const std::size_t huge = huge_bytes(size, likely);
    map(what_for, size, std::max(alignment, huge == 0 ? 1 : huge_page_size));
    make_usable(what_for, what_for.is_in_steps());
    prefer_huge_pages(0, huge);
}

void virtual_memory::map(const allocation_label& what_for, std::size_t size, std::size_t alignment) {
    const std::size_t base_alignment = std::max(alignment, page_size());
    const std::size_t mapping_size = round_up(size, page_size()) + (base_alignment - page_size());
    const system_memory::reservation mapping = system_memory::reserve(mapping_size);
    if (mapping.first == nullptr) {
        throw_exception(reservation_failed(what_for.text().c_str(), mapping_size, mapping.error_number));
    }
    mapping_ = mapping.first;
    const std::size_t skipped = round_up(address_of(mapping_), base_alignment) - address_of(mapping_);
    data_ = mapping_ + skipped;
    size_ = size;
    extent_ = mapping_size - skipped;
}

void virtual_memory::place(std::byte* data, std::size_t extent) noexcept {
    data_ = data;
    extent_ = extent;
}

virtual_memory::~virtual_memory() {
    if (mapping_ != nullptr) {
        system_memory::unreserve(mapping_, static_cast<std::size_t>(data_ - mapping_) + extent_);
    }
}

virtual_memory::range virtual_memory::whole_pages(std::size_t first, std::size_t last) const noexcept {
    const std::uintptr_t begin = address_of(data_);
    const std::size_t first_whole = round_up(begin + first, page_size()) - begin;
    if (first_whole >= last) {
        return {last, last};
    }
    // After the range's end nothing else lies in its extent.
    const std::uintptr_t free_end =
        last == size_ ? std::min(round_up(begin + last, page_size()), begin + extent_) : begin + last;
    const std::uintptr_t end = free_end / page_size() * page_size();
    return {first_whole, end > begin + first_whole ? end - begin : first_whole};
}

void virtual_memory::discard(std::size_t first, std::size_t last) noexcept {
    const range whole = whole_pages(first, last);
    // Pages that are shared may never have been touched.
    zero(first, whole.first);
    zero(std::min(whole.last, last), last);
    if (!give_back(whole)) {
        zero(whole.first, std::min(whole.last, last));
        return;
    }
    if constexpr (!memory_by_touch) {
        if (!in_steps() && whole.first != whole.last &&
            !system_memory::commit(data_ + whole.first, whole.last - whole.first)) {
            // Somebody was faster, and had no more than this process gave back.
            end_program("handlepool: the system has no memory in the place of what it was given back");
        }
    }
}

void virtual_memory::release(std::size_t first, std::size_t last) noexcept {
    if constexpr (!memory_by_touch) {
        if (!in_steps()) {
            return; // others may look at these bytes meanwhile
        }
    }
    give_back(whole_pages(first, last));
}

bool virtual_memory::give_back(range pages) noexcept {
    if (pages.first == pages.last) {
        return true;
    }
    if (!system_memory::give_back(data_ + pages.first, pages.last - pages.first)) {
        return false;
    }
    if constexpr (!memory_by_touch) {
        if (in_steps()) {
            for (std::size_t page = page_of(pages.first); page != page_of(pages.last); ++page) {
                ready_.erase(page);
            }
        }
    }
    return true;
}

void virtual_memory::populate(std::size_t first, std::size_t last) noexcept {
    const std::uintptr_t begin = address_of(data_);
    const std::size_t below = (begin + first) % page_size();
    system_memory::populate(data_ + first - below, last - first + below);
}

virtual_memory::range virtual_memory::whole_huge_pages(std::size_t first, std::size_t last) const noexcept {
    const std::uintptr_t begin = address_of(data_);
    const std::size_t first_whole = round_up(begin + first, huge_page_size) - begin;
    if (last < first_whole + fewest_huge_pages * huge_page_size) {
        return {last, last};
    }
    return {first_whole, last - (begin + last) % huge_page_size};
}

void virtual_memory::prefer_huge_pages(std::size_t first, std::size_t last) noexcept {
    const range whole = whole_huge_pages(first, last);
    if (whole.first != whole.last) {
        system_memory::prefer_huge_pages(data_ + whole.first, whole.last - whole.first);
    }
}

std::size_t virtual_memory::end_of_huge_page(std::size_t first, std::size_t last,
                                             std::size_t at) const noexcept {
    const range whole = whole_huge_pages(first, last);
    const std::uintptr_t begin = address_of(data_);
    return at > whole.first && at < whole.last ? round_up(begin + at, huge_page_size) - begin : at;
}

void virtual_memory::refuse_huge_pages(std::size_t first, std::size_t last) noexcept {
    const range whole = whole_pages(first, last);
    if (whole.first != whole.last) {
        system_memory::refuse_huge_pages(data_ + whole.first, whole.last - whole.first);
    }
}

std::size_t virtual_memory::resident() const noexcept {
    const std::uintptr_t begin = address_of(data_) / page_size() * page_size();
    const std::uintptr_t end = (address_of(data_) + extent_) / page_size() * page_size();
    std::byte* const first = data_ - (address_of(data_) - begin);
    const std::size_t pages = (end - begin) / page_size();
    if constexpr (!memory_by_touch) {
        if (in_steps()) { // most of it may never have been ready: that is known without the system
            const std::size_t last = std::min(pages, page_of(size_ - 1) + 1);
            std::size_t count = 0;
            for (std::size_t page = 0; page != last;) {
                const std::size_t run = page;
                while (page != last && ready_.contains(page)) {
                    ++page;
                }
                count += system_memory::resident_pages(first + run * page_size(), page - run);
                page += page != last ? 1U : 0U;
            }
            return count * page_size();
        }
    }
    return system_memory::resident_pages(first, pages) * page_size();
}

// ---- Where memory does not come by touch -----------------------------------------------------------------

void virtual_memory::make_usable(const allocation_label& what_for, bool in_steps) {
    if constexpr (!memory_by_touch) {
        const std::size_t pages = page_of(size_ - 1) + 1;
        if (in_steps && size_ >= smallest_in_steps) {
            ready_ = page_set_type(pages);
        } else if (!system_memory::commit(address_of_page(0), pages * page_size())) {
            throw_exception(reservation_failed(what_for.text().c_str(), pages * page_size(), ENOMEM));
        }
    }
}

std::size_t virtual_memory::page_of(std::size_t offset) const noexcept {
    return (address_of(data_) + offset) / page_size() - address_of(data_) / page_size();
}

std::byte* virtual_memory::address_of_page(std::size_t page) const noexcept {
    return data_ - address_of(data_) % page_size() + page * page_size();
}

bool virtual_memory::commit_missing(std::size_t first, std::size_t last) noexcept {
    const std::size_t end = page_of(last - 1) + 1;
    for (std::size_t page = page_of(first); page != end;) {
        std::size_t next = page;
        while (next != end && !ready_.contains(next)) {
            ++next;
        }
        if (next != page && !system_memory::commit(address_of_page(page), (next - page) * page_size())) {
            return false;
        }
        for (; page != next; ++page) {
            ready_.insert(page);
        }
        page = std::min(next + 1, end);
    }
    return true;
}

void virtual_memory::zero(std::size_t first, std::size_t last) noexcept {
    if constexpr (!memory_by_touch) {
        if (in_steps()) {
            while (first < last) {
                const std::size_t page = page_of(first);
                const std::size_t end =
                    std::min(last, static_cast<std::size_t>(address_of_page(page + 1) - data_));
                if (ready_.contains(page)) {
                    make_zero(data_ + first, data_ + end);
                }
                first = end;
            }
            return;
        }
    }
    make_zero(data_ + first, data_ + last);
}

} // namespace handlepool::detail
