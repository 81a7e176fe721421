// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/hashes/hashed_part.hpp>
#include <handlepool/detail/hashes/object_hash.hpp>

#include <string>
#include <utility>

namespace handlepool::detail {

/// A value of the program.
template <class Value, class Members>
class hashed_value final : public hashed_part {
public:
    hashed_value(std::string name, const Value& value, Members members)
        : hashed_part(std::move(name)), of_(value), members_(std::move(members)) {}

    void update() override { value_ = hash_of(of_, members_); }

private:
    const Value& of_;
    [[no_unique_address]] Members members_;
};

} // namespace handlepool::detail
