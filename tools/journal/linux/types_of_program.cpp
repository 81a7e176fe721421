// SPDX-License-Identifier: MIT
#include "debug_information.hpp"

#include <handlepool/detail/text/text.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::journal_tool {

namespace {

using detail::printable;

// Whoever made the file may have made it so that it has no end.
constexpr std::size_t most_members = 65'536;
constexpr std::uint64_t most_elements = 4'096; // an array of more is told as bytes
constexpr std::size_t most_steps = 1'000'000;  // for the members of one type

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
