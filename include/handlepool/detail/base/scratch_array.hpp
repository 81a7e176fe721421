// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

namespace handlepool::detail {

/// Working memory whose values are written before they are read: unlike std::vector it doesn't fill it.
template <class Value>
class scratch_array {
    static_assert(std::is_trivially_copyable_v<Value> && std::is_trivially_destructible_v<Value>);
    static_assert(alignof(Value) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

public:
    /// Throws std::bad_alloc. Without values it takes no memory.
    explicit scratch_array(std::size_t size) : values_(allocate(size)), size_(size) {}
    ~scratch_array() { ::operator delete(values_); }

    scratch_array(scratch_array&& other) noexcept
        : values_(std::exchange(other.values_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    scratch_array& operator=(scratch_array&& other) noexcept {
        std::swap(values_, other.values_);
        std::swap(size_, other.size_);
        return *this;
    }

    std::size_t size() const noexcept { return size_; }
    Value* data() noexcept { return values_; }
    const Value& operator[](std::size_t i) const noexcept { return values_[i]; }
    Value& operator[](std::size_t i) noexcept { return values_[i]; }

private:
    static Value* allocate(std::size_t size) {
        // Saturates instead of overflowing: then there is no such memory.
        constexpr std::size_t most = (std::numeric_limits<std::size_t>::max)();
        return size == 0 ? nullptr
                         : static_cast<Value*>(
                               ::operator new(size > most / sizeof(Value) ? most : size * sizeof(Value)));
    }

    Value* values_;
    std::size_t size_;
};

} // namespace handlepool::detail
