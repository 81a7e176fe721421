// SPDX-License-Identifier: MIT

// Sorts beside handle operations, in one thread and in several.

#include "model_executor.hpp"
#include "models.hpp"
#include "pool_scene.hpp"

#include <handlepool/sort.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace handlepool::model {
namespace {

constexpr auto value_of = [](const payload& object) noexcept {
    return static_cast<std::uint32_t>(object.value);
};

/// While objects change their places one of them is erased, another is asked for, and a new one is made.
class sort_beside_handle_operations : public pool_scene<> {
public:
    sort_beside_handle_operations() : pool_scene(tiny_options(5)) {
        for (std::uint32_t i = 0; i != 3; ++i) {
            handles_.at(i) = objects.emplace(3 - i);
        }
        objects.compact();
    }

    void run(unsigned index) override {
        if (index == 0) {
            sort_by(objects, value_of);
            require(value_of(objects.items()[0]) == 1 && value_of(objects.items()[2]) == 3, "in order");
        } else {
            require(objects.contains(handles_[0]), "an object lives on while it moves");
            require(objects.erase(handles_[1]), "an object can be erased while it moves");
            require(!objects.contains(handles_[1]), "and is dead from then on");
            young_ = objects.emplace(4U);
        }
    }
    void check() override { require_consistent(objects, {{handles_[0], 3}, {handles_[2], 1}, {young_, 4}}); }

private:
    std::array<handle_type, 3> handles_;
    handle_type young_;
};

/// Two threads sort: keys, blocks, pieces of merges and chains of moves pass between them.
struct finest_sort_policy : model_policy {
    static constexpr std::size_t compaction_grain = 0; // a block of each object, and a cut at each place
};
class sort_by_two_threads : public pool_scene<payload, model_layout, finest_sort_policy> {
public:
    sort_by_two_threads() : pool_scene(tiny_options(4)) {
        for (std::uint32_t i = 0; i != 3; ++i) {
            handles_.at(i) = objects.emplace(3 - i);
        }
        objects.compact();
    }

    void run(unsigned index) override {
        threads_.lead_or_serve(index, [this] { sort_by(objects, value_of, threads_); });
    }
    void check() override {
        require(value_of(objects.items()[0]) == 1 && value_of(objects.items()[2]) == 3, "in order");
        require_consistent(objects, {{handles_[0], 3}, {handles_[1], 2}, {handles_[2], 1}});
    }

private:
    model_executor threads_;
    std::array<handle_type, 3> handles_;
};

} // namespace

void add_sort_models(std::vector<model_entry>& to) {
    add<sort_beside_handle_operations>(to, "sort beside handle operations", 2,
                                       "handles stay right while objects change places");
    add<sort_by_two_threads>(to, "sort by two threads", 2,
                             "each object moves once, and what moves it has seen it");
}

} // namespace handlepool::model
