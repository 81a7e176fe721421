#pragma once

#include <atomic>
#include <barrier>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::stress {

// Runs `work(thread, frame)` on so many threads at once for each frame, and `between(frame)` on one of them
// when all have done their part. The first exception ends the run after its frame and comes out here.
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

    std::size_t frame = 0;
    std::barrier end_of_frame(static_cast<std::ptrdiff_t>(threads), [&]() noexcept {
        guarded([&] {
            if (!failed.load()) {
                between(frame);
            }
        });
        ++frame;
    });
    {
        std::vector<std::jthread> crew;
        for (std::size_t thread = 0; thread < threads; ++thread) {
            crew.emplace_back([&, thread] {
                while (frame < frames && !failed.load()) {
                    guarded([&] { work(thread, frame, std::as_const(failed)); });
                    end_of_frame.arrive_and_wait();
                }
            });
        }
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
}

} // namespace handlepool::stress
