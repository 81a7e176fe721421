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

/// Keeps the objects of the cells that are drawn, and of all others no more than where newborns are.
class map_artist {
public:
    map_artist(const inspected_program& program, const inspected_pool& pool)
        : program_(program), pool_(pool), store_size_(pool.is_stable() ? 0 : pool.dense_size()) {}

    store_map draw(std::uint64_t first, std::size_t most) {
        most = static_cast<std::size_t>(
            std::min<std::uint64_t>(most, most_bytes / std::max<std::uint64_t>(pool_.object_bytes(), 1) + 1));
        pool_.for_each_reserved([this](std::uint64_t handle) { reserved_.push_back(handle); });
        look_at_all(first, most);
        map_.size = store_size_ + newborns_.size() + reserved_.size();
        map_.first = std::min(first, map_.size);
        const std::uint64_t last = std::min(map_.first + most, map_.size);
        draw_store(map_.first, std::min(last, store_size_));
        const std::uint64_t first_reserved = store_size_ + newborns_.size();
        draw_newborns(std::max(map_.first, store_size_), std::min(last, first_reserved));
        for (std::uint64_t i = std::max(map_.first, first_reserved); i < last; ++i) {
            map_.cells.push_back({.is = map_cell::state::reserved,
                                  .handle = reserved_[static_cast<std::size_t>(i - first_reserved)]});
        }
        return std::move(map_);
    }

private:
    /// Finds the objects that lie in these cells of the store, and where newborns are.
    void look_at_all(std::uint64_t first, std::size_t most) {
        pool_.for_each_living([&](const living_object& each) {
            if (pool_.is_stable()) {
                store_size_ = std::max(store_size_, each.location + std::uint64_t{1});
            } else if (each.location >= store_size_) {
                newborns_.push_back(each.location);
                return;
            }
            if (each.location >= first && each.location - first < most) {
                drawn_.push_back(each);
            }
        });
        std::ranges::sort(drawn_, {}, &living_object::location);
        std::ranges::sort(newborns_);
    }

    void draw_store(std::uint64_t first, std::uint64_t last) {
        auto next = drawn_.cbegin();
        std::vector<std::uint32_t> hashes;
        if (first < last) {
            hashes =
                pool_.hashes_at(static_cast<std::uint32_t>(first), static_cast<std::size_t>(last - first));
        }
        for (std::uint64_t at = first; at < last; ++at) {
            if (next != drawn_.cend() && next->location == at) {
                map_.cells.push_back(cell_of(*next, map_cell::state::alive));
                map_.cells.back().hash = hashes[static_cast<std::size_t>(at - first)];
                while (next != drawn_.cend() &&
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

    /// The newborns of these cells lie in some part of the nursery, by now or no longer.
    void draw_newborns(std::uint64_t first, std::uint64_t last) {
        if (first >= last) {
            return;
        }
        const std::uint32_t from = newborns_[static_cast<std::size_t>(first - store_size_)];
        const std::uint32_t to = newborns_[static_cast<std::size_t>(last - 1 - store_size_)];
        std::vector<living_object> found;
        pool_.for_each_living([&](const living_object& each) {
            if (each.location >= from && each.location <= to) {
                found.push_back(each);
            }
        });
        std::ranges::sort(found, {}, &living_object::location);
        found.resize(std::min(found.size(), static_cast<std::size_t>(last - first)));
        for (const living_object& each : found) {
            map_.cells.push_back(cell_of(each, map_cell::state::newborn));
        }
        // Those that have ended meanwhile.
        map_.cells.resize(map_.cells.size() + static_cast<std::size_t>(last - first) - found.size(),
                          {.is = map_cell::state::erased});
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
    std::uint64_t store_size_;
    std::vector<living_object> drawn_;    // of the store, by location
    std::vector<std::uint32_t> newborns_; // their locations, in order
    std::vector<std::uint64_t> reserved_;
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
