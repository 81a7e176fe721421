#pragma once

#include <atomic>
#include <barrier>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace handlepool::stress {

// Threads that do the same thing together, as often as they are asked to.
class crew {
public:
    // Throws std::runtime_error if the system has not so many threads left.
    explicit crew(std::size_t threads);
    ~crew();

    crew(const crew&) = delete;
    crew& operator=(const crew&) = delete;

    std::size_t size() const noexcept { return size_; }

    // Runs `work(thread)`, for thread from 0 on, on all threads at once; returns when all have done their
    // part. Rethrows the first exception; then the crew runs nothing more.
    void run(const std::function<void(std::size_t)>& work);

    // Has any thread's part ended by an exception? Work that waits for another thread's must give up then.
    bool failed() const noexcept { return failed_.load(); }

private:
    void take_part(std::size_t thread);
    void disband();

    std::size_t size_;
    std::barrier<> begin_;
    std::barrier<> end_;
    const std::function<void(std::size_t)>* work_ = nullptr; // null: the crew is to go home
    std::atomic<bool> failed_ = false;
    std::exception_ptr failure_;
    std::mutex failure_mutex_;
    std::vector<std::jthread> threads_; // last: they use the others
};

} // namespace handlepool::stress
