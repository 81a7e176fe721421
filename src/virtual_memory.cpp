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
#include <limits>

namespace handlepool::detail {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
// A range that is likely to use fewer does without: the first touch of a page takes all of it.
constexpr std::size_t fewest_huge_pages = 2;

std::size_t page_size() noexcept {
    static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return size;
}

std::uintptr_t round_up(std::uintptr_t value, std::size_t alignment) noexcept {
    return (value + alignment - 1) / alignment * alignment;
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

virtual_memory::virtual_memory(std::string_view what_for, std::size_t count, std::size_t element_size,
                               std::size_t alignment, std::size_t expected) {
    const std::size_t most = std::numeric_limits<std::size_t>::max() / 4;
    if (count > most / element_size) {
        raise(reservation_failed(what_for, most, ENOMEM));
    }
    const std::size_t size = std::max<std::size_t>(count * element_size, 1);
    // Only what is likely to be used in full: beyond it, small pages follow the use more closely.
    const std::size_t huge_pages = std::min(expected * element_size, size) / huge_page;
    const bool huge = huge_pages >= fewest_huge_pages;
    const std::size_t base_alignment = std::max({alignment, page_size(), huge ? huge_page : 0});
    const std::size_t mapping_size = round_up(size, page_size()) + (base_alignment - page_size());

    void* const mapping = mmap(nullptr, mapping_size, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) {
        raise(reservation_failed(what_for, mapping_size, errno));
    }
    mapping_ = mapping;
    mapping_size_ = mapping_size;
    data_ = reinterpret_cast<std::byte*>(round_up(reinterpret_cast<std::uintptr_t>(mapping), base_alignment));
    size_ = size;
    if (huge) {
        madvise(data_, huge_pages * huge_page,
                MADV_HUGEPAGE); // a hint: where the system has none, small pages serve
    }
}

virtual_memory::~virtual_memory() {
    if (mapping_ != nullptr) {
        munmap(mapping_, mapping_size_);
    }
}

virtual_memory::range virtual_memory::whole_pages(std::size_t first, std::size_t last) const noexcept {
    const std::size_t first_whole = std::min(round_up(first, page_size()), last);
    // Nothing else lies in the last page of the range.
    const std::size_t end = last == size_ ? round_up(last, page_size()) : last / page_size() * page_size();
    return {first_whole, std::max(end, first_whole)};
}

void virtual_memory::discard(std::size_t first, std::size_t last) noexcept {
    const range whole = whole_pages(first, last);
    std::fill(data_ + first, data_ + whole.first, std::byte{});
    std::fill(data_ + std::min(whole.last, last), data_ + last, std::byte{});
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

std::size_t virtual_memory::resident() const noexcept {
    const std::size_t pages = round_up(size_, page_size()) / page_size();
    std::array<unsigned char, 4096> present{};
    std::size_t count = 0;
    for (std::size_t page = 0; page < pages; page += present.size()) {
        const std::size_t asked = std::min(present.size(), pages - page);
        if (mincore(data_ + page * page_size(), asked * page_size(), present.data()) == 0) {
            count += static_cast<std::size_t>(
                std::count_if(present.begin(), present.begin() + static_cast<std::ptrdiff_t>(asked),
                              [](unsigned char flags) { return (flags & 1) != 0; }));
        }
    }
    return std::min(count * page_size(), round_up(size_, page_size()));
}

} // namespace handlepool::detail
