// SPDX-License-Identifier: MIT

// Deltas whose hashes are right, of which some payloads are made up: the bytes are pieces, each with the
// number of a block, a size and a payload, which takes the place of that one. A replica of a pool with a
// container of each kind refuses them, and nothing has changed; or all is as a snapshot of that frame would
// have it.

#include "pieces.hpp"
#include "require.hpp"

#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/property_store.hpp>
#include <handlepool/snapshots/delta_recorder.hpp>
#include <handlepool/snapshots/invalid_snapshot.hpp>
#include <handlepool/snapshots/replay.hpp>
#include <handlepool/snapshots/replica.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/time/change_log.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <iterator>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::fuzz {
namespace {

struct key_archive {
    void save(std::ostream& out, const std::string& saved) const { out << saved; }
    std::string load(std::istream& in) const {
        return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    }
};

/// A pool, what is attached to it, and a value.
class told_containers {
public:
    told_containers() {
        set_.attach(numbers_);
        map_.attach(numbers_);
        index_.attach(numbers_, [](int number) { return std::to_string(number); });
        many_.attach(numbers_, [](int number) { return static_cast<std::uint32_t>(number / 2); });
        tree_.attach(numbers_);
        bags_.attach(numbers_);
    }

    template <class To, class Numbers>
    void add_to(To& to, Numbers& numbers) {
        to.add("numbers", numbers);
        add_others_to(to);
    }
    template <class To>
    void add_others_to(To& to) {
        to.add("set", set_);
        to.add("map", map_);
        to.add("index", index_, key_archive());
        to.add("many", many_);
        to.add("tree", tree_);
        to.add("bags", bags_);
        to.add("value", value_);
    }

    /// Something happens, the same for the same number.
    void happen(int number) {
        constexpr property_path mass("mass");
        const auto parent = numbers_.emplace(number);
        const auto child = numbers_.emplace(number + 1);
        const auto other = numbers_.emplace(number + 2);
        numbers_.erase(numbers_.emplace(number + 3));
        numbers_.compact();
        for (const auto each : {parent, child}) {
            set_.insert(each);
            map_.try_emplace(each, static_cast<std::uint32_t>(number));
            bags_.set(each, mass, static_cast<float>(number));
        }
        tree_.set_parent(child, parent);
        many_.rekey(other, 1U);
        if (last_) {
            tree_.try_set_parent(last_, other);
            numbers_.erase(set_.handles().front());
        }
        static_cast<void>(numbers_.try_reserve_handle());
        last_ = child;
        ++value_;
    }

    /// All that there is.
    byte_list contents() {
        snapshot others;
        add_others_to(others);
        byte_list bytes;
        others.save(bytes);
        for (const auto& [handle, number] : numbers_.entries()) {
            const auto shown = std::to_string(handle.value()) + ' ' + std::to_string(number) + '\n';
            std::ranges::transform(shown, std::back_inserter(bytes),
                                   [](char each) { return static_cast<std::byte>(each); });
        }
        return bytes;
    }
    /// Whoever is attached hears of the end.
    void end_all() {
        while (numbers_.size() != 0) {
            numbers_.clear();
            numbers_.compact();
        }
        require(set_.empty() && map_.empty() && index_.empty() && many_.empty() && tree_.empty() &&
                    bags_.empty(),
                "all members have lived");
    }

    pool<int>& numbers() { return numbers_; }

private:
    pool<int> numbers_{{.name = "numbers", .capacity = 100, .slot_limit = 200, .pool_id = 6}};
    handle_set<int> set_;
    handle_map<int, std::uint32_t> map_;
    handle_index<int, std::string> index_;
    handle_index<int, std::uint32_t> many_{duplicate_keys::allow};
    hierarchy<int> tree_{orphans::are_erased};
    property_store<int> bags_;
    std::uint32_t value_ = 0;
    handle<int> last_;
};

/// What an origin has told, whose pool is no more: its id is free for that of a replica.
struct gone_origin {
    gone_origin() {
        told_containers origin;
        change_log log(origin.numbers());
        handlepool::snapshot all;
        origin.add_to(all, origin.numbers());
        delta_recorder recorder;
        origin.add_to(recorder, log);
        origin.happen(10);
        origin.happen(20);
        all.save(snapshot);
        recorder.begin(0);
        origin.happen(30);
        recorder.append(1, delta);
    }
    byte_list snapshot; // of frame 0
    byte_list delta;    // from there to frame 1
};

class fuzzed_replica {
public:
    fuzzed_replica() {
        world_.add_to(follower_, world_.numbers());
        world_.add_to(all_, world_.numbers());
        follower_.load(gone_.snapshot, 0);
    }

    void apply(byte_view pieces) {
        const byte_list delta = with_pieces(gone_.delta, pieces);
        const byte_list before = world_.contents();
        try {
            follower_.apply(delta, "fuzzed");
        } catch (const invalid_snapshot& error) {
            require(std::string_view(error.what()).starts_with("delta 'fuzzed'"), "a reason is given");
            require(follower_.frame() == 0U && world_.contents() == before, "nothing has changed");
            return;
        }
        const byte_list now = world_.contents();
        replay past(gone_.snapshot, 0);
        past.apply(delta);
        byte_list later;
        past.save(later);
        all_.load(later);
        require(world_.contents() == now, "it is as a snapshot would have it");
        world_.end_all();
        follower_.load(gone_.snapshot, 0);
    }

private:
    gone_origin gone_; // first
    told_containers world_;
    replica follower_;
    snapshot all_;
};

} // namespace
} // namespace handlepool::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static handlepool::fuzz::fuzzed_replica fuzzed;
    fuzzed.apply({reinterpret_cast<const std::byte*>(data), size});
    return 0;
}
