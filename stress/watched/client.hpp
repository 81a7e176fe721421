// SPDX-License-Identifier: MIT
#pragma once

#include "explanations.hpp"
#include "neighbours.hpp"
#include "oracle/clock.hpp"
#include "oracle/recorder.hpp"
#include "placements.hpp"
#include "tracked_object.hpp"

#include <handlepool/detail/memory/virtual_array.hpp>
#include <handlepool/exclusive_service.hpp>
#include <handlepool/fmt.hpp>
#include <handlepool/service.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

namespace handlepool::stress {

using namespace detail;

// For each slot, how many objects had been destroyed when its object was erased, plus one; 0 if it was not
// erased yet. Relaxed: a mark that comes too late, or is an old one, makes the reuse distance look larger.
using erase_marks = virtual_array<std::atomic<std::uint64_t>>;

// Complains about an object of a stable pool that is not where it was made.
template <class Pool>
void check_place(const tracked_object& object, typename Pool::handle_type handle, findings& counts) {
    if (is_stable<Pool> && object.place() != object.birthplace()) {
        counts.violate(fmt::format("the object of handle {} was made at {}, and is at {}", handle,
                                   object.birthplace(), object.place()));
    }
}

// One thread's way to a pool of a service, which routes all but creations: each operation is timed and
// recorded, and checked as far as the caller knows the answer. Where it knows none, the histories decide.
template <class Pool>
class alignas(cache_line) client {
public:
    using handle_type = typename Pool::handle_type;

    using layout = typename Pool::layout;

    client(basic_service<layout>& world, Pool& pool, neighbours<layout>& others, lifetime_counts& objects,
           erase_marks& marks, explanations<Pool>& told, std::size_t thread, std::size_t partitions,
           std::size_t sample)
        : service_(world),
          pool_(pool),
          neighbours_(world, others, std::uint64_t{thread} << 36),
          objects_(objects),
          marks_(marks),
          told_(told),
          client_(thread),
          next_number_(std::uint64_t{thread} << 36),
          recorder_(partitions, sample) {}

    // Creates an object with a number that no other has. `args` follow it to the constructor.
    template <class... Args>
    handle_type create(Args&&... args) {
        return create_numbered(next_number_++, std::forward<Args>(args)...);
    }
    template <class... Args>
    handle_type create_numbered(std::uint64_t number, Args&&... args) {
        const scoped_site here(told_.site(client_));
        const time_stamp begin = now();
        const handle_type handle = with_arguments<Pool>(
            [this](auto&&... all) {
                return this->at_pool(
                    [&](auto& pool) { return pool.emplace(std::forward<decltype(all)>(all)...); });
            },
            objects_, number, std::forward<Args>(args)...);
        add_creation(handle, number, begin, now());
        return handle;
    }
    // The same, but null when the pool is full.
    handle_type try_create() {
        const std::uint64_t number = next_number_++;
        const scoped_site here(told_.site(client_));
        const time_stamp begin = now();
        const handle_type handle = with_arguments<Pool>(
            [this](auto&&... all) {
                return this->at_pool(
                    [&](auto& pool) { return pool.try_emplace(std::forward<decltype(all)>(all)...); });
            },
            objects_, number);
        const time_stamp end = now();
        if (handle) {
            add_creation(handle, number, begin, end);
        }
        return handle;
    }

    // Creates `count` objects, all with one number, and adds their handles to `made`; none, if it throws.
    template <class... Args>
    void create_several(std::size_t count, std::vector<handle_type>& made, Args&&... args) {
        const std::size_t before = made.size();
        const std::uint64_t number = next_number_++;
        const scoped_site here(told_.site(client_));
        const time_stamp begin = now();
        with_arguments<Pool>(
            [&](const auto&... all) {
                this->at_pool([&](auto& pool) { pool.emplace_n(count, std::back_inserter(made), all...); });
            },
            objects_, number, std::forward<Args>(args)...);
        const time_stamp end = now();
        for (std::size_t i = before; i < made.size(); ++i) {
            add_creation(made[i], number, begin, end);
        }
    }

    // Whatever comes of it: other threads may erase the same object. The object of find is looked at, which
    // the frame contract must allow.
    bool erase(handle_type handle) { return erase(handle, answer::open); }
    bool contains(handle_type handle) { return contains(handle, answer::open); }
    bool find(handle_type handle) { return find(handle, answer::open) != nullptr; }

    // The caller knows that the object lives, and that its number is this.
    void look_up(handle_type handle, std::uint64_t number) {
        ++counts().live_lookups;
        const tracked_object* const found = find(handle, answer::alive);
        if (found != nullptr && found->number() != number && !recorder_.keeps(handle.index())) {
            ++counts().content_mismatches;
            counts().violate(
                fmt::format("handle {} of object {} found object {}", handle, number, found->number()));
        }
    }
    // The caller knows that the object lives, and that no other thread erases it.
    void erase_living(handle_type handle) {
        if (erase(handle, answer::alive)) {
            try_stale(handle);
        }
    }
    // Erases one of these, chosen at random, in the same way; takes it out of them and returns it.
    handle_type erase_any_of(std::vector<handle_type>& living, std::mt19937_64& random) {
        std::swap(living[random() % living.size()], living.back());
        const handle_type chosen = living.back();
        living.pop_back();
        erase_living(chosen);
        return chosen;
    }
    // The caller knows that the object was erased.
    void try_stale(handle_type handle) {
        counts().stale_lookups += 3;
        contains(handle, answer::stale);
        find(handle, answer::stale);
        erase(handle, answer::stale);
        if (told_.is_recorded() && counts().stale_lookups % stale_lookups_between_questions == 0) {
            explain(handle);
        }
    }
    // The handle may be any value. If it is accepted, its history must show an object at that time.
    void try_forged(handle_type handle) {
        ++counts().forged_lookups;
        const time_stamp begin = now();
        // A foreign one is shown to the pool itself: routed, it may be a neighbour's living object.
        const bool own = handle.pool_id() == pool_.id();
        if (own ? at_service([&](auto& all) { return all.contains(handle); })
                : at_pool([&](auto& pool) { return pool.contains(handle); })) {
            record(operation::contains, handle, begin, now(), true, answer::open, 0);
        } else {
            ++counts().operations;
        }
    }

    // Calls `work()`, for which this thread has exclusive access to all pools of the service: until it
    // returns, this is the way to the views. No other thread may use the service.
    template <class Work>
    void alone(const Work& work) {
        auto access = service_.exclusive_access();
        alone_ = &access;
        work();
        alone_ = nullptr;
    }

    // Objects whose creation ended by an exception after they were alive.
    void add_undone(std::size_t objects) noexcept { counts().undone += objects; }

    // All pools of the service.
    service_compaction compact(executor_ref executor) {
        const service_compaction stats = service_.compact(executor);
        recorder_.add_latency(operation::compact, static_cast<std::uint64_t>(stats.duration.count()));
        return stats;
    }

    neighbour_user<layout>& at_neighbours() noexcept { return neighbours_; }

    std::uint64_t next_number() noexcept { return next_number_++; }
    lifetime_counts& objects() noexcept { return objects_; }
    findings& counts() noexcept { return recorder_.counts; }
    recorder& record_of() noexcept { return recorder_; }

private:
    enum class answer : std::uint8_t { open, alive, stale }; // that the caller expects

    static constexpr std::uint64_t operations_between_visits = 32;
    // Three a handle: each eighth is explained, which takes as long as some twenty look-ups.
    static constexpr std::uint64_t stale_lookups_between_questions = 24;
    static constexpr std::uint64_t torn = (std::uint64_t{1} << 52) - 1; // stands for an object's number

    // Calls `use(service)` or `use(pool)`, or in alone() what stands for it.
    template <class Use>
    auto at_service(const Use& use) {
        return alone_ != nullptr ? use(*alone_) : use(service_);
    }
    template <class Use>
    auto at_pool(const Use& use) {
        return alone_ != nullptr ? use(alone_->view_of(pool_)) : use(pool_);
    }

    bool erase(handle_type handle, answer expected) {
        const std::uint64_t deaths = objects_.deaths();
        const scoped_site here(told_.site(client_));
        const time_stamp begin = now();
        const bool won = at_service([&](auto& all) { return all.erase(handle); });
        record(operation::erase, handle, begin, now(), won, expected, 0);
        if (won) {
            ++counts().erased;
            mark_of(handle).store(deaths + 1, std::memory_order::relaxed);
            told_.note_erased(handle, client_);
        }
        return won;
    }

    // Asks the pool who has made and erased an object.
    void explain(handle_type handle) {
        ++counts().stale_explained;
        if (const auto wrong = told_.contradiction(pool_, handle)) {
            counts().violate(*wrong);
        }
    }

    std::atomic<std::uint64_t>& mark_of(handle_type handle) noexcept {
        return marks_[static_cast<std::size_t>(handle.index())];
    }

    bool contains(handle_type handle, answer expected) {
        const time_stamp begin = now();
        const bool found = at_service([&](auto& all) { return all.contains(handle); });
        record(operation::contains, handle, begin, now(), found, expected, 0);
        return found;
    }

    const tracked_object* find(handle_type handle, answer expected) {
        const time_stamp begin = now();
        const auto seen = at_service(
            [&](auto& all) { return all.template find<typename named_by<handle_type>::type>(handle); });
        const time_stamp end = now();
        const tracked_object* const found = object_in(seen);
        std::uint64_t number = 0;
        if (found != nullptr) {
            number = is_whole(seen) ? found->number() : torn;
            if (number != torn) {
                check_place<Pool>(*found, handle, counts());
            }
        }
        record(operation::find, handle, begin, end, found != nullptr, expected, number);
        return found;
    }

    // An object with this number was created in this time.
    void add_creation(handle_type handle, std::uint64_t number, time_stamp begin, time_stamp end) {
        record(operation::emplace, handle, begin, end, true, answer::open, number);
        ++counts().created;
        told_.note_made(handle, client_);
        if (const std::uint64_t mark = mark_of(handle).load(std::memory_order::relaxed); mark != 0) {
            // Others that were destroyed since the slot's object was erased: at least as many as slots were
            // freed between the slot's own and its next use.
            const std::uint64_t deaths = objects_.deaths();
            recorder_.reuse_distances.add(deaths > mark ? deaths - mark : 0);
        }
    }

    void record(operation what, handle_type handle, time_stamp begin, time_stamp end, bool accepted,
                answer expected, std::uint64_t number) {
        if (++counts().operations % operations_between_visits == 0 && alone_ == nullptr) {
            neighbours_.visit(counts());
        }
        const bool wrong = accepted ? expected == answer::stale : expected == answer::alive;
        recorder_.add(handle.index(), {.handle = handle.value(),
                                       .begin = begin,
                                       .end = end,
                                       .content = number & torn,
                                       .what = static_cast<std::uint64_t>(what) & 0xff,
                                       .accepted = accepted,
                                       .wrong = wrong});
        // What the histories don't see.
        if ((wrong || number == torn) && !recorder_.keeps(handle.index())) {
            counts().stale_accepted += wrong && accepted ? 1U : 0U;
            counts().content_mismatches += number == torn ? 1U : 0U;
            counts().violate(fmt::format("{} {} handle {}{}", name_of(what),
                                         accepted ? "accepted" : "refused", handle,
                                         number == torn ? ", and found a torn object" : ""));
        }
    }

    basic_service<layout>& service_;
    Pool& pool_;
    basic_exclusive_service<layout>* alone_ = nullptr; // in alone()
    neighbour_user<layout> neighbours_;
    lifetime_counts& objects_;
    erase_marks& marks_;
    explanations<Pool>& told_;
    std::size_t client_;
    std::uint64_t next_number_;
    recorder recorder_;
};

} // namespace handlepool::stress
