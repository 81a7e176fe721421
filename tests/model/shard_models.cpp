// SPDX-License-Identifier: MIT

// What a shard and compaction hand each other, and how shards change hands.

#include "model_policy.hpp"
#include "models.hpp"

#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/detail/parts/shard.hpp>
#include <handlepool/detail/placement/nursery.hpp>
#include <handlepool/detail/queues/removal_queue.hpp>
#include <handlepool/detail/slots/slot_table.hpp>
#include <handlepool/detail/threads/thread_index_set.hpp>
#include <handlepool/fifo_freelist.hpp>
#include <handlepool/handle.hpp>

#include <tests/support/each_record.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool::model {

using namespace detail;

namespace {

/// A thread queues records of what it has written, in a queue that holds two; compaction drains it meanwhile.
class records : public model {
public:
    records() : queue_("queue", 4, 1, 2) {}

    void run(unsigned index) override {
        if (index == 0) {
            for (std::uint32_t record = 0; record != 3; ++record) {
                things_[record] = record;
                if (queue_.push(shard_, record)) {
                    pushed_.push_back(record);
                }
            }
        } else {
            drain();
            drain();
        }
    }
    void check() override {
        drain();
        require(drained_ == pushed_, "each record comes out once, in its order");
        require(shard_.empty(), "a drained queue is empty");
    }

private:
    void drain() {
        queue_.look(shard_);
        queue_.drain(shard_, test::each_record([&](std::uint64_t record) {
                         require(things_.at(record) == record, "what a record is about is there");
                         drained_.push_back(record);
                     }));
        queue_.recycle();
    }

    removal_queue<pool_config<default_layout, model_policy>> queue_;
    removal_chain<model_policy> shard_;
    std::array<model_plain<std::uint32_t>, 3> things_;
    std::vector<std::uint64_t> pushed_;
    std::vector<std::uint64_t> drained_;
};

/// A constructor that makes another object, writes and throws; compaction passes its place and gives the
/// memory to a third thread.
class memory_of_a_throwing_constructor : public model {
    using layout = default_layout;

public:
    memory_of_a_throwing_constructor() : slots_("slots", 4, 0), newborns_("nursery", 3, 1) {
        second_shard_.shard = 1;
    }

    void run(unsigned index) override {
        if (index == 0) {
            const nursery_position outer = newborns_.take(first_shard_);
            newborns_.take(first_shard_);
            memory_.at(raw(outer)) = 1;
            newborns_.give_back(first_shard_, outer);
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

private:
    void drain() {
        std::size_t ready = 0;
        newborns_.consumer().for_pending(first_shard_, [&](std::uint32_t first, std::uint32_t last) {
            ready += newborns_.scan_ready(first, last, slots_);
        });
        // The second place is taken, and never owned.
        require(ready <= 1, "a drain stops at a place without an object");
        newborns_.consumer().drain(first_shard_, ready, [&](nursery_position first, std::uint32_t count) {
            for (std::uint32_t i = 0; i != count; ++i) {
                require(newborns_.take_out(nursery_position{raw(first) + i}) == 0, "nobody was born");
            }
        });
        newborns_.recycle([&](nursery_position first) { memory_.at(raw(first)) = 0; });
    }

    slot_table<pool_config<layout, model_policy>> slots_;
    nursery<pool_config<layout, model_policy>> newborns_;
    newborn_chain<model_policy> first_shard_;
    newborn_chain<model_policy> second_shard_;
    std::array<model_plain<std::uint32_t>, 3> memory_;
};

/// Threads that take a number, use what belongs to it, and give it back: the shard of a thread that has ended
/// goes to a new one as it was left.
class thread_numbers : public model {
public:
    void run(unsigned) override {
        for (int life = 0; life != 2; ++life) {
            const std::uint32_t number = numbers_.claim();
            require(number < shards_.size(), "there are no more numbers out than threads");
            shards_.at(number) = shards_.at(number) + 1;
            numbers_.give_back(number);
        }
    }
    void check() override {
        std::uint32_t uses = 0;
        for (const std::uint32_t shard : shards_) {
            uses += shard;
        }
        require(uses == 4, "no use of a shard is lost");
        require(numbers_.claim() == 0, "all numbers were given back, and the lowest goes out first");
    }

private:
    thread_index_set<model_atomic, 1> numbers_;
    std::array<model_plain<std::uint32_t>, 2> shards_;
};

} // namespace

void add_shard_models(std::vector<model_entry>& to) {
    to.push_back(
        entry<records>("removal queue", 2, "each record comes out once, in order, with what it is about"));
    to.push_back(entry<memory_of_a_throwing_constructor>(
        "memory of a throwing constructor", 3,
        "the memory is used again only behind what the constructor wrote"));
    to.push_back(entry<thread_numbers>("thread numbers", 2,
                                       "a number has one owner, who finds all that the one before has done"));
}

} // namespace handlepool::model
