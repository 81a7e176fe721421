#include "crew.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace handlepool::stress {

// The thread that asks takes part in both barriers.
crew::crew(std::size_t threads)
    : size_(threads),
      begin_(static_cast<std::ptrdiff_t>(threads + 1)),
      end_(static_cast<std::ptrdiff_t>(threads + 1)) {
    try {
        while (threads_.size() < threads) {
            threads_.emplace_back([this, thread = threads_.size()] { take_part(thread); });
        }
    } catch (const std::exception& error) {
        const std::size_t started = threads_.size();
        for (std::size_t missing = threads - started; missing != 0; --missing) {
            begin_.arrive_and_drop();
        }
        disband();
        throw std::runtime_error(
            fmt::format("only {} of {} threads could be started: {}", started, threads, error.what()));
    }
}

crew::~crew() {
    disband();
}

void crew::run(const std::function<void(std::size_t)>& work) {
    work_ = &work;
    begin_.arrive_and_wait();
    end_.arrive_and_wait();
    if (failure_) {
        std::rethrow_exception(failure_);
    }
}

void crew::take_part(std::size_t thread) {
    while (true) {
        begin_.arrive_and_wait();
        if (work_ == nullptr) {
            return;
        }
        try {
            (*work_)(thread);
        } catch (...) {
            const std::scoped_lock lock(failure_mutex_);
            if (!failure_) {
                failure_ = std::current_exception();
            }
            failed_.store(true);
        }
        end_.arrive_and_wait();
    }
}

void crew::disband() {
    work_ = nullptr;
    begin_.arrive_and_wait();
    threads_.clear(); // joins them
}

} // namespace handlepool::stress
