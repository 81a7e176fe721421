// SPDX-License-Identifier: MIT

// A simulation of up to millions of objects that refer to each other by handles. Ships fire at rocks, and die
// when they run into one. Rocks split when they are hit, twice, and end as debris the third time. Losses are
// replaced, so that the numbers stay about the same. The frames run on all processors: any task creates and
// erases objects as it goes, and the compaction at the end of a frame tidies up.

#include "asteroids/hash.hpp"
#include "asteroids/inspection.hpp"
#include "asteroids/options.hpp"
#include "asteroids/picture.hpp"
#include "asteroids/report.hpp"
#include "asteroids/tasks.hpp"
#include "asteroids/world.hpp"
#include "asteroids/world_in_folder.hpp"
#include "require.hpp"

#include <handlepool/tbb/frame_graph.hpp>
#include <handlepool/timeline.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <support/files/output_file.hpp>
#include <support/progress_bar.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace {

using namespace asteroids;
using examples::require;

void simulate(const options& chosen) {
    world space(chosen.entities, chosen.seed, chosen.inspect ? 2 : 0,
                chosen.deterministic ? deterministic_tasks::parts : 0);
    std::unique_ptr<tasks> all;
    if (chosen.deterministic) {
        all = std::make_unique<deterministic_tasks>(space);
    } else {
        all = std::make_unique<tasks_as_they_come>(space);
    }
    std::optional<world_in_folder> kept;
    if (!chosen.world.empty()) {
        kept.emplace(space, chosen.world, chosen.snapshot_every);
    }
    if (!kept || !kept->load()) {
        space.add_first_objects();
    }
    require(space.frames <= chosen.frames, "--frames: {} has {} frames already, and can't be led to frame {}",
            chosen.world, space.frames, chosen.frames);

    handlepool::timeline records;
    handlepool::frame_graph frame(space.pools);
    if (kept) {
        kept->begin();
        all->add_to(frame, kept->add_task(frame));
    } else {
        all->add_to(frame, frame.compaction());
    }
    frame.record(chosen.trace.empty() ? nullptr : &records);

    std::optional<inspection> shown;
    if (chosen.inspect) {
        shown.emplace(chosen.world);
    }
    report results(chosen);
    const auto run = [&] {
        handlepool::support::progress_bar progress("asteroids");
        return frame.run(chosen.frames - space.frames, [&](const handlepool::frame_report& done) {
            results.add_frame(done, space.pool_time.take());
            if (kept) {
                kept->end_frame();
            }
            if (shown) {
                shown->end_frame(space.frames);
            }
            progress.show(static_cast<double>(space.frames) / static_cast<double>(chosen.frames));
        });
    }();
    if (run.failure) {
        fmt::print(stderr, "frame {}, {}: ", space.frames, run.failed_task);
        run.rethrow();
    }
    if (kept) {
        results.add_costs(kept->finish());
    }

    nlohmann::ordered_json outcome = {{"hits", space.hits + space.hits_of_lost_ships},
                                      {"hits_of_lost_ships", space.hits_of_lost_ships.load()},
                                      {"fingerprint", fmt::format("{:016x}", space.fingerprint)}};
    if (chosen.deterministic) {
        outcome["hash"] = fmt::format("{:016x}", hash_of(space));
    }
    results.print(space.pools.stats(), outcome);
    if (!chosen.picture.empty()) {
        handlepool::support::output_file("--picture", chosen.picture).write(draw(space).text());
    }
    if (!chosen.trace.empty()) {
        records.save(chosen.trace);
    }
}

} // namespace

int main(int argc, char** argv) {
    return run_with_options(argc, argv, "Simulates ships that fire at rocks, in four handle pools", simulate);
}
