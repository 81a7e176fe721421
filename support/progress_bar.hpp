// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace handlepool::support {

struct progress_state {
    std::string_view label;
    double part;                ///< that is done, from 0 to 1
    std::optional<double> rate; ///< operations a second, if they are counted
    double seconds_left;        ///< at this rate
};

/// A label, a bar, the rate and the remaining time, in fewer characters than a terminal has columns: one that
/// is full would go on in the next line. What has no room is left out, the label last.
std::string progress_line(const progress_state& state, std::size_t columns);

/// The line on the standard error; silent when that is no terminal. It has the terminal's width, or that of
/// the environment's COLUMNS if the terminal knows none, or 80 columns.
class progress_bar {
public:
    explicit progress_bar(std::string label);
    ~progress_bar(); ///< clears the line

    progress_bar(const progress_bar&) = delete;
    progress_bar& operator=(const progress_bar&) = delete;

    /// The part that is done, from 0 to 1, and the operations so far, if they are counted. One thread at a
    /// time; cheap.
    void show(double part, std::optional<std::uint64_t> operations = {});

private:
    using clock = std::chrono::steady_clock;

    std::string label_;
    bool visible_;
    clock::time_point start_ = clock::now();
    clock::time_point last_{};
};

} // namespace handlepool::support
