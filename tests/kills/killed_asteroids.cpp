// SPDX-License-Identifier: MIT

// The world of the example asteroids, whose processes are killed at random moments, one after the other.
// After each kill the folder is looked at as the next process will find it: no frame that was appended is
// missing, each handle ever made is valid or stale as it was after the last frame, and leads to its object,
// and the world is that of a process that nobody has killed.

#include "every_handle.hpp"
#include "spoken_process.hpp"
#include "testimony.hpp"

#include <handlepool/tbb/frame_graph.hpp>

#include <CLI/CLI.hpp>
#include <examples/asteroids/tasks.hpp>
#include <examples/asteroids/world.hpp>
#include <examples/asteroids/world_in_folder.hpp>
#include <examples/require.hpp>
#include <examples/run_program.hpp>
#include <fmt/format.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace kills {
namespace {

using examples::require;
using std::filesystem::path;

struct options {
    std::uint64_t kills = 20;
    std::uint64_t seed = 1;
    std::size_t entities = 300;
    std::uint64_t snapshot_every = 20;
    int threads = 2;
    bool lives = false;
    std::string folder;
};

/// Simulates until it is killed, in the folder if there is one.
void live_on_threads(const options& chosen) {
    asteroids::world space(chosen.entities, chosen.seed);
    std::optional<asteroids::world_in_folder> kept;
    bool goes_on = false;
    if (!chosen.folder.empty()) {
        kept.emplace(space, chosen.folder, chosen.snapshot_every,
                     [](std::uint64_t frame) { say({.about = subject::appended, .frame = frame}); });
        goes_on = kept->load();
    }
    witness watching(space);
    if (goes_on) {
        say({.about = subject::start, .frame = space.frames, .found = outcome_of(space)});
    } else {
        space.add_first_objects();
        space.check();
        watching.say_frame();
    }
    handlepool::frame_graph frame(space.pools);
    if (kept) {
        kept->begin();
    }
    asteroids::tasks_as_they_come tasks(space);
    tasks.add_to(frame, kept ? kept->add_task(frame) : frame.compaction());
    const auto end_frame = [&](const handlepool::frame_report&) {
        watching.say_frame();
        if (kept) {
            kept->end_frame();
        }
    };
    frame.run(std::numeric_limits<std::uint64_t>::max(), end_frame).rethrow();
}

void live(const options& chosen) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(chosen.threads));
    tbb::task_arena arena(chosen.threads);
    arena.execute([&] { live_on_threads(chosen); });
}

/// The frames of a process that nobody kills.
class undisturbed {
public:
    undisturbed(const std::string& program, const std::vector<std::string>& arguments)
        : process_(program, arguments) {}

    const outcome& after(std::uint64_t frame) {
        while (frames_.size() <= frame) {
            const auto heard = process_.hear();
            require(heard.has_value(), "the process that nobody kills has ended");
            frames_.push_back(heard->said.found);
        }
        return frames_[static_cast<std::size_t>(frame)];
    }

private:
    spoken_process process_;
    std::vector<outcome> frames_;
};

class killer {
public:
    killer(std::string program, const options& chosen)
        : program_(std::move(program)),
          chosen_(chosen),
          random_(chosen.seed),
          folder_(path(chosen.folder) / "world"),
          copy_(path(chosen.folder) / "copy"),
          expected_(program_, arguments_in("", 1)) {}

    void run() {
        begin_twice();
        for (kill_ = 1; kill_ <= chosen_.kills; ++kill_) {
            live_and_die();
            look_at_folder();
        }
        fmt::print(
            "{} kills with seed {}: {} frames, of which {} were appended in the moment of a kill; {} kills "
            "before the first of them; {} handles, {} comparisons\n",
            chosen_.kills, chosen_.seed, handles_.frames(), appended_unsaid_, kills_at_start_,
            handles_of_last_, compared_);
    }

private:
    std::vector<std::string> arguments_in(const std::string& folder, std::uint64_t threads) const {
        return {"--live",
                "--folder",
                folder,
                "--seed",
                std::to_string(chosen_.seed),
                "--entities",
                std::to_string(chosen_.entities),
                "--snapshot-every",
                std::to_string(chosen_.snapshot_every),
                "--threads",
                std::to_string(threads)};
    }
    /// Two processes that begin in an empty folder at the same time: one plays, and the other has an error.
    void begin_twice() const {
        const path folder = path(chosen_.folder) / "begun";
        spoken_process first(program_, arguments_in(folder.string(), 1));
        spoken_process second(program_, arguments_in(folder.string(), 1));
        const auto plays = [](spoken_process& process) {
            for (;;) {
                const auto heard = process.hear();
                if (!heard || heard->said.about == subject::appended) {
                    return heard.has_value();
                }
            }
        };
        const bool first_plays = plays(first);
        require(first_plays != plays(second), "{} processes play in one folder", first_plays ? "two" : "no");
        (first_plays ? first : second).kill();
        asteroids::world space(chosen_.entities, chosen_.seed);
        require(asteroids::world_in_folder(space, folder, chosen_.snapshot_every).load(),
                "the world of two processes is lost");
    }
    std::uint64_t below(std::uint64_t end) {
        return std::uniform_int_distribution<std::uint64_t>(0, end - 1)(random_);
    }

    /// A quarter of the kills come at any time since the first instruction, the others so many frames and a
    /// little later.
    void live_and_die() {
        const bool at_start = below(4) == 0;
        const std::uint64_t frames = at_start ? 0 : 1 + below(2 * chosen_.snapshot_every);
        const std::chrono::microseconds later(below(at_start ? 60'000 : 3'000));
        const std::uint64_t before = appended_;
        spoken_process process(program_, arguments_in(folder_.string(), 1 + below(4)));
        const auto hear = [&] {
            const auto heard = process.hear();
            if (heard) {
                take(*heard);
            }
            return heard.has_value();
        };
        for (std::uint64_t seen = 0; seen != frames && hear();) {
            seen = appended_ - before;
        }
        std::this_thread::sleep_for(later);
        process.kill();
        while (hear()) {
        }
        kills_at_start_ += appended_ == before ? 1 : 0;
    }

    void take(const heard_message& heard) {
        const message& said = heard.said;
        switch (said.about) {
        case subject::start:
            require(said.frame == found_,
                    "kill {}: frame {} was found, and the process goes on after frame {}", kill_, found_,
                    said.frame);
            require_outcome(said.frame, said.found);
            break;
        case subject::frame:
            require_outcome(said.frame, said.found);
            handles_.hear(said.frame, heard.born, heard.ended);
            break;
        case subject::appended:
            appended_ = said.frame;
            break;
        }
    }
    void require_outcome(std::uint64_t frame, const outcome& found) {
        const outcome& right = expected_.after(frame);
        require(found == right,
                "kill {}, frame {}: fingerprint {:x}, {} replaced, {} hits; without kills {:x}, {}, {}",
                kill_, frame, found.fingerprint, found.replaced, found.hits, right.fingerprint,
                right.replaced, right.hits);
    }

    /// What the next process will find, which then finds it as the last one has left it.
    void look_at_folder() {
        std::filesystem::remove_all(copy_);
        if (std::filesystem::exists(folder_)) {
            std::filesystem::copy(folder_, copy_);
        }
        asteroids::world space(chosen_.entities, chosen_.seed);
        asteroids::world_in_folder kept(space, copy_, chosen_.snapshot_every);
        if (!kept.load()) {
            require(appended_ == 0 && handles_.frames() == 0, "kill {}: all is lost, of {} frames", kill_,
                    appended_);
            return;
        }
        require(space.frames >= appended_, "kill {}: frame {} was appended, and frame {} is the last one",
                kill_, appended_, space.frames);
        require(space.frames <= appended_ + 1,
                "kill {}: frame {} is there, which was not appended: the last one was {}", kill_,
                space.frames, appended_);
        appended_unsaid_ += space.frames - appended_;
        appended_ = found_ = space.frames;
        handles_.count_up_to(space.frames);
        require_outcome(space.frames, outcome_of(space));
        handles_of_last_ = handles_.compare(space);
        compared_ += handles_of_last_;
    }

    std::string program_;
    options chosen_;
    std::mt19937_64 random_;
    path folder_;
    path copy_;
    undisturbed expected_;
    every_handle handles_;
    std::uint64_t kill_ = 0;
    std::uint64_t appended_ = 0; // the last frame that was said to be
    std::uint64_t found_ = 0;    // the last frame in the folder
    std::uint64_t appended_unsaid_ = 0;
    std::uint64_t kills_at_start_ = 0;
    std::uint64_t handles_of_last_ = 0;
    std::uint64_t compared_ = 0;
};

void kill_again_and_again(const std::string& program, options chosen) {
    const path scratch =
        std::filesystem::temp_directory_path() / fmt::format("handlepool_killed_asteroids_{}", ::getpid());
    std::filesystem::remove_all(scratch);
    std::filesystem::create_directories(scratch);
    chosen.folder = scratch.string();
    killer(program, chosen).run();
    std::filesystem::remove_all(scratch); // what has failed stays, to be looked at
}

} // namespace
} // namespace kills

int main(int argc, char** argv) {
    kills::options chosen;
    CLI::App app(
        "Kills processes that simulate the world of the example asteroids, and looks at what they leave");
    app.option_defaults()->always_capture_default();
    app.add_option("--kills", chosen.kills, "How many");
    app.add_option("--seed", chosen.seed, "Of the world, and of the moments");
    app.add_option("--entities", chosen.entities, "Objects of all kinds together, about");
    app.add_option("--snapshot-every", chosen.snapshot_every, "Frames from a snapshot to the next");
    app.add_option("--threads", chosen.threads)->group("");
    app.add_flag("--live", chosen.lives)->group("");
    app.add_option("--folder", chosen.folder)->group("");
    return examples::run_program(app, argc, argv, [&] {
        if (chosen.lives) {
            kills::live(chosen);
        } else {
            kills::kill_again_and_again(std::filesystem::canonical("/proc/self/exe").string(), chosen);
        }
    });
}
