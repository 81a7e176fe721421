#pragma once

#include <cstddef>
#include <type_traits>

namespace handlepool::detail {

/// Working memory whose values are written before they are read: unlike std::vector it doesn't fill it.
template <class Value>
class scratch_array {
    static_assert(std::is_trivially_default_constructible_v<Value>);

public:
    /// Throws std::bad_alloc.
    explicit scratch_array(std::size_t size) : values_(new Value[size]), size_(size) {}
    ~scratch_array() { delete[] values_; }

    scratch_array(const scratch_array&) = delete;
    scratch_array& operator=(const scratch_array&) = delete;

    std::size_t size() const noexcept { return size_; }
    Value* data() noexcept { return values_; }
    Value operator[](std::size_t i) const noexcept { return values_[i]; }

private:
    Value* values_;
    std::size_t size_;
};

} // namespace handlepool::detail
