// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/text/text.hpp>
#include <handlepool/key_table.hpp>
#include <handlepool/property_view.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>

namespace handlepool {

namespace {

std::optional<detail::bag_flaw> flaw_in_place(std::span<const std::byte> bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
    if (address % detail::bag_unit != 0) {
        return detail::bag_flaw{0, "the address is no multiple of 4"};
    }
    return detail::flaw_of(bytes);
}

std::string print(const property& one) {
    if (const auto truth = one.get<bool>()) {
        return *truth ? "true" : "false";
    }
    if (const auto number = one.get<float>()) {
        return fmt::format("{}", *number);
    }
    if (const auto text = one.get<std::string_view>()) {
        return detail::json_string(*text);
    }
    if (const auto numbers = one.get<std::span<const float>>()) {
        return fmt::format("[{}]", fmt::join(*numbers, ", "));
    }
    return "removed";
}

} // namespace

void property_reader::throw_missing(property_hash path, property_kind wanted) const {
    detail::throw_exception(
        no_such_property(fmt::format("property {}: is {}, and {} is asked for", name_of(path, names_),
                                     name_of(kind(path)), name_of(wanted))));
}

bool property_reader::equal(detail::bag_reader one, detail::bag_reader other) noexcept {
    if (one.count() != other.count()) {
        return false;
    }
    for (std::size_t i = 0; i != one.count(); ++i) {
        if (!(one.entry(i) == other.entry(i))) {
            return false;
        }
    }
    return true;
}

property_view property_view::from_bytes(std::span<const std::byte> bytes, std::string_view where) {
    if (const auto flaw = flaw_in_place(bytes)) {
        detail::throw_exception(invalid_bag(where, flaw->offset, flaw->problem));
    }
    return {bytes.data(), nullptr};
}

std::optional<property_view> property_view::try_from_bytes(std::span<const std::byte> bytes,
                                                           std::string& error, std::string_view where) {
    if (const auto flaw = flaw_in_place(bytes)) {
        error = invalid_bag(where, flaw->offset, flaw->problem).what();
        return std::nullopt;
    }
    return property_view(bytes.data(), nullptr);
}

std::string describe(property_view bag) {
    std::string lines;
    for (const property one : bag) {
        lines += fmt::format("{}: {}\n", name_of(one.hash(), bag.names()), print(one));
    }
    return lines;
}

} // namespace handlepool
