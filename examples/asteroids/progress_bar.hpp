#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace asteroids {

/// A bar on the standard error; silent when that is no terminal.
class progress_bar {
public:
    explicit progress_bar(std::uint64_t frames) : frames_(frames) {}
    ~progress_bar() { hide(); }

    progress_bar(const progress_bar&) = delete;
    progress_bar& operator=(const progress_bar&) = delete;

    void show(std::uint64_t done) {
        constexpr std::uint64_t width = 40;
        const auto now = std::chrono::steady_clock::now();
        if (visible_ && now - last_ > std::chrono::milliseconds(100)) {
            last_ = now;
            fmt::print(stderr, "\r\033[K[{:<{}}] frame {} of {}", std::string(done * width / frames_, '#'),
                       width, done, frames_);
        }
    }

    void hide() {
        if (visible_) {
            fmt::print(stderr, "\r\033[K");
        }
    }

private:
    std::uint64_t frames_;
    bool visible_ = isatty(STDERR_FILENO) == 1;
    std::chrono::steady_clock::time_point last_{};
};

} // namespace asteroids
