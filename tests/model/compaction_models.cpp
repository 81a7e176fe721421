// Compaction's rarer ways: sweeps, loops in parallel, destructors that use the pool, clear, reset and
// retirement.

#include "loop_crew.hpp"
#include "models.hpp"
#include "pool_scene.hpp"

#include <handlepool/thread_index_set.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace handlepool::model {

namespace {

/// A queue for one removal, and two that come while compaction runs: the second may overflow it, or come
/// late, behind the sweep that has found its object.
class overflow_and_sweep : public pool_scene<> {
public:
    overflow_and_sweep() : pool_scene(short_queues()), victims_{objects.emplace(1U), objects.emplace(2U)} {
        objects.compact();
    }

    void run(unsigned index) override {
        if (index == 0) {
            objects.compact();
            objects.compact();
        } else {
            for (const auto victim : victims_) {
                require(objects.erase(victim), "a full queue refuses no erase");
            }
        }
    }
    void check() override { require_consistent(objects, 0); }

private:
    static pool_options short_queues() {
        pool_options options = tiny_options(2);
        options.removal_queue_size = 1;
        return options;
    }

    std::array<handle_type, 2> victims_;
};

/// A newborn that is swept: its maker's queue is full when it is erased.
class sweep_of_a_newborn : public pool_scene<> {
public:
    sweep_of_a_newborn() : pool_scene(short_queues()), old_(objects.emplace(1U)) { objects.compact(); }

    void run(unsigned index) override {
        if (index == 0) {
            objects.erase(old_);
            objects.erase(objects.emplace(2U));
        } else {
            objects.compact();
        }
    }
    void check() override { require_consistent(objects, 0); }

private:
    static pool_options short_queues() {
        pool_options options = tiny_options(2);
        options.removal_queue_size = 1;
        return options;
    }

    handle_type old_;
};

/// The first two threads find no lane, and leave no records.
struct laneless_policy : model_policy {
    static std::uint32_t thread_index() noexcept {
        return all_steps.threads_run() && rl::thread_index() != 2 ? 99 : model_policy::thread_index();
    }
};

/// Two threads raise the demand for a sweep, a third consumes it: both erases must be seen.
class demands_of_two_threads : public pool_scene<payload, model_layout, laneless_policy> {
public:
    demands_of_two_threads()
        : pool_scene(tiny_options(2)), victims_{objects.emplace(1U), objects.emplace(2U)} {
        objects.compact();
    }

    void run(unsigned index) override {
        if (index == 2) {
            objects.compact();
        } else {
            require(objects.erase(victims_.at(index)), "a living object can be erased");
        }
    }
    void check() override { require_consistent(objects, 0); }

private:
    std::array<handle_type, 2> victims_;
};

/// A compaction on two threads: removals, newborns and holes in the same frame.
class parallel_compaction : public pool_scene<> {
public:
    parallel_compaction() : parallel_compaction(4) {
        for (std::uint32_t number = 0; number != 3; ++number) {
            old_.at(number) = objects.emplace(number + 1);
        }
        objects.compact();
        objects.erase(old_[0]);
        objects.erase(old_[1]);
        objects.emplace(4U);
    }

    void run(unsigned index) override {
        if (index == 0) {
            objects.compact(crew_);
            crew_.dismiss();
        } else {
            crew_.serve();
        }
    }
    void check() override {
        require_consistent(objects, 2);
        require(objects.find(old_[2])->value == 3, "the survivor is whole");
    }

protected:
    explicit parallel_compaction(std::size_t capacity) : pool_scene(tiny_options(capacity)) {}

    std::array<handle_type, 3> old_;
    loop_crew crew_;
};

/// The same, while a third thread erases the object that fills the hole.
class parallel_compaction_against_erase : public parallel_compaction {
public:
    parallel_compaction_against_erase() : parallel_compaction(2) {
        old_[0] = objects.emplace(1U);
        old_[1] = objects.emplace(2U);
        objects.compact();
        objects.erase(old_[0]);
    }

    void run(unsigned index) override {
        if (index == 2) {
            require(objects.erase(old_[1]), "a living object can be erased");
        } else {
            parallel_compaction::run(index);
        }
    }
    void check() override { require_consistent(objects, 0); }
};

/// The same, while a third thread creates an object.
class parallel_compaction_against_emplace : public parallel_compaction {
public:
    parallel_compaction_against_emplace() : parallel_compaction(2) { objects.emplace(1U); }

    void run(unsigned index) override {
        if (index == 2) {
            new_ = objects.emplace(3U);
        } else {
            parallel_compaction::run(index);
        }
    }
    void check() override {
        require_consistent(objects, 2);
        require(objects.find(new_)->value == 3, "the newborn is whole");
    }

private:
    handle_type new_;
};

/// An object with the number 1 does something in its destructor.
struct last_words : payload {
    explicit last_words(std::uint32_t number) noexcept : payload(number) {}
    last_words(last_words&& other) noexcept : payload(std::move(other)) { other.value = 0; }
    ~last_words() {
        if (value == 1) {
            at_end();
        }
    }

    inline static std::function<void()> at_end;
};

/// A destructor erases another object of the pool and makes a new one, while another thread erases the same.
class reentrant_destructor : public pool_scene<last_words> {
public:
    reentrant_destructor() : pool_scene(tiny_options(3)) {
        const auto first = objects.emplace(1U);
        partner_ = objects.emplace(2U);
        objects.compact();
        objects.erase(first);
        last_words::at_end = [this] {
            winners_ += objects.erase(partner_) ? 1 : 0;
            objects.emplace(3U);
        };
    }
    ~reentrant_destructor() override { last_words::at_end = nullptr; }

    void run(unsigned index) override {
        if (index == 0) {
            objects.compact();
        } else {
            winners_ += objects.erase(partner_) ? 1 : 0;
        }
    }
    void check() override {
        require(winners_ == 1, "exactly one of racing erases wins");
        require_consistent(objects, 1);
    }

private:
    handle_type partner_;
    int winners_ = 0;
};

/// clear while another thread creates and erases.
class clear_against_emplace : public pool_scene<> {
public:
    clear_against_emplace() : pool_scene(tiny_options(2)), old_(objects.emplace(1U)) {}

    void run(unsigned index) override {
        if (index == 0) {
            objects.clear();
            require(!objects.contains(old_), "what lived when clear began is erased");
        } else {
            new_ = objects.emplace(2U);
            objects.erase(old_);
        }
    }
    void check() override { require_consistent(objects, objects.contains(new_) ? 1 : 0); }

private:
    handle_type old_;
    handle_type new_;
};

/// reset between two threads' uses of the pool, which are ordered by a flag.
class reset_between_uses : public pool_scene<> {
public:
    reset_between_uses() : pool_scene(tiny_options(2)) {}

    void run(unsigned index) override {
        if (index == 0) {
            old_ = objects.emplace(1U);
            turn_.store(1, std::memory_order::release);
            await(2);
            require(!objects.contains(old_) && !objects.erase(old_), "old handles stay dead behind a reset");
            require(objects.emplace(2U) != old_, "no handle is given out twice");
        } else {
            await(1);
            objects.reset();
            require(!objects.contains(old_), "old handles stay dead behind a reset");
            turn_.store(2, std::memory_order::release);
        }
    }
    void check() override { require_consistent(objects, 1); }

private:
    void await(unsigned turn) {
        while (turn_.load(std::memory_order::acquire) < turn) {
            model_policy::wait();
        }
    }

    model_atomic<std::uint32_t> turn_;
    handle_type old_;
};

/// The last life of a slot ends while an old handle of it is used; the next object gets another slot.
using narrow_layout = handle_layout<32, 3, 29>;

class retirement : public pool_scene<payload, narrow_layout> {
public:
    retirement() : pool_scene(two_slots()) {
        first_ = objects.emplace(1U);
        last_ = first_;
        for (int life = 0; life != 2; ++life) {
            objects.erase(last_);
            objects.compact();
            last_ = objects.emplace(1U);
        }
        require(last_.index() == first_.index(), "the slot has three lives");
        objects.compact();
    }

    void run(unsigned index) override {
        if (index == 0) {
            objects.erase(last_);
            objects.compact();
            next_ = objects.emplace(2U);
            require(next_.index() != first_.index(), "a used-up slot stays out");
        } else {
            require(!objects.contains(first_) && !objects.erase(first_),
                    "a handle of a former life stays stale");
        }
    }
    void check() override {
        require_consistent(objects, 1);
        require(objects.stats().slots_retired == 1, "a used-up slot is counted");
        require(objects.find(next_)->value == 2, "the next object is whole");
    }

private:
    static pool_options two_slots() {
        pool_options options = tiny_options<narrow_layout>(1);
        options.slot_limit = 2;
        return options;
    }

    handle_type first_;
    handle_type last_;
    handle_type next_;
};

/// Memory is given back while another thread creates and erases.
class shrinking : public pool_scene<> {
public:
    shrinking() : pool_scene(tiny_options(2)), old_(objects.emplace(1U)) { objects.compact(); }

    void run(unsigned index) override {
        if (index == 0) {
            objects.shrink_to_fit();
        } else {
            objects.erase(old_);
            objects.emplace(2U);
        }
    }
    void check() override { require_consistent(objects, 1); }

private:
    handle_type old_;
};

/// Two threads compact at their leisure, and are told when it is not their turn.
class compactions_at_leisure : public pool_scene<> {
public:
    compactions_at_leisure() : pool_scene(tiny_options(2)), old_(objects.emplace(1U)) {}

    void run(unsigned index) override {
        if (index == 0) {
            objects.erase(old_);
        }
        objects.try_compact();
    }
    void check() override { require_consistent(objects, 0); }

private:
    handle_type old_;
};

/// Threads go by numbers that they take when they begin and give back when they end.
struct numbered_policy : model_policy {
    static std::uint32_t thread_index() noexcept {
        return all_steps.threads_run() ? numbers.at(rl::thread_index()) : 0;
    }

    inline static std::array<std::uint32_t, most_threads> numbers{};
};

/// A thread uses the pool and ends; the next one may get its lane, with claimed slots and a nursery chunk
/// half used.
class lane_of_a_dead_thread : public pool_scene<payload, model_layout, numbered_policy> {
public:
    lane_of_a_dead_thread() : pool_scene(tiny_options(2)) {}

    void run(unsigned) override {
        const std::uint32_t number = numbers_.claim();
        numbered_policy::numbers.at(rl::thread_index()) = number;
        const auto mine = objects.emplace(number);
        require(objects.contains(mine), "what was created lives");
        require(objects.erase(mine), "a living object can be erased");
        numbers_.give_back(number);
    }
    void check() override { require_consistent(objects, 0); }

private:
    thread_index_set<model_atomic, 1> numbers_;
};

} // namespace

void add_compaction_models(std::vector<model_entry>& to) {
    to.push_back(entry<overflow_and_sweep>("overflow and sweep", 2,
                                           "a full queue loses no removal; nothing is destroyed twice"));
    to.push_back(entry<sweep_of_a_newborn>("sweep of a newborn", 2, "the same, in the nursery"));
    to.push_back(entry<demands_of_two_threads>("demands of two threads", 3,
                                               "a sweep sees all erases that have asked for one"));
    to.push_back(entry<parallel_compaction>("parallel compaction", 2,
                                            "the loops of a compaction are independent; nothing is lost"));
    to.push_back(entry<parallel_compaction_against_erase>("parallel compaction against erase", 3,
                                                          "the same, while another thread erases"));
    to.push_back(entry<parallel_compaction_against_emplace>("parallel compaction against emplace", 3,
                                                            "the same, while another thread creates"));
    to.push_back(entry<reentrant_destructor>("re-entrant destructor", 2,
                                             "a destructor may erase and create in its own pool"));
    to.push_back(entry<clear_against_emplace>("clear against emplace", 2,
                                              "clear erases all that lived when it began"));
    to.push_back(entry<reset_between_uses>(
        "reset between uses", 2, "old handles stay dead behind a reset, and no handle is given out twice"));
    to.push_back(entry<retirement>("retirement", 2, "a used-up slot never comes back"));
    to.push_back(entry<shrinking>("shrinking", 2, "memory given back was nobody's"));
    to.push_back(
        entry<compactions_at_leisure>("compactions at leisure", 2, "one compaction at a time; none is lost"));
    to.push_back(entry<lane_of_a_dead_thread>(
        "lane of a dead thread", 2, "a lane goes to its next thread as the one before has left it"));
}

} // namespace handlepool::model
