#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace handlepool::stress {

// A bar on the standard error with rate and remaining time; silent when that is no terminal.
class progress {
public:
    progress(std::string_view label, std::uint64_t total);
    ~progress(); // clears the line

    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    // So many of the total are done, and so many operations with them. One thread at a time; cheap.
    void show(std::uint64_t done, std::uint64_t operations);

private:
    using clock = std::chrono::steady_clock;

    std::string label_;
    std::uint64_t total_;
    bool visible_;
    clock::time_point start_ = clock::now();
    clock::time_point last_{};
};

} // namespace handlepool::stress
