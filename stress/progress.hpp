#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace handlepool::stress {

// A bar on the standard error with rate and remaining time; silent when that is no terminal.
class progress {
public:
    explicit progress(std::string_view label);
    ~progress(); // clears the line

    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    // So much is done, from 0 to 1, and so many operations with it. One thread at a time; cheap.
    void show(double part, std::uint64_t operations);

private:
    using clock = std::chrono::steady_clock;

    std::string label_;
    bool visible_;
    clock::time_point start_ = clock::now();
    clock::time_point last_{};
};

} // namespace handlepool::stress
