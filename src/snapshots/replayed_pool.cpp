// SPDX-License-Identifier: MIT
#include "replayed_pool.hpp"

#include "widest_limits.hpp"

#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/snapshots/saved_pool.hpp>
#include <handlepool/detail/snapshots/snapshot_entry.hpp>
#include <handlepool/detail/text/text.hpp>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

namespace handlepool::detail {

replayed_pool::replayed_pool(block_reader& from) {
    const pool_limits_of_snapshot limits = widest_limits(from);
    const saved_pool pool = read_saved_pool(from, limits);
    image_ = pool_image(pool, limits);
    columns_ = read_columns(from, pool.owners.size());
    for (column& each : columns_) {
        if (!each.has_contents()) {
            continue;
        }
        std::vector<content> by_slots(pool.generations.size());
        for (std::size_t i = 0; i != pool.owners.size(); ++i) {
            by_slots[pool.owners[i]] = std::move(each.contents[i]);
        }
        each.contents = std::move(by_slots);
    }
}

/// Each with as many contents as there are objects.
std::vector<replayed_pool::column> replayed_pool::read_columns(block_reader& from, std::size_t count) {
    std::vector<column> columns;
    for (auto left = from.number<std::uint32_t>(); left != 0; --left) {
        column& next = columns.emplace_back();
        next.header = read_elements_header(from);
        next.name = next.header.name;
        next.layout = next.header.type.layout;
        const std::uint64_t size = next.header.type.size;
        std::vector<std::uint64_t> sizes;
        if (next.header.type.encoding == element_encoding::archive) {
            sizes = read_archived_sizes(from, next.header, count);
        } else {
            require_size(from, next.header, count);
        }
        next.contents.resize(next.has_contents() ? count : 0); // no more than there are bytes
        for (std::size_t i = 0; i != next.contents.size(); ++i) {
            const auto bytes = from.bytes(sizes.empty() ? size : sizes[i]);
            next.contents[i].assign(bytes.begin(), bytes.end());
        }
    }
    from.require_end();
    return columns;
}

std::vector<replayed_pool::column> replayed_pool::read_same_columns(block_reader& from,
                                                                    std::size_t count) const {
    const block_reader begin = from;
    std::vector<column> columns = read_columns(from, count);
    const auto is_same = [](const column& one, const column& other) {
        return one.name == other.name && one.layout == other.layout &&
               one.header.type.encoding == other.header.type.encoding &&
               one.header.type.version == other.header.type.version &&
               one.header.type.size == other.header.type.size &&
               one.header.type.alignment == other.header.type.alignment;
    };
    begin.require_that(std::equal(columns.begin(), columns.end(), columns_.begin(), columns_.end(), is_same),
                       0, "the objects are of another type, or have other columns, than before");
    return columns;
}

void replayed_pool::resize(std::size_t slots) {
    for (column& each : columns_) {
        each.contents.resize(each.has_contents() ? slots : 0);
    }
}

void replayed_pool::apply(block_reader& from) {
    pool_delta delta = read_pool_delta(from);
    slots_before_ = image_.in_service();
    block_reader behind = from; // what is wrong with the lists is told before what is with the contents
    if (const auto problem = image_.apply(delta)) {
        refuse(from, delta, *problem);
    }
    if (const std::exception_ptr error = capture_exception([&] {
            other_ = read_same_columns(behind, delta.contents());
            resize(greatest<std::size_t>(slots_before_, image_.in_service()));
        })) {
        resize(slots_before_);
        image_.undo();
        std::rethrow_exception(error);
    }
    from = behind;
    delta_ = std::move(delta);
    exchange();
}

void replayed_pool::exchange() noexcept {
    for (std::size_t c = 0; c != other_.size(); ++c) {
        for (std::size_t i = 0; i != other_[c].contents.size(); ++i) {
            columns_[c].contents[delta_.slot_of_content(i)].swap(other_[c].contents[i]);
        }
    }
}

void replayed_pool::undo() noexcept {
    exchange();
    resize(slots_before_); // which needs no memory: there are more
    image_.undo();
}

std::string replayed_pool::layout() const {
    const pool_limits_of_snapshot& limits = image_.limits();
    std::string text = std::to_string(limits.widths) + ' ' + std::to_string(*limits.placement) + ' ' +
                       std::to_string(*limits.id) + '\n';
    for (const column& each : columns_) {
        saved_type type = each.header.type;
        type.layout = each.layout;
        text += std::to_string(static_cast<std::uint32_t>(type.encoding)) + " '" + printable(each.name) +
                "' " + text_of_type(type) + '\n';
    }
    return text;
}

void replayed_pool::write(snapshot_writer& to, std::uint32_t version, std::string_view name) const {
    const saved_pool pool = image_.describe();
    std::vector<elements_header> headers;
    std::uint64_t size = bytes_of(pool) + sizeof(std::uint32_t);
    for (const column& each : columns_) {
        elements_header& header = headers.emplace_back(each.header);
        header.name = each.name;
        header.type.layout = each.layout;
        header.bytes = 0;
        for (std::size_t i = 0; each.has_contents() && i != pool.owners.size(); ++i) {
            header.bytes += each.contents[pool.owners[i]].size();
        }
        if (header.type.encoding == element_encoding::archive) {
            header.bytes += pool.owners.size() * sizeof(std::uint64_t);
        }
        size += bytes_of(header) + header.bytes;
    }
    to.begin_block(block_kind::pool, version, name, size);
    detail::write(to, pool);
    to.number(static_cast<std::uint32_t>(columns_.size()));
    for (std::size_t c = 0; c != columns_.size(); ++c) {
        detail::write(to, headers[c]);
        if (headers[c].type.encoding == element_encoding::archive) {
            for (const std::uint32_t slot : pool.owners) {
                to.number(std::uint64_t{columns_[c].contents[slot].size()});
            }
        }
        for (std::size_t i = 0; columns_[c].has_contents() && i != pool.owners.size(); ++i) {
            const content& each = columns_[c].contents[pool.owners[i]];
            to.bytes(each.data(), each.size());
        }
    }
    to.end_block();
}

} // namespace handlepool::detail
