// SPDX-License-Identifier: MIT
#include "named_types.hpp"

#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/text/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace handlepool::journal_tool {

namespace {

using detail::printable;

// "ships" and "parts/title" are in the part of that name, and the latter in a column of "parts", too.
bool is_in(std::string_view place, std::string_view part) {
    return place.starts_with(part) && (place.size() == part.size() || place[part.size()] == '/');
}

} // namespace

named_types::named_types(const std::string& program, const std::vector<std::string>& types)
    : program_(printable(program)) {
    std::vector<std::string> places;
    std::vector<std::string> names;
    for (const std::string& each : types) {
        const std::size_t equals = each.rfind('='); // the name of a part may have some
        if (equals == each.npos || equals == 0 || equals + 1 == each.size()) {
            throw type_unknown(fmt::format("--type '{}' must be PART=TYPE, as ships=game::ship, or "
                                           "PART/COLUMN=TYPE for a column of rows",
                                           printable(each)));
        }
        places.push_back(each.substr(0, equals));
        names.push_back(each.substr(equals + 1));
        if (std::ranges::count(places, places.back()) != 1) {
            throw type_unknown(fmt::format("--type says twice what '{}' is", printable(places.back())));
        }
    }
    if (types.empty()) {
        return;
    }
    std::vector<type_of_program> found = types_of_program(program, names);
    for (std::size_t i = 0; i != places.size(); ++i) {
        by_place_.emplace(places[i], named_type{.name = names[i], .is = std::move(found[i])});
    }
}

void named_types::require_parts(std::span<const std::byte> first, std::string_view first_name,
                                std::span<const std::byte> second, std::string_view second_name) const {
    if (by_place_.empty()) {
        return;
    }
    std::vector<std::string> parts;
    for (const auto& [bytes, name] : {std::pair(first, first_name), std::pair(second, second_name)}) {
        const detail::snapshot_blocks blocks(bytes, name);
        for (const detail::snapshot_block& each : blocks.all()) {
            if (std::ranges::find(parts, each.name) == parts.end()) {
                parts.emplace_back(each.name);
            }
        }
    }
    for (const auto& [place, type] : by_place_) {
        if (std::ranges::none_of(parts, [&](const std::string& part) { return is_in(place, part); })) {
            std::string all;
            for (const std::string& each : parts) {
                all += fmt::format("{}'{}'", all.empty() ? "" : ", ", printable(each));
            }
            throw type_unknown(fmt::format("--type names '{}', and there is no such part; there are {}",
                                           printable(place), all.empty() ? "none" : all));
        }
    }
}

std::vector<named_member> named_types::members_of(std::string_view part, std::string_view column,
                                                  std::size_t size) const {
    const auto found =
        by_place_.find(column.empty() ? std::string(part) : fmt::format("{}/{}", part, column));
    if (found == by_place_.end()) {
        return {};
    }
    const named_type& type = found->second;
    if (type.is.size != size) {
        throw type_unknown(fmt::format("'{}' has {} bytes, and type '{}' of program '{}' has {}: it is "
                                       "another type, or the program another version",
                                       printable(found->first), size, printable(type.name), program_,
                                       type.is.size));
    }
    return type.is.members;
}

} // namespace handlepool::journal_tool
