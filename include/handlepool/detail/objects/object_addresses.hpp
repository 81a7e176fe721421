// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/objects/row_address.hpp>
#include <handlepool/fwd.hpp>

#include <cstddef>
#include <new>

namespace handlepool::detail {

/// Where the objects of an array are, by location: its address, which never changes, so that a copy serves as
/// long as the array lives, and stays in the registers of a loop. T is void when the objects' type is known
/// at run time, and names the columns of rows.
template <class T>
class object_addresses {
public:
    object_addresses(std::byte* first, std::size_t /*stride*/) noexcept : first_(first) {}

    T* at(location where) const noexcept {
        return std::launder(static_cast<T*>(static_cast<void*>(first_ + raw(where) * sizeof(T))));
    }
    HANDLEPOOL_ALWAYS_INLINE void prefetch_to_read(location where) const noexcept {
        prefetch_object_to_read(first_, raw(where), sizeof(T));
    }

private:
    std::byte* first_;
};

template <>
class object_addresses<void> {
public:
    object_addresses(std::byte* first, std::size_t stride) noexcept : first_(first), stride_(stride) {}

    void* at(location where) const noexcept { return first_ + raw(where) * stride_; }
    HANDLEPOOL_ALWAYS_INLINE void prefetch_to_read(location where) const noexcept {
        prefetch_object_to_read(first_, raw(where), stride_);
    }

private:
    std::byte* first_;
    std::size_t stride_;
};

template <class... Cs>
class object_addresses<columns<Cs...>> {
public:
    explicit object_addresses(std::byte* const* starts) noexcept : starts_(starts) {}

    row_pointer<Cs...> at(location where) const noexcept {
        return row_pointer<Cs...>(row_address{starts_, raw(where)});
    }
    HANDLEPOOL_ALWAYS_INLINE void prefetch_to_read(location where) const noexcept {
        std::size_t column = 0;
        (prefetch_object_to_read(starts_[column++], raw(where), sizeof(Cs)), ...);
    }

private:
    std::byte* const* starts_; // of the columns, in their order
};

} // namespace handlepool::detail
