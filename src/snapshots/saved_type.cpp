// SPDX-License-Identifier: MIT
#include "snapshot_format.hpp"

#include <handlepool/detail/snapshots/saved_type.hpp>
#include <handlepool/detail/text/text.hpp>

namespace handlepool::detail {

namespace {

constexpr std::size_t fixed_bytes = 4 * sizeof(std::uint32_t) + 3 * sizeof(std::uint64_t);

/// A name, or what names a layout.
std::string_view read_text(block_reader& from, std::uint32_t size, std::string_view what) {
    const auto bytes = from.bytes(size);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!text.empty()) {
        if (const auto problem = problem_of_name(text)) {
            from.refuse(size, std::string(what) + *problem);
        }
    }
    return text;
}

} // namespace

std::string text_of_type(const saved_type& type) {
    std::string text =
        type.encoding == element_encoding::archive
            ? "an archive"
            : std::to_string(type.size) + " bytes, alignment " + std::to_string(type.alignment);
    text += ", version " + std::to_string(type.version);
    if (!type.layout.empty()) {
        text += ", layout '" + printable(type.layout) + '\'';
    }
    return text;
}

element_names element_names::of_column(std::string_view name) {
    const std::string column = "column '" + printable(name) + '\'';
    return element_names(column, "object ", " of " + column);
}

std::string element_names::one(std::size_t i) const {
    return before_.empty() ? all_ : before_ + std::to_string(i) + behind_;
}

std::uint64_t bytes_of(const elements_header& header) noexcept {
    return fixed_bytes + header.name.size() + header.type.layout.size();
}

void write(snapshot_writer& to, const elements_header& header) {
    to.number(static_cast<std::uint32_t>(header.type.encoding));
    to.number(header.type.version);
    to.number(header.type.size);
    to.number(header.type.alignment);
    to.number(header.bytes);
    to.number(static_cast<std::uint32_t>(header.name.size()));
    to.number(static_cast<std::uint32_t>(header.type.layout.size()));
    to.bytes(header.name.data(), header.name.size());
    to.bytes(header.type.layout.data(), header.type.layout.size());
}

elements_header read_elements_header(block_reader& from) {
    elements_header header;
    const auto encoding = from.number<std::uint32_t>();
    if (encoding > static_cast<std::uint32_t>(element_encoding::archive)) {
        from.refuse(4, "elements are encoded in way " + std::to_string(encoding) + "; known are 0 and 1");
    }
    header.type.encoding = static_cast<element_encoding>(encoding);
    header.type.version = from.number<std::uint32_t>();
    header.type.size = from.number<std::uint64_t>();
    header.type.alignment = from.number<std::uint64_t>();
    header.bytes = from.number<std::uint64_t>();
    const auto name_size = from.number<std::uint32_t>();
    const auto layout_size = from.number<std::uint32_t>();
    header.name = read_text(from, name_size, "of a column, ");
    header.type.layout = read_text(from, layout_size, "of a layout, ");
    if (header.bytes > from.left()) {
        from.refuse(0, std::to_string(header.bytes) + " bytes of elements are expected, and " +
                           std::to_string(from.left()) + " are left");
    }
    return header;
}

void refuse_type(const block_reader& from, const elements_header& there, const element_names& names,
                 std::span<const saved_type> here) {
    std::string problem = "the type of " + names.all() + " has " + text_of_type(there.type) +
                          "; here it has " + text_of_type(here.front());
    for (const saved_type& each : here.subspan(1)) {
        problem += "; there is an upgrade of " + text_of_type(each);
    }
    from.refuse(static_cast<std::size_t>(bytes_of(there)), problem);
}

std::vector<std::uint64_t> read_archived_sizes(block_reader& from, const elements_header& there,
                                               std::size_t count) {
    from.require_that(there.bytes / sizeof(std::uint64_t) >= count, 0,
                      "the sizes of " + std::to_string(count) + " objects are expected, and " +
                          std::to_string(there.bytes) + " bytes are there");
    std::uint64_t left = there.bytes - count * sizeof(std::uint64_t);
    std::vector<std::uint64_t> sizes(count);
    for (std::uint64_t& each : sizes) {
        each = from.number<std::uint64_t>();
        if (each > left) {
            from.refuse(sizeof each, "an object of " + std::to_string(each) + " bytes is expected, and " +
                                         std::to_string(left) + " are left");
        }
        left -= each;
    }
    if (left != 0) {
        from.refuse(0, std::to_string(left) + " bytes are those of no object");
    }
    return sizes;
}

void require_size(const block_reader& from, const elements_header& there, std::size_t count) {
    // Not multiplied: where the type is not known, the size is any number.
    const bool is_right =
        count == 0 ? there.bytes == 0 : there.bytes % count == 0 && there.bytes / count == there.type.size;
    if (!is_right) {
        from.refuse(0, std::to_string(count) + " objects of " + std::to_string(there.type.size) +
                           " bytes are expected, and " + std::to_string(there.bytes) + " bytes are there");
    }
}

} // namespace handlepool::detail
