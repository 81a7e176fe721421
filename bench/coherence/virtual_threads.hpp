// SPDX-License-Identifier: MIT
#pragma once

#include <boost/context/fiber.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace handlepool::coherence {

/// A sequence of numbers that is the same on every machine: splitmix64.
class random_sequence {
public:
    explicit random_sequence(std::uint64_t seed) noexcept : state_(seed) {}

    std::uint64_t operator()() noexcept {
        std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
        return mixed ^ (mixed >> 31);
    }
    /// Below `limit`.
    std::size_t below(std::size_t limit) noexcept { return static_cast<std::size_t>((*this)() % limit); }

private:
    std::uint64_t state_;
};

/// Threads that take turns in one thread of the system, in an order that follows from the seed.
class virtual_threads {
public:
    static constexpr std::uint32_t none = 0xffff'ffff;

    explicit virtual_threads(std::uint64_t seed) : random_(seed) {}

    virtual_threads(const virtual_threads&) = delete;
    virtual_threads& operator=(const virtual_threads&) = delete;

    /// Runs `body(number)` in a virtual thread for each of the numbers from `first` to before `last`, and
    /// returns when all have ended. What a body throws ends the program, and so does that all that are left
    /// sleep.
    void run(std::uint32_t first, std::uint32_t last, const std::function<void(std::uint32_t)>& body);

    /// The number of the running one; none outside of run().
    std::uint32_t running() const noexcept { return running_; }

    /// For a virtual thread: another one may have its turn.
    void turn();
    /// For a virtual thread: sleeps until it is woken.
    void sleep();
    void wake(std::uint32_t number);

private:
    void switch_to(std::uint32_t number);
    std::uint32_t choose() noexcept { return awake_[random_.below(awake_.size())]; }
    void leave(std::uint32_t number) noexcept;

    random_sequence random_;
    std::uint32_t first_ = 0;
    std::uint32_t running_ = none;
    std::uint32_t switched_from_ = 0;             // place of the one that switched last
    std::vector<boost::context::fiber> contexts_; // of the threads, and last of run()
    std::vector<std::uint32_t> awake_;
    std::size_t unfinished_ = 0;
};

} // namespace handlepool::coherence
