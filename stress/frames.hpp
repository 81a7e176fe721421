#pragma once

#include <fmt/format.h>

#include <atomic>
#include <barrier>
#include <cstddef>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::stress {

// Runs `work(thread, frame, failed)` on so many threads at once for each frame, and `between(frame)` on one
// of them when all have done their part. The first exception sets `failed`, ends the run after its frame and
// comes out here; work that waits for another thread must give up when `failed` is set.
template <class Work, class Between>
void run_frames(std::size_t threads, std::size_t frames, Work work, Between between) {
    std::exception_ptr failure;
    std::mutex failure_mutex;
    std::atomic<bool> failed = false;
    const auto guarded = [&](auto&& call) noexcept {
        try {
            call();
        } catch (...) {
            const std::scoped_lock lock(failure_mutex);
            if (!failure) {
                failure = std::current_exception();
            }
            failed.store(true);
        }
    };

    // Both are written only by the barrier, when all threads have arrived: they go on, or stop, together. A
    // thread that looked at `failed` for itself might leave the others waiting for it.
    std::size_t frame = 0;
    bool running = frames != 0;
    std::barrier end_of_frame(static_cast<std::ptrdiff_t>(threads), [&]() noexcept {
        guarded([&] {
            if (!failed.load()) {
                between(frame);
            }
        });
        ++frame;
        running = frame < frames && !failed.load();
    });
    const auto take_part = [&](std::size_t thread) {
        while (running) {
            guarded([&] { work(thread, frame, std::as_const(failed)); });
            end_of_frame.arrive_and_wait();
        }
    };
    {
        std::vector<std::jthread> crew;
        guarded([&] {
            try {
                while (crew.size() < threads) {
                    crew.emplace_back(take_part, crew.size());
                }
            } catch (const std::system_error& error) {
                throw std::runtime_error(fmt::format("only {} of {} threads could be started: {}",
                                                     crew.size(), threads, error.code().message()));
            }
        });
        // If the system had no more threads, nobody must wait for those that are missing.
        for (std::size_t missing = threads - crew.size(); missing != 0; --missing) {
            end_of_frame.arrive_and_drop();
        }
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
}

} // namespace handlepool::stress
