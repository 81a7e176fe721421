// SPDX-License-Identifier: MIT
#pragma once

#include "keeping_costs.hpp"
#include "options.hpp"

#include <handlepool/service_stats.hpp>
#include <handlepool/tbb/frame_graph.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <optional>
#include <vector>

namespace asteroids {

/// How long frames took, which part of that was the pools' work, and what came out.
class report {
public:
    explicit report(const options& chosen) : chosen_(chosen) {}

    /// `emplace_and_erase` is summed up over the threads. What matters ends when the last task begins, which
    /// is the check.
    void add_frame(const handlepool::frame_report& frame, std::chrono::nanoseconds emplace_and_erase) {
        frames_.push_back(milliseconds(frame.tasks.back().begin));
        compaction_ += milliseconds(frame.compaction.duration);
        emplace_and_erase_ += milliseconds(emplace_and_erase);
    }

    /// What the frames took to be kept in a folder, all together. After the last frame.
    void add_costs(const keeping_costs& costs) { costs_ = costs; }

    void print(const handlepool::service_stats& pools, const nlohmann::ordered_json& outcome) const {
        const nlohmann::ordered_json all = to_json(pools, outcome);
        if (chosen_.json) {
            fmt::print("{}\n", all.dump(2));
            return;
        }
        if (!frames_.empty()) {
            print_times(all);
        }
        for (const auto& pool : pools.pools) {
            fmt::print("{:<24} {} alive, {} created, {} destroyed\n", pool.name, pool.alive, pool.created,
                       pool.destroyed);
        }
        for (const auto& [name, value] : outcome.items()) {
            std::string title = name;
            std::replace(title.begin(), title.end(), '_', ' ');
            fmt::print("{:<24} {}\n", title, value.is_string() ? value.get<std::string>() : value.dump());
        }
    }

private:
    void print_times(const nlohmann::ordered_json& all) const {
        const auto& frame = all["frame_milliseconds"];
        fmt::print("{:<24} median {:.2f} ms, 99th percentile {:.2f} ms, worst {:.2f} ms\n", "frames",
                   frame["median"].get<double>(), frame["percentile_99"].get<double>(),
                   frame["worst"].get<double>());
        fmt::print("{:<24} {:.1f} % of the threads' time went into emplace, erase and compaction\n",
                   "pool share", all["pool_share"].get<double>() * 100);
        if (costs_) {
            const auto& each = all["mean_microseconds_to_keep_frame"];
            fmt::print(
                "{:<24} {:.1f} % of a frame: {:.0f} µs to mark, {:.0f} to record, {:.0f} to hand over; "
                "{:.0f} bytes, which another thread appended in {:.0f} µs\n",
                "journal", all["journal_share"].get<double>() * 100, each["mark"].get<double>(),
                each["record"].get<double>(), each["hand_over"].get<double>(),
                all["mean_bytes_of_frame"].get<double>(), each["append_in_another_thread"].get<double>());
        }
    }

    nlohmann::ordered_json to_json(const handlepool::service_stats& pools,
                                   const nlohmann::ordered_json& outcome) const {
        nlohmann::ordered_json all = {{"entities", chosen_.entities},
                                      {"frames", chosen_.frames},
                                      {"threads", chosen_.threads},
                                      {"seed", chosen_.seed}};
        if (!frames_.empty()) {
            add_times(all);
        }
        for (const auto& pool : pools.pools) {
            all["pools"][pool.name] = {
                {"alive", pool.alive}, {"created", pool.created}, {"destroyed", pool.destroyed}};
        }
        all.update(outcome);
        return all;
    }

    void add_times(nlohmann::ordered_json& all) const {
        std::vector<double> sorted = frames_;
        std::sort(sorted.begin(), sorted.end());
        const auto count = static_cast<double>(sorted.size());
        const double sum = std::accumulate(sorted.begin(), sorted.end(), 0.0);
        // All threads wait for a compaction, however many take part in it; in emplace and erase, each spends
        // its own time.
        const double pool_time = compaction_ + emplace_and_erase_ / static_cast<double>(chosen_.threads);
        all["frame_milliseconds"] = {{"mean", sum / count},
                                     {"best", sorted.front()},
                                     {"median", percentile(sorted, 50)},
                                     {"percentile_99", percentile(sorted, 99)},
                                     {"worst", sorted.back()}};
        all["mean_pool_milliseconds_in_frame"] = {
            {"compaction", compaction_ / count},
            {"emplace_and_erase_of_all_threads", emplace_and_erase_ / count}};
        all["pool_share"] = pool_time / sum;
        if (costs_) {
            const auto mean = [&](std::chrono::nanoseconds all_frames) {
                return milliseconds(all_frames) * 1000 / count;
            };
            all["mean_microseconds_to_keep_frame"] = {{"mark", mean(costs_->mark)},
                                                      {"record", mean(costs_->record)},
                                                      {"hand_over", mean(costs_->hand_over)},
                                                      {"append_in_another_thread", mean(costs_->append)}};
            all["mean_bytes_of_frame"] = static_cast<double>(costs_->bytes) / count;
            // The frame's time has the marks; what follows comes between two frames.
            const double between = milliseconds(costs_->record + costs_->hand_over);
            all["journal_share"] = (milliseconds(costs_->mark) + between) / (sum + between);
        }
    }

    // What so many in a hundred of the values are not above. There must be one at least.
    static double percentile(const std::vector<double>& sorted, std::size_t part) {
        const std::size_t values = (sorted.size() * part + 99) / 100; // rounded up: one at least
        return sorted[values - 1];
    }

    static double milliseconds(std::chrono::nanoseconds time) {
        return std::chrono::duration<double, std::milli>(time).count();
    }

    options chosen_;
    std::vector<double> frames_; // in milliseconds, like the sums that follow
    double compaction_ = 0;
    double emplace_and_erase_ = 0;
    std::optional<keeping_costs> costs_; // if they were kept
};

} // namespace asteroids
