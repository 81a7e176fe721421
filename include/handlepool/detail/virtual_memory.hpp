#pragma once

#include <handlepool/detail/config.hpp>

#include <cstddef>
#include <string_view>
#include <utility>

namespace handlepool::detail {

/// A reserved range of address space, readable and writable, zero at first. Memory is taken from the system
/// page by page as it is touched. Move-only.
class HANDLEPOOL_EXPORT virtual_memory {
public:
    virtual_memory() noexcept = default;

    /// Reserves room for `count` elements of `element_size` bytes, aligned to `alignment` (a power of two, of
    /// any size). The system is asked to use huge pages for what the `expected` elements fill of them. Throws
    /// reservation_failed with `what_for`, the size and the system's reason.
    virtual_memory(std::string_view what_for, std::size_t count, std::size_t element_size,
                   std::size_t alignment, std::size_t expected);
    ~virtual_memory();

    virtual_memory(virtual_memory&& other) noexcept
        : mapping_(std::exchange(other.mapping_, nullptr)),
          mapping_size_(std::exchange(other.mapping_size_, 0)),
          data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)) {}
    virtual_memory& operator=(virtual_memory&& other) noexcept {
        std::swap(mapping_, other.mapping_);
        std::swap(mapping_size_, other.mapping_size_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }

    void* data() noexcept { return data_; }
    const void* data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }

    /// Makes the bytes from `first` to before `last` zero again, and gives whole pages of them back to the
    /// system; where it doesn't take them, they only become zero.
    void discard(std::size_t first, std::size_t last) noexcept;

    /// Gives whole pages of these bytes back to the system, where it takes them: these are zero then, and the
    /// other bytes as they were. Writes nothing itself.
    void release(std::size_t first, std::size_t last) noexcept;

    /// Bytes that are backed by memory now; 0 where the system refuses to say.
    std::size_t resident() const noexcept;

private:
    struct range {
        std::size_t first;
        std::size_t last;
    };
    range whole_pages(std::size_t first, std::size_t last) const noexcept;
    bool give_back(range pages) noexcept;

    void* mapping_ = nullptr;
    std::size_t mapping_size_ = 0;
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace handlepool::detail
