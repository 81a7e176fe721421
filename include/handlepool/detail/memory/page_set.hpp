// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace handlepool::detail {

/// A set of the first pages of a range of memory. Any thread may ask and change it at any time; an answer
/// holds while nobody changes these pages. Of what happens to a page, this orders nothing: whoever uses it is
/// ordered with whoever made it ready by other means.
class page_set {
public:
    /// A set of no pages.
    page_set() noexcept = default;
    /// Empty, of `pages`. Throws std::bad_alloc.
    explicit page_set(std::size_t pages)
        : words_(new std::atomic<std::uint64_t>[(pages + bits - 1) / bits]) {}
    ~page_set() { delete[] words_; }

    page_set(page_set&& other) noexcept : words_(std::exchange(other.words_, nullptr)) {}
    page_set& operator=(page_set&& other) noexcept {
        std::swap(words_, other.words_);
        return *this;
    }

    bool has_pages() const noexcept { return words_ != nullptr; }

    bool contains(std::size_t page) const noexcept {
        return (words_[page / bits].load(std::memory_order::relaxed) & bit_of(page)) != 0;
    }
    void insert(std::size_t page) noexcept {
        words_[page / bits].fetch_or(bit_of(page), std::memory_order::relaxed);
    }
    void erase(std::size_t page) noexcept {
        words_[page / bits].fetch_and(~bit_of(page), std::memory_order::relaxed);
    }

private:
    static constexpr std::size_t bits = 64;
    static constexpr std::uint64_t bit_of(std::size_t page) noexcept {
        return std::uint64_t{1} << (page % bits);
    }

    std::atomic<std::uint64_t>* words_ = nullptr; // not by unique_ptr: <memory> takes longer than a pool
};

/// Stands for a page_set where all pages are always ready.
struct no_page_set {
    no_page_set() noexcept = default;
    explicit no_page_set(std::size_t) noexcept {}

    static constexpr bool has_pages() noexcept { return false; }
    static constexpr bool contains(std::size_t) noexcept { return true; }
    static constexpr void insert(std::size_t) noexcept {}
    static constexpr void erase(std::size_t) noexcept {}
};

} // namespace handlepool::detail
