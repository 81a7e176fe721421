// SPDX-License-Identifier: MIT
#pragma once

#include "dwarf.hpp"

#include <unistd.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace handlepool::journal_tool {

/// Whoever made the file may have made it so that it has no end.
inline constexpr int most_nested = 64;

/// The file of a program, which is closed at the end.
class program_file {
public:
    /// Throws type_unknown.
    explicit program_file(const std::string& path);
    ~program_file() { close(number_); }
    program_file(const program_file&) = delete;
    program_file& operator=(const program_file&) = delete;

    int number() const { return number_; }

private:
    int number_;
};

/// The debug information of a program: entries, which have a tag, attributes and children.
class debug_information {
public:
    /// Throws type_unknown.
    explicit debug_information(const std::string& program);

    const std::string& program() const { return program_; }

    int tag_of(Dwarf_Die entry) { return dw_.tag_of(&entry); }
    bool has(Dwarf_Die entry, unsigned attribute) {
        Dwarf_Attribute found{};
        return dw_.attribute_of(&entry, attribute, &found) != nullptr;
    }
    /// Empty where there is none.
    std::string_view name_in(Dwarf_Die entry) {
        Dwarf_Attribute found{};
        const char* const name =
            dw_.attribute_of(&entry, at_name, &found) != nullptr ? dw_.string_of(&found) : nullptr;
        return name != nullptr ? name : "";
    }
    std::optional<std::uint64_t> number_in(Dwarf_Die entry, unsigned attribute) {
        Dwarf_Attribute found{};
        std::uint64_t number = 0;
        return dw_.attribute_of(&entry, attribute, &found) != nullptr && dw_.number_of(&found, &number) == 0
                   ? std::optional(number)
                   : std::nullopt;
    }
    /// The entry that an attribute names.
    std::optional<Dwarf_Die> entry_in(Dwarf_Die entry, unsigned attribute) {
        Dwarf_Attribute found{};
        Dwarf_Die target{};
        return dw_.attribute_of(&entry, attribute, &found) != nullptr &&
                       dw_.target_of(&found, &target) != nullptr
                   ? std::optional(target)
                   : std::nullopt;
    }
    std::uint64_t address_size(Dwarf_Die entry) {
        Dwarf_Die top{};
        std::uint8_t size = 0;
        return dw_.unit_of(&entry, &top, &size, nullptr) != nullptr ? size : 0;
    }

    /// Calls `visit(child)` for one after the other, until it returns true. Returns whether one did.
    template <class Visit>
    bool any_child(Dwarf_Die parent, Visit visit) {
        Dwarf_Die child{};
        bool is_left = dw_.child_of(&parent, &child) == 0;
        while (is_left) {
            if (visit(child)) {
                return true;
            }
            const void* const before = child.address;
            is_left = dw_.sibling_of(&child, &child) == 0 && std::less<>()(before, child.address);
        }
        return false;
    }

    /// The definition of a type, by its full name.
    std::optional<Dwarf_Die> find_type(std::string_view name);

    /// The names of some types that are the same but for namespaces and the arguments of templates.
    std::set<std::string> types_like(std::string_view name);

    /// What a type is called otherwise, or is a variant of, until it is one that is defined; nothing if it is
    /// none, or defined nowhere.
    std::optional<Dwarf_Die> defined(std::optional<Dwarf_Die> type);

private:
    template <class Visit>
    bool any_unit(Visit visit);

    // Calls `visit(type, full_name)` for the types in a unit, a namespace or a type, until it returns true.
    // Returns whether it did. A name is empty where the type has none of its own.
    template <class Visit>
    bool any_type(Dwarf_Die parent, const std::string& scope, int depth, const Visit& visit);

    // The definition of a type that is only declared there.
    std::optional<Dwarf_Die> find_declared(Dwarf_Die declaration);

    std::string program_;
    program_file file_;
    libdw dw_;
    std::unique_ptr<Dwarf, int (*)(Dwarf*)> all_;
    std::map<const void*, std::optional<Dwarf_Die>> declared_; // that were searched for
};

} // namespace handlepool::journal_tool
