// SPDX-License-Identifier: MIT
#pragma once

#include "../types_of_program.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <src/core/posix/libdw.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>

/// What is used of elfutils' libdw, which is loaded when somebody asks: the tool is built without it. Its
/// binary interface has versions of its own and keeps them. And names of the DWARF standard.
namespace handlepool::journal_tool {

using detail::Dwarf_Attribute;
using detail::Dwarf_Die;
struct Dwarf;
struct Dwarf_CU;

/// Throws type_unknown where it is not installed.
class libdw {
public:
    libdw() : library_(detail::libdw::open()) {
        if (library_ == nullptr) {
            throw type_unknown(
                "--program needs elfutils' libdw, which can't be loaded: install libdw1 (Debian) "
                "or elfutils-libs (Fedora)");
        }
        load(begin, "dwarf_begin");
        load(end, "dwarf_end");
        load(next_unit, "dwarf_get_units");
        load(unit_of, "dwarf_diecu");
        load(child_of, "dwarf_child");
        load(sibling_of, "dwarf_siblingof");
        load(tag_of, "dwarf_tag");
        load(attribute_of, "dwarf_attr");
        load(target_of, "dwarf_formref_die");
        load(string_of, "dwarf_formstring");
        load(number_of, "dwarf_formudata");
    }

    Dwarf* (*begin)(int file, int command) = nullptr;
    int (*end)(Dwarf*) = nullptr;
    int (*next_unit)(Dwarf*, Dwarf_CU* last, Dwarf_CU** next, std::uint16_t* version, std::uint8_t* kind,
                     Dwarf_Die* top, Dwarf_Die* other) = nullptr;
    Dwarf_Die* (*unit_of)(Dwarf_Die*, Dwarf_Die* top, std::uint8_t* address_size,
                          std::uint8_t* offset_size) = nullptr;
    int (*child_of)(Dwarf_Die*, Dwarf_Die* child) = nullptr;
    int (*sibling_of)(Dwarf_Die*, Dwarf_Die* sibling) = nullptr;
    int (*tag_of)(Dwarf_Die*) = nullptr;
    Dwarf_Attribute* (*attribute_of)(Dwarf_Die*, unsigned code, Dwarf_Attribute*) = nullptr;
    Dwarf_Die* (*target_of)(Dwarf_Attribute*, Dwarf_Die*) = nullptr;
    const char* (*string_of)(Dwarf_Attribute*) = nullptr;
    int (*number_of)(Dwarf_Attribute*, std::uint64_t*) = nullptr;

private:
    template <class Function>
    void load(Function& function, const char* name) {
        void* const found = dlsym(library_, name);
        if (found == nullptr) {
            throw type_unknown(
                fmt::format("--program needs a libdw of elfutils 0.171 or later: that which is "
                            "installed has no {}",
                            name));
        }
        function = reinterpret_cast<Function>(found);
    }

    void* library_;
};

// Names of the standard.
constexpr int tag_array = 0x01;
constexpr int tag_class = 0x02;
constexpr int tag_enumeration = 0x04;
constexpr int tag_member = 0x0d;
constexpr int tag_pointer = 0x0f;
constexpr int tag_reference = 0x10;
constexpr int tag_structure = 0x13;
constexpr int tag_subroutine_type = 0x15;
constexpr int tag_typedef = 0x16;
constexpr int tag_union = 0x17;
constexpr int tag_inheritance = 0x1c;
constexpr int tag_member_pointer = 0x1f;
constexpr int tag_subrange = 0x21;
constexpr int tag_base_type = 0x24;
constexpr int tag_const = 0x26;
constexpr int tag_enumerator = 0x28;
constexpr int tag_volatile = 0x35;
constexpr int tag_restrict = 0x37;
constexpr int tag_namespace = 0x39;
constexpr int tag_unspecified = 0x3b;
constexpr int tag_rvalue_reference = 0x42;
constexpr int tag_atomic = 0x47;

constexpr unsigned at_name = 0x03;
constexpr unsigned at_byte_size = 0x0b;
constexpr unsigned at_bit_offset = 0x0c;
constexpr unsigned at_bit_size = 0x0d;
constexpr unsigned at_const_value = 0x1c;
constexpr unsigned at_upper_bound = 0x2f;
constexpr unsigned at_count = 0x37;
constexpr unsigned at_member_place = 0x38;
constexpr unsigned at_declaration = 0x3c;
constexpr unsigned at_encoding = 0x3e;
constexpr unsigned at_external = 0x3f;
constexpr unsigned at_specification = 0x47;
constexpr unsigned at_type = 0x49;
constexpr unsigned at_signature = 0x69;
constexpr unsigned at_data_bit_offset = 0x6b;

constexpr std::uint8_t unit_of_split = 0x04;

inline bool is_one_of(int tag, std::initializer_list<int> tags) {
    return std::ranges::find(tags, tag) != tags.end();
}
inline bool is_structure(int tag) {
    return is_one_of(tag, {tag_structure, tag_class, tag_union});
}

} // namespace handlepool::journal_tool
