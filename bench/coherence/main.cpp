// SPDX-License-Identifier: MIT
#include "array_contender.hpp"
#include "churn.hpp"
#include "pool_contender.hpp"
#include "queue_contender.hpp"
#include "results.hpp"
#include "spawner_contender.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <support/files/output_file.hpp>
#include <support/files/tell.hpp>
#include <support/progress_bar.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::coherence {
namespace {

const std::map<std::string, victims> victims_by_name{{"own", victims::own}, {"random", victims::random}};
const std::map<std::string, compactor> compactors_by_name{
    {"first", compactor::first}, {"each", compactor::each}, {"apart", compactor::apart}};

struct arguments {
    std::vector<std::size_t> threads{1, 2, 4, 8, 16, 32, 64, 128};
    std::vector<std::string> contenders{"pool", "spawners", "queue", "array"};
    std::vector<victims> erased{victims::own, victims::random};
    churn_options options;
    std::string json;
};

template <class Contender>
churn_result run(const churn_options& options) {
    return churn<Contender>(options).run();
}

churn_result run(const std::string& contender, const churn_options& options) {
    return contender == "pool"       ? run<pool_contender>(options)
           : contender == "spawners" ? run<spawner_contender>(options)
           : contender == "queue"    ? run<queue_contender>(options)
                                     : run<array_contender>(options);
}

/// All runs. The contenders that are no pools erase random objects only where that is all that was asked for:
/// it makes no difference to them.
results run_all(const arguments& asked) {
    std::vector<std::pair<std::string, churn_options>> plan;
    for (const victims erased : asked.erased) {
        for (const std::string& contender : asked.contenders) {
            if (contender != "pool" && contender != "spawners" && erased != asked.erased.front()) {
                continue;
            }
            for (const std::size_t threads : asked.threads) {
                churn_options options = asked.options;
                options.threads = threads;
                options.erased = erased;
                plan.emplace_back(contender, options);
            }
        }
    }
    support::progress_bar progress("simulating");
    results all;
    for (std::size_t i = 0; i != plan.size(); ++i) {
        progress.show(static_cast<double>(i) / static_cast<double>(plan.size()));
        all.add(run(plan[i].first, plan[i].second));
    }
    return all;
}

void declare(CLI::App& app, arguments& asked) {
    app.footer("examples:\n"
               "  handlepool-coherence\n"
               "  handlepool-coherence --threads 2,64 --contenders pool --erase own\n"
               "  handlepool-coherence --threads 64 --alive 1000000 --contenders pool --json million.json\n"
               "  handlepool-coherence --threads 1,2 --contenders pool --erase random --compactor first");
    app.add_option("--threads", asked.threads, "Numbers of simulated threads, 1 to 255 each")
        ->delimiter(',')
        ->check(CLI::Range(std::size_t{1}, most_threads - 1))
        ->capture_default_str();
    app.add_option(
           "--contenders", asked.contenders,
           "pool; spawners: a pool with one for each thread; queue: slots over one queue; array: packed "
           "array behind a lock")
        ->delimiter(',')
        ->check(CLI::IsMember({"pool", "spawners", "queue", "array"}))
        ->capture_default_str();
    app.add_option("--erase", asked.erased,
                   "Which objects a thread erases: own, which it has created, or random; both: own,random")
        ->delimiter(',')
        ->transform(CLI::CheckedTransformer(victims_by_name))
        ->default_str("own,random");
    app.add_option("--compactor", asked.options.compacts,
                   "Who compacts: the first thread, each in its turn, or one apart, which does nothing else")
        ->transform(CLI::CheckedTransformer(compactors_by_name))
        ->default_str("apart");
    app.add_option("--alive", asked.options.alive, "Objects that are alive; a tenth is replaced in a frame")
        ->check(CLI::Range(std::size_t{2'560}, std::size_t{10'000'000}))
        ->capture_default_str();
    app.add_option("--frames", asked.options.frames, "Frames that are counted")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_option("--warm-up", asked.options.warm_up, "Frames before those")
        ->check(CLI::Range(0, 1000))
        ->capture_default_str();
    app.add_option("--seed", asked.options.seed, "Of the threads' turns and of the objects chosen")
        ->capture_default_str();
    app.add_option("--json", asked.json, "Write all counts to this file");
}

} // namespace
} // namespace handlepool::coherence

/// Runs the pool and its contenders on a simulated machine with coherent caches, and prints what they cost
/// the caches.
int main(int argc, char** argv) try {
    using namespace handlepool::coherence;
    CLI::App app(
        "Runs the pool, and its contenders, by simulated threads with coherent caches (MESI), and counts\n"
        "how often a cache line goes from one cache to another. The same for the same seed.\n"
        "Exits with 1 when a figure misses what it must reach.");
    arguments asked;
    declare(app, asked);
    CLI11_PARSE(app, argc, argv);

    std::optional<handlepool::support::output_file> file;
    if (!asked.json.empty()) {
        file.emplace("--json", asked.json);
    }
    const results all = run_all(asked);
    if (file) {
        file->write_json(all.json());
    }
    fmt::print("{}", all.tables());
    const auto rows = all.rows();
    return std::ranges::all_of(rows, &judged_row::reached) ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& error) {
    handlepool::support::tell("handlepool-coherence: {}\n", error.what());
    return 2;
}
