// SPDX-License-Identifier: MIT
#pragma once

#include "page/page.hpp"
#include "page/result_file.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace handlepool::stress {

inline nlohmann::json sample_histogram(double smallest, std::size_t buckets) {
    nlohmann::json sample{{"upper", nlohmann::json::array()}, {"counts", nlohmann::json::array()}};
    double upper = smallest;
    std::uint64_t count = 1'000'000;
    for (std::size_t i = 0; i < buckets; ++i) {
        sample["upper"].push_back(upper);
        sample["counts"].push_back(i < 2 ? 0 : count);
        upper *= 2;
        count = count / 4 + (i % 2);
    }
    return sample;
}

inline nlohmann::json sample_latency(double smallest) {
    nlohmann::json sample = sample_histogram(smallest, 16);
    sample.update({{"count", 1'333'333},
                   {"median", 8 * smallest},
                   {"p99", 64 * smallest},
                   {"p999", 900 * smallest},
                   {"worst", 30'000 * smallest}});
    return sample;
}

inline nlohmann::json sample_timeline(std::size_t points) {
    nlohmann::json sample;
    std::uint64_t operations = 0;
    for (std::size_t i = 1; i <= points; ++i) {
        operations += i % 10 == 0 ? 20'000 : 480'000 + i % 7 * 10'000;
        sample["seconds"].push_back(static_cast<double>(i) / 10);
        sample["operations"].push_back(operations);
        sample["alive"].push_back(20'000 + i % 50 * 10);
    }
    return sample;
}

inline nlohmann::json sample_compactions(std::size_t points) {
    nlohmann::json sample;
    for (std::size_t i = 0; i < points; ++i) {
        sample["frame"].push_back(3 * i + 2);
        sample["microseconds"].push_back(i % 40 == 0 ? 912.0 : 12.0 + static_cast<double>(i % 5));
    }
    return sample;
}

// A scenario with all that a result may have.
inline nlohmann::json sample_result(const std::string& name) {
    nlohmann::json sample{{"command", name},
                          {"name", name},
                          {"summary", "emplace, erase and contains never stop while compaction runs"},
                          {"parameters", {{"alive", "20000"}, {"seed", "1"}}},
                          {"facts", {{"longest wait, steps", "38 of at most 60"}}},
                          {"threads", 2},
                          {"frames", 812},
                          {"seconds", 8.57},
                          {"operations", 41'234'567},
                          {"operations_per_second", 4'811'500.2},
                          {"operations_checked", 41'000'000},
                          {"sampled", 1},
                          {"alive_peak", 20'417},
                          {"alive_final", 20'000},
                          {"created", 1'234'567},
                          {"destroyed", 1'214'567},
                          {"live_lookups", 30'000'000},
                          {"content_mismatches", 0},
                          {"stale_lookups", 3'000'000},
                          {"stale_accepted", 0},
                          {"stale_accepted_bound_95", 1e-6},
                          {"stale_explained", 125'000},
                          {"forged_lookups", 5000},
                          {"reuse_delay", 64},
                          {"smallest_reuse_distance", 71},
                          {"compaction_microseconds", {{"median", 12.1}, {"p99", 80.0}, {"worst", 912.0}}},
                          {"compaction_by_frame", sample_compactions(400)},
                          {"timeline", sample_timeline(300)},
                          {"reuse_distances", sample_histogram(16, 14)},
                          {"bytes_resident", 3'145'728},
                          {"violations", 0},
                          {"violation_messages", nlohmann::json::array()}};
    sample["latencies_nanoseconds"] = {{"emplace", sample_latency(16)},
                                       {"erase", sample_latency(14)},
                                       {"find", sample_latency(5)},
                                       {"contains", sample_latency(4)},
                                       {"compact", sample_latency(1000)}};
    return sample;
}

inline nlohmann::json sample_document(const std::vector<nlohmann::json>& scenarios) {
    return {{"version", "0.1.0"},
            {"command_line", "handlepool-stress run all --threads 2 --seed 1"},
            {"started", "2026-11-21T10:12:00Z"},
            {"machine",
             {{"processors", 2},
              {"system", "Linux 6.1.0 x86_64"},
              {"compiler", "g++ 12.2.0"},
              {"build", "Release, contracts not checked"}}},
            {"scenarios", scenarios}};
}

// What `replay` writes: no curves, and no list of scenarios.
inline nlohmann::json sample_replay() {
    nlohmann::json sample = sample_result("replay");
    for (const char* key : {"name", "summary", "facts", "operations_checked", "sampled", "reuse_delay",
                            "smallest_reuse_distance", "compaction_by_frame", "timeline", "reuse_distances",
                            "latencies_nanoseconds"}) {
        sample.erase(key);
    }
    return sample;
}

inline std::string page_of(const std::vector<nlohmann::json>& documents) {
    std::vector<page::result_file> read;
    for (const nlohmann::json& document : documents) {
        read.push_back(
            page::parse_result_file("file" + std::to_string(read.size() + 1) + ".json", document.dump()));
    }
    return page::make_page(read);
}

} // namespace handlepool::stress
