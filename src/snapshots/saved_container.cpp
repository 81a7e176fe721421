// SPDX-License-Identifier: MIT
#include <handlepool/detail/saved_containers/saved_container.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/detail/time/record_bytes.hpp>

#include <iterator>
#include <string>
#include <string_view>

namespace handlepool::detail {

namespace {

constexpr std::string_view names_of_forms[] = {"a handle_set", "a handle_map", "a handle_index",
                                               "a hierarchy", "a property_store"};

std::string name_of(std::uint32_t form) {
    return form < std::size(names_of_forms) ? std::string(names_of_forms[form])
                                            : "of form " + std::to_string(form);
}

} // namespace

std::string_view name_of_form(container_form form) noexcept {
    return names_of_forms[static_cast<std::uint32_t>(form)];
}

void write_form(snapshot_writer& to, container_form form, std::uint32_t widths) {
    to.number(widths);
    to.number(static_cast<std::uint32_t>(form));
}

void read_form(block_reader& from, container_form form, std::uint32_t widths) {
    if (const auto there = from.number<std::uint32_t>(); there != widths) {
        from.refuse(4, problem_of_widths(there, widths));
    }
    const auto here = static_cast<std::uint32_t>(form);
    if (const auto there = from.number<std::uint32_t>(); there != here) {
        from.refuse(4, "the container is " + name_of(there) + "; here it is " + name_of(here));
    }
}

void write(snapshot_writer& to, const saved_container& container) {
    write_form(to, container.form, container.widths);
    to.number(container.option);
    to.number(container.pool_id);
    to.number(container.members);
    to.number(container.refused);
}

saved_container read_any_form(block_reader& from) {
    saved_container read;
    read.widths = from.number<std::uint32_t>();
    const auto form = from.number<std::uint32_t>();
    from.require_that(form < std::size(names_of_forms), 4,
                      "the container is of form " + std::to_string(form) + "; known are 0 to 4");
    read.form = static_cast<container_form>(form);
    return read;
}

saved_container read_saved_container(block_reader& from, const saved_container& here) {
    read_form(from, here.form, here.widths);
    return read_behind_form(from, here);
}

saved_container read_behind_form(block_reader& from, saved_container read) {
    const bool has_option = read.form == container_form::index || read.form == container_form::hierarchy;
    read.option = from.number<std::uint32_t>();
    from.require_that(read.option <= (has_option ? 1U : 0U), 4,
                      "the option is " + std::to_string(read.option) + "; allowed is 0" +
                          (has_option ? " or 1" : ""));
    read.pool_id = from.number<std::uint32_t>();
    read.members = from.number<std::uint32_t>();
    from.require_that(read.members != 0 || read.pool_id == 0, 8,
                      "the members are of the pool with id " + std::to_string(read.pool_id) +
                          ", and there are none; 0 is expected");
    read.refused = from.number<std::uint32_t>();
    from.require_that(read.refused == 0 || read.form == container_form::index, 4,
                      std::to_string(read.refused) + " objects were refused; only an index does that");
    return read;
}

std::string problem_of_member(const char* what, std::size_t number, std::uint64_t index,
                              std::uint32_t generation, const std::string& problem) {
    return std::string(what) + ' ' + std::to_string(number) + ", " + name_of_handle(index, generation) +
           ", " + problem;
}

} // namespace handlepool::detail
