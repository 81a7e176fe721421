// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace handlepool::detail {

/// What a server answers.
struct redis_reply {
    enum class kind { none, text, number, list, error };

    kind type = kind::none;
    std::string text{}; // of an error, too
    long long number = 0;
    std::vector<redis_reply> list{};
};

} // namespace handlepool::detail
