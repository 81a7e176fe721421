// SPDX-License-Identifier: MIT

// Four pools of three kinds, all that can be attached to them, and a program's own state: random operations
// of every kind, captures, and restores to random frames. All is what a text of it showed that was made the
// slow way, each handle ever made is in the state that it was in, and the same calls lead to the same texts
// again.

#include <handlepool/columns.hpp>
#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/property_store.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/time/world.hpp>

#include <gtest/gtest.h>
#include <tests/support/random.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using namespace property_literals;

struct played_ship {
    std::uint64_t value = 0;
    handle<played_ship> target;
    property_bag sheet;
};
struct played_shot {
    handle<played_ship> from;
    std::uint64_t hits = 0;
};
using trail_row = columns<std::uint64_t, std::string>;
struct played_beacon {
    std::string text;
};
using ship_handle = handle<played_ship>;
using shot_handle = handle<played_shot>;

/// Keeps a number a frame, and throws when it is told to.
class number_participant final : public world_participant {
public:
    void capture(std::uint64_t frame) override {
        fail();
        kept_[frame] = number;
    }
    void drop_newest() noexcept override { kept_.erase(std::prev(kept_.end())); }
    void restore(std::uint64_t frame) override {
        fail();
        number = kept_.at(frame);
        kept_.erase(std::next(kept_.find(frame)), kept_.end());
    }
    void confirm(std::uint64_t frame) noexcept override {
        kept_.erase(kept_.begin(), kept_.lower_bound(frame));
    }
    std::size_t kept() const { return kept_.size(); }

    std::uint64_t number = 0;
    bool fails = false;

private:
    void fail() {
        if (std::exchange(fails, false)) {
            throw std::runtime_error("told to fail");
        }
    }
    std::map<std::uint64_t, std::uint64_t> kept_;
};

std::string key_of_ship(const played_ship& ship) {
    return "a key that no small string holds: " + std::to_string(ship.value % 7);
}
std::string text_of(std::uint64_t number) {
    return std::string(number % 40, 'x') + std::to_string(number);
}

/// All that a game has, which plays by its own random numbers.
class played_world {
public:
    static constexpr std::size_t kept = 5;

    explicit played_world(std::uint64_t seed) : random_(seed) {
        burning_.attach(ships_);
        names_.attach(ships_);
        by_key_.attach(ships_, key_of_ship);
        by_value_.attach(ships_, [](const played_ship& ship) { return ship.value % 50; });
        tree_.attach(ships_);
        details_.attach(ships_);
        from_.attach(shots_);
        marked_trails_.attach(trails_);
        lit_.attach(beacons_, [](const played_beacon& beacon) { return beacon.text.size() % 5; });
        volleys_.attach(shots_, [](const played_shot& shot) { return shot.from; });
        world_.add(random_);
        world_.add(burning_);
        world_.add(past_of_ships_); // before the shots, which its hook makes and changes
        world_.add(names_);
        world_.add(by_key_);
        world_.add(by_value_);
        world_.add(past_of_shots_);
        world_.add(past_of_trails_);
        world_.add(past_of_beacons_);
        world_.add(marked_trails_);
        world_.add(lit_);
        world_.add(tree_);
        world_.add(details_);
        world_.add(from_);
        world_.add(volleys_);
        world_.add(recent_);
        world_.add(reserved_);
        world_.add(log_book_);
        world_.add(number_);
    }

    // ---- What there is

    /// All that can be seen, in the order in which it is seen.
    std::string text() const {
        std::string seen;
        const auto add = [&seen](const auto&... each) {
            ((seen += text_from(each), seen += ' '), ...);
            seen += '\n';
        };
        for (const auto& [handle, each] : ships_.entries()) {
            add("ship", handle, each.value, each.target, bytes_of(each.sheet));
        }
        for (const auto& [handle, each] : shots_.entries()) {
            add("shot", handle, each.from, each.hits);
        }
        for (const ship_handle each : burning_) {
            add("burning", each);
        }
        names_.for_each([&](ship_handle each, const std::string& name) { add("name", each, name); });
        for (const ship_handle each : by_key_.handles()) {
            add("key", each, *by_key_.key_of(each));
        }
        for (std::uint64_t i = 0; i != 9; ++i) {
            const std::string key = key_of_ship({.value = i, .target = {}, .sheet = {}});
            add("of key", key, by_key_.find(key));
            for (const ship_handle each : by_key_.find_all(key)) {
                add("of key", each);
            }
        }
        for (const ship_handle each : by_value_.handles()) {
            add("value", each, *by_value_.key_of(each), by_value_.find(*by_value_.key_of(each)));
        }
        for (const ship_handle each : by_value_.refused()) {
            add("refused", each);
        }
        for (const ship_handle each : tree_.handles()) {
            add("node", each, tree_.parent(each), *tree_.place(each));
            for (const ship_handle child : tree_.children(each)) {
                add("child", child);
            }
        }
        for (const ship_handle each : tree_.roots()) {
            add("root", each);
        }
        details_.for_each([&](ship_handle each, property_view view) { add("bag", each, bytes_of(view)); });
        add("bags", details_.size());
        from_.for_each([&](shot_handle each, ship_handle ship) { add("from", each, ship); });
        for (const shot_handle each : volleys_.handles()) {
            add("volley", each, *volleys_.key_of(each), volleys_.find(*volleys_.key_of(each)));
            for (const shot_handle other : volleys_.find_all(*volleys_.key_of(each))) {
                add("of volley", other);
            }
        }
        for (const auto& [handle, row] : trails_.entries()) {
            const auto& [number, text] = row;
            add("trail", handle, number, text);
        }
        for (const auto each : marked_trails_) {
            add("marked", each);
        }
        for (const auto& [handle, beacon] : beacons_.living()) {
            add("beacon", handle, beacon.text);
        }
        for (std::size_t key = 0; key != 5; ++key) {
            for (const auto each : lit_.find_all(key)) {
                add("lit", key, each);
            }
        }
        for (const std::string& each : log_book_) {
            add("log", each);
        }
        add("random", std::mt19937_64(random_)());
        add("number", number_.number);
        return seen;
    }
    template <class Handle>
    using states = std::map<Handle, handle_state>;
    states<ship_handle> states_of_ships() const { return states_of(ships_, ever_ships_); }
    states<shot_handle> states_of_shots() const { return states_of(shots_, ever_shots_); }

    bool are_attached() const {
        return burning_.attached() && names_.attached() && by_key_.attached() && by_value_.attached() &&
               tree_.attached() && details_.attached() && from_.attached() && volleys_.attached() &&
               marked_trails_.attached() && lit_.attached();
    }

    // ---- What happens

    void play() {
        for (std::uint64_t steps = below(40); steps != 0; --steps) {
            step(below(32));
        }
    }

    world& past() { return world_; }
    number_participant& number() { return number_; }
    std::span<const ship_handle> undone_ships() const { return world_.undone(past_of_ships_); }
    std::span<const shot_handle> undone_shots() const { return world_.undone(past_of_shots_); }

    std::set<ship_handle> given_ships; // since the beginning, but for those that were undone
    std::set<shot_handle> given_shots;

private:
    static std::string text_from(const char* text) { return text; }
    static std::string text_from(const std::string& text) { return text; }
    static std::string text_from(std::uint64_t number) { return std::to_string(number); }
    template <class T>
    static std::string text_from(handle<T> each) {
        return std::to_string(each.index()) + '#' + std::to_string(each.generation());
    }
    static std::string bytes_of(const property_reader& bag) {
        std::string text;
        for (const std::byte each : bag.bytes()) {
            text += static_cast<char>('a' + std::to_integer<int>(each) / 16);
            text += static_cast<char>('a' + std::to_integer<int>(each) % 16);
        }
        return text;
    }
    template <class Pool, class Handle>
    static states<Handle> states_of(const Pool& pool, const std::set<Handle>& ever) {
        states<Handle> found;
        for (const Handle each : ever) {
            found.emplace(each, pool.state(each));
        }
        return found;
    }

    std::uint64_t below(std::uint64_t end) { return random_() % end; }
    ship_handle any_ship() {
        if (!recent_.empty() && below(3) == 0) {
            return recent_[below(recent_.size())];
        }
        return ships_.items().empty() ? ship_handle() : ships_.handle_at(below(ships_.items().size()));
    }
    shot_handle any_shot() {
        return shots_.items().empty() ? shot_handle() : shots_.handle_at(below(shots_.items().size()));
    }
    void make_ship() {
        const ship_handle made = ships_.try_emplace(below(60), any_ship());
        if (made) {
            took_ship(made);
            if (below(2) == 0) {
                burning_.insert(made);
            }
            if (below(2) == 0) {
                names_.try_emplace(made, text_of(below(1000)));
            }
            if (below(2) == 0) {
                tree_.insert(made);
            }
            if (below(2) == 0) {
                details_.set(made, "name"_key, text_of(below(1000)));
            }
        }
    }
    void took_ship(ship_handle made) {
        given_ships.insert(made);
        ever_ships_.insert(made);
        recent_.push_back(made);
    }
    void took_shot(shot_handle made) {
        if (made) {
            given_shots.insert(made);
            ever_shots_.insert(made);
            from_.try_emplace(made, shots_.find(made)->from);
        }
    }

    void step(std::uint64_t which) {
        const ship_handle ship = any_ship();
        const shot_handle shot = any_shot();
        switch (ship ? which : 0) {
        case 0:
        case 1:
        case 2:
        case 3:
            make_ship();
            break;
        case 4:
        case 5:
        case 6:
            ships_.erase(ship);
            break;
        case 7:
            took_shot(shots_.try_emplace(ship));
            break;
        case 8:
            shots_.erase(shot);
            break;
        case 9:
        case 10:
            if (played_ship* const found = log_of_ships_.edit(ship)) {
                found->value += below(10);
                found->target = any_ship();
                found->sheet.set("crew"_key, text_of(below(100)));
            }
            break;
        case 11:
            if (played_shot* const found = log_of_shots_.edit(shot)) {
                ++found->hits;
            }
            break;
        case 12:
            by_key_.rekey(ship, key_of_ship({.value = below(9), .target = {}, .sheet = {}}));
            break;
        case 13:
            below(2) == 0 ? by_key_.erase(ship)
                          : by_key_.insert(ship, key_of_ship({.value = below(9), .target = {}, .sheet = {}}));
            break;
        case 14:
            by_value_.rekey(ship, below(60));
            break;
        case 15:
            if (below(3) == 0) {
                by_value_.clear_refused();
            }
            break;
        case 16:
            below(2) == 0 ? burning_.erase(ship) : burning_.insert(ship);
            break;
        case 17:
            if (below(2) == 0 || ships_.find(ship) == nullptr) {
                names_.erase(ship);
            } else {
                names_.insert_or_assign(ship, text_of(below(1000)));
            }
            break;
        case 18:
        case 19:
            if (const ship_handle parent = any_ship(); ships_.contains(ship) && ships_.contains(parent)) {
                tree_.try_set_parent(ship, parent);
            }
            break;
        case 20:
            below(2) == 0 ? tree_.clear_parent(ship) : tree_.erase(ship);
            break;
        case 21:
        case 22:
            if (ships_.contains(ship)) {
                const std::string key = "key " + std::to_string(below(5));
                below(3) == 0 ? details_.erase_property(ship, property_path(key))
                              : details_.set(ship, property_path(key), text_of(below(1000)));
            }
            break;
        case 23:
            details_.erase(ship);
            break;
        case 24:
            sort_by(ships_, [by = below(9)](const played_ship& each) { return each.value % (by + 1); });
            break;
        case 25:
            if (const ship_handle made = ships_.try_reserve_handle()) {
                given_ships.insert(made);
                ever_ships_.insert(made);
                reserved_.push_back(made);
            }
            if (reserved_.size() > 3) {
                const ship_handle first = reserved_.front();
                reserved_.erase(reserved_.begin());
                if (below(2) == 0) {
                    ships_.cancel(first);
                } else if (ships_.try_fulfill(first, below(60))) {
                    recent_.push_back(first);
                }
            }
            break;
        case 26:
            if (const ship_handle given = ships_.revoke(ship)) {
                took_ship(given);
            }
            break;
        case 27:
            below(2) == 0 ? ships_.compact() : shots_.compact();
            break;
        case 28:
            rare_step(below(12));
            break;
        case 29:
        case 30:
            step_of_other_kinds();
            break;
        default:
            log_book_.push_back(text_of(below(1000)));
            number_.number += below(1000);
            if (log_book_.size() > 8) {
                log_book_.erase(log_book_.begin(), log_book_.begin() + 4);
                recent_.clear();
            }
        }
    }
    void step_of_other_kinds() {
        if (const auto made = trails_.try_emplace(below(100), text_of(below(100))); made && below(2) == 0) {
            marked_trails_.insert(made);
        }
        beacons_.try_emplace(text_of(below(100)));
        if (!trails_.empty() && !marked_trails_.empty() && below(2) == 0) {
            const auto marked = marked_trails_.handles()[below(marked_trails_.size())];
            if (std::string* const text = log_of_trails_.edit<1>(marked)) {
                *text += 'y';
            }
            if (below(2) == 0) {
                trails_.erase(marked);
            }
        }
        if (!lit_.empty()) {
            const auto lit = lit_.handles()[below(lit_.size())];
            if (played_beacon* const beacon = log_of_beacons_.edit(lit)) {
                beacon->text += 'z';
            }
            if (below(2) == 0) {
                beacons_.erase(lit);
            } else {
                lit_.rekey(lit, below(5));
            }
        }
    }
    void rare_step(std::uint64_t which) {
        switch (which) {
        case 0:
            ships_.clear();
            break;
        case 1:
            by_key_.clear();
            break;
        case 2:
            details_.clear();
            break;
        case 3:
            details_.shrink_to_fit();
            break;
        case 4:
            names_.clear();
            names_.shrink_to_fit();
            break;
        case 5:
            tree_.shrink_to_fit();
            break;
        case 6:
            burning_.clear();
            burning_.shrink_to_fit();
            break;
        default:
            break;
        }
    }
    void ship_ends(ship_handle ended) {
        log_book_.push_back("ended " + text_from(ended));
        if (ended.index() % 3 == 0) {
            took_shot(shots_.try_emplace(ended));
        }
        if (played_shot* const found =
                log_of_shots_.edit(from_.empty() ? shot_handle() : from_.handles()[0])) {
            found->hits += 100;
        }
    }

    pool<played_ship> ships_{{.name = "ships", .capacity = 60, .reuse_delay = 2, .slot_limit = 4000}};
    pool<played_shot> shots_{{.name = "shots", .capacity = 40, .reuse_delay = 0, .slot_limit = 4000}};
    scoped_hook ends_ = ships_.on_destroy([this](ship_handle ended, auto&&) { ship_ends(ended); });
    scoped_hook births_ =
        ships_.on_birth([this](ship_handle born, auto&&) { log_book_.push_back("born " + text_from(born)); });
    change_log<pool<played_ship>> log_of_ships_{ships_, {.frames = 64}};
    change_log<pool<played_shot>> log_of_shots_{shots_, {.frames = 64}};
    capture_ring<pool<played_ship>> past_of_ships_{log_of_ships_, {.frames = kept + 1}};
    capture_ring<pool<played_shot>> past_of_shots_{log_of_shots_, {.frames = kept + 3}};
    pool<trail_row> trails_{{.name = "trails", .capacity = 40}};
    stable_pool<played_beacon> beacons_{{.name = "beacons", .capacity = 40}};
    change_log<pool<trail_row>> log_of_trails_{trails_, {.frames = 64}};
    change_log<stable_pool<played_beacon>> log_of_beacons_{beacons_, {.frames = 64}};
    capture_ring<pool<trail_row>> past_of_trails_{log_of_trails_, {.frames = kept + 1}};
    capture_ring<stable_pool<played_beacon>> past_of_beacons_{log_of_beacons_, {.frames = kept + 1}};
    handle_set<trail_row> marked_trails_;
    handle_index<played_beacon, std::size_t> lit_{duplicate_keys::allow};
    handle_set<played_ship> burning_;
    handle_map<played_ship, std::string> names_;
    handle_index<played_ship, std::string> by_key_{duplicate_keys::allow};
    handle_index<played_ship, std::uint64_t> by_value_;
    hierarchy<played_ship> tree_{orphans::are_erased};
    property_store<played_ship> details_{{.slot_limit = 4000, .bytes = 1U << 22}};
    handle_map<played_shot, ship_handle> from_;
    handle_index<played_shot, ship_handle> volleys_{duplicate_keys::allow};
    std::vector<ship_handle> recent_;
    std::vector<ship_handle> reserved_;
    std::vector<std::string> log_book_;
    std::mt19937_64 random_;
    number_participant number_;
    world world_{{.frames = kept}};
    std::set<ship_handle> ever_ships_;
    std::set<shot_handle> ever_shots_;
};

/// Plays a world, and compares it.
class world_oracle {
public:
    explicit world_oracle(std::uint64_t seed) : chance_(seed), game_(seed) {}

    void run() {
        play();
        for (int i = 0; i != 40 && !testing::Test::HasFailure(); ++i) {
            switch (chance_.below(7)) {
            case 0:
                again();
                break;
            case 1:
                if (chance_.one_in(2)) {
                    game_.play(); // which is undone too
                }
                restore(any_frame());
                begin(); // another course of events
                break;
            case 2:
                if (chance_.one_in(3)) {
                    const std::uint64_t frame = any_frame();
                    game_.past().confirm(frame);
                    seen_.erase(seen_.begin(), seen_.find(frame));
                }
                break;
            case 3:
                begin();
                fail_and_capture();
                break;
            default:
                play();
            }
        }
    }

private:
    struct moment {
        std::string text;
        played_world::states<ship_handle> ships;
        played_world::states<shot_handle> shots;
        std::set<ship_handle> given_ships;
        std::set<shot_handle> given_shots;

        friend bool operator==(const moment&, const moment&) = default;
    };

    moment now() const {
        return {.text = game_.text(),
                .ships = game_.states_of_ships(),
                .shots = game_.states_of_shots(),
                .given_ships = game_.given_ships,
                .given_shots = game_.given_shots};
    }
    std::uint64_t any_frame() { return frame_ - chance_.below(seen_.size()); }

    /// How a frame came about.
    struct course {
        int plays = 0;
        bool failed = false; // to be captured at first
    };

    void begin() {
        game_.play();
        ++now_.plays;
    }
    void play() {
        begin();
        capture();
    }
    void capture() {
        game_.past().capture(++frame_);
        courses_[frame_] = std::exchange(now_, {});
        if (seen_.size() == played_world::kept) {
            seen_.erase(seen_.begin());
        }
        seen_[frame_] = now();
        expect_kept();
    }
    /// A capture of which one part fails is none, and can be made then.
    void fail_and_capture() {
        now_.failed = true;
        game_.number().fails = true;
        EXPECT_THROW(game_.past().capture(frame_ + 1), std::runtime_error);
        const moment before = now(); // hooks have run
        expect_kept();
        capture();
        EXPECT_EQ(now(), before);
    }
    void restore(std::uint64_t frame) {
        const std::set<ship_handle> ships = game_.given_ships;
        const std::set<shot_handle> shots = game_.given_shots;
        if (chance_.one_in(4)) {
            game_.number().fails = true;
            EXPECT_THROW(game_.past().restore(frame), std::runtime_error);
        }
        game_.past().restore(frame);
        frame_ = frame;
        now_ = {};
        seen_.erase(std::next(seen_.find(frame)), seen_.end());
        const moment& then = seen_[frame];
        // Hooks that are called by a restore create objects, which it undoes.
        expect_undone(game_.undone_ships(), game_.given_ships, then.given_ships);
        expect_undone(game_.undone_shots(), game_.given_shots, then.given_shots);
        game_.given_ships = then.given_ships;
        game_.given_shots = then.given_shots;
        expect_equal(now(), then);
        expect_kept();
    }
    /// The same frames again, with another one that is undone in between.
    void again() {
        const std::uint64_t end = frame_;
        const auto before = seen_;
        game_.play();
        restore(any_frame());
        while (frame_ != end && !testing::Test::HasFailure()) {
            const course then = courses_.at(frame_ + 1);
            for (int i = 0; i != then.plays; ++i) {
                begin();
            }
            then.failed ? fail_and_capture() : capture();
            EXPECT_EQ(game_.given_ships, before.at(frame_).given_ships);
            EXPECT_EQ(game_.given_shots, before.at(frame_).given_shots);
            expect_equal(now(), before.at(frame_));
        }
    }

    template <class Handle>
    static void expect_undone(std::span<const Handle> undone, const std::set<Handle>& given,
                              const std::set<Handle>& then) {
        std::vector<Handle> expected;
        std::ranges::set_difference(given, then, std::back_inserter(expected));
        std::vector<Handle> found(undone.begin(), undone.end());
        for (std::vector<Handle>* const each : {&expected, &found}) {
            std::ranges::sort(*each, {},
                              [](Handle one) { return std::tuple(one.index(), one.generation()); });
        }
        EXPECT_EQ(found, expected);
    }
    /// Handles that were not given out then are stale.
    template <class Handle>
    static void expect_states(const played_world::states<Handle>& seen,
                              const played_world::states<Handle>& then) {
        for (const auto& [handle, state] : seen) {
            const auto found = then.find(handle);
            ASSERT_EQ(state, found == then.end() ? handle_state::stale : found->second)
                << handle.index() << ' ' << handle.generation();
        }
    }
    void expect_equal(const moment& seen, const moment& then) {
        EXPECT_EQ(seen.text, then.text);
        expect_states(seen.ships, then.ships);
        expect_states(seen.shots, then.shots);
        EXPECT_TRUE(game_.are_attached());
    }
    void expect_kept() {
        std::vector<std::uint64_t> frames;
        for (const auto& [frame, each] : seen_) {
            frames.push_back(frame);
            EXPECT_TRUE(game_.past().contains(frame));
        }
        EXPECT_EQ(game_.past().frames(), frames);
        EXPECT_EQ(game_.number().kept(), frames.size());
    }

    random_source chance_;
    played_world game_;
    std::map<std::uint64_t, moment> seen_;
    std::map<std::uint64_t, course> courses_;
    course now_;
    std::uint64_t frame_ = 0;
};

TEST(world_oracle_test, a_restored_world_is_what_it_was_and_goes_on_as_it_did) {
    for (std::uint64_t seed = 1; seed != 61 && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        world_oracle(seed).run();
    }
}

} // namespace
} // namespace handlepool::test
