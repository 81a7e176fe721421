// SPDX-License-Identifier: MIT
#include "debug_information.hpp"

#include <handlepool/detail/text/text.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace handlepool::journal_tool {

namespace {

using detail::printable;

constexpr std::size_t most_told = 5; // types that are like one that there is not

// Compilers write "vec<float, 3>" and "vec<float,3>", and people, too.
bool is_same_but_spaces(std::string_view one, std::string_view other) {
    while (true) {
        one.remove_prefix((std::min)(one.find_first_not_of(' '), one.size()));
        other.remove_prefix((std::min)(other.find_first_not_of(' '), other.size()));
        if (one.empty() || other.empty() || one.front() != other.front()) {
            return one.empty() && other.empty();
        }
        one.remove_prefix(1);
        other.remove_prefix(1);
    }
}

// "box" of "game::box<game::ship>".
std::string_view bare_name(std::string_view name) {
    name = name.substr(0, name.find('<'));
    const std::size_t colon = name.rfind(':');
    return colon == name.npos ? name : name.substr(colon + 1);
}

} // namespace

// ---- The file

program_file::program_file(const std::string& path) : number_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    constexpr std::string_view magic = "\177ELF";
    std::array<char, magic.size()> begin{};
    const ssize_t read = number_ < 0 ? -1 : pread(number_, begin.data(), begin.size(), 0);
    const int error = errno;
    if (read == static_cast<ssize_t>(begin.size()) && std::ranges::equal(begin, magic)) {
        return;
    }
    if (number_ >= 0) {
        close(number_);
    }
    if (read < 0) {
        throw type_unknown(fmt::format("program '{}' can't be read: {}", printable(path),
                                       std::system_category().message(error)));
    }
    throw type_unknown(fmt::format("'{}' is no program: it is not an ELF file", printable(path)));
}

// ---- Entries

debug_information::debug_information(const std::string& program)
    : program_(printable(program)), file_(program), all_(nullptr, dw_.end) {
    constexpr int only_read = 0;
    all_.reset(dw_.begin(file_.number(), only_read));
    if (all_ == nullptr) {
        throw type_unknown(
            fmt::format("program '{}' has no debug information that can be read: it must be compiled with "
                        "-g, and not be stripped; or --program names the file that has what was "
                        "stripped off",
                        program_));
    }
}

template <class Visit>
bool debug_information::any_unit(Visit visit) {
    Dwarf_CU* unit = nullptr;
    Dwarf_Die top{};
    Dwarf_Die other{}; // where a part of the unit is in a file of its own, the top there
    std::uint8_t kind = 0;
    while (dw_.next_unit(all_.get(), unit, &unit, nullptr, &kind, &top, &other) == 0) {
        if (visit(kind == unit_of_split && other.address != nullptr ? other : top)) {
            return true;
        }
    }
    return false;
}

template <class Visit>
bool debug_information::any_type(Dwarf_Die parent, const std::string& scope, int depth, const Visit& visit) {
    return depth != most_nested && any_child(parent, [&](Dwarf_Die child) {
               const int tag = tag_of(child);
               const bool is_type = is_structure(tag) || tag == tag_typedef || tag == tag_enumeration;
               if (!is_type && tag != tag_namespace) {
                   return false;
               }
               const std::string_view name = has(child, at_specification) ? "" : name_in(child);
               std::string full_name(name);
               if (!scope.empty() && !name.empty()) {
                   full_name = fmt::format("{}::{}", scope, name);
               }
               if (is_type) {
                   return visit(child, full_name) || (is_structure(tag) && !name.empty() &&
                                                      any_type(child, full_name, depth + 1, visit));
               }
               // A namespace without a name is passed through.
               return any_type(child, name.empty() ? scope : full_name, depth + 1, visit);
           });
}

std::optional<Dwarf_Die> debug_information::find_type(std::string_view name) {
    std::optional<Dwarf_Die> found;
    any_unit([&](Dwarf_Die unit) {
        const void* declaration = nullptr;
        return any_type(unit, "", 0, [&](Dwarf_Die type, const std::string& full_name) {
            const bool has_name = !full_name.empty() && is_same_but_spaces(full_name, name);
            if (has_name && has(type, at_declaration)) {
                declaration = type.address;
                return false;
            }
            // What is defined elsewhere than where it was declared has its full name there.
            const auto specified = declaration != nullptr ? entry_in(type, at_specification) : std::nullopt;
            if (has_name || (specified && specified->address == declaration)) {
                found = type;
            }
            return found.has_value();
        });
    });
    return found;
}

std::set<std::string> debug_information::types_like(std::string_view name) {
    std::set<std::string> found;
    any_unit([&](Dwarf_Die unit) {
        return any_type(unit, "", 0, [&](Dwarf_Die type, const std::string& full_name) {
            if (bare_name(full_name) == bare_name(name) && !has(type, at_declaration)) {
                found.insert(full_name);
            }
            return found.size() == most_told;
        });
    });
    return found;
}

std::optional<Dwarf_Die> debug_information::defined(std::optional<Dwarf_Die> type) {
    for (int i = 0; type && i != most_nested; ++i) {
        if (is_one_of(tag_of(*type), {tag_typedef, tag_const, tag_volatile, tag_restrict, tag_atomic})) {
            type = entry_in(*type, at_type);
        } else if (has(*type, at_signature)) { // it is in a unit of its own
            type = entry_in(*type, at_signature);
        } else if (has(*type, at_declaration)) {
            type = find_declared(*type);
        } else {
            return type;
        }
    }
    return std::nullopt;
}

std::optional<Dwarf_Die> debug_information::find_declared(Dwarf_Die declaration) {
    const auto known = declared_.find(declaration.address);
    if (known != declared_.end()) {
        return known->second;
    }
    std::string name;
    Dwarf_Die unit{};
    if (dw_.unit_of(&declaration, &unit, nullptr, nullptr) != nullptr) {
        any_type(unit, "", 0, [&](Dwarf_Die type, const std::string& full_name) {
            if (type.address == declaration.address) {
                name = full_name;
            }
            return type.address == declaration.address;
        });
    }
    const auto found = name.empty() ? std::nullopt : find_type(name);
    declared_.emplace(declaration.address, found);
    return found;
}

} // namespace handlepool::journal_tool
