// SPDX-License-Identifier: MIT
#include "store_map.hpp"

#include "or_null.hpp"

#include <handlepool/detail/text/text.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace handlepool::inspect_tool {

namespace {

using detail::printable;
using nlohmann::ordered_json;

/// What is read of the objects of one map.
constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;

class map_artist {
public:
    map_artist(const inspected_program& program, const inspected_pool& pool)
        : program_(program), pool_(pool) {
        pool.for_each_living([this](const living_object& each) { living_.push_back(each); });
        std::ranges::sort(living_, {}, &living_object::location);
        pool.for_each_reserved([this](std::uint64_t handle) { reserved_.push_back(handle); });
        if (!pool.is_stable()) {
            store_size_ = pool.dense_size();
        } else if (!living_.empty()) {
            store_size_ = living_.back().location + std::uint64_t{1};
        }
        first_newborn_ = std::ranges::lower_bound(living_, store_size_, {}, &living_object::location);
        newborns_ = static_cast<std::uint64_t>(living_.end() - first_newborn_);
    }

    store_map draw(std::uint64_t first, std::size_t most) {
        most = static_cast<std::size_t>(
            std::min<std::uint64_t>(most, most_bytes / std::max<std::uint64_t>(pool_.object_bytes(), 1) + 1));
        map_.size = store_size_ + newborns_ + reserved_.size();
        map_.first = std::min(first, map_.size);
        const std::uint64_t last = std::min(map_.first + most, map_.size);
        draw_store(map_.first, std::min(last, store_size_));
        for (std::uint64_t i = std::max(map_.first, store_size_); i < last; ++i) {
            const std::uint64_t rank = i - store_size_;
            map_.cells.push_back(
                rank < newborns_
                    ? cell_of(first_newborn_[static_cast<std::ptrdiff_t>(rank)], map_cell::state::newborn)
                    : map_cell{.is = map_cell::state::reserved,
                               .handle = reserved_[static_cast<std::size_t>(rank - newborns_)]});
        }
        return std::move(map_);
    }

private:
    void draw_store(std::uint64_t first, std::uint64_t last) {
        auto next = std::ranges::lower_bound(living_, first, {}, &living_object::location);
        std::vector<std::uint32_t> hashes;
        if (first < last) {
            hashes =
                pool_.hashes_at(static_cast<std::uint32_t>(first), static_cast<std::size_t>(last - first));
        }
        for (std::uint64_t at = first; at < last; ++at) {
            if (next != living_.end() && next->location == at) {
                map_.cells.push_back(cell_of(*next, map_cell::state::alive));
                map_.cells.back().hash = hashes[static_cast<std::size_t>(at - first)];
                while (next != living_.end() &&
                       next->location == at) { // one that is just being moved there, too
                    ++next;
                }
            } else if (pool_.is_stable()) {
                map_.cells.push_back({});
            } else {
                map_.cells.push_back({.is = map_cell::state::erased, .handle = pool_.erased_at(at)});
            }
        }
    }

    map_cell cell_of(const living_object& object, map_cell::state is) {
        map_cell cell{.is = is, .handle = object.handle, .age = object.age};
        if (object.beginning) {
            const auto word = static_cast<std::uint64_t>(object.beginning->who);
            const auto [found, is_new] = creators_.try_emplace(detail::site_of(object.beginning->who), 0);
            if (is_new) {
                found->second = creator_named(program_.place_of(word));
            }
            cell.creator = found->second;
        }
        return cell;
    }

    /// Several sites may have one name.
    std::size_t creator_named(const std::string& name) {
        const auto known = std::ranges::find(map_.creators, name);
        if (known != map_.creators.end()) {
            return static_cast<std::size_t>(known - map_.creators.begin());
        }
        map_.creators.push_back(name);
        return map_.creators.size() - 1;
    }

    const inspected_program& program_;
    const inspected_pool& pool_;
    std::vector<living_object> living_; // by location
    std::vector<living_object>::const_iterator first_newborn_;
    std::vector<std::uint64_t> reserved_;
    std::uint64_t store_size_ = 0;
    std::uint64_t newborns_ = 0;
    std::map<std::uint64_t, std::size_t> creators_; // by the site's word
    store_map map_;
};

} // namespace

store_map draw_map(const inspected_program& program, const inspected_pool& pool, std::uint64_t first,
                   std::size_t most) {
    return map_artist(program, pool).draw(first, most);
}

ordered_json json_of(const store_map& map) {
    std::string states;
    ordered_json handles = ordered_json::array();
    ordered_json ages = ordered_json::array();
    ordered_json creators = ordered_json::array();
    ordered_json hashes = ordered_json::array();
    for (const map_cell& each : map.cells) {
        states += static_cast<char>(each.is);
        handles.push_back(fmt::format("{:#x}", each.handle)); // more bits than a script's numbers have
        ages.push_back(or_null(each.age));
        creators.push_back(or_null(each.creator));
        hashes.push_back(each.hash);
    }
    ordered_json names = ordered_json::array();
    for (const std::string& each : map.creators) {
        names.push_back(printable(each));
    }
    return {{"size", map.size},
            {"first", map.first},
            {"states", std::move(states)},
            {"handles", std::move(handles)},
            {"ages", std::move(ages)},
            {"creators", std::move(creators)},
            {"hashes", std::move(hashes)},
            {"creator_names", std::move(names)}};
}

} // namespace handlepool::inspect_tool
