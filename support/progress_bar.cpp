// SPDX-License-Identifier: MIT
#include "progress_bar.hpp"

#include <fmt/format.h>
#include <support/files/tell.hpp>
#include <support/programs/system.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace handlepool::support {

namespace {

// Asked again for each line: the user may change the window.
std::size_t terminal_columns() {
    if (const std::optional<std::size_t> known = columns_of_errors()) {
        return *known;
    }
    const char* const value = std::getenv("COLUMNS");
    const std::string_view text = value == nullptr ? "" : value;
    std::size_t columns = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
    const bool is_number = error == std::errc() && rest == text.data() + text.size() && columns != 0;
    return is_number ? columns : 80;
}

} // namespace

std::string progress_line(const progress_state& state, std::size_t columns) {
    constexpr std::size_t shortest_bar = 10;
    constexpr std::size_t longest_bar = 30;
    const std::size_t room = std::max<std::size_t>(columns, 1) - 1;
    const double part = std::clamp(state.part, 0.0, 1.0);
    const std::string percent = fmt::format("{:3.0f} %", part * 100);
    const std::string left = fmt::format("  {:.0f} s left", state.seconds_left);
    const double millions = state.rate.value_or(0) / 1e6;
    const std::array<std::string, 3> rates{state.rate ? fmt::format("  {:.2f} million operations/s", millions)
                                                      : "",
                                           state.rate ? fmt::format("  {:.2f} M/s", millions) : "", ""};
    for (const std::string& rate : rates) {
        const std::string behind = percent + rate + left;
        const std::size_t without_bar = state.label.size() + std::string_view(" [] ").size() + behind.size();
        if (without_bar + shortest_bar <= room) {
            const std::size_t length = std::min(longest_bar, room - without_bar);
            const std::string bar(static_cast<std::size_t>(part * static_cast<double>(length)), '#');
            return fmt::format("{} [{:<{}}] {}", state.label, bar, length, behind);
        }
    }
    std::string line = fmt::format("{} {}{}", state.label, percent, left);
    if (line.size() > room) {
        line = fmt::format("{} {}", state.label, percent);
    }
    if (line.size() > room) {
        line = percent + " " + std::string(state.label);
    }
    return line.substr(0, room);
}

progress_bar::progress_bar(std::string label)
    : label_(std::move(label)), visible_(errors_go_to_a_terminal()) {}

progress_bar::~progress_bar() {
    if (visible_) {
        tell("\r\033[K");
    }
}

void progress_bar::show(double part, std::optional<std::uint64_t> operations) {
    const auto now = clock::now();
    if (!visible_ || now - last_ < std::chrono::milliseconds(100)) {
        return;
    }
    last_ = now;
    const double seconds = std::max(std::chrono::duration<double>(now - start_).count(), 1e-9);
    progress_state state{.label = label_,
                         .part = part,
                         .rate = {},
                         .seconds_left = part > 0 ? std::max(seconds / part - seconds, 0.0) : 0.0};
    if (operations) {
        state.rate = static_cast<double>(*operations) / seconds;
    }
    tell("\r\033[K{}", progress_line(state, terminal_columns()));
    std::fflush(stderr);
}

} // namespace handlepool::support
