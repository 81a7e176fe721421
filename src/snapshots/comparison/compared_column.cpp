// SPDX-License-Identifier: MIT
#include "compared_column.hpp"

#include <handlepool/detail/base/throw_exception.hpp>

#include <algorithm>
#include <stdexcept>

namespace handlepool::detail {

namespace {

/// "byte 8", "bytes 8 to 11".
std::string name_of_bytes(std::size_t begin, std::size_t end) {
    return end - begin == 1 ? "byte " + std::to_string(begin)
                            : "bytes " + std::to_string(begin) + " to " + std::to_string(end - 1);
}

/// Where bytes differ; `before` comes before what says which.
void compare_bytes(const std::string& object, const std::string& before, std::span<const std::byte> first,
                   std::span<const std::byte> second, difference_list& to) {
    const std::size_t both = (std::min)(first.size(), second.size());
    for (std::size_t begin = 0; begin != both; ++begin) {
        std::size_t end = begin;
        while (end != both && first[end] != second[end]) {
            ++end;
        }
        if (end != begin) {
            to.add(object, before + name_of_bytes(begin, end),
                   text_of_bytes(first.subspan(begin, end - begin)),
                   text_of_bytes(second.subspan(begin, end - begin)));
            begin = end - 1;
        }
    }
}

void require_room(const std::vector<named_member>& members, std::size_t size) {
    for (const named_member& each : members) {
        if (each.offset > size || each.size > size - each.offset || each.bits > 8 * each.size ||
            each.first_bit > 8 * each.size - each.bits) {
            throw_exception(std::invalid_argument("compare_snapshots: member '" + printable(each.name) +
                                                  "' reaches beyond its type, which has " +
                                                  std::to_string(size) + " bytes"));
        }
    }
}

/// Of archived elements, the version alone counts.
bool is_same(const saved_type& first, const saved_type& second) noexcept {
    const bool are_archived =
        first.encoding == element_encoding::archive && second.encoding == element_encoding::archive;
    return are_archived ? first.version == second.version : first == second;
}

} // namespace

compared_column::compared_column(block_reader& from, std::size_t count)
    : header_(read_elements_header(from)) {
    if (header_.type.encoding == element_encoding::archive) {
        ends_ = read_archived_sizes(from, header_, count);
        std::uint64_t end = 0;
        for (std::uint64_t& each : ends_) {
            end += each;
            each = end;
        }
        bytes_ = from.bytes(end);
    } else {
        require_size(from, header_, count);
        bytes_ = from.bytes(header_.bytes);
    }
}

std::span<const std::byte> compared_column::element(std::size_t i) const noexcept {
    if (header_.type.encoding == element_encoding::bytes) {
        const auto size = static_cast<std::size_t>(header_.type.size);
        return bytes_.subspan(i * size, size);
    }
    const auto begin = static_cast<std::size_t>(i == 0 ? 0 : ends_[i - 1]);
    return bytes_.subspan(begin, static_cast<std::size_t>(ends_[i]) - begin);
}

column_comparison::column_comparison(const compared_column& first, const compared_column& second,
                                     difference_list& to)
    : first_(first), second_(second) {
    const saved_type& type = first.type();
    if (!first.name().empty()) {
        before_ = "column '" + printable(first.name()) + "' ";
    }
    is_comparable_ = is_same(type, second.type());
    if (!is_comparable_) {
        to.add("", before_ + "type", text_of_type(type), text_of_type(second.type()));
    } else if (type.encoding == element_encoding::bytes) {
        members_ = members_in(type.layout, type.size, type.alignment);
        if (members_.empty() && type.size != 0) {
            const auto size = static_cast<std::size_t>(type.size);
            members_ = to.members_of(first.name(), size);
            require_room(members_, size);
        }
    }
}

bool column_comparison::have_other_bytes(std::size_t first, std::size_t second) const noexcept {
    return is_comparable_ && !std::ranges::equal(first_.element(first), second_.element(second));
}

void column_comparison::compare(const std::string& object, std::size_t first, std::size_t second,
                                difference_list& to) const {
    const auto one = first_.element(first);
    const auto other = second_.element(second);
    if (members_.empty()) {
        to.compare(object, before_ + "size in bytes", one.size(), other.size());
        compare_bytes(object, before_, one, other, to);
    } else {
        compare_members(object, one, other, to);
    }
}

void column_comparison::compare_members(const std::string& object, std::span<const std::byte> first,
                                        std::span<const std::byte> second, difference_list& to) const {
    for (const named_member& each : members_) { // what is between them is padding
        const auto one = first.subspan(each.offset, each.size);
        const auto other = second.subspan(each.offset, each.size);
        if (is_number(each) ? number_in(each, one) == number_in(each, other)
                            : std::ranges::equal(one, other)) {
            continue;
        }
        const std::string name = before_ + (each.name.empty() ? "value" : '.' + printable(each.name));
        if (is_number(each)) {
            to.add(object, name, text_of_number(each, one), text_of_number(each, other));
        } else {
            compare_bytes(object, name + ", ", one, other, to);
        }
    }
}

} // namespace handlepool::detail
