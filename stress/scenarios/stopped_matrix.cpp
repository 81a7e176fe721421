// SPDX-License-Identifier: MIT

// The cases of the scenario `stopped`. All threads take turns, so that the numbers are the same in every run
// with the same seed.

#include "scenarios/stopped.hpp"

#include <fmt/format.h>
#include <support/steps/step_atomics.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

namespace handlepool::stress {

namespace {

using support::stepper;

// Made by each of the others: enough to come to the end of claims and chunks, whatever is left of them.
constexpr std::size_t objects_made = 7;
constexpr std::size_t most_at_once = 5; // by emplace_n

// Living objects that were there before.
struct known_handles {
    std::uint64_t own;    // the victim's only
    std::uint64_t shared; // that all erase
    std::uint64_t others; // that the newcomer erases, too
};

using known = const known_handles&;

// What a thread is stopped in. Returns whether it came out as it had to.
struct victim_operation {
    std::string_view name;
    bool (*run)(stoppable& pool, known handles);
    std::size_t creates = 0;
    bool compacts = false; // then others can neither compact nor look at objects
    bool guards = false;   // then others can't compact
    bool recorded = true;
};

constexpr role victim = role::victim;
constexpr std::array<victim_operation, 12> victim_operations{{
    {.name = "emplace",
     .run = [](stoppable& pool, known) { return pool.emplace(victim) != 0; },
     .creates = 1},
    {.name = "emplace_n",
     .run = [](stoppable& pool, known) { return pool.emplace_n(victim, most_at_once) == most_at_once; },
     .creates = most_at_once},
    {.name = "erase", .run = [](stoppable& pool, known handles) { return pool.erase(victim, handles.own); }},
    {.name = "erase of what others erase too",
     .run = [](stoppable& pool, known handles) { return pool.erase(victim, handles.shared), true; }},
    {.name = "find", .run = [](stoppable& pool, known handles) { return pool.locate(handles.own); }},
    {.name = "contains",
     .run = [](stoppable& pool, known handles) { return pool.contains(victim, handles.own); }},
    {.name = "find under access guards",
     .run = [](stoppable& pool, known handles) { return pool.find_guarded(victim, handles.own); },
     .guards = true},
    {.name = "size", .run = [](stoppable& pool, known) { return pool.size() != 0; }},
    {.name = "stats", .run = [](stoppable& pool, known) { return pool.stats(), true; }},
    {.name = "compact", .run = [](stoppable& pool, known) { return pool.compact(), true; }, .compacts = true},
    {.name = "try_compact",
     .run = [](stoppable& pool, known) { return pool.try_compact(); },
     .compacts = true},
    {.name = "clear", .run = [](stoppable& pool, known) { return pool.clear(), true; }, .recorded = false},
}};

} // namespace

std::string stopped_setting::text() const {
    constexpr std::array names{"fresh slots", "recycled slots", "a pool that is nearly full"};
    return fmt::format("batches of {}, {}, {} objects, {} by the victim before", batch,
                       names[static_cast<std::size_t>(from)], objects, made_before);
}

// One operation, stopped at one step.
class stopped_case {
public:
    stopped_case(stopped_matrix& in, const stopped_setting& setting, const victim_operation& what,
                 std::size_t step)
        : in_(in), setting_(setting), what_(what), step_(step) {}

    // False when the operation has no such step.
    bool run(const stoppable_maker& make);

private:
    struct blocked {}; // leaves the list of operations

    // What a thread of the case did.
    struct worker {
        explicit worker(role as) : who(as) {}

        role who;
        step_counts steps{};
        std::atomic<stepped_operation> last{}; // that began
        std::vector<std::string> complaints{};
    };

    // Runs a thread's work; what it throws is a complaint.
    template <class Work>
    void guarded(worker& mine, Work work);
    template <class Body>
    auto does(worker& mine, stepped_operation what, Body body);
    void expect(worker& mine, bool holds, std::string_view what) const;

    void prepare();
    void do_all(worker& mine);
    void report_on(const worker& one);
    std::string where() const;

    stopped_matrix& in_;
    const stopped_setting& setting_;
    const victim_operation& what_;
    std::size_t step_;
    std::unique_ptr<stoppable> pool_;
    known_handles known_{};
    bool stopped_ = false;
};

bool stopped_case::run(const stoppable_maker& make) {
    // Those that prepare() creates, and that are there at the same time.
    const std::size_t prepared = setting_.objects + 2;
    pool_ =
        make(setting_, prepared + setting_.made_before + what_.creates + 2 * objects_made, what_.recorded);
    worker first(role::veteran);
    worker second(role::newcomer);
    worker third(role::victim);

    stepper veteran(
        stepper::never,
        [&] {
            guarded(first, [&] {
                prepare();
                stepper::stop_after(0); // until the other is stopped
                stepper::step();
                do_all(first);
            });
        },
        in_.patience_);
    stepper stopped_one(
        stepper::never,
        [&] {
            guarded(third, [&] {
                for (std::size_t i = 0; i < setting_.made_before; ++i) {
                    pool_->emplace(role::victim);
                }
                stepper::stop_after(step_);
                expect(third, what_.run(*pool_, known_), "the operation failed");
            });
        },
        in_.patience_);
    stopped_ = stopped_one.stopped();

    veteran.advance(stepper::never);
    std::optional<stepper> newcomer;
    if (veteran.ended()) {
        newcomer.emplace(stepper::never, [&] { guarded(second, [&] { do_all(second); }); }, in_.patience_);
    }
    // Neither stopped nor ended: it waits in a way that takes no steps.
    const worker& latest = newcomer ? second : first;
    stepper& latest_thread = newcomer ? *newcomer : veteran;
    const bool hangs = !latest_thread.ended() && !latest_thread.stopped();
    const stepped_operation hanging = latest.last;
    // All at once: one may wait for another.
    stopped_one.release();
    veteran.release();
    if (newcomer) {
        newcomer->finish();
    }
    veteran.finish();
    stopped_one.finish();

    if (hangs) {
        in_.given_up_ = true;
        in_.run_.violate(fmt::format("{} of the {} did not end within {} seconds {}",
                                     support::bound_of(hanging).operation, name_of(latest.who),
                                     std::chrono::duration<double>(in_.patience_).count(), where()));
    }
    for (const worker* const each : {&first, &second, &third}) {
        report_on(*each);
    }
    pool_->finish();
    return stopped_;
}

template <class Work>
void stopped_case::guarded(worker& mine, Work work) {
    try {
        work();
    } catch (const blocked&) { // was complained about
    } catch (const std::exception& error) {
        mine.complaints.push_back(fmt::format("the {} caught: {}", name_of(mine.who), error.what()));
    }
}

// Stops the calling thread, too, when it takes more steps than are allowed.
template <class Body>
auto stopped_case::does(worker& mine, stepped_operation what, Body body) {
    const auto position = static_cast<std::size_t>(what);
    const std::size_t allowed = in_.allowed_[position];
    mine.last = what;
    const std::size_t before = stepper::taken();
    stepper::stop_after(allowed);
    const auto result = body();
    stepper::stop_after(stepper::never);
    const std::size_t steps = stepper::taken() - before;
    mine.steps[position] = std::max(mine.steps[position], steps);
    if (steps > allowed) {
        mine.complaints.push_back(
            fmt::format("{} of the {} took more than {} steps ({} when all were let go on)",
                        support::bound_of(what).operation, name_of(mine.who), allowed, steps));
        throw blocked();
    }
    return result;
}

void stopped_case::expect(worker& mine, bool holds, std::string_view what) const {
    if (!holds) {
        mine.complaints.push_back(fmt::format("the {}: {}", name_of(mine.who), what));
    }
}

// Objects in the dense store, and newborns; living ones, and dead ones of both.
void stopped_case::prepare() {
    std::vector<std::uint64_t> made;
    const auto create = [&](std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            made.push_back(pool_->emplace(role::veteran));
        }
    };
    if (setting_.from == slots::recycled) {
        create(setting_.objects + 2 * objects_made); // as many as will be wanted
        for (const std::uint64_t handle : made) {
            pool_->erase(role::veteran, handle);
        }
        pool_->compact();
        made.clear();
    }
    create(setting_.objects);
    pool_->compact();
    create(2);
    pool_->erase(role::veteran, made.front());
    pool_->erase(role::veteran, made.back());
    known_ = {.own = made[1], .shared = made[2], .others = made[3]};
}

// All that others may do while one is stopped.
void stopped_case::do_all(worker& mine) {
    const role who = mine.who;
    std::vector<std::uint64_t> made;
    for (std::size_t i = 0; i < objects_made; ++i) {
        made.push_back(does(mine, stepped_operation::emplace, [&] { return pool_->emplace(who); }));
    }
    const auto contains = [&](std::uint64_t handle) {
        return does(mine, stepped_operation::contains, [&] { return pool_->contains(who, handle); });
    };
    const auto erase = [&](std::uint64_t handle) {
        return does(mine, stepped_operation::erase, [&] { return pool_->erase(who, handle); });
    };
    expect(mine, contains(made.front()), "an object that was just made is not contained");
    if (!what_.compacts) {
        expect(mine, does(mine, stepped_operation::find, [&] { return pool_->find(who, made[1]); }),
               "an object that was just made is not found");
        expect(mine, does(mine, stepped_operation::guard, [&] { return pool_->find_guarded(who, made[2]); }),
               "an object that was just made is not found under a guard");
    }
    does(mine, stepped_operation::size, [&] { return pool_->size(); });
    for (std::size_t i = 0; i < objects_made - 2; ++i) {
        expect(mine, erase(made[i]), "an object that was just made can't be erased");
    }
    const std::uint64_t contested = who == role::veteran ? known_.shared : known_.others;
    erase(contested);
    expect(mine, !contains(contested), "an object that was erased is contained");
    expect(mine, contains(made[objects_made - 1]), "an object that was not erased is not contained");

    const bool compacted = does(mine, stepped_operation::try_compact, [&] { return pool_->try_compact(); });
    if (!what_.compacts && !what_.guards) {
        expect(mine, compacted, "try_compact refused, and nothing was in its way");
        erase(made[objects_made - 2]);
        does(mine, stepped_operation::compact, [&] {
            pool_->compact();
            return true;
        });
    }
    expect(mine, contains(made[objects_made - 1]), "an object that was not erased is gone");
}

void stopped_case::report_on(const worker& one) {
    for (std::size_t what = 0; what < one.steps.size(); ++what) {
        in_.steps_[what] = std::max(in_.steps_[what], one.steps[what]);
    }
    for (const std::string& complaint : one.complaints) {
        in_.run_.violate(fmt::format("{} {}", complaint, where()));
    }
}

std::string stopped_case::where() const {
    return stopped_ ? fmt::format("while {} was stopped before its step {} ({})", what_.name, step_,
                                  setting_.text())
                    : fmt::format("when {} had ended ({})", what_.name, setting_.text());
}

void stopped_matrix::run(const stopped_setting& setting, const stoppable_maker& make, bool all) {
    for (const victim_operation& what : victim_operations) {
        for (std::size_t step = 0;; ++step) {
            // In any case, for the progress to be shown.
            if ((!run_.more() && !all) || given_up_) {
                return;
            }
            if (!stopped_case(*this, setting, what, step).run(make)) {
                break;
            }
            ++cases_;
        }
    }
    ++passes_;
}

void stopped_matrix::add_facts() const {
    run_.add_fact("cases", cases_);
    run_.add_fact("times all cases", passes_);
    for (std::size_t what = 0; what < steps_.size(); ++what) {
        run_.add_fact(fmt::format("{}, most steps", support::step_bounds[what].operation),
                      fmt::format("{}, at most {} allowed", steps_[what], allowed_[what]));
    }
}

} // namespace handlepool::stress
