// SPDX-License-Identifier: MIT

// Destructors that use their own pool.

#include "model_executor.hpp"
#include "models.hpp"
#include "pool_scene.hpp"

#include <handlepool/error.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <utility>

namespace handlepool::model {
namespace {

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

/// What destructors do ends with the scene.
class last_words_scene : public pool_scene<last_words> {
public:
    ~last_words_scene() override { last_words::at_end = nullptr; }

protected:
    using pool_scene::pool_scene;

    void replace_partner_at_end() {
        last_words::at_end = [this] {
            erase_partner();
            objects.emplace(3U);
        };
    }
    void erase_partner() { winners_ += objects.erase(partner_) ? 1 : 0; }

    handle_type partner_;
    int winners_ = 0;
};

/// A destructor erases another object of the pool and makes a new one, while another thread erases the same.
class reentrant_destructor : public last_words_scene {
public:
    reentrant_destructor() : last_words_scene(tiny_options(3)) {
        const auto first = objects.emplace(1U);
        partner_ = objects.emplace(2U);
        objects.compact();
        objects.erase(first);
        replace_partner_at_end();
    }

    void run(unsigned index) override {
        if (index == 0) {
            objects.compact();
        } else {
            erase_partner();
        }
    }
    void check() override {
        require(winners_ == 1, "exactly one of racing erases wins");
        require_consistent(objects, 1);
    }
};

/// Destructors that use the pool, in both threads of a compaction.
class reentrant_destructors_in_parallel : public last_words_scene {
public:
    reentrant_destructors_in_parallel() : last_words_scene(tiny_options(6)) {
        std::array<handle_type, 4> old;
        for (std::uint32_t i = 0; i != 4; ++i) {
            old.at(i) = objects.emplace(i < 2 ? 1U : 2U);
        }
        partner_ = old[2];
        objects.compact();
        objects.erase(old[0]);
        objects.erase(old[1]);
        replace_partner_at_end();
    }
    void run(unsigned index) override { executor_.compact(objects, index); }
    void check() override {
        require(winners_ == 1, "exactly one of racing erases wins");
        require_consistent(objects, 3);
    }

private:
    model_executor executor_;
};

/// A destructor asks for a guard, and is refused, whoever else wants to compact.
class guard_in_a_destructor : public last_words_scene {
public:
    guard_in_a_destructor() : last_words_scene(tiny_options(2)) {
        const auto dead = objects.emplace(1U);
        objects.compact();
        objects.erase(dead);
        last_words::at_end = [this] {
            try {
                const auto guard = objects.access();
                require(false, "a destructor gets no guard");
            } catch (const compaction_conflict&) {
                refused_ = true;
            }
        };
    }
    void run(unsigned index) override {
        if (index == 0) {
            objects.try_compact();
        } else {
            try {
                objects.shrink_to_fit();
            } catch (const compaction_conflict&) {
            }
        }
    }
    void check() override {
        objects.compact();
        require(refused_, "the destructor has run");
        require_consistent(objects, 0);
    }

private:
    bool refused_ = false;
};

} // namespace

void add_destructor_models(std::vector<model_entry>& to) {
    add<reentrant_destructor>(to, "re-entrant destructor", 2,
                              "a destructor may erase and create in its own pool");
    add<reentrant_destructors_in_parallel>(to, "re-entrant destructors in parallel", 2,
                                           "destructors that use the pool, on two threads");
    add<guard_in_a_destructor>(to, "guard in a destructor", 2,
                               "a destructor is refused a guard, whoever else wants to compact");
}

} // namespace handlepool::model
