// SPDX-License-Identifier: MIT
#include "debug_info.hpp"
#include "depots.hpp"
#include "system_calls.hpp"

#include <handlepool/call_site.hpp>
#include <handlepool/detail/recorder/recorded_event.hpp>
#include <handlepool/detail/text/text.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace handlepool {

namespace {

constinit std::atomic<site_namer> chosen_namer{nullptr};

std::string name_of_code(std::uintptr_t address, site_namer namer) {
    std::string name = namer != nullptr ? namer(address) : detail::name_by_debug_info(address);
    return name.empty() ? detail::name_by_tables(address) : name;
}

} // namespace

std::string name_by_tables(std::uintptr_t address) {
    return detail::name_by_tables(address);
}

site_namer name_sites_by(site_namer namer) noexcept {
    return chosen_namer.exchange(namer, std::memory_order::acq_rel);
}

call_site call_site::named(std::string_view name) noexcept {
    return call_site(detail::site_of_place(name));
}

std::vector<std::uintptr_t> call_site::addresses() const {
    if ((value_ & detail::is_depot_entry) != 0) {
        const auto stack = detail::addresses_of(value_);
        return {stack.begin(), stack.end()};
    }
    return value_ == 0 ? std::vector<std::uintptr_t>()
                       : std::vector{static_cast<std::uintptr_t>(detail::native_code::address_of(value_))};
}

std::string detail::name_of_site(call_site site, site_namer namer) {
    if (namer == nullptr) {
        // acquire: pairs with the exchange in name_sites_by()
        namer = chosen_namer.load(std::memory_order::acquire);
    }
    std::string name = place_of(site.value());
    for (const std::uintptr_t each : site.addresses()) {
        const std::string code = name_of_code(each, namer);
        if (name.empty() || !code.starts_with("0x")) { // what is in no module was no caller
            name.append(name.empty() ? "" : " < ").append(code);
        }
    }
    return printable(name);
}

std::string call_site::name() const {
    return detail::name_of_site(*this, nullptr);
}

#ifdef __cpp_lib_source_location
/// Of a long name of a function the end is left, so that there is room for the place.
static std::string name_of(const std::source_location& where) {
    const std::string_view path = where.file_name();
    std::string at(path.substr(path.find_last_of("/\\") + 1));
    at.append(":").append(std::to_string(where.line()));
    const std::string_view function = where.function_name();
    if (function.empty()) {
        return at;
    }
    std::string name = detail::short_function_name(function);
    constexpr std::string_view cut = "...";
    const std::size_t room = detail::most_place_bytes - std::min(detail::most_place_bytes, at.size() + 4);
    if (name.size() > room && room > cut.size()) {
        name.replace(0, name.size() - (room - cut.size()), cut);
    }
    return name.append(" at ").append(at);
}

scoped_site::scoped_site(const std::source_location& where) : scoped_site(name_of(where)) {}
#endif

scoped_site::scoped_site(std::string_view name) noexcept : scoped_site(call_site::named(name)) {}
scoped_site::scoped_site(call_site where) noexcept : scope_(where.value()) {}

scoped_task::scoped_task(std::string_view name) noexcept : scope_(detail::number_of_actor(name)) {}

} // namespace handlepool
