#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace handlepool {

/// A text as JSON has it, in quotes. Names are any bytes; what is not UTF-8 in them is replaced.
inline std::string json_string(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace handlepool
