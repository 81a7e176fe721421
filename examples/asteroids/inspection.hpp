// SPDX-License-Identifier: MIT
#pragma once

#include "../require.hpp"
#include "outpost.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#ifdef __linux__
#include <support/programs/started_program.hpp>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <vector>
#endif

namespace asteroids {

/// Shows this program's pools in the page of handlepool-inspect, and goes on at 60 frames a second.
class inspection {
public:
#ifdef __linux__
    /// Starts the tool, which prints the page's address; `folder` is where the world is kept, or empty.
    /// Throws if that can't be done.
    explicit inspection(const std::string& folder) {
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); // else the tool, a child, might not read its parent
        std::vector<std::string> command{tool(), std::to_string(getpid()), "--page", "--end-with-program"};
        if (!folder.empty()) {
            command.insert(command.end(), {"--recorded", folder});
        }
        tool_.emplace(command, stdout);
    }
#else
    explicit inspection(const std::string&) { examples::require(false, "--inspect works on Linux only"); }
#endif

    void end_frame(std::uint64_t frame) {
        station_.run_frame(frame);
        next_frame_ += std::chrono::microseconds(16'667);
        std::this_thread::sleep_until(next_frame_);
    }

private:
    outpost station_; // before the tool looks for pools
    std::chrono::steady_clock::time_point next_frame_ = std::chrono::steady_clock::now();
#ifdef __linux__
    /// In a build it lies where it isn't installed yet.
    static std::string tool() {
        const std::filesystem::path built = std::filesystem::read_symlink("/proc/self/exe").parent_path() /
                                            "../tools/inspect/handlepool-inspect";
        return std::filesystem::exists(built) ? built.string() : "handlepool-inspect";
    }

    std::optional<handlepool::support::started_program> tool_;
#endif
};

} // namespace asteroids
