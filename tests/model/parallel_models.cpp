// SPDX-License-Identifier: MIT

// Compactions whose loops run on two threads.

#include "model_executor.hpp"
#include "models.hpp"
#include "pool_scene.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace handlepool::model {
namespace {

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
        new_ = objects.emplace(4U);
    }

    void run(unsigned index) override { executor_.compact(objects, index); }
    void check() override { require_consistent(objects, {{old_[2], 3}, {new_, 4}}); }

protected:
    explicit parallel_compaction(std::size_t capacity) : pool_scene(tiny_options(capacity)) {}

    std::array<handle_type, 3> old_;
    handle_type new_;
    model_executor executor_;
};

/// A compaction each of whose loops has work for both threads.
struct finest_policy : model_policy {
    static constexpr std::size_t compaction_grain = 0; // an item a range, also among parts of the nursery
};

class wide_parallel_compaction : public pool_scene<payload, model_layout, finest_policy> {
public:
    wide_parallel_compaction() : pool_scene(tiny_options(10)) {
        for (std::uint32_t number = 0; number != 8; ++number) {
            old_.at(number) = objects.emplace(number + 1);
        }
        objects.compact();
        for (std::uint32_t number = 0; number != 4; ++number) {
            objects.erase(old_.at(number));
        }
        new_ = {objects.emplace(9U), objects.emplace(10U)};
    }
    void run(unsigned index) override { executor_.compact(objects, index); }
    void check() override {
        require_consistent(
            objects, {{old_[4], 5}, {old_[5], 6}, {old_[6], 7}, {old_[7], 8}, {new_[0], 9}, {new_[1], 10}});
    }

private:
    std::array<handle_type, 8> old_;
    std::array<handle_type, 2> new_;
    model_executor executor_;
};

/// Two removals that have records, which are buried on two threads, and one that has none: the sweep behind
/// them finds that alone.
class parallel_compaction_and_sweep : public pool_scene<payload, model_layout, finest_policy> {
public:
    parallel_compaction_and_sweep() : pool_scene(tiny_options(4, 2)) {
        for (std::uint32_t number = 0; number != 4; ++number) {
            old_.at(number) = objects.emplace(number + 1);
        }
        objects.compact();
        for (std::uint32_t number = 0; number != 3; ++number) {
            objects.erase(old_.at(number));
        }
    }

    void run(unsigned index) override { executor_.compact(objects, index); }
    void check() override {
        require(objects.stats().sweeps == 1, "the third removal has no record");
        require_consistent(objects, {{old_[3], 4}});
    }

private:
    std::array<handle_type, 4> old_;
    model_executor executor_;
};

/// Two threads bury and move, while a third thread erases the object that fills the hole.
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
    parallel_compaction_against_emplace() : parallel_compaction(2) { old_[0] = objects.emplace(1U); }

    void run(unsigned index) override {
        if (index == 2) {
            new_ = objects.emplace(3U);
        } else {
            parallel_compaction::run(index);
        }
    }
    void check() override { require_consistent(objects, {{old_[0], 1}, {new_, 3}}); }
};

} // namespace

void add_parallel_models(std::vector<model_entry>& to) {
    add<parallel_compaction>(to, "parallel compaction", 2,
                             "the loops of a compaction are independent; nothing is lost");
    add<wide_parallel_compaction>(to, "wide parallel compaction", 2,
                                  "each loop of a compaction on two threads");
    add<parallel_compaction_and_sweep>(to, "parallel compaction and sweep", 2,
                                       "all records are buried before the sweep");
    add<parallel_compaction_against_erase>(to, "parallel compaction against erase", 3,
                                           "the same, while another thread erases");
    add<parallel_compaction_against_emplace>(to, "parallel compaction against emplace", 3,
                                             "the same, while another thread creates");
}

} // namespace handlepool::model
