// SPDX-License-Identifier: MIT
#include "virtual_threads.hpp"

#include <boost/context/protected_fixedsize_stack.hpp>
#include <support/files/tell.hpp>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

namespace handlepool::coherence {

namespace {

constexpr std::size_t stack_size = 256 * 1024;

} // namespace

void virtual_threads::run(std::uint32_t first, std::uint32_t last,
                          const std::function<void(std::uint32_t)>& body) {
    const std::size_t count = last - first;
    first_ = first;
    contexts_.clear();
    contexts_.resize(count + 1);
    awake_.clear();
    unfinished_ = count;
    for (std::uint32_t number = first; number != last; ++number) {
        awake_.push_back(number);
        contexts_[number - first] = boost::context::fiber(
            std::allocator_arg, boost::context::protected_fixedsize_stack(stack_size),
            [this, number, &body](boost::context::fiber&& from) noexcept {
                contexts_[switched_from_] = std::move(from);
                body(number);
                leave(number);
                --unfinished_;
                switched_from_ = number - first_;
                const std::uint32_t next = awake_.empty() ? none : choose();
                running_ = next;
                return std::move(next == none ? contexts_.back() : contexts_[next - first_]);
            });
    }
    if (count != 0) {
        switched_from_ = static_cast<std::uint32_t>(count);
        switch_to(choose());
    }
    if (unfinished_ != 0) {
        handlepool::support::tell("all simulated threads that have not ended sleep\n");
        std::abort(); // their stacks could not be unwound
    }
}

void virtual_threads::turn() {
    const std::uint32_t next = choose();
    if (next != running_) {
        switch_to(next);
    }
}

void virtual_threads::sleep() {
    leave(running_);
    switch_to(awake_.empty() ? none : choose());
}

void virtual_threads::wake(std::uint32_t number) {
    if (std::ranges::find(awake_, number) == awake_.end()) {
        awake_.push_back(number);
    }
}

/// To a thread, or back to run().
void virtual_threads::switch_to(std::uint32_t number) {
    switched_from_ = running_ == none ? static_cast<std::uint32_t>(contexts_.size() - 1) : running_ - first_;
    running_ = number;
    boost::context::fiber& next = number == none ? contexts_.back() : contexts_[number - first_];
    boost::context::fiber from = std::move(next).resume();
    contexts_[switched_from_] = std::move(from);
}

void virtual_threads::leave(std::uint32_t number) noexcept {
    std::erase(awake_, number);
}

} // namespace handlepool::coherence
