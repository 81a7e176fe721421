#pragma once

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace asteroids {

/// A bar on the standard error, as wide as there is room for; silent when that is no terminal.
class progress_bar {
public:
    explicit progress_bar(std::uint64_t frames) : frames_(frames) {}
    ~progress_bar() { hide(); }

    progress_bar(const progress_bar&) = delete;
    progress_bar& operator=(const progress_bar&) = delete;

    void show(std::uint64_t done) {
        const auto now = std::chrono::steady_clock::now();
        if (visible_ && now - last_ > std::chrono::milliseconds(100)) {
            last_ = now;
            const std::string text = fmt::format("frame {} of {}", done, frames_);
            const std::size_t columns = terminal_columns();
            const std::size_t beside =
                std::string_view("[] ").size() + text.size() + 1; // a full line would wrap
            const std::size_t width = columns > beside ? std::min<std::size_t>(40, columns - beside) : 0;
            fmt::print(stderr, "\r\033[K{}",
                       width != 0
                           ? fmt::format("[{:<{}}] {}", std::string(done * width / frames_, '#'), width, text)
                           : text.substr(0, columns - 1));
        }
    }

    void hide() {
        if (visible_) {
            fmt::print(stderr, "\r\033[K");
        }
    }

private:
    static std::size_t terminal_columns() {
        winsize size{};
        return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : 80;
    }

    std::uint64_t frames_;
    bool visible_ = isatty(STDERR_FILENO) == 1;
    std::chrono::steady_clock::time_point last_{};
};

} // namespace asteroids
