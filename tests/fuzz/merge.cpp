// SPDX-License-Identifier: MIT

// A prefab whose hashes are right, of which some payloads are made up, merged into a world that lives: the
// first byte has the options, and the others are pieces, each with the number of a block, a size and a
// payload, which takes the place of that one. The world has a pool of each placement with what belongs to it.
// Either everything is as it was, or the objects are there beside the others, and what they and the
// containers name are objects of this world; when they have ended, everything is as it was, too.

#include "pieces.hpp"
#include "require.hpp"

#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/property_store.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/snapshots/handle_renaming.hpp>
#include <handlepool/snapshots/invalid_snapshot.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/stable_pool.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::fuzz {
namespace {

struct node {
    std::uint32_t number = 0;
    handle<node> next{};
    any_handle other{};
    void clear() noexcept { *this = {}; }
};
constexpr std::uint32_t cursed = 13;
struct curse : std::runtime_error {
    curse() : std::runtime_error("this node lets nobody look into it") {}
};
template <class Map>
void for_each_handle(node& each, Map& map) {
    if (each.number == cursed) {
        throw curse();
    }
    map(each.next);
    map(each.other);
}

/// A pool of each placement, what is attached to them, a set that is not, and a value.
class linked_world {
public:
    explicit linked_world(unsigned first_id)
        : dense_(options_of("dense", first_id)),
          stable_(options_of("stable", first_id + 1)),
          recycling_(options_of("recycling", first_id + 2)) {
        set_.attach(dense_);
        map_.attach(stable_);
        keys_.attach(dense_, [](const node& each) { return each.number; });
        many_.attach(recycling_, [](const node& each) { return each.next; });
        tree_.attach(dense_);
        bags_.attach(stable_);
        all_.add("dense", dense_);
        all_.add("stable", stable_);
        all_.add("recycling", recycling_);
        for (snapshot* const each : {&all_, &others_}) {
            each->add("set", set_);
            each->add("loose", loose_);
            each->add("map", map_);
            each->add("keys", keys_);
            each->add("many", many_);
            each->add("tree", tree_);
            each->add("bags", bags_);
            each->add("best", best_);
        }
    }

    /// Objects that know each other, with numbers from this one on.
    void fill(std::uint32_t number) {
        constexpr property_path mass("mass");
        const auto top = dense_.emplace(node{number, {}, {}});
        const auto below = dense_.emplace(node{number + 1, top, {}});
        const auto place = stable_.emplace(node{number + 2, below, top});
        const auto kept = recycling_.emplace(node{number + 3, place, {}});
        dense_.erase(dense_.emplace(node{number + 4, {}, {}}));
        static_cast<void>(stable_.try_reserve_handle());
        dense_.find(top)->next = kept;
        dense_.find(top)->other = place;
        set_.insert(top);
        loose_.insert(kept);
        map_.try_emplace(place, below);
        many_.insert(kept, place);
        tree_.set_parent(below, top);
        bags_.set(place, mass, static_cast<float>(number));
        best_ = below;
        settle();
    }

    byte_list save() {
        byte_list bytes;
        all_.save(bytes);
        return bytes;
    }
    handle_renaming merge(const byte_list& bytes, const merge_options& options) {
        return all_.merge(bytes, "fuzzed", options);
    }

    /// All that there is.
    byte_list contents() {
        settle();
        byte_list bytes;
        others_.save(bytes);
        for_each_pool([&bytes](auto& pool) {
            for (const auto& [handle, each] : pool.entries()) {
                const auto shown = std::to_string(handle.value()) + ' ' + std::to_string(each.number) + ' ' +
                                   std::to_string(each.next.value()) + ' ' +
                                   std::to_string(each.other.value()) + '\n';
                std::ranges::transform(shown, std::back_inserter(bytes),
                                       [](char one) { return static_cast<std::byte>(one); });
            }
            bytes.push_back(static_cast<std::byte>(pool.stats().slots_reserved));
        });
        return bytes;
    }

    std::size_t size() const { return dense_.size() + stable_.size() + recycling_.size(); }

    /// The objects are here, and name each other.
    void expect(const handle_renaming& merged, outside_handles outside) {
        settle();
        for_each_pool([&](auto& pool) {
            merged.for_each(pool, [&](handle<node> before, handle<node> now) {
                require(pool.contains(now) && merged.find(before) == now, "a merged object is there");
                if (outside == outside_handles::become_null) {
                    const node& each = *pool.find(now);
                    require(is_null_or_lives(each.next) &&
                                is_null_or_lives(handle<node>::from_value(each.other.value())),
                            "handles in objects are mapped");
                }
            });
        });
        const byte_list now = contents();
        all_.load(save()); // which looks at everything once more
        require(contents() == now, "it is a world that can be saved");
    }
    /// What is not merged again stays.
    void erase(const handle_renaming& merged, handle<node> best) {
        for_each_pool([&](auto& pool) {
            merged.for_each(pool, [&pool](handle<node>, handle<node> now) { pool.erase(now); });
        });
        settle();
        erase_if(loose_, [this](handle<node> each) { return !is_null_or_lives(each); });
        best_ = best;
    }
    handle<node> best() const { return best_; }

private:
    static pool_options options_of(const char* name, unsigned id) {
        return {.name = name, .capacity = 64, .slot_limit = 256, .pool_id = id};
    }
    template <class Visit>
    void for_each_pool(Visit visit) {
        visit(dense_);
        visit(stable_);
        visit(recycling_);
    }
    void settle() {
        for_each_pool([](auto& pool) {
            do {
                pool.compact();
            } while (!pool.idle());
        });
    }
    bool is_null_or_lives(handle<node> each) const {
        return !each || dense_.contains(each) || stable_.contains(each) || recycling_.contains(each);
    }

    pool<node> dense_;
    stable_pool<node> stable_;
    recycling_pool<node> recycling_;
    handle_set<node> set_;
    handle_set<node> loose_;
    handle_map<node, handle<node>> map_;
    handle_index<node, std::uint32_t> keys_;
    handle_index<node, handle<node>> many_{duplicate_keys::allow};
    hierarchy<node> tree_{orphans::are_erased};
    property_store<node> bags_;
    handle<node> best_;
    snapshot all_;
    snapshot others_; // without the pools
};

class fuzzed_merge {
public:
    fuzzed_merge() {
        linked_world prefab(1);
        prefab.fill(20);
        prefab_ = prefab.save();
        world_.fill(40);
    }

    void merge(byte_view pieces) {
        if (pieces.empty()) {
            return;
        }
        const auto choice = std::to_integer<unsigned>(pieces[0]);
        const merge_options options{.outside = choice % 2 == 0 ? outside_handles::become_null
                                                               : outside_handles::stay,
                                    .values = choice / 2 % 2 != 0};
        const byte_list before = world_.contents();
        const std::size_t lived = world_.size();
        const handle<node> best = world_.best();
        std::optional<handle_renaming> merged;
        try {
            merged = world_.merge(with_pieces(prefab_, pieces.subspan(1)), options);
        } catch (const invalid_snapshot& error) {
            require(std::string_view(error.what()).starts_with("snapshot 'fuzzed'"), "a reason is given");
        } catch (const curse&) {
        } catch (const pool_exhausted&) {
        } catch (const std::invalid_argument&) { // a container that is of other objects
        }
        if (merged) {
            world_.expect(*merged, options.outside);
            require(world_.size() == lived + merged->size(), "nothing else is there");
            world_.erase(*merged, best);
        }
        require(world_.contents() == before, "all is as it was");
    }

private:
    byte_list prefab_;
    linked_world world_{11};
};

} // namespace
} // namespace handlepool::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static handlepool::fuzz::fuzzed_merge fuzzed;
    fuzzed.merge({reinterpret_cast<const std::byte*>(data), size});
    return 0;
}
