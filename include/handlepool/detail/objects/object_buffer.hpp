// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/objects/object_type.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace handlepool::detail {

/// Objects outside of a pool, one after the other. T is void when their type is known at run time, and names
/// the columns when they are rows, whose elements then lie as in a structure.
template <class T>
class object_buffer {
public:
    /// Without memory.
    explicit object_buffer(const object_type<T>& type) noexcept : type_(type) {}
    ~object_buffer() {
        clear();
        release();
    }

    object_buffer(const object_buffer&) = delete;
    object_buffer& operator=(const object_buffer&) = delete;

    std::size_t size() const noexcept { return size_; }
    void* at(std::size_t i) const noexcept { return memory_ + i * type_.stride(); }

    /// Room for so many objects. Throws std::bad_alloc; then it has the room that it had.
    void reserve(std::size_t count) {
        if (count > capacity_) {
            auto* const memory = static_cast<std::byte*>(
                ::operator new(count * type_.stride(), std::align_val_t{type_.alignment()}));
            for (std::size_t i = 0; i != size_; ++i) {
                type_.relocate(memory + i * type_.stride(), at(i));
            }
            release();
            memory_ = memory;
            capacity_ = count;
        }
    }
    /// Adds a copy of an object. Throws std::bad_alloc, and what copying throws; then nothing is added.
    void add_copy(const void* object) {
        if (size_ == capacity_) {
            reserve(2 * capacity_ + 1);
        }
        type_.copy(next(), object);
        add();
    }
    /// Raw memory for the next object, which add() counts when it is made. There must be room.
    void* next() const noexcept { return at(size_); }
    void add() noexcept { ++size_; }

    /// Destroys the objects; or forgets them, which have moved away.
    void clear() noexcept {
        if (type_.has_destructor()) {
            for (std::size_t i = 0; i != size_; ++i) {
                type_.destroy(at(i));
            }
        }
        forget();
    }
    void forget() noexcept { size_ = 0; }

    /// Exchanges the objects, and the memory, with another buffer of the same type.
    void swap(object_buffer& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(capacity_, other.capacity_);
        std::swap(size_, other.size_);
    }

    std::size_t bytes() const noexcept { return capacity_ * type_.stride(); }

private:
    void release() noexcept { ::operator delete(memory_, std::align_val_t{type_.alignment()}); }

    [[no_unique_address]] object_type<T> type_;
    std::byte* memory_ = nullptr;
    std::size_t capacity_ = 0;
    std::size_t size_ = 0;
};

} // namespace handlepool::detail
