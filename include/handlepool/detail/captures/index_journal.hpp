// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool::detail {

/// The indices that a freelist had waiting at several moments, one sequence of which each moment has the last
/// part as it was then: what has come since is added, and what has gone is passed over.
///
/// ```
///   first moment      3 7 8                    end 3, 3 of them
///   second moment     3 7 8 2 5                end 5, 3 of them: 3 and 7 were claimed
///   third moment      3 7 8 2 5 4 1            end 7, 1 of them: all before were claimed, and so was 4
/// ```
class index_journal {
public:
    std::uint64_t end() const noexcept { return begin_ + indices_.size(); }
    std::uint32_t operator[](std::uint64_t place) const noexcept { return indices_[place - begin_]; }

    /// Throws std::bad_alloc.
    void add(std::uint32_t index) { indices_.push_back(index); }
    /// Forgets what is from this place on.
    void truncate(std::uint64_t end) noexcept { indices_.resize(end - begin_); }
    /// Nobody asks for what is before this place any more.
    void forget_before(std::uint64_t place) noexcept {
        const std::size_t passed = place - begin_;
        if (passed > indices_.size() / 2) { // then it pays to move the others
            indices_.erase(indices_.begin(), indices_.begin() + static_cast<std::ptrdiff_t>(passed));
            begin_ = place;
        }
    }

    std::size_t bytes() const noexcept { return indices_.capacity() * sizeof(std::uint32_t); }

private:
    std::vector<std::uint32_t> indices_;
    std::uint64_t begin_ = 0;
};

} // namespace handlepool::detail
