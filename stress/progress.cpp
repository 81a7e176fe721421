#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace handlepool::stress {

progress::progress(std::string_view label) : label_(label), visible_(isatty(STDERR_FILENO) == 1) {}

progress::~progress() {
    if (visible_) {
        fmt::print(stderr, "\r\033[K");
    }
}

void progress::show(double part, std::uint64_t operations) {
    const auto now = clock::now();
    if (!visible_ || now - last_ < std::chrono::milliseconds(100)) {
        return;
    }
    last_ = now;
    constexpr std::size_t width = 30;
    part = std::min(1.0, part);
    const double seconds = std::max(std::chrono::duration<double>(now - start_).count(), 1e-9);
    const std::string bar(static_cast<std::size_t>(part * width), '#');
    fmt::print(stderr, "\r\033[K{} [{:<{}}] {:3.0f} %  {:.2f} million operations/s  {:.0f} s left", label_,
               bar, width, part * 100, static_cast<double>(operations) / seconds / 1e6,
               part > 0 ? seconds / part - seconds : 0.0);
    std::fflush(stderr);
}

} // namespace handlepool::stress
