// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// Copies of objects, each under a number until that is given back. What is given back stays an object, to
/// which the next one is assigned: memory that objects own is used again.
template <class T>
class object_versions {
    static_assert(std::is_copy_constructible_v<T>);

public:
    static constexpr std::uint32_t none = 0;

    object_versions() noexcept = default;
    ~object_versions() {
        for (std::uint32_t i = 1; i <= made_; ++i) {
            at(i).~T();
        }
        for (T* const block : blocks_) {
            std::allocator<T>().deallocate(block, block_size);
        }
    }

    object_versions(const object_versions&) = delete;
    object_versions& operator=(const object_versions&) = delete;

    T& at(std::uint32_t version) noexcept {
        return blocks_[(version - 1) / block_size][(version - 1) % block_size];
    }
    const T& at(std::uint32_t version) const noexcept {
        return blocks_[(version - 1) / block_size][(version - 1) % block_size];
    }

    /// Returns the number of a copy. Throws std::bad_alloc, and what copying throws; then nothing has
    /// changed.
    std::uint32_t keep(const T& object) {
        if (!given_back_.empty()) {
            const std::uint32_t version = given_back_.back();
            assign(at(version), object);
            given_back_.pop_back();
            return version;
        }
        if (made_ == blocks_.size() * block_size) {
            add_block();
        }
        ::new (static_cast<void*>(std::addressof(at(made_ + 1)))) T(object);
        ++made_;
        return made_;
    }
    void give_back(std::uint32_t version) noexcept { given_back_.push_back(version); }

    void prefetch(std::uint32_t version) const noexcept {
        prefetch_to_read(reinterpret_cast<std::uintptr_t>(std::addressof(at(version))));
    }
    /// Prefetches where the copy will be that is kept so many copies later.
    void prefetch_next(std::size_t later) const noexcept {
        if (later < given_back_.size()) {
            prefetch_to_write(reinterpret_cast<std::uintptr_t>(
                std::addressof(at(given_back_[given_back_.size() - 1 - later]))));
        }
    }

    /// Bytes of all copies, given back or not.
    std::size_t bytes() const noexcept {
        return blocks_.size() * block_size * sizeof(T) + given_back_.capacity() * sizeof(std::uint32_t);
    }

private:
    static constexpr std::size_t block_size = std::bit_ceil((std::max<std::size_t>)(65536 / sizeof(T), 1));

    static void assign(T& to, const T& from) {
        if constexpr (std::is_copy_assignable_v<T>) {
            to = from;
        } else {
            T copy(from);
            to.~T();
            ::new (static_cast<void*>(std::addressof(to))) T(std::move(copy));
        }
    }

    void add_block() {
        if (blocks_.size() == blocks_.capacity()) {
            blocks_.reserve(2 * blocks_.size() + 1);
        }
        if (const std::size_t needed = (blocks_.size() + 1) * block_size; needed > given_back_.capacity()) {
            given_back_.reserve(
                (std::max)(needed, 2 * given_back_.capacity())); // give_back() needs no memory
        }
        blocks_.push_back(std::allocator<T>().allocate(block_size));
    }

    std::vector<T*> blocks_;
    std::vector<std::uint32_t> given_back_;
    std::uint32_t made_ = 0;
};

} // namespace handlepool::detail
