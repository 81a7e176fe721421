// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace handlepool::detail {

/// Numbers in memory of their own, or such as lie in somebody's bytes, who keeps these until own() or
/// refer_to() is called again: a list of a million is read as fast as it can be looked at.
class number_list {
public:
    using value_type = std::uint32_t;
    using const_iterator = std::span<const std::uint32_t>::iterator;
    using iterator = const_iterator;

    number_list() = default;
    number_list(std::initializer_list<std::uint32_t> numbers) : own_(numbers) {}

    std::span<const std::uint32_t> all() const noexcept { return is_own_ ? std::span(own_) : elsewhere_; }
    std::size_t size() const noexcept { return all().size(); }
    bool empty() const noexcept { return all().empty(); }
    std::uint32_t operator[](std::size_t i) const noexcept { return all()[i]; }
    const_iterator begin() const noexcept { return all().begin(); }
    const_iterator end() const noexcept { return all().end(); }

    /// Those in its own memory, which are the list from now on: what they are is up to the caller.
    std::vector<std::uint32_t>& own() noexcept {
        is_own_ = true;
        return own_;
    }
    /// The list is these; its own memory stays for later.
    void refer_to(std::span<const std::uint32_t> numbers) noexcept {
        is_own_ = false;
        elsewhere_ = numbers;
    }

    friend bool operator==(const number_list& one, const number_list& other) noexcept {
        return std::ranges::equal(one, other);
    }

private:
    std::vector<std::uint32_t> own_;
    std::span<const std::uint32_t> elsewhere_;
    bool is_own_ = true;
};

} // namespace handlepool::detail
