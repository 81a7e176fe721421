// SPDX-License-Identifier: MIT
#include "../types_of_program.hpp"

#include <handlepool/detail/text/text.hpp>

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace handlepool::journal_tool {

namespace {

using detail::printable;

// What is used of elfutils' libdw, which is loaded when somebody asks: the tool is built without it. Its
// binary interface has versions of its own and keeps them.
struct Dwarf;
struct Dwarf_CU;
struct Dwarf_Die {
    void* address;
    Dwarf_CU* unit;
    void* abbreviation;
    long padding;
};
struct Dwarf_Attribute {
    unsigned code;
    unsigned form;
    unsigned char* value;
    Dwarf_CU* unit;
};

class libdw {
public:
    libdw() {
        // A program that was linked statically has no loader, and what is loaded all the same does not work.
        library_ = getauxval(AT_BASE) != 0 ? dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL) : nullptr;
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

// Whoever made the file may have made it so that it has no end.
constexpr int most_nested = 64;
constexpr std::size_t most_members = 65'536;
constexpr std::uint64_t most_elements = 4'096; // an array of more is told as bytes
constexpr std::size_t most_told = 5;           // types that are like one that there is not
constexpr std::size_t most_steps = 1'000'000;  // for the members of one type

bool is_one_of(int tag, std::initializer_list<int> tags) {
    return std::ranges::find(tags, tag) != tags.end();
}
bool is_structure(int tag) {
    return is_one_of(tag, {tag_structure, tag_class, tag_union});
}

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

// The file of a program, which is closed at the end.
class program_file {
public:
    explicit program_file(const std::string& path) : number_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
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
    ~program_file() { close(number_); }
    program_file(const program_file&) = delete;
    program_file& operator=(const program_file&) = delete;

    int number() const { return number_; }

private:
    int number_;
};

// The debug information of a program: entries, which have a tag, attributes and children.
class debug_information {
public:
    explicit debug_information(const std::string& program)
        : program_(printable(program)), file_(program), all_(nullptr, dw_.end) {
        constexpr int only_read = 0;
        all_.reset(dw_.begin(file_.number(), only_read));
        if (all_ == nullptr) {
            throw type_unknown(fmt::format(
                "program '{}' has no debug information that can be read: it must be compiled with "
                "-g, and not be stripped; or --program names the file that has what was "
                "stripped off",
                program_));
        }
    }

    const std::string& program() const { return program_; }

    int tag_of(Dwarf_Die entry) { return dw_.tag_of(&entry); }
    bool has(Dwarf_Die entry, unsigned attribute) {
        Dwarf_Attribute found{};
        return dw_.attribute_of(&entry, attribute, &found) != nullptr;
    }
    // Empty where there is none.
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
    // The entry that an attribute names.
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

    // Calls `visit(child)` for one after the other, until it returns true. Returns whether one did.
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

    // The definition of a type, by its full name.
    std::optional<Dwarf_Die> find_type(std::string_view name) {
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
                const auto specified =
                    declaration != nullptr ? entry_in(type, at_specification) : std::nullopt;
                if (has_name || (specified && specified->address == declaration)) {
                    found = type;
                }
                return found.has_value();
            });
        });
        return found;
    }

    // The names of some types that are the same but for namespaces and the arguments of templates.
    std::set<std::string> types_like(std::string_view name) {
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

    // What a type is called otherwise, or is a variant of, until it is one that is defined; nothing if it is
    // none, or defined nowhere.
    std::optional<Dwarf_Die> defined(std::optional<Dwarf_Die> type) {
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

private:
    template <class Visit>
    bool any_unit(Visit visit) {
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

    // Calls `visit(type, full_name)` for the types in a unit, a namespace or a type, until it returns true.
    // Returns whether it did. A name is empty where the type has none of its own.
    template <class Visit>
    bool any_type(Dwarf_Die parent, const std::string& scope, int depth, const Visit& visit) {
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

    // The definition of a type that is only declared there.
    std::optional<Dwarf_Die> find_declared(Dwarf_Die declaration) {
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

    std::string program_;
    program_file file_;
    libdw dw_;
    std::unique_ptr<Dwarf, int (*)(Dwarf*)> all_;
    std::map<const void*, std::optional<Dwarf_Die>> declared_; // that were searched for
};

// Collects the members of a type.
class member_list {
public:
    member_list(debug_information& from, const std::string& type) : from_(from), type_(type) {}

    type_of_program read() {
        const auto type = from_.defined(from_.find_type(type_));
        if (!type) {
            throw type_unknown(fmt::format("the debug information of program '{}' defines no type '{}'; {}",
                                           from_.program(), printable(type_), what_is_like_it()));
        }
        size_ = size_of(*type, "");
        add(*type, "", 0, 0);
        return {.size = size_, .members = std::move(members_)};
    }

private:
    [[noreturn]] void refuse(const std::string& member, std::string_view why) const {
        throw type_unknown(fmt::format("program '{}', type '{}'{}: {}", from_.program(), printable(type_),
                                       member.empty() ? "" : ", member '" + printable(member) + '\'', why));
    }

    std::string what_is_like_it() {
        std::string names;
        for (const std::string& each : from_.types_like(type_)) {
            names += fmt::format("{}'{}'", names.empty() ? "" : ", ", printable(each));
        }
        return names.empty() ? "it is named with its namespaces, as game::ship" : "there is " + names;
    }

    std::uint64_t size_of(Dwarf_Die type, const std::string& member) {
        std::uint64_t count = 1;
        for (int i = 0; i != most_nested; ++i) {
            const int tag = from_.tag_of(type);
            std::optional<std::uint64_t> size = from_.number_in(type, at_byte_size);
            if (is_one_of(tag, {tag_pointer, tag_reference, tag_rvalue_reference}) && !size) {
                size = from_.address_size(type);
            }
            const auto target = from_.defined(from_.entry_in(type, at_type));
            if (tag == tag_member_pointer && !size) { // a pointer to a function has two numbers
                const bool is_function = target && from_.tag_of(*target) == tag_subroutine_type;
                size = from_.address_size(type) * (is_function ? 2 : 1);
            }
            if (tag == tag_array && !size && target) {
                for (const std::uint64_t each : lengths_of(type)) {
                    if (__builtin_mul_overflow(count, each, &count)) {
                        refuse(member, "the debug information says that it is endless");
                    }
                }
                type = *target;
                continue;
            }
            if (!size) {
                break;
            }
            if (__builtin_mul_overflow(count, *size, &count)) {
                refuse(member, "the debug information says that it is endless");
            }
            return count;
        }
        refuse(member, "the debug information does not say how large it is");
    }

    // One for each dimension. An array without bounds, as at the end of a structure, has no elements.
    std::vector<std::uint64_t> lengths_of(Dwarf_Die array) {
        std::vector<std::uint64_t> lengths;
        from_.any_child(array, [&](Dwarf_Die dimension) {
            if (from_.tag_of(dimension) == tag_subrange) {
                const auto count = from_.number_in(dimension, at_count);
                const auto last = from_.number_in(dimension, at_upper_bound);
                lengths.push_back(count ? *count : last ? *last + 1 : 0);
            }
            return false;
        });
        return lengths;
    }

    // Adds what is of a type, at that offset in the whole.
    void add(std::optional<Dwarf_Die> any_type, const std::string& name, std::uint64_t offset, int depth) {
        if (++steps_ == most_steps) {
            refuse({}, "the debug information has members without end");
        }
        const auto type = from_.defined(any_type);
        if (!type) {
            refuse(name, "its type is not defined by the debug information, which clang makes whole with "
                         "-fstandalone-debug");
        }
        const int tag = from_.tag_of(*type);
        if (tag == tag_unspecified) { // std::nullptr_t, whose bytes mean nothing
            return;
        }
        const std::uint64_t size = size_of(*type, name);
        if (offset > size_ || size > size_ - offset) {
            refuse(name, "it reaches beyond the type, by the debug information");
        }
        const bool is_too_much = depth == most_nested || members_.size() >= most_members;
        if (is_one_of(tag, {tag_structure, tag_class}) && !is_too_much) {
            add_structure(*type, size, name, offset, depth);
        } else if (tag == tag_array && !is_too_much && add_array(*type, name, offset, depth)) {
            return;
        } else if (size != 0) {
            named_member member = number_of(*type);
            member.name = name;
            member.offset = static_cast<std::size_t>(offset);
            member.size = static_cast<std::size_t>(size);
            members_.push_back(std::move(member));
        }
    }

    void add_structure(Dwarf_Die type, std::uint64_t size, const std::string& name, std::uint64_t offset,
                       int depth) {
        const std::size_t before = members_.size();
        from_.any_child(type, [&](Dwarf_Die child) {
            const int tag = from_.tag_of(child);
            const bool is_static = from_.has(child, at_declaration) || from_.has(child, at_external);
            if (tag == tag_inheritance || (tag == tag_member && !is_static)) {
                add_member(child, name, offset, depth);
            }
            return false;
        });
        // What has one number of 64 bits is that number, as a handle is.
        if (members_.size() == before + 1 && size == 8) {
            named_member& only = members_.back();
            if (only.size == 8 && only.bits == 0 &&
                (only.kind == member_kind::signed_number || only.kind == member_kind::unsigned_number)) {
                only.name = name;
            }
        }
    }

    void add_member(Dwarf_Die member, const std::string& parent, std::uint64_t offset, int depth) {
        const std::string name = name_of_member(member, parent);
        const auto place = from_.number_in(member, at_member_place);
        if (!place && from_.has(member, at_member_place)) {
            refuse(name, "where a member or a base lies is not said by a number");
        }
        offset += place.value_or(0);
        if (const auto bits = from_.number_in(member, at_bit_size)) {
            add_bit_field(member, name, offset, *bits);
        } else {
            add(from_.entry_in(member, at_type), name, offset, depth + 1);
        }
    }

    std::string name_of_member(Dwarf_Die member, const std::string& parent) {
        std::string_view name = from_.name_in(member);
        if (name.empty()) {
            const auto type = from_.defined(from_.entry_in(member, at_type));
            name = type && from_.tag_of(*type) == tag_union ? "(union)" : "";
        }
        // Members of a base and of a structure without a name are named as those of the type itself, and the
        // elements of a std::array as those of an array.
        const bool is_passed_through = name.empty() || name == "_M_elems" || name == "__elems_";
        return is_passed_through ? parent
               : parent.empty()  ? std::string(name)
                                 : fmt::format("{}.{}", parent, name);
    }

    void add_bit_field(Dwarf_Die field, const std::string& name, std::uint64_t offset, std::uint64_t bits) {
        const auto type = from_.defined(from_.entry_in(field, at_type));
        if (!type) {
            refuse(name, "its type is not defined by the debug information, which clang makes whole with "
                         "-fstandalone-debug");
        }
        std::uint64_t begin = 8 * offset + from_.number_in(field, at_data_bit_offset).value_or(0);
        if (from_.has(field, at_bit_offset)) { // counted from the highest bit, by older compilers
            const auto unit = from_.number_in(field, at_byte_size);
            begin += 8 * (unit ? *unit : size_of(*type, name)) - bits -
                     from_.number_in(field, at_bit_offset).value_or(0);
        }
        const std::uint64_t first_bit = begin % 8;
        if (bits == 0 || bits > 64 || begin / 8 > size_ || (first_bit + bits + 7) / 8 > size_ - begin / 8) {
            refuse(name, "it reaches beyond the type, by the debug information");
        }
        named_member member = number_of(*type);
        member.name = name;
        member.offset = static_cast<std::size_t>(begin / 8);
        member.size = static_cast<std::size_t>((first_bit + bits + 7) / 8);
        member.first_bit = static_cast<unsigned>(first_bit);
        member.bits = static_cast<unsigned>(bits);
        members_.push_back(std::move(member));
    }

    // Returns false for an array that is too long.
    bool add_array(Dwarf_Die array, const std::string& name, std::uint64_t offset, int depth) {
        const auto element = from_.defined(from_.entry_in(array, at_type));
        const std::vector<std::uint64_t> lengths = lengths_of(array);
        std::uint64_t count = 1;
        for (const std::uint64_t each : lengths) {
            if (each > most_elements || (count *= each) > most_elements) {
                return false;
            }
        }
        if (!element) {
            refuse(name, "its type is not defined by the debug information, which clang makes whole with "
                         "-fstandalone-debug");
        }
        const std::uint64_t size = size_of(*element, name);
        for (std::uint64_t i = 0; i != count; ++i) {
            std::string place;
            std::uint64_t left = i;
            for (std::size_t dimension = lengths.size(); dimension != 0; --dimension) {
                place = fmt::format("[{}]{}", left % lengths[dimension - 1], place);
                left /= lengths[dimension - 1];
            }
            add(element, name + place, offset + i * size, depth + 1);
        }
        return true;
    }

    // What is no structure and no array; without its name, place and size.
    named_member number_of(Dwarf_Die type) {
        const int tag = from_.tag_of(type);
        if (tag == tag_enumeration) {
            const auto underlying = from_.defined(from_.entry_in(type, at_type));
            named_member number = underlying ? number_of_base_type(*underlying)
                                             : named_member{.kind = member_kind::unsigned_number};
            number.meaning = meaning_of(type);
            return number;
        }
        if (is_one_of(tag, {tag_pointer, tag_reference, tag_rvalue_reference, tag_member_pointer})) {
            return {.kind = member_kind::address};
        }
        return tag == tag_base_type ? number_of_base_type(type) : named_member{};
    }

    named_member number_of_base_type(Dwarf_Die type) {
        switch (from_.number_in(type, at_encoding).value_or(0)) {
        case 0x02:
            return {.kind = member_kind::boolean};
        case 0x04:
            return {.kind = member_kind::real};
        case 0x05: // signed
        case 0x06: // signed char
            return {.kind = member_kind::signed_number};
        case 0x07: // unsigned
        case 0x08: // unsigned char
        case 0x10: // a character of Unicode
            return {.kind = member_kind::unsigned_number};
        default:
            return {};
        }
    }

    // The names of an enumeration's numbers.
    std::function<std::string(std::uint64_t)> meaning_of(Dwarf_Die enumeration) {
        auto& meaning = meanings_[enumeration.address];
        if (meaning) {
            return meaning;
        }
        const std::uint64_t bits = 8 * from_.number_in(enumeration, at_byte_size).value_or(8);
        const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
        std::map<std::uint64_t, std::string> names;
        from_.any_child(enumeration, [&](Dwarf_Die enumerator) {
            const auto number = from_.number_in(enumerator, at_const_value);
            if (from_.tag_of(enumerator) == tag_enumerator && number) {
                names.try_emplace(*number & mask, from_.name_in(enumerator));
            }
            return false;
        });
        meaning = [mask, names = std::make_shared<const std::map<std::uint64_t, std::string>>(
                             std::move(names))](std::uint64_t number) {
            const auto found = names->find(number & mask);
            return found != names->end() ? found->second : std::string();
        };
        return meaning;
    }

    debug_information& from_;
    std::string type_;       // its name
    std::uint64_t size_ = 0; // of the type
    std::size_t steps_ = 0;
    std::vector<named_member> members_;
    std::map<const void*, std::function<std::string(std::uint64_t)>> meanings_; // of enumerations
};

} // namespace

std::vector<type_of_program> types_of_program(const std::string& program,
                                              const std::vector<std::string>& names) {
    debug_information from(program);
    std::vector<type_of_program> types;
    for (const std::string& each : names) {
        types.push_back(member_list(from, each).read());
    }
    return types;
}

} // namespace handlepool::journal_tool
