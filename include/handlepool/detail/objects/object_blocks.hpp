// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/objects/object_type.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <new>
#include <vector>

namespace handlepool::detail {

/// Raw memory for objects outside of a pool, each at a place with a number, from 0 on: blocks that never
/// move.
template <class T>
class object_blocks {
public:
    /// Without memory.
    explicit object_blocks(const object_type<T>& type) noexcept : type_(type) {}
    ~object_blocks() {
        for (std::byte* const block : blocks_) {
            ::operator delete(block, alignment());
        }
    }

    object_blocks(const object_blocks&) = delete;
    object_blocks& operator=(const object_blocks&) = delete;

    const object_type<T>& type() const noexcept { return type_; }

    /// Places, all of which have memory.
    std::size_t size() const noexcept { return blocks_.size() * block_size(); }
    void* operator[](std::size_t place) const noexcept {
        return blocks_[place / block_size()] + place % block_size() * type_.stride();
    }

    /// Adds places. Throws std::bad_alloc.
    void grow() {
        if (blocks_.size() == blocks_.capacity()) {
            blocks_.reserve(2 * blocks_.size() + 1);
        }
        blocks_.push_back(
            static_cast<std::byte*>(::operator new(block_size() * type_.stride(), alignment())));
    }
    /// The places that the next grow() adds.
    std::size_t block_size() const noexcept { // a constant, unless the type is known at run time only
        return std::bit_ceil((std::max<std::size_t>)(65536 / type_.stride(), 1));
    }

    std::size_t bytes() const noexcept { return size() * type_.stride(); }

private:
    std::align_val_t alignment() const noexcept { return std::align_val_t{type_.alignment()}; }

    [[no_unique_address]] object_type<T> type_;
    std::vector<std::byte*> blocks_;
};

} // namespace handlepool::detail
