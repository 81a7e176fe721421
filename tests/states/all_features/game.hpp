// SPDX-License-Identifier: MIT
#pragma once

#include "companions.hpp"

#include <handlepool/scoped_hook.hpp>
#include <handlepool/snapshots/delta_recorder.hpp>
#include <handlepool/snapshots/replica.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/snapshots/world_hash.hpp>
#include <handlepool/time/capture_ring.hpp>
#include <handlepool/time/change_log.hpp>

#include <gtest/gtest.h>
#include <tests/support/random.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// The pool with everything that can be attached to it, beside what is true of them.
namespace handlepool::test {

template <class Kind>
class game : public companions<Kind> { // which hooks read until the end of the pool
    using base = companions<Kind>;

public:
    using typename base::handle_type;
    using typename base::layout;
    using typename base::pool_type;
    using log_type = change_log<pool_type>;
    using ring_type = capture_ring<pool_type>;

    /// What is true, which outlives a pool when a replica takes over.
    struct truth_type {
        pool_truth<handle_type> pool;
        members_truth<handle_type> members;
        std::set<handle_type> ever;            ///< handles that were given out
        std::set<handle_type> undone_for_ever; ///< by a ring that lets nobody else have them
        id_type next_id = 1;

        /// Who loads the pool, or follows it, knows nothing of them.
        void forget_undone() {
            for (const handle_type each : undone_for_ever) {
                ever.erase(each);
            }
            undone_for_ever.clear();
        }
    };
    struct hook_call {
        content what;
        handle_type handle;

        friend bool operator==(const hook_call&, const hook_call&) = default;
        friend auto operator<=>(const hook_call&, const hook_call&) = default;
    };
    /// A ring, and what it has captured.
    struct past_type {
        void end() {
            ring.reset();
            log.reset();
            captures.clear();
        }

        std::unique_ptr<log_type> log; // of its own, if it has one
        std::unique_ptr<ring_type> ring;
        std::map<std::uint64_t, pool_truth<handle_type>> captures;
        std::uint64_t last_capture = 0;
        bool undone_stay_stale = false;
    };
    /// What a delta said, and what was there.
    struct told_frame {
        std::vector<std::byte> bytes;
        truth_type truth;
        std::string text;
        std::uint64_t hash = 0;
        /// By a restore or a load since the frame before, or nobody knows.
        bool was_rewritten = false;
    };

    explicit game(random_source& with) : random(with) {
        pool = Kind::make();
        births_ = pool->on_birth(
            [this](handle_type handle, auto&& object) { was_born(handle, Kind::read(object)); });
        base::attach_all(*pool);
        // An early hook comes before the containers, although they were attached first.
        deaths_ =
            pool->on_destroy([this](handle_type handle, auto&& object) { died(handle, Kind::read(object)); });
        connect_second_hooks();
        follow();
    }
    ~game() {
        tell("the pool ends");
        other.end();
        end_following();
        for (const auto& [handle, id] : std::map(truth.pool.living)) {
            truth.pool.end(handle, life_event::none, 0);
        }
        hooks_may_act = false;
        pool.reset();
        EXPECT_EQ(truth.pool.objects.size(), 0U) << "hooks see each object that the end of the pool ends";
        EXPECT_EQ(base::count_members(), truth.members.count());
    }
    game(const game&) = delete;
    game& operator=(const game&) = delete;

    /// Notes an operation, to be printed when something fails.
    void tell(const std::string& what) {
        if (std::getenv("HANDLEPOOL_TELL") != nullptr) {
            std::fprintf(stderr, "%s\n", what.c_str());
        }
        told_.push_back(what);
        if (told_.size() > 30) {
            told_.erase(told_.begin());
        }
    }
    std::string told() const {
        std::string all;
        for (const std::string& each : told_) {
            all += "  " + each + '\n';
        }
        return all;
    }
    static std::string name(handle_type handle) {
        return "#" + std::to_string(handle.index()) + "." + std::to_string(handle.generation());
    }

    // ---- What is made and ends, in the model

    std::uint64_t frame_of_pool() const { return pool->stats().compactions; }

    content begin_object() {
        const content what{truth.next_id++, any_value()};
        truth.pool.objects[what.id] = {.value = what.value, .turn = what.id};
        return what;
    }
    void give_up_object(id_type id) { truth.pool.objects.erase(id); }
    /// The pool has given a handle for it; the hook may have been first to tell.
    void name_object(id_type id, handle_type handle) {
        const auto found = truth.pool.objects.find(id);
        if (found == truth.pool.objects.end() ||
            found->second.ended) { // a hook has, before the call returned
            EXPECT_TRUE(is_exclusive && truth.ever.contains(handle)) << name(handle);
            return;
        }
        object_truth<handle_type>& made = found->second;
        if (made.handle) {
            EXPECT_EQ(made.handle, handle);
            return;
        }
        EXPECT_TRUE(truth.ever.insert(handle).second || truth.pool.reserved.contains(handle))
            << "a handle was given twice: " << name(handle);
        EXPECT_FALSE(truth.undone_for_ever.contains(handle)) << "it was to stay stale: " << name(handle);
        EXPECT_EQ(handle.user(), 0U) << "a pool gives out handles without bits of the program";
        EXPECT_EQ(truth.pool.state(handle),
                  truth.pool.reserved.contains(handle) ? handle_state::reserved : handle_state::stale);
        truth.pool.reserved.erase(handle);
        truth.pool.name(id, handle);
        if constexpr (!is_dense<pool_type>) {
            made.address = Kind::address(pool->find(handle));
        }
    }
    void end_object(handle_type handle, life_event event) { truth.pool.end(handle, event, frame_of_pool()); }

    /// Returns the handle that it has then.
    template <class Pool>
    handle_type revoke_object(Pool& from, handle_type handle) {
        const handle_type given = from.revoke(with_any_user(handle));
        tell("revoke " + name(handle) + ", given " + name(given));
        EXPECT_EQ(bool(given), truth.pool.living.contains(handle));
        if (given) {
            EXPECT_TRUE(truth.ever.insert(given).second) << "a handle was given twice";
            truth.pool.revoke(handle, given, frame_of_pool());
        }
        return given;
    }

    // ---- Chance

    handle_type any_living() {
        if (truth.pool.living.empty()) {
            return {};
        }
        auto found = truth.pool.living.begin();
        std::advance(found, random.below(truth.pool.living.size()));
        return found->first;
    }
    /// Or, rarely, any that ever was.
    handle_type any_handle() {
        if (!random.one_in(8) || truth.ever.empty()) {
            return any_living();
        }
        auto found = truth.ever.begin();
        std::advance(found, random.below(truth.ever.size()));
        return *found;
    }

    std::uint64_t any_value() { return random.below(1'000'000); }
    /// The same handle, as a program may have written bits of its own into it.
    handle_type with_any_user(handle_type handle) {
        if constexpr (layout::user_bits != 0) {
            if (random.one_in(2)) {
                return handle.with_user(random.bits() & layout::user_mask);
            }
        }
        return handle;
    }

    // ---- Companions

    void connect_second_hooks() {
        second_deaths =
            pool->on_destroy([this](handle_type handle,
                                    auto&& object) { second_ends.push_back({Kind::read(object), handle}); },
                             hook_order::late);
        second_births = pool->on_birth([this](handle_type handle, auto&& object) {
            second_begins.push_back({Kind::read(object), handle});
        });
        second_ends = ends;
        second_begins = begins;
    }
    void end_following() {
        hash.reset();
        recorder.reset();
        past.end();
        log.reset();
    }
    /// From here on, logs and what lives by them.
    void follow() {
        end_following();
        change_log_options options{.frames = 6};
        options.mark_columns = column_count<Kind> != 0;
        log = std::make_unique<log_type>(*pool, keep_destroyed, options);
        past.ring = std::make_unique<ring_type>(*log, capture_ring_options{.frames = 4});
        hash = std::make_unique<world_hash>();
        hash->add("pool", *log);
        recorder = std::make_unique<delta_recorder>();
        Kind::add_to(*recorder, *log);
        base::add_members_to(*recorder);
        told_frames.clear();
        snapshot_of_follower.clear();
        known_to_log.clear();
        edited.clear();
        frame_seen = 0;
        was_sorted = false;
        writes_more_positions = false;
        log_is_new = true;
    }
    template <class To>
    void add_all_to(To& to) {
        Kind::add_to(to, *pool);
        base::add_members_to(to);
    }

    random_source& random;
    truth_type truth;

    // What hooks have seen in this step.
    std::vector<hook_call> ends;
    std::vector<hook_call> begins;
    std::vector<hook_call> second_ends;
    std::vector<hook_call> second_begins;
    std::vector<hook_call> came_back; // what was not there before a restore or a load
    std::set<id_type> awaited_by_sinks;
    std::map<id_type, hook_call> ended_in_frame; // since the log's last frame
    std::uint64_t frame_of_last_look = 0;
    bool hooks_may_act = true;
    bool something_comes_back = false; // by a restore or a load
    bool only_notes_hooks = false;     // those of a replica, compared later
    bool is_exclusive = false;
    bool is_reset_by_frame = false;

private:
    scoped_hook deaths_;
    scoped_hook births_;
    std::vector<std::string> told_;

public:
    std::unique_ptr<pool_type> pool;
    scoped_hook second_deaths;
    scoped_hook second_births;
    std::unique_ptr<log_type> log;
    std::unique_ptr<world_hash> hash;
    std::unique_ptr<delta_recorder> recorder;

    // The past: one ring lives by the log, another one comes and goes with a log of its own.
    past_type past;
    past_type other;
    bool skips_handles = false; // those of undone ones that stay stale, also after a load
    struct saved_game {
        std::vector<std::byte> bytes;
        truth_type truth;
        std::uint64_t resets = 0;
        std::string text;
    };
    std::vector<saved_game> saves;
    std::set<handle_type> given_before_loads; // and before restores
    std::uint64_t resets = 0;
    std::vector<std::byte> snapshot_of_follower;
    truth_type truth_of_snapshot;
    std::vector<told_frame> told_frames;

    // What the log knows: of each object the handle and the position.
    struct known_object {
        handle_type handle;
        std::size_t position;
    };
    std::map<id_type, known_object> known_to_log;
    std::map<id_type, edit_truth> edited;
    std::uint64_t frame_seen = 0;
    bool was_sorted = false;
    bool writes_more_positions = false; // what was sorted, or done under exclusive access
    bool was_rewritten =
        false; // by a restore or a load, whose records have no other rule than that they lead there
    bool log_is_new = true;
    bool rewritten_since_told = false;
    std::uint64_t frame_when_told = 0;
    bool has_unknown_handles = false; // a merge that was refused has given some back
    bool forgets_lives = false;       // records of lives were overwritten by what was undone

private:
    /// Each object that ends was ended before, and ends once.
    void died(handle_type handle, const content& what) {
        if (only_notes_hooks) {
            ends.push_back({what, handle});
            ended_in_frame[what.id] = {what, handle};
            return;
        }
        const auto found = truth.pool.objects.find(what.id);
        if (found == truth.pool.objects.end()) {
            ADD_FAILURE() << "an object ended that is not there: " << what.id << ' ' << name(handle);
            return;
        }
        const object_truth<handle_type> ended = found->second;
        EXPECT_TRUE(ended.ended) << "it had not been erased: " << name(handle);
        EXPECT_EQ(ended.handle, handle);
        EXPECT_EQ(ended.value, what.value);
        EXPECT_EQ(base::set.contains(with_any_user(handle)), truth.members.set.contains(handle))
            << "early hooks find all members";
        EXPECT_EQ(base::index.contains(with_any_user(handle)), truth.members.index.contains(handle));
        EXPECT_EQ(base::bags.contains(with_any_user(handle)), truth.members.bags.contains(handle));
        if (pool != nullptr) {
            EXPECT_FALSE(pool->contains(handle)) << "the handle is stale by then";
        }
        if (ended.is_extracted) {
            awaited_by_sinks.insert(what.id);
        }
        truth.pool.objects.erase(found);
        ends.push_back({what, handle});
        ended_in_frame[what.id] = {what, handle};
        act_in_hook();
        leave_containers(handle);
    }
    /// What containers do after the hooks.
    void leave_containers(handle_type handle) {
        members_truth<handle_type>& members = truth.members;
        const auto leave = [&](auto& container, bool is_attached) {
            if (const auto member = members.until(container, handle); member && is_attached) {
                container.erase(*member);
            }
        };
        leave(members.set, members.attached.set);
        leave(members.map, members.attached.map);
        leave(members.index, members.attached.index);
        leave(members.bags, members.attached.bags);
        if (const auto node = members.until(members.family, handle); node && members.attached.family) {
            end_family(*node);
        }
    }

public:
    /// The hierarchy erases a node with all that is below it.
    void end_family(handle_type root) {
        for (const handle_type each : truth.members.subtree(root)) {
            truth.members.family.erase(each);
            if (truth.pool.living.contains(each)) {
                end_object(each, life_event::erased);
            }
        }
    }

private:
    void was_born(handle_type handle, const content& what) {
        begins.push_back({what, handle});
        if (only_notes_hooks) {
            return;
        }
        const auto found = truth.pool.objects.find(what.id);
        if (something_comes_back && (found == truth.pool.objects.end() || found->second.birth_was_told)) {
            came_back.push_back({what, handle});
            return;
        }
        if (found == truth.pool.objects.end()) {
            ADD_FAILURE() << "the birth of an object was told that is not there: " << what.id;
            return;
        }
        if (!found->second.handle) { // the call that makes it has not returned yet
            name_object(what.id, handle);
        }
        // What a restore is going to undo is taken in before.
        EXPECT_TRUE(!found->second.ended || something_comes_back)
            << "births of what was erased are not told: " << name(handle);
        EXPECT_FALSE(found->second.birth_was_told);
        EXPECT_EQ(found->second.handle, handle);
        EXPECT_EQ(found->second.value, what.value);
        EXPECT_TRUE(pool->contains(handle));
        found->second.birth_was_told = true;
        act_in_hook();
        if (truth.members.attached.index && members_truth<handle_type>::admits(truth.members.index, handle) &&
            pool->contains(handle)) {
            truth.members.give_key(handle, members_truth<handle_type>::key_of(what.id));
        }
    }

    /// Hooks may create and erase.
    void act_in_hook() {
        if (!hooks_may_act || pool == nullptr || !random.one_in(12)) {
            return;
        }
        if (random.one_in(2)) {
            const content what = begin_object();
            const handle_type made =
                Kind::from(what, [&](auto&&... from) { return pool->try_emplace(from...); });
            if (made) {
                name_object(what.id, made);
            } else {
                give_up_object(what.id);
            }
        } else if (handle_type chosen = any_living()) {
            if (random.one_in(3)) {
                chosen = revoke_object(*pool, chosen);
            }
            tell("a hook erases " + name(chosen));
            end_object(chosen, life_event::erased);
            EXPECT_TRUE(pool->erase(with_any_user(chosen)));
        }
    }
};

} // namespace handlepool::test
