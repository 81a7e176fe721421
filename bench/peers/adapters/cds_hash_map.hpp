// SPDX-License-Identifier: MIT
#pragma once

#include "../contender.hpp"
#include "../thread_keys.hpp"

#include <bench/tools/capacity.hpp>
#include <cds/container/michael_kvlist_hp.h>
#include <cds/container/michael_map.h>
#include <cds/gc/hp.h>
#include <cds/init.h>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace handlepool_bench::peers {

/// libcds for this process, and for each thread that uses it. Ends with the process: threads leave it later.
class cds_membership {
public:
    /// The calling thread belongs to it from here to its end.
    static void join() {
        static const process whole;
        static thread_local const member thread;
        (void)thread;
    }

private:
    struct process {
        process() {
            cds::Initialize();
            static auto* const hazard_pointers = new cds::gc::HP;
            (void)hazard_pointers;
        }
    };
    struct member {
        member() { cds::threading::Manager::attachThread(); }
        member(const member&) = delete;
        member& operator=(const member&) = delete;
        ~member() { cds::threading::Manager::detachThread(); }
    };
};

/// Lists of nodes in a table of fixed size, whose memory hazard pointers protect. Handles are keys, each used
/// once. Nothing counts the objects: it would be a word that all threads write.
class cds_hash_map {
public:
    using handle_type = std::uint64_t;
    static constexpr const char* name = "cds::container::MichaelHashMap";
    static constexpr unsigned fewest_threads = 1;
    static constexpr unsigned most_threads = any_number;
    static constexpr bool checks_handles = true;

    cds_hash_map(std::size_t alive, unsigned threads) : map_(capacity_for(alive), 1), keys_(threads) {}

    handle_type create(unsigned thread, std::uint64_t seed) {
        cds_membership::join();
        const std::uint64_t key = keys_.next(thread);
        map_.emplace(key, seed);
        return key;
    }
    bool erase(unsigned /*thread*/, handle_type handle) {
        cds_membership::join();
        return map_.erase(handle);
    }

    template <class Visit>
    bool find(handle_type handle, Visit&& visit) {
        cds_membership::join();
        return map_.find(handle, [&](const auto& found) { visit(found.second); });
    }

    /// Its iterators also visit erased nodes that no thread has unlinked yet; a look-up knows them, and
    /// unlinks them. (Its other list, whose iterators are exact, keeps a node for each key that there ever
    /// was.)
    template <class Visit>
    void for_each(Visit&& visit) {
        for (const auto& each : map_) {
            if (map_.contains(each.first)) {
                visit(each.second);
            }
        }
    }

    void end_frame() {}

    std::size_t size() {
        std::size_t count = 0;
        for_each([&](const auto&) { ++count; });
        return count;
    }

private:
    struct in_list : cds::container::michael_list::traits {
        using less = std::less<std::uint64_t>;
    };
    struct in_map : cds::container::michael_map::traits {
        using hash = std::hash<std::uint64_t>;
        using item_counter = cds::atomicity::empty_item_counter;
    };
    using list = cds::container::MichaelKVList<cds::gc::HP, std::uint64_t, unaligned_object, in_list>;

    // Before the map, whose end needs it.
    struct joined {
        joined() { cds_membership::join(); }
    } joined_;
    cds::container::MichaelHashMap<cds::gc::HP, list, in_map> map_;
    thread_keys keys_;
};

} // namespace handlepool_bench::peers
