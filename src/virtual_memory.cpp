#include <handlepool/detail/memory_plan.hpp>
#include <handlepool/detail/raise.hpp>
#include <handlepool/detail/virtual_memory.hpp>
#include <handlepool/error.hpp>

#include <sys/mman.h>
#include <unistd.h>

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
// MADV_POPULATE_WRITE, of Linux 5.14, which older headers don't have.
constexpr int populate_write = 23;

std::uintptr_t round_up(std::uintptr_t value, std::size_t alignment) noexcept {
    return (value + alignment - 1) / alignment * alignment;
}

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
    static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return size;
}

std::size_t virtual_memory::huge_bytes(std::size_t size, std::size_t expected) noexcept {
    // Only what is likely to be used in full: beyond it, small pages follow the use more closely.
    const std::size_t huge_pages = std::min(expected, size) / huge_page_size;
    return huge_pages >= fewest_huge_pages ? huge_pages * huge_page_size : 0;
}

virtual_memory::virtual_memory(const memory_purpose& what_for, std::size_t count, std::size_t element_size,
                               std::size_t alignment, std::size_t expected) {
    if (count > most_bytes / element_size) {
        raise(reservation_failed(what_for.text().c_str(), most_bytes, ENOMEM));
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
    prefer_huge_pages(0, huge);
}

void virtual_memory::map(const memory_purpose& what_for, std::size_t size, std::size_t alignment) {
    const std::size_t base_alignment = std::max(alignment, page_size());
    const std::size_t mapping_size = round_up(size, page_size()) + (base_alignment - page_size());
    void* const mapping = mmap(nullptr, mapping_size, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) {
        const int reason = errno;
        raise(reservation_failed(what_for.text().c_str(), mapping_size, reason));
    }
    mapping_ = static_cast<std::byte*>(mapping);
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
        munmap(mapping_, static_cast<std::size_t>(data_ - mapping_) + extent_);
    }
}

virtual_memory::range virtual_memory::whole_pages(std::size_t first, std::size_t last) const noexcept {
    const std::uintptr_t begin = address_of(data_);
    const std::size_t first_whole = std::min(round_up(begin + first, page_size()) - begin, last);
    // After the range's end nothing else lies in its extent.
    const std::uintptr_t free_end =
        last == size_ ? std::min(round_up(begin + last, page_size()), begin + extent_) : begin + last;
    const std::uintptr_t end = free_end / page_size() * page_size();
    return {first_whole, end > begin + first_whole ? end - begin : first_whole};
}

void virtual_memory::discard(std::size_t first, std::size_t last) noexcept {
    const range whole = whole_pages(first, last);
    // Pages that are shared may never have been touched.
    make_zero(data_ + first, data_ + whole.first);
    make_zero(data_ + std::min(whole.last, last), data_ + last);
    if (!give_back(whole)) {
        make_zero(data_ + whole.first, data_ + std::min(whole.last, last));
    }
}

void virtual_memory::release(std::size_t first, std::size_t last) noexcept {
    give_back(whole_pages(first, last));
}

bool virtual_memory::give_back(range pages) noexcept {
    // The system keeps pages that are locked in memory, and a filter of system calls may refuse them all.
    return pages.first == pages.last ||
           madvise(data_ + pages.first, pages.last - pages.first, MADV_DONTNEED) == 0;
}

void virtual_memory::populate(std::size_t first, std::size_t last) noexcept {
    const std::uintptr_t begin = address_of(data_);
    const std::size_t below = (begin + first) % page_size();
    madvise(data_ + first - below, last - first + below, populate_write);
}

void virtual_memory::prefer_huge_pages(std::size_t first, std::size_t last) noexcept {
    const std::uintptr_t begin = address_of(data_);
    const std::size_t first_whole = round_up(begin + first, huge_page_size) - begin;
    if (first_whole < last) {
        madvise(data_ + first_whole, last - first_whole, MADV_HUGEPAGE);
    }
}

void virtual_memory::refuse_huge_pages(std::size_t first, std::size_t last) noexcept {
    const range whole = whole_pages(first, last);
    if (whole.first != whole.last) {
        madvise(data_ + whole.first, whole.last - whole.first, MADV_NOHUGEPAGE);
    }
}

std::size_t virtual_memory::resident() const noexcept {
    const std::uintptr_t begin = address_of(data_) / page_size() * page_size();
    const std::uintptr_t end = (address_of(data_) + extent_) / page_size() * page_size();
    std::byte* const first = data_ - (address_of(data_) - begin);
    const std::size_t pages = (end - begin) / page_size();
    std::array<unsigned char, 4096> present{};
    std::size_t count = 0;
    for (std::size_t page = 0; page < pages; page += present.size()) {
        const std::size_t asked = std::min(present.size(), pages - page);
        if (mincore(first + page * page_size(), asked * page_size(), present.data()) == 0) {
            count += static_cast<std::size_t>(
                std::count_if(present.begin(), present.begin() + static_cast<std::ptrdiff_t>(asked),
                              [](unsigned char flags) { return (flags & 1) != 0; }));
        }
    }
    return count * page_size();
}

} // namespace handlepool::detail
