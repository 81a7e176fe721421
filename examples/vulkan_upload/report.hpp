// SPDX-License-Identifier: MIT
#pragma once

#include "options.hpp"
#include "uploader.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace vulkan_upload {

/// What was uploaded, compared with uploading all objects in each frame.
class report {
public:
    report(const options& chosen, std::string device) : chosen_(chosen), device_(std::move(device)) {}

    void add(const uploaded& done, std::size_t bytes_of_all) {
        ++frames_;
        bytes_ += done.bytes;
        bytes_of_all_ += bytes_of_all;
        switch (done.why) {
        case uploaded::reason::changes:
            ranges_ += done.ranges;
            break;
        case uploaded::reason::new_buffer:
            ++new_buffers_;
            break;
        case uploaded::reason::gap:
            ++gaps_;
            break;
        }
    }

    std::uint64_t new_buffers() const { return new_buffers_; }
    std::uint64_t gaps() const { return gaps_; }

    /// After a frame at least.
    void print(std::size_t trees, std::uint64_t simulated, std::uint64_t fingerprint) const {
        const std::uint64_t by_ranges = frames_ - new_buffers_ - gaps_;
        const double ranges =
            by_ranges == 0 ? 0 : static_cast<double>(ranges_) / static_cast<double>(by_ranges);
        if (chosen_.json) {
            const nlohmann::ordered_json all = {{"device", device_},
                                                {"trees", trees},
                                                {"frames_simulated", simulated},
                                                {"frames_uploaded", frames_},
                                                {"frames_of_all_for_a_new_buffer", new_buffers_},
                                                {"frames_of_all_after_a_gap", gaps_},
                                                {"bytes_uploaded", bytes_},
                                                {"bytes_of_all", bytes_of_all_},
                                                {"max_gap", chosen_.max_gap},
                                                {"ranges_in_frame", ranges},
                                                {"fingerprint", fmt::format("{:016x}", fingerprint)}};
            fmt::print("{}\n", all.dump(2));
            return;
        }
        const auto megabytes = [](std::uint64_t bytes) { return static_cast<double>(bytes) / 1'000'000; };
        fmt::print("{:<12} {}\n", "device", device_);
        fmt::print("{:<12} {} uploaded, of {} simulated; each was equal on the device\n", "frames", frames_,
                   simulated);
        fmt::print("{:<12} {} times for a new buffer, {} times after a gap in the log\n", "all objects",
                   new_buffers_, gaps_);
        fmt::print("{:<12} {:.1f} MB uploaded, of {:.1f} MB of all objects: {:.1f} %\n", "bytes",
                   megabytes(bytes_), megabytes(bytes_of_all_),
                   100 * megabytes(bytes_) / megabytes(bytes_of_all_));
        fmt::print("{:<12} {:.1f} a frame, with a max_gap of {}\n", "ranges", ranges, chosen_.max_gap);
        fmt::print("{} trees, fingerprint {:016x}\n", trees, fingerprint);
    }

private:
    options chosen_;
    std::string device_;
    std::uint64_t frames_ = 0;
    std::uint64_t new_buffers_ = 0;
    std::uint64_t gaps_ = 0;
    std::uint64_t ranges_ = 0; // of the other frames
    std::uint64_t bytes_ = 0;
    std::uint64_t bytes_of_all_ = 0;
};

} // namespace vulkan_upload
