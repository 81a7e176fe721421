// SPDX-License-Identifier: MIT
#pragma once

#include "types_of_program.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::journal_tool {

// The types of parts that have no layout of names, as the options --program and --type say them.
class named_types {
public:
    // `types` are texts as "ships=game::ship", or "parts/title=game::title" for a column. Throws
    // type_unknown, here and below.
    named_types(const std::string& program, const std::vector<std::string>& types);

    // Throws unless each of the parts is in one of the snapshots. Throws invalid_snapshot, too.
    void require_parts(std::span<const std::byte> first, std::string_view first_name,
                       std::span<const std::byte> second, std::string_view second_name) const;
    // Those of a type that has this size; nothing for a part of which nobody said the type.
    std::vector<named_member> members_of(std::string_view part, std::string_view column,
                                         std::size_t size) const;

private:
    struct named_type {
        std::string name;
        type_of_program is;
    };

    std::string program_;
    std::map<std::string, named_type, std::less<>> by_place_; // "ships", "parts/title"
};

} // namespace handlepool::journal_tool
