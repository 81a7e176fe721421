// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/captures/captured_positions.hpp>
#include <handlepool/detail/captures/graveyard.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/pool_geometry.hpp>
#include <handlepool/detail/objects/object_type.hpp>
#include <handlepool/detail/parts/object_keeper.hpp>
#include <handlepool/detail/slots/slot_table.hpp>
#include <handlepool/memory_use.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// A store of objects that can't be copied, as of the latest capture: which slot's object stood at which
/// position. Instead of copies it has the objects themselves: those that end are kept, until nobody restores
/// a capture in which they live, and come back as they were when they ended.
///
/// ```
///                  a dense store    a stable one    ended since then
///   capture 6        a b c            a b c
///                    c                · · c           a b              erase(a), erase(b)
///   capture 7        c                · · c                            which keeps a and b
///   restored to 6    a b c            a b c                            a and b are put back; in a dense
///                                                                      store, c moves
/// ```
template <class T, class Parts>
class captured_lives final : public captured_positions<Parts>,
                             public object_keeper<typename Parts::value_type> {
    using base = captured_positions<Parts>;
    using base::looked_at_;
    using base::positions_;
    using base::store_;
    using store_type = typename base::store_type;
    using policy = typename Parts::policy;
    using placement = typename Parts::placement;
    using value_type = typename Parts::value_type;
    using table_type = slot_table<typename Parts::config>;
    using graves_type = graveyard<T, store_type>;

    /// What stands at a position.
    struct place {
        std::uint64_t since = 0; // the first capture that has the object; none of them if there is no object
        typename store_type::owner_type owner{};

        slot_index slot() const noexcept { return store_type::slot_of(owner); }
        friend bool operator==(const place&, const place&) = default;
    };
    struct change {
        std::uint32_t position = 0;
        place other;
    };
    /// What became of the object of a slot.
    enum class life : std::uint32_t {
        unknown, // the latest capture has no object of the slot
        goes_on, // it has one, which lives
        ended,   // it has one, which has ended since then
    };
    struct note {
        std::uint64_t since = 0;
        life now = life::unknown;
        std::uint32_t grave = graves_type::none; // where write() has put the object
    };

public:
    /// How a capture differs from the one before, and what has ended in between.
    class capture {
    public:
        std::size_t objects() const noexcept { return store_.objects(); }
        std::size_t bytes() const noexcept { return changes_.capacity() * sizeof(change) + store_.bytes(); }

    private:
        friend captured_lives;

        std::vector<change> changes_;
        typename store_type::capture store_;
        typename graves_type::list ended_;
    };

    /// Throws reservation_failed and std::bad_alloc.
    captured_lives(const allocation_label& what_for, const pool_geometry& geometry,
                   const object_type<T>& type)
        : base(what_for, geometry),
          places_(what_for.part(" positions"), store_type::most_positions(geometry), 0),
          notes_(what_for.part(" lives"), geometry.slot_limit, 0),
          graves_(type) {
        lost_.reserve(1);
    }
    ~captured_lives() {
        if (parts_ != nullptr) {
            parts_->keeper = nullptr;
        }
    }

    captured_lives(const captured_lives&) = delete;
    captured_lives& operator=(const captured_lives&) = delete;

    /// From here on keeps objects that end. False when somebody else does so. While the gate is closed.
    bool follow(Parts& parts) noexcept {
        if (parts.keeper != nullptr) {
            return false;
        }
        parts_ = &parts;
        parts.keeper = this;
        return true;
    }

    bool keep(value_type handle, location where) noexcept override {
        const slot_index slot = table_type::slot_of(handle);
        note& of = notes_[raw(slot)];
        if (of.now != life::goes_on) {
            return false;
        }
        of.now = life::ended;
        if (capture_exception([&] { graves_.make_room(1); }) != nullptr) {
            lose(handle, of.since);
            return false;
        }
        graves_.add(ended_, take_out(*parts_, where, slot, of.since));
        return true;
    }
    void miss(value_type handle) noexcept override {
        note& of = notes_[raw(table_type::slot_of(handle))];
        if (of.now == life::goes_on) {
            of.now = life::ended;
            lose(handle, of.since);
        }
    }

    /// From here on the pool has no object that a capture has: what it has in their slots is others'.
    void miss_all() noexcept override { notes_.discard(); }

    /// Finds what differs from the latest capture, and writes it to a capture that has nothing. Throws
    /// std::bad_alloc; then discard() gives up what it has written.
    void compare(const Parts& parts, capture& next) {
        const auto lives = store_type::living(parts);
        looked_at_.for_each([&](std::size_t position) {
            if (const place now = place_in(parts, lives, position); now != place{places_[position]}) {
                next.changes_.push_back({.position = static_cast<std::uint32_t>(position), .other = now});
            }
        });
        store_.compare(parts, next.store_);
    }
    /// Instead of commit(); or after it, when nobody undoes the changes any more.
    void discard(capture& unwanted) noexcept {
        unwanted.changes_.clear();
        graves_.join(doomed_, std::exchange(unwanted.ended_, {}));
        store_.discard(unwanted.store_);
    }
    /// Nobody undoes the changes of this capture any more, after which there are so many.
    void confirm(capture& oldest, std::size_t after) noexcept {
        discard(oldest);
        std::erase_if(lost_,
                      [first = latest_ - after](const lost_object& each) { return each.last < first; });
    }
    /// There is no capture any more: nothing comes back.
    void forget() noexcept {
        graves_.join(doomed_, std::exchange(ended_, {}));
        lost_.clear();
        for (std::size_t position = 0; position != store_.positions(); ++position) {
            if (place& there = places_[position]; there.since != 0) {
                notes_[raw(there.slot())] = {};
                there = {};
            }
        }
    }
    /// What compare() has written is the latest capture; it keeps how the one before was.
    void commit(capture& next) noexcept {
        ++latest_;
        exchange(next.changes_);
        next.ended_ = std::exchange(ended_, {});
        store_.commit(next.store_);
    }
    /// The capture before is the latest one.
    void undo(capture& latest, const capture& before) noexcept {
        --latest_;
        exchange(latest.changes_);
        for (const change& each : latest.changes_) {
            looked_at_.insert(each.position);
        }
        latest.changes_.clear();
        add_ended(std::exchange(latest.ended_, {}));
        std::erase_if(lost_, [this](const lost_object& each) { return each.since > latest_; });
        for (lost_object& each : lost_) {
            each.last = least(each.last, latest_);
            note& of = notes_[raw(table_type::slot_of(each.handle))];
            if (each.last == latest_ && of.now == life::goes_on && of.since == each.since) {
                of.now = life::ended;
            }
        }
        store_.undo(latest.store_, before.store_);
    }
    /// Returns the handle of an object that lives in the capture so many before the latest, and is not there
    /// to come back; zero if all are.
    value_type find_lost(std::size_t before) const noexcept {
        const std::uint64_t wanted = latest_ - before;
        for (const lost_object& each : lost_) {
            if (each.since <= wanted && wanted <= each.last) {
                return each.handle;
            }
        }
        return 0;
    }

    /// Finds the positions that differ, and makes room for what write() will move. Throws std::bad_alloc.
    void prepare(Parts& parts) {
        this->list_positions(parts);
        const auto lives = store_type::living(parts);
        std::erase_if(positions_, [&](std::uint32_t position) {
            return place_in(parts, lives, position) == place{places_[position]};
        });
        std::size_t leaving = 0;
        for_each_leaving(parts, [&leaving](std::uint32_t) { ++leaving; });
        graves_.make_room(leaving);
    }
    /// The store becomes that of the latest capture. Calls `written(position)` for each position that has an
    /// object and had another one.
    template <class Written>
    void write(Parts& parts, const capture& latest, Written written) noexcept {
        store_.begin_rewrite(parts, latest.store_);
        for_each_leaving(parts, [&, lives = store_type::living(parts)](std::uint32_t position) {
            const place now = place_in(parts, lives, position);
            const std::uint32_t grave =
                take_out(parts, placement::location_of(parts, position), now.slot(), now.since);
            if (now.since != 0) { // it moves
                notes_[raw(now.slot())].grave = grave;
            } else { // a recycling pool keeps it there
                graves_.add(doomed_, grave);
            }
        });
        graves_.for_each(std::exchange(ended_, {}),
                         [this](std::uint32_t number, slot_index slot, std::uint64_t) {
                             std::uint32_t& grave = notes_[raw(slot)].grave;
                             if (grave != graves_type::none) { // a snapshot's object of that handle
                                 graves_.add(doomed_, grave);
                             }
                             grave = number;
                         });
        for (const std::uint32_t position : positions_) {
            if (const place& then = places_[position]; then.since != 0) {
                note& of = notes_[raw(then.slot())];
                of.now = life::goes_on;
                graves_.put_back(std::exchange(of.grave, graves_type::none), parts.objects,
                                 placement::location_of(parts, position));
                store_type::note_put_in(parts, position, then.owner);
                written(position);
            }
        }
        store_.end_rewrite(parts, latest.store_);
    }
    /// Destroys the objects that can't come back any more, when the pool is whole: destructors may use it.
    void destroy_former() noexcept { graves_.destroy(doomed_); }

    memory_use memory() const noexcept {
        const std::size_t bytes = graves_.bytes() + positions_.capacity() * sizeof(std::uint32_t) +
                                  lost_.capacity() * sizeof(lost_object);
        return memory_of(store_, places_, notes_, looked_at_) +
               memory_use{.reserved = bytes, .resident = bytes};
    }

private:
    /// Puts the object at a location into a grave. There must be room.
    std::uint32_t take_out(Parts& parts, location where, slot_index slot, std::uint64_t since) noexcept {
        parts.objects.unpoison_objects(where); // a recycling pool may keep it, and it is not alive
        const std::uint32_t grave = graves_.put_in(parts.objects, where, slot, since);
        store_type::note_taken_out(parts, where);
        return grave;
    }
    /// Calls `visit(position)` for the positions that differ and have an object now which must go.
    template <class Visit>
    void for_each_leaving(const Parts& parts, Visit visit) const {
        const auto leaves = store_type::leaving(parts);
        for (const std::uint32_t position : positions_) {
            if (leaves(position, places_[position].since != 0)) {
                visit(position);
            }
        }
    }
    /// Adds what had ended before the others; of these, some may be objects that this capture doesn't have.
    void add_ended(const typename graves_type::list& before) noexcept {
        typename graves_type::list all = before;
        graves_.join(all, std::exchange(ended_, {}));
        graves_.for_each(all, [this](std::uint32_t number, slot_index slot, std::uint64_t since) {
            note& of = notes_[raw(slot)];
            const bool is_known = of.now != life::unknown && of.since == since;
            if (is_known) {
                of.now = life::ended;
            }
            graves_.add(is_known ? ended_ : doomed_, number);
        });
    }
    /// One that has ended and is not kept: captures from the first that has it to the last can't be restored.
    struct lost_object {
        value_type handle;
        std::uint64_t since;
        std::uint64_t last;
    };
    void lose(value_type handle, std::uint64_t since) noexcept {
        const lost_object now{.handle = handle, .since = since, .last = latest_};
        if (capture_exception([&] { lost_.push_back(now); }) != nullptr) { // one that stands for both
            lost_.back() = {.handle = handle, .since = least(since, lost_.back().since), .last = latest_};
        }
    }

    template <class Lives>
    place place_in(const Parts& parts, const Lives& lives, std::size_t position) const noexcept {
        if (!lives(position)) {
            return {};
        }
        const auto owner = store_type::owner(parts, position);
        const note& of = notes_[raw(store_type::slot_of(owner))];
        return {.since = of.now == life::goes_on ? of.since : latest_ + 1, .owner = owner};
    }
    /// Exchanges what the changes say with what stands there.
    void exchange(std::vector<change>& changes) noexcept {
        for (const change& each : changes) {
            if (const place& there = places_[each.position]; there.since != 0) {
                notes_[raw(there.slot())] = {};
            }
        }
        for (change& each : changes) {
            const place before = places_[each.position];
            places_[each.position] = each.other;
            if (each.other.since != 0) {
                notes_[raw(each.other.slot())] = {.since = each.other.since, .now = life::goes_on};
            }
            each.other = before;
        }
    }

    template <class Element>
    using array = typename policy::template array<typename policy::template plain<Element>>;

    Parts* parts_ = nullptr;
    array<place> places_;
    array<note> notes_; // by slot
    graves_type graves_;
    typename graves_type::list ended_;  // since the latest capture
    typename graves_type::list doomed_; // until destroy_former()
    std::vector<lost_object> lost_;
    std::uint64_t latest_ = 0; // the number of the latest capture
};

} // namespace handlepool::detail
