// SPDX-License-Identifier: MIT
#pragma once

#include "caches.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::coherence {

/// A part of each element of an array, from this byte of it to before the next field.
struct field {
    std::size_t offset = 0;
    std::string name;
};

/// How the words of an array are called.
struct array_names {
    std::string array; ///< as it was added
    std::size_t element_size = 0;
    std::vector<field> fields; ///< by offset, the first of them 0
};

/// Which simulated memory there is, and how it is called. What is not in it, such as the stacks of threads,
/// is not simulated.
class address_map {
public:
    using name_number = std::uint32_t;

    /// A range of addresses that begins with a cache line.
    struct range {
        std::uintptr_t first = 0;
        std::size_t bytes = 0;
        std::string name;
        line_number first_line = 0;
        // Names by word: of an element, over and over; of an object's members, of each.
        std::vector<name_number> names;
        bool members = false;
    };

    /// Says how an array's words are called that is added later.
    void name_fields(array_names names) { fields_.push_back(std::move(names)); }
    /// What is added as `name` is called `shown`.
    void rename(std::string name, std::string shown) { shown_[std::move(name)] = std::move(shown); }

    /// Adds an array, which is looked up by what is at `header`; or an object with members. A name that is
    /// there already gets a number: "nursery chunks 2". Throws std::invalid_argument when the address is not
    /// that of a line.
    void add_array(const void* header, std::size_t header_bytes, const void* first, std::size_t bytes,
                   std::string_view name);
    void add_object(const void* first, std::size_t bytes, std::string_view name);
    void remove(const void* first);

    /// Names a member of an object that is there, a word of which is accessed by code in this file; one that
    /// is in no object is left out.
    void name_member(const void* first, std::size_t bytes, std::string_view file);
    /// How members are called: by a file's name without its ending, and the arrays whose headers come before
    /// them and after them. By the file's name if nothing is said.
    using member_namer = std::function<std::string(std::string_view file, std::string_view array_before,
                                                   std::string_view array_after)>;
    void name_members_by(member_namer namer) { member_namer_ = std::move(namer); }

    /// The range of an address, or null.
    const range* find(const void* address) const noexcept;
    /// The name of a word there.
    static name_number name_of(const range& where, std::uintptr_t address) noexcept {
        const std::size_t word = (address - where.first) / word_size;
        return where.names[where.members ? word : word % where.names.size()];
    }
    static bool has_own_name(const range& where, std::uintptr_t address) noexcept {
        return !where.members || name_of(where, address) != where.names.back();
    }

    const std::string& text(name_number name) const { return texts_.at(name); }
    name_number number(std::string_view text);

    /// Where a line is: "slots, line 12".
    std::string describe(line_number line) const;

private:
    range& add(const void* first, std::size_t bytes, std::string_view name);
    std::string shown(std::string_view name) const;
    void name_words(const void* first, std::size_t bytes, std::string_view name);

    std::map<std::uintptr_t, range> ranges_;
    mutable const range* latest_ = nullptr;
    std::map<std::uintptr_t, std::string> headers_; // the names of their arrays
    std::map<line_number, std::string> lines_;      // by the first line of each range there ever was
    line_number next_line_ = 0;
    std::vector<array_names> fields_;
    std::map<std::string, std::string, std::less<>> shown_;
    member_namer member_namer_ = [](std::string_view file, std::string_view, std::string_view) {
        return std::string(file);
    };
    std::vector<std::string> texts_;
    std::map<std::string, name_number, std::less<>> numbers_;
};

} // namespace handlepool::coherence
