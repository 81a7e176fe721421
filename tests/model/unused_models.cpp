// SPDX-License-Identifier: MIT

// Constructors that throw: what they took goes to others, or to their shard once more.

#include "models.hpp"
#include "pool_scene.hpp"

#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/detail/placement/nursery.hpp>
#include <handlepool/detail/slots/index_allocator.hpp>
#include <handlepool/detail/slots/slot_table.hpp>
#include <handlepool/fifo_freelist.hpp>

#include <tests/support/drain_newborns.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <vector>

namespace handlepool::model {
namespace {

/// Two threads claim indices, change what belongs to them, and give them back unused.
class free_bitmap_pass_on : public model {
public:
    free_bitmap_pass_on() : supply_("supply", {.index_limit = 2, .waiting_limit = 2, .reuse_delay = 0}) {
        std::uint32_t index = 0;
        supply_.claim(&index, 1, 1);
        supply_.give_back(index);
    }

    void run(unsigned) override {
        std::uint32_t index = 0;
        if (supply_.claim(&index, 1, 1) == 1) { // one at a time
            things_.at(index) = things_.at(index) + 1;
            supply_.give_back(index);
            ++claims_;
        }
    }
    void check() override {
        std::uint32_t uses = 0;
        for (const std::uint32_t thing : things_) {
            uses += thing;
        }
        require(uses == claims_ && claims_ >= 1, "an index has one owner, who sees what the one before did");
        require(supply_.returned().waiting() == 1, "what was given back is there");
        std::uint32_t index = 0;
        require(supply_.claim(&index, 1, 1) == 1, "what was given back goes out again");
    }

protected:
    index_allocator<model_policy, fifo_freelist<model_policy>> supply_;
    std::array<model_plain<std::uint32_t>, 2> things_;
    std::uint32_t claims_ = 0;
};

/// The same, when one of them wants that index which it has had before.
class free_bitmap_taken_again : public free_bitmap_pass_on {
public:
    void run(unsigned index) override {
        if (index == 0) {
            free_bitmap_pass_on::run(0);
        } else if (supply_.returned_words().claim(0)) {
            things_.at(0) = things_.at(0) + 1;
            supply_.give_back(0);
            ++claims_;
        }
    }
};

/// The second of two throws.
struct second_throws : payload {
    explicit second_throws(std::uint32_t number) noexcept : payload(number) {}
    explicit second_throws(int& made) : payload(1) {
        if (++made == 2) {
            throw std::runtime_error("thrown by a constructor");
        }
    }
};

/// All slots of a pool wait unused. One thread takes two, and uses one: the other must not make the pool look
/// full.
class unused_slots_held_by_a_shard : public pool_scene<second_throws, model_layout, pair_policy> {
public:
    unused_slots_held_by_a_shard() : pool_scene(tiny_options(2)) {
        int made = 0;
        std::vector<handle_type> handles;
        try {
            objects.emplace_n(2, std::back_inserter(handles), std::ref(made));
        } catch (const std::runtime_error&) {
        }
        require(objects.stats().slots_free == 2, "slots of constructors that threw are free");
    }
    void run(unsigned index) override {
        made_.at(index) = objects.try_emplace(std::uint32_t{index});
        require(static_cast<bool>(made_.at(index)), "a pool has room for its capacity");
    }
    void check() override { require_consistent(objects, {{made_[0], 0}, {made_[1], 1}}); }

private:
    std::array<handle_type, 2> made_;
};

/// One thread fails to create two objects while another creates one.
class batch_that_fails : public pool_scene<second_throws> {
public:
    batch_that_fails() : pool_scene(tiny_options(3)) {}
    void run(unsigned index) override {
        if (index == 1) {
            made_ = objects.try_emplace(7U);
            require(static_cast<bool>(made_), "a pool has room for its capacity");
            return;
        }
        int made = 0;
        std::vector<handle_type> handles;
        try {
            objects.emplace_n(2, std::back_inserter(handles), std::ref(made));
            require(false, "what a constructor throws is passed on");
        } catch (const std::runtime_error&) {
        }
    }
    void check() override {
        require_consistent(objects, {{made_, 7}});
        require(objects.try_emplace(1U) && objects.try_emplace(2U), "no slot is lost");
        require_consistent(objects, 3);
    }

private:
    handle_type made_;
};

/// One thread creates two objects at once while a compaction runs.
class batch_during_a_compaction : public pool_scene<> {
public:
    batch_during_a_compaction() : pool_scene(tiny_options(4)) { first_ = objects.emplace(9U); }
    void run(unsigned index) override {
        if (index == 0) {
            objects.compact();
            return;
        }
        std::vector<handle_type> made;
        objects.emplace_n(2, std::back_inserter(made), 5U);
        require(made.size() == 2 && objects.erase(made[0]), "what was created lives");
        last_ = made[1];
    }
    void check() override { require_consistent(objects, {{first_, 9}, {last_, 5}}); }

private:
    handle_type first_, last_;
};

/// Objects that are created together are erased at once, all but one without a record: a sweep finds them.
class batch_erased_without_a_record : public pool_scene<> {
public:
    batch_erased_without_a_record() : pool_scene(tiny_options(4, 1)) {}
    void run(unsigned index) override {
        if (index == 0) {
            std::vector<handle_type> made;
            objects.emplace_n(2, std::back_inserter(made), 5U);
        } else {
            objects.clear();
            objects.compact();
        }
    }
    void check() override {
        const std::size_t alive = objects.size();
        require_consistent(objects, alive);
    }
};

/// Creates an object inside of it, and throws.
struct leaves_one_behind : payload {
    explicit leaves_one_behind(std::uint32_t number) noexcept : payload(number) {}
    template <class Pool, class Handle>
    leaves_one_behind(Pool& inside, Handle& left) : payload(1) {
        left = inside.emplace(2U);
        throw std::runtime_error("thrown by a constructor");
    }
};

/// The position that a constructor left behind is used again by its shard, or passed by a compaction.
class position_left_behind : public pool_scene<leaves_one_behind> {
public:
    position_left_behind() : pool_scene(tiny_options(3)) {}
    void run(unsigned index) override {
        if (index == 1) {
            objects.compact();
            return;
        }
        try {
            objects.emplace(objects, inner_);
            require(false, "what a constructor throws is passed on");
        } catch (const std::runtime_error&) {
        }
        next_ = objects.emplace(3U);
    }
    void check() override { require_consistent(objects, {{inner_, 2}, {next_, 3}}); }

private:
    handle_type inner_, next_;
};

/// A shard vacates its first position while compaction passes it, and gives its memory to another shard.
class vacated_first_position : public model {
public:
    vacated_first_position() : slots_("slots", 4, 0), newborns_("nursery", 3, 1) { second_shard_.shard = 1; }

    void run(unsigned index) override {
        if (index == 0) {
            vacated_ = newborns_.take(first_shard_);
            newborns_.take(first_shard_);
            vacate();
        } else if (index == 1) {
            drain();
            drain();
        } else {
            for (int i = 0; i != 2; ++i) {
                const nursery_position mine = newborns_.take(second_shard_);
                if (mine != nursery_position::none) {
                    memory_.at(raw(mine)) = 2;
                }
            }
        }
    }

protected:
    virtual void vacate() = 0;
    void write_and_throw() {
        memory_.at(raw(vacated_)) = 1;
        newborns_.give_back(first_shard_, vacated_);
    }
    bool take_again() { return newborns_.take(first_shard_) == vacated_; }

private:
    void drain() {
        std::size_t ready = 0;
        newborns_.consumer().for_pending(first_shard_, [&](std::uint32_t first, std::uint32_t last) {
            const std::uint32_t count = newborns_.scan_ready(first, last, slots_);
            require(count == 0 || first == raw(vacated_),
                    "a position that was taken, and not owned, is not passed");
            ready += count;
        });
        require(ready <= 1, "a drain stops at a place without an object");
        newborns_.consumer().drain(first_shard_, ready, [&](nursery_position first, std::uint32_t count) {
            for (std::uint32_t i = 0; i != count; ++i) {
                require(newborns_.take_out(nursery_position{raw(first) + i}) == 0, "nobody was born");
            }
        });
        newborns_.recycle([&](nursery_position first) { memory_.at(raw(first)) = 0; });
    }

    slot_table<pool_config<default_layout, model_policy>> slots_;
    nursery<pool_config<default_layout, model_policy>> newborns_;
    newborn_chain<model_policy> first_shard_;
    newborn_chain<model_policy> second_shard_;
    std::array<model_plain<std::uint32_t>, 3> memory_;
    nursery_position vacated_{};
};

/// By a constructor that makes another object, writes and throws.
class memory_of_a_throwing_constructor : public vacated_first_position {
    void vacate() override { write_and_throw(); }
};

/// The position is used again, if it was not passed, and vacated once more.
class position_vacated_twice : public vacated_first_position {
    void vacate() override {
        write_and_throw();
        if (take_again()) {
            write_and_throw();
        }
    }
};

/// A shard fills chunks of the nursery, which compaction drains, gives back, and takes from the shards again
/// to give their memory to the system. Another shard finds a place meanwhile, and keeps what it holds.
class memory_of_the_nursery : public model {
    struct policy : model_policy {
        static constexpr std::size_t warm_chunks = 0;
    };
    using config = pool_config<default_layout, policy>;

public:
    memory_of_the_nursery() : slots_("slots", 2, 0), newborns_("nursery", 5, 1) { second_shard_.shard = 1; }

    void run(unsigned index) override {
        if (index == 0) {
            emplace(0);
            emplace(1);
        } else if (index == 1) {
            compact();
            compact();
        } else {
            for (int i = 0; i != 2; ++i) {
                take(second_shard_);
            }
        }
    }

    // What gives memory back takes for the objects: in huge pages of four.
    static location location_of(nursery_position position) { return location{raw(position)}; }
    static nursery_position end_of_huge_page(nursery_position at) {
        return nursery_position{(raw(at) + 3) / 4 * 4};
    }
    void discard(location first, location last) {
        for (std::uint32_t i = raw(first); i != raw(last); ++i) {
            memory_.at(i) = 0;
        }
    }

private:
    nursery_position take(newborn_chain<policy>& shard) {
        const auto mine = newborns_.take(shard);
        require(mine != nursery_position::none, "a shard finds a place");
        require(newborns_.owner(mine) == 0, "nobody has the place");
        require(memory_.at(raw(mine)) == 0, "the place is left empty");
        memory_.at(raw(mine)) = 1;
        return mine;
    }
    void emplace(std::uint32_t slot) {
        const nursery_position mine = take(first_shard_);
        const auto tag = slots_.next_tag(slot_index{slot}, 0);
        newborns_.own(mine, slots_.handle_of(slot_index{slot}, tag));
        slots_.publish(slot_index{slot}, tag, location{raw(mine)});
    }
    void compact() {
        test::drain_newborns(newborns_, first_shard_, slots_, [&](nursery_position newborn) {
            require(memory_.at(raw(newborn)) == 1, "a newborn is complete");
            newborns_.mark_gone(newborn);
            memory_.at(raw(newborn)) = 0;
        });
        newborns_.recycle([](nursery_position) {});
        newborns_.trim(*this);
    }

    slot_table<config> slots_;
    nursery<config> newborns_;
    newborn_chain<policy> first_shard_;
    newborn_chain<policy> second_shard_;
    std::array<model_plain<std::uint32_t>, 5> memory_;
};

} // namespace

void add_unused_models(std::vector<model_entry>& to) {
    add<free_bitmap_pass_on>(to, "unused indices pass on", 2,
                             "an index given back unused has one owner, who sees what came before");
    add<free_bitmap_taken_again>(to, "unused index taken again", 2, "the same");
    add<unused_slots_held_by_a_shard>(
        to, "unused slots held by a shard", 2,
        "a pool has room for its capacity, whatever shards hold of what others gave back");
    add<batch_that_fails>(to, "batch that fails", 2,
                          "what a batch has taken goes back; nobody else is refused");
    add<batch_during_a_compaction>(to, "batch during a compaction", 2,
                                   "objects created together are drained like others");
    add<batch_erased_without_a_record>(to, "batch erased without a record", 2,
                                       "a sweep finds objects as soon as others can erase them");
    add<memory_of_the_nursery>(to, "memory of the nursery", 3,
                               "shards use places whose memory compaction gives back, but not meanwhile");
    add<position_left_behind>(to, "position left behind", 2,
                              "a vacated position goes to its shard or to compaction, not to both");
    add<memory_of_a_throwing_constructor>(to, "memory of a throwing constructor", 3,
                                          "the memory is used again only behind what the constructor wrote");
    add<position_vacated_twice>(to, "position vacated twice", 3,
                                "its memory is used again only behind what the constructors wrote");
}

} // namespace handlepool::model
