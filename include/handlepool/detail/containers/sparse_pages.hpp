// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace handlepool::detail {

/// A number for each of some slots, in pages that exist only where there are any: what is called the sparse
/// half of a sparse set (Briggs and Torczon, "An efficient representation for sparse sets"). Beside it the
/// tag of the handle that it belongs to, so that a look-up reads nothing else.
class sparse_pages {
public:
    /// The number of a slot that has none.
    static constexpr std::uint32_t none = 0xffff'ffff;

    struct entry {
        std::uint32_t number = none;
        std::uint32_t tag = 0;
    };

    sparse_pages() noexcept = default;
    sparse_pages(const sparse_pages& other) : pages_(other.pages_.size()) {
        for (std::size_t i = 0; i != pages_.size(); ++i) {
            if (other.pages_[i] != nullptr) {
                pages_[i] = std::make_unique<page>(*other.pages_[i]);
            }
        }
    }
    sparse_pages& operator=(const sparse_pages&) = delete;
    ~sparse_pages() = default;

    void swap(sparse_pages& other) noexcept { pages_.swap(other.pages_); }

    /// Becomes like the other, in the pages that exist where they suffice. Linear in the pages. Throws
    /// std::bad_alloc; then nothing has changed.
    void assign(const sparse_pages& other) {
        for (std::size_t i = 0; i != other.pages_.size(); ++i) {
            if (other.has_numbers(i)) {
                reserve(i * page_size);
            }
        }
        for (std::size_t i = 0; i != pages_.size(); ++i) {
            if (other.has_numbers(i)) {
                *pages_[i] = *other.pages_[i];
            } else if (has_numbers(i)) {
                *pages_[i] = page();
            }
        }
    }

    /// The slot's number and its tag. Constant.
    entry operator[](std::uint64_t slot) const noexcept {
        const std::uint64_t at = slot / page_size;
        if (at >= pages_.size() || pages_[at] == nullptr) {
            return {};
        }
        return pages_[at]->entries[slot % page_size];
    }

    /// For an access that comes soon.
    HANDLEPOOL_ALWAYS_INLINE void prefetch(std::uint64_t slot) const noexcept {
        const std::uint64_t at = slot / page_size;
        if (at < pages_.size() && pages_[at] != nullptr) {
            detail::prefetch(pages_[at]->entries, slot % page_size);
        }
    }

    /// Makes the slot's page, so that set() can follow. Constant, amortized, but for new pages before it.
    /// Throws std::bad_alloc; then nothing has changed.
    void reserve(std::uint64_t slot) {
        const std::uint64_t at = slot / page_size;
        if (at >= pages_.size()) {
            pages_.resize(static_cast<std::size_t>(at) + 1);
        }
        if (pages_[at] == nullptr) {
            pages_[at] = std::make_unique<page>();
        }
    }

    /// Gives a slot whose page exists a number other than none, and a tag. Constant.
    void set(std::uint64_t slot, entry now) noexcept {
        page& where = *pages_[slot / page_size];
        entry& before = where.entries[slot % page_size];
        where.used += before.number == none ? 1 : 0;
        before = now;
    }

    /// Takes the number from a slot that has one. Its page stays. Constant.
    void clear(std::uint64_t slot) noexcept {
        page& where = *pages_[slot / page_size];
        where.entries[slot % page_size] = {};
        --where.used;
    }

    /// Frees the pages without a number. Linear in the pages. Throws std::bad_alloc; then fewer may be freed.
    void shrink_to_fit() {
        std::size_t last = 0;
        for (std::size_t i = 0; i != pages_.size(); ++i) {
            if (pages_[i] != nullptr && pages_[i]->used == 0) {
                pages_[i].reset();
            }
            last = pages_[i] != nullptr ? i + 1 : last;
        }
        pages_.resize(last);
        pages_.shrink_to_fit();
    }

    /// Bytes in use.
    std::size_t memory() const noexcept {
        std::size_t bytes = pages_.capacity() * sizeof(pages_[0]);
        for (const auto& each : pages_) {
            bytes += each != nullptr ? sizeof(page) : 0;
        }
        return bytes;
    }

private:
    static constexpr std::size_t page_size = 1024;

    struct page {
        entry entries[page_size];
        std::uint32_t used = 0; // numbers other than none
    };

    bool has_numbers(std::size_t at) const noexcept {
        return at < pages_.size() && pages_[at] != nullptr && pages_[at]->used != 0;
    }

    std::vector<std::unique_ptr<page>> pages_;
};

} // namespace handlepool::detail
