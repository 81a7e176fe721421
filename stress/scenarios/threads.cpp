// Threads are born and die by the thousand, more at a time than there are processors; they leave objects
// behind, and slots that they had claimed.

#include "scenarios/all.hpp"
#include "tiny_policy.hpp"
#include "watched_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <random>
#include <thread>
#include <vector>

namespace handlepool::stress {

namespace {

constexpr std::size_t at_once = 4; // mortals that a thread of the crew has at a time

template <class Policy>
std::uint64_t run_until(conductor& by, double part) {
    using pool_type = watched_pool<observed, default_layout, Policy>;
    using handle_type = typename pool_type::handle_type;
    const std::size_t mortals = by.threads() * at_once;
    pool_type pool(by, {.name = "threads", .capacity = 100 * mortals, .reuse_delay = 16}, mortals);
    std::vector<std::vector<handle_type>> legacies(mortals);
    std::atomic<std::uint64_t> born = 0;
    for (std::uint64_t frame = 0; by.more(part); ++frame) {
        by.together([&](std::size_t thread) {
            for (int generation = 0; generation < 8; ++generation) {
                std::array<std::exception_ptr, at_once> failures;
                std::vector<std::jthread> crowd;
                for (std::size_t each = 0; each < at_once; ++each) {
                    const std::size_t mortal = thread * at_once + each;
                    crowd.emplace_back([&, mortal, each]() noexcept {
                        try {
                            auto& mine = pool.by(mortal);
                            auto& legacy = legacies[mortal];
                            // One object is enough to claim a bundle of slots.
                            const std::size_t objects = 1 + (frame + mortal) % 9;
                            for (std::size_t i = 0; i < objects; ++i) {
                                legacy.push_back(mine.create());
                            }
                            while (legacy.size() > 8) {
                                mine.erase_living(legacy.back());
                                legacy.pop_back();
                            }
                        } catch (...) {
                            failures[each] = std::current_exception();
                        }
                    });
                }
                crowd.clear(); // waits for them
                for (const std::exception_ptr& failure : failures) {
                    if (failure) {
                        std::rethrow_exception(failure);
                    }
                }
                born += at_once;
            }
        });
        std::rotate(legacies.begin(), legacies.begin() + 1, legacies.end());
        pool.end_frame();
    }
    const std::size_t lanes = pool.get().stats().lanes;
    // The crew, the conductor, who creates nothing, and all that live at the same time. What one thread gave
    // up as it ended the next may not have got yet.
    const std::size_t most_lanes = 2 * (by.threads() + mortals + 1);
    if (lanes > most_lanes) {
        by.violate(fmt::format("{} threads at a time left {} lanes behind", mortals, lanes));
    }
    pool.finish();
    return born;
}

} // namespace

void run_threads(conductor& by) {
    std::uint64_t born = run_until<default_policy>(by, 0.5);
    born += run_until<tiny_policy<2>>(by, 1);
    by.tell("threads born", fmt::to_string(born));
}

} // namespace handlepool::stress
