// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace handlepool::detail {

/// What has a hash of its own in that of a world.
class HANDLEPOOL_EXPORT hashed_part {
public:
    explicit hashed_part(std::string name) : name_(std::move(name)) {}
    virtual ~hashed_part();
    hashed_part(const hashed_part&) = delete;
    hashed_part& operator=(const hashed_part&) = delete;

    const std::string& name() const noexcept { return name_; }
    std::uint64_t value() const noexcept { return value_; }

    /// Brings the hash up to date. Throws std::bad_alloc, and what functions of the program throw; then it is
    /// called again.
    virtual void update() = 0;
    virtual bool is_pool() const noexcept { return false; }
    /// The hashes of a pool's objects by position, 0 where there is none.
    virtual std::span<const std::uint64_t> objects() const noexcept { return {}; }

protected:
    std::uint64_t value_ = 0;

private:
    std::string name_;
};

} // namespace handlepool::detail
