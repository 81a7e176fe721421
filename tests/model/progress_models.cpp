// SPDX-License-Identifier: MIT

// Progress: a thread that is stopped for ever keeps no other from creating, finding and erasing.

#include "progress_models.hpp"

#include "pool_scene.hpp"
#include "steps.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <type_traits>

namespace handlepool::model {
namespace {

/// The pool's own way: none.
struct no_lock {
    void lock() {}
    void unlock() {}
};

struct spinlock {
    void lock() {
        while (taken.exchange(1, std::memory_order::acquire) != 0) {
            model_policy::wait();
        }
    }
    void unlock() { taken.store(0, std::memory_order::release); }

    model_atomic<std::uint32_t> taken;
};

template <class Lock>
class stopped_thread : public pool_scene<> {
public:
    stopped_thread(stepped_operation stopped, bool tight)
        : pool_scene(tight ? tight_options() : tiny_options(5)), stopped_(stopped), tight_(tight) {
        const auto dead = objects.emplace(1U);
        victims_ = objects.emplace(2U);
        others_ = objects.emplace(3U);
        objects.compact();
        objects.erase(dead);
    }

    void run(unsigned index) override {
        handle_type made;
        if (index == 0) {
            perform(stopped_, victims_, made);
            return;
        }
        for (const stepped_operation each : {stepped_operation::emplace, stepped_operation::find,
                                             stepped_operation::contains, stepped_operation::erase}) {
            // Pointers are for those who keep away from a compaction.
            if (each == stepped_operation::find && stopped_ == stepped_operation::compact) {
                continue;
            }
            const std::size_t before = all_steps.taken();
            perform(each, others_, made);
            const std::size_t accesses = all_steps.taken() - before;
            std::size_t& most = most_accesses.at(static_cast<std::size_t>(each));
            most = std::max(most, accesses);
            require(waits || accesses <= support::bound_of(each).in_model,
                    "a call ends within its bound of accesses");
        }
        require(tight_ || objects.contains(made), "who is not stopped can create");
        require(!objects.contains(others_), "who is not stopped can erase");
    }
    void check() override { require_consistent(objects, objects.size()); }

private:
    static pool_options tight_options() {
        pool_options options = tiny_options(3, 1);
        options.slot_limit = 3;
        return options;
    }

    void perform(stepped_operation which, handle_type handle, handle_type& made) {
        const std::scoped_lock alone(lock_);
        switch (which) {
        case stepped_operation::emplace:
            made = objects.try_emplace(4U);
            break;
        case stepped_operation::find:
            require(objects.find(handle) != nullptr, "a living object is found");
            break;
        case stepped_operation::contains:
            require(objects.contains(handle), "a living object is known");
            break;
        case stepped_operation::erase:
            require(objects.erase(handle), "a living object can be erased");
            break;
        case stepped_operation::compact:
            objects.compact();
            break;
        case stepped_operation::guard:
        case stepped_operation::size:
        case stepped_operation::try_compact:
            break; // none of stopped_operations
        }
    }

    static constexpr bool waits = !std::is_same_v<Lock, no_lock>;

    stepped_operation stopped_;
    bool tight_;
    handle_type victims_, others_;
    Lock lock_;
};

} // namespace

model_entry progress_model(stepped_operation stopped, scene where) {
    model_entry entry{.name = fmt::format("stopped in {}", support::bound_of(stopped).operation),
                      .threads = 2,
                      .shows =
                          "a thread stopped for ever keeps no other from emplace, find, contains and erase",
                      .make = {}};
    if (where == scene::behind_a_lock) {
        entry.make = [stopped] { return std::make_unique<stopped_thread<spinlock>>(stopped, false); };
    } else {
        const bool tight = where == scene::tight;
        entry.make = [stopped, tight] { return std::make_unique<stopped_thread<no_lock>>(stopped, tight); };
    }
    return entry;
}

} // namespace handlepool::model
