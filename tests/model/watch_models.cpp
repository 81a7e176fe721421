// SPDX-License-Identifier: MIT

// What is noted for those who follow a pool over time, while other threads use it.

#include "models.hpp"
#include "pool_scene.hpp"

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/marks/mark_set.hpp>
#include <handlepool/detail/marks/store_watch.hpp>
#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/detail/parts/shard.hpp>
#include <handlepool/detail/slots/slot_table.hpp>
#include <handlepool/detail/threads/access_gate.hpp>
#include <handlepool/time/change_log.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace handlepool::model {
namespace {

/// Two slots with objects, and who follows their handles.
class watch_scene : public model {
protected:
    watch_scene() : slots_("slots", 2, 0) {
        for (std::uint32_t slot = 0; slot != 2; ++slot) {
            const auto tag = slots_.next_tag(slot_index{slot}, 0);
            slots_.publish(slot_index{slot}, tag, location{slot});
            told_.at(slot) = slots_.handle_of(slot_index{slot}, tag);
        }
    }

    /// From its present handle, as who finds the object in the store would ask.
    void revoke(std::uint32_t slot) {
        const auto given = slots_.revoke(seen(slot));
        if (given != 0) {
            watch_.note_revoked(slots_.slot_of(given));
        }
    }
    void turn_on() { watch_.turn_on("watch", 2, 1); }
    void look(std::uint32_t slot) {
        told_.at(slot) = slots_.handle_of(slot_index{slot}, slots_.tag_to_note(slot_index{slot}));
    }
    /// What is told of a mark is ordered by the mark alone.
    void end_frame() {
        watch_.end_frame([this](const auto& notes) {
            notes.revoked.for_each(
                [this](std::size_t slot) { told_.at(slot) = seen(static_cast<std::uint32_t>(slot)); });
        });
    }
    void check() override {
        end_frame();
        for (std::uint32_t slot = 0; slot != 2; ++slot) {
            require(told_.at(slot) == seen(slot),
                    "each revoke is told of when the next frame ends, at the latest");
        }
    }

private:
    using config = pool_config<default_layout, model_policy>;

    config::layout::value_type seen(std::uint32_t slot) const {
        return slots_.handle_of(slot_index{slot}, slots_.tag_relaxed(slot_index{slot}));
    }

    slot_table<config> slots_;
    std::array<config::layout::value_type, 2> told_{};

protected:
    store_watch<model_policy> watch_;
};

/// One thread revokes the handle of an object twice, and then that of another one, while frames end.
class revoke_against_the_end_of_a_frame : public watch_scene {
public:
    revoke_against_the_end_of_a_frame() { turn_on(); }

    void run(unsigned index) override {
        if (index == 0) {
            end_frame();
            end_frame();
        } else {
            revoke(0);
            revoke(0);
            revoke(1);
        }
    }
};

/// Two threads change something and mark the same number, while a third one takes marks: what it sees is
/// ordered by them alone.
class marks_of_two_threads : public model {
public:
    marks_of_two_threads() : marks_("marks", 1) {}

    void run(unsigned index) override {
        if (index == 2) {
            take();
        } else {
            changes_.at(index).store(1, std::memory_order::relaxed);
            marks_.mark_at_any_time(0);
        }
    }
    void check() override {
        take();
        require(seen_[0] == 1 && seen_[1] == 1, "who takes a mark sees what each thread did that marked");
    }

private:
    void take() {
        marks_.take_at_any_time([this](std::size_t) {
            for (std::size_t thread = 0; thread != 2; ++thread) {
                seen_.at(thread) = changes_.at(thread).load(std::memory_order::relaxed);
            }
        });
    }

    mark_set<model_policy> marks_;
    std::array<model_policy::atomic<std::uint32_t>, 2> changes_{};
    std::array<std::uint32_t, 2> seen_{};
};

/// Two threads revoke, each the handle of another object, and then both of the same one.
class revokes_of_two_threads_against_the_end_of_a_frame : public watch_scene {
public:
    revokes_of_two_threads_against_the_end_of_a_frame() { turn_on(); }

    void run(unsigned index) override {
        if (index == 0) {
            end_frame();
            end_frame();
        } else {
            revoke(index - 1);
            revoke(0);
        }
    }
};

/// A handle is revoked while somebody begins to follow, for the first time or once more.
template <bool Again>
class revoke_while_a_log_is_attached : public watch_scene {
public:
    revoke_while_a_log_is_attached() {
        if (Again) {
            turn_on();
            watch_.turn_off();
        }
    }

    void run(unsigned index) override {
        if (index == 0) {
            turn_on();
            look(0);
            look(1);
        } else {
            revoke(0);
        }
    }
};

/// Threads edit under guards, each its own object, while compactions take the marks.
class edits_under_guards : public model {
public:
    edits_under_guards() : shards_("shards", 3), gate_(shards_, "model"), edits_("edits", 2) {}

    void run(unsigned index) override {
        if (index == 0) {
            compact();
            compact();
        } else {
            edit(index - 1);
            edit(index - 1);
        }
    }
    void check() override {
        take();
        require(told_[0] == 2 && told_[1] == 2, "each edit is told of when the next frame ends");
    }

private:
    void edit(std::size_t number) {
        const auto guard = gate_.access();
        objects_.at(number)++;
        edits_.mark(number);
    }
    void compact() {
        if (gate_.try_close()) {
            take();
            for (std::size_t number = 0; number != 2; ++number) {
                require(told_.at(number) == objects_.at(number), "none is told of later");
            }
            gate_.open();
        }
    }
    void take() {
        edits_.take([this](std::size_t number) { told_.at(number) = objects_.at(number); });
    }

    shard_table<model_policy> shards_;
    access_gate<shard<model_policy>> gate_;
    mark_set<model_policy> edits_;
    std::array<model_plain<std::uint32_t>, 2> objects_;
    std::array<std::uint32_t, 2> told_{};
};

/// A pool with a log of what its frames did, and what the log has told of its object's handle.
class logged_scene : public scene_with_an_old_object {
protected:
    void attach() { log_.emplace(objects); }
    void revoke() { now_ = objects.revoke(now_); }

    void check() override {
        objects.compact();
        require(objects.erase(now_), "the latest handle is the object's");
        objects.compact();
        const auto records = log_->changes_since(log_->frame() - 1);
        const auto& destroyed = records->front().destroyed;
        require(destroyed.size() == 1, "the end of an object is told of");
        require(destroyed.front().handle == now_, "the log knows an object by its latest handle");
        log_.reset();
        require_consistent(objects, 0);
    }

    std::optional<change_log<pool_type>> log_;
    handle_type now_ = old_;
};

/// A handle is revoked twice while a frame of the log ends.
class revokes_in_a_logged_pool : public logged_scene {
public:
    revokes_in_a_logged_pool() { attach(); }

    void run(unsigned index) override {
        if (index == 0) {
            objects.compact();
        } else {
            revoke();
            revoke();
        }
    }
};

/// A handle is revoked while a log is attached to the pool.
class log_attached_to_a_pool : public logged_scene {
public:
    void run(unsigned index) override {
        if (index == 0) {
            attach();
        } else {
            revoke();
        }
    }
};

} // namespace

void add_watch_models(std::vector<model_entry>& to) {
    add<revoke_against_the_end_of_a_frame>(to, "revoke against the end of a frame", 2,
                                           "a frame that takes a mark sees the new handle; no mark is lost");
    add<revokes_of_two_threads_against_the_end_of_a_frame>(
        to, "revokes of two threads", 3, "the same, when the mark that is taken is that of several threads");
    add<marks_of_two_threads>(to, "marks of two threads", 3,
                              "who takes the mark of several threads sees what each of them did before");
    add<revoke_while_a_log_is_attached<false>>(to, "revoke while a log is made", 2,
                                               "who begins to follow a pool sees the new handle or hears of "
                                               "it; nobody marks in sets that are being made");
    add<revoke_while_a_log_is_attached<true>>(to, "revoke while a log is attached", 2,
                                              "the same, when the sets are there already");
    add<edits_under_guards>(to, "edits under guards", 3,
                            "the next compaction is told of each edit, and sees what was written");
    add<revokes_in_a_logged_pool>(to, "revokes in a logged pool", 2,
                                  "a log knows the latest handle when a frame has ended after the revoke");
    add<log_attached_to_a_pool>(to, "log attached to a pool", 2, "the same, of a log that is attached");
}

} // namespace handlepool::model
