// SPDX-License-Identifier: MIT
#pragma once

#include "../slots.hpp"

#include <concurrentqueue/concurrentqueue.h>

#include <cstddef>
#include <cstdint>
#include <deque>

namespace handlepool_bench::peers {

/// With a token of each kind for each thread, which is its fast way.
class moodycamel_queue {
public:
    moodycamel_queue(std::size_t capacity, unsigned threads) : queue_(capacity) {
        while (tokens_.size() < threads) {
            tokens_.emplace_back(queue_);
        }
    }

    void put(unsigned thread, std::uint32_t index) { queue_.enqueue(tokens_[thread].producer, index); }
    bool take(unsigned thread, std::uint32_t& index) {
        return queue_.try_dequeue(tokens_[thread].consumer, index);
    }

private:
    using queue_type = moodycamel::ConcurrentQueue<std::uint32_t>;
    struct alignas(128) tokens { // away from their neighbours
        explicit tokens(queue_type& queue) : producer(queue), consumer(queue) {}

        moodycamel::ProducerToken producer;
        moodycamel::ConsumerToken consumer;
    };

    queue_type queue_;
    std::deque<tokens> tokens_;
};

class moodycamel_slots : public slots<moodycamel_queue> {
public:
    static constexpr const char* name = "slots + moodycamel::ConcurrentQueue";

    using slots::slots;
};

} // namespace handlepool_bench::peers
