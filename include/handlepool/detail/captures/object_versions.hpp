// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/objects/object_blocks.hpp>
#include <handlepool/detail/objects/object_type.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool::detail {

/// Copies of objects, each under a number until that is given back. What is given back stays an object, to
/// which the next one is assigned: memory that objects own is used again. T is void when the objects' type is
/// known at run time, and names the columns when they are rows.
template <class T>
class object_versions {
public:
    static constexpr std::uint32_t none = 0;

    explicit object_versions(const object_type<T>& type) noexcept : memory_(type) {}
    ~object_versions() {
        if (memory_.type().has_destructor()) {
            for (std::uint32_t i = 1; i <= made_; ++i) {
                memory_.type().destroy(memory_[i]);
            }
        }
    }

    object_versions(const object_versions&) = delete;
    object_versions& operator=(const object_versions&) = delete;

    const void* at(std::uint32_t version) const noexcept { return memory_[version]; }

    /// Returns the number of a copy of the object at a location. Throws std::bad_alloc, and what copying
    /// throws; then nothing has changed.
    template <class Objects>
    std::uint32_t keep(const Objects& objects, location where) {
        if (!given_back_.empty()) {
            const std::uint32_t version = given_back_.back();
            objects.assign_out(where, memory_[version], memory_[none]);
            given_back_.pop_back();
            return version;
        }
        while (made_ + std::size_t{1} >= memory_.size()) {
            add_block();
        }
        objects.copy_out(where, memory_[made_ + 1]);
        ++made_;
        return made_;
    }
    void give_back(std::uint32_t version) noexcept { given_back_.push_back(version); }

    void prefetch(std::uint32_t version) const noexcept {
        prefetch_to_read(reinterpret_cast<std::uintptr_t>(memory_[version]));
    }
    /// Prefetches where the copy will be that is kept so many copies later.
    void prefetch_next(std::size_t later) const noexcept {
        if (later < given_back_.size()) {
            prefetch_to_write(
                reinterpret_cast<std::uintptr_t>(memory_[given_back_[given_back_.size() - 1 - later]]));
        }
    }

    /// Bytes of all copies, given back or not.
    std::size_t bytes() const noexcept {
        return memory_.bytes() + given_back_.capacity() * sizeof(std::uint32_t);
    }

private:
    void add_block() {
        if (const std::size_t needed = memory_.size() + memory_.block_size();
            needed > given_back_.capacity()) {
            given_back_.reserve(
                (std::max)(needed, 2 * given_back_.capacity())); // give_back() needs no memory
        }
        memory_.grow();
    }

    object_blocks<T> memory_; // by version; that of `none` is spare
    std::vector<std::uint32_t> given_back_;
    std::uint32_t made_ = 0;
};

} // namespace handlepool::detail
