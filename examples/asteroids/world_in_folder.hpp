// SPDX-License-Identifier: MIT
#pragma once

#include "keeping_costs.hpp"
#include "world.hpp"

#include <handlepool/pool.hpp>
#include <handlepool/snapshots/delta_recorder.hpp>
#include <handlepool/snapshots/journal_reader.hpp>
#include <handlepool/snapshots/journal_writer.hpp>
#include <handlepool/snapshots/replay.hpp>
#include <handlepool/snapshots/saved_world.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/snapshots/snapshot_file.hpp>
#include <handlepool/tbb/frame_graph.hpp>
#include <handlepool/time/change_log.hpp>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <random>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

namespace asteroids {

/// Keeps a world in a folder, so that it outlives the process: a snapshot from time to time, and a journal of
/// what each frame since then has changed. Whoever begins with that folder goes on after the last frame that
/// was appended, whenever the process before was killed.
///
/// ```
///   frames             │ simulate │ record │ simulate │ record │ simulate ...
///   another thread                         │ append │          │ append │
///                                                   └▶ appended(frame)  └▶
/// ```
class world_in_folder {
    using clock = std::chrono::steady_clock;

public:
    /// Of a world without objects, which must outlive it. Another thread calls `appended(frame)` when nothing
    /// but a crash of the system can undo that frame any more: it is the time to tell others of it. Throws
    /// std::system_error if the folder is not there and can't be made.
    world_in_folder(world& space, std::filesystem::path folder, std::uint64_t snapshot_every,
                    std::function<void(std::uint64_t)> appended = {})
        : space_(space),
          folder_(std::move(folder)),
          snapshot_every_(snapshot_every),
          appended_(std::move(appended)) {
        all_.add("rules", rules_);
        all_.add("progress", progress_);
        changes_.add("progress", progress_); // the rules never change
        for_each_log([this](const char* name, auto& log) {
            all_.add(name, log.pool());
            changes_.add(name, log);
            if (space_.lives != 0) {
                changes_.add_lives(std::string("lives of ") + name, log.pool());
            }
        });
        std::error_code error;
        std::filesystem::create_directories(folder_, error);
        if (error) {
            throw std::system_error(error, "--world: " + folder_.string() + " can't be made");
        }
    }

    /// Makes the world what it was after the last frame that the folder has. Returns whether it has any.
    /// Throws std::runtime_error if its rules are others; std::invalid_argument for a journal of another
    /// world; and what the library throws for files that are damaged.
    bool load() {
        const auto saved = handlepool::find_saved_world(folder_);
        if (!saved) {
            return false;
        }
        require_same_rules(*saved);
        // From here on nobody else goes on with it.
        journal_ = handlepool::open_last_journal(*saved, rules_.world, journaling);
        handlepool::replay past(saved->snapshot, saved->frame);
        for (const std::filesystem::path& file : saved->journals) {
            handlepool::journal_reader frames(file);
            while (frames.next()) {
                past.apply(frames.parts().front().bytes, file.string());
            }
        }
        std::vector<std::byte> bytes;
        past.save(bytes);
        all_.load(bytes, folder_.string());
        space_.frames = past.frame();
        space_.replaced = progress_.replaced;
        space_.hits = progress_.hits;
        space_.hits_of_lost_ships = progress_.hits_of_lost_ships;
        space_.rocks_split = space_.rocks.stats().destroyed; // of this process
        space_.check();
        return true;
    }

    /// From now on frames are recorded: of a world that was loaded, or of a new one with its first objects,
    /// of which there is a snapshot then.
    void begin() {
        progress_ = progress_of(space_);
        if (rules_.world == 0) {
            rules_ = {.world = random_number(), .entities = space_.entities, .seed = space_.seed};
            std::vector<std::byte> bytes;
            all_.save(bytes);
            journal_ = handlepool::begin_saved_world(folder_, space_.frames, bytes, rules_.world, journaling);
        }
        changes_.begin(space_.frames);
    }

    /// Adds the task that marks what the frame has changed in place, for the recorder: all that moves, and so
    /// all. It comes before the compaction.
    handlepool::frame_graph::node& add_task(handlepool::frame_graph& frame) {
        auto& mark = frame.add_task("mark", [this] {
            const auto begin = clock::now();
            for_each_log([](const char*, auto& log) {
                tbb::parallel_for(std::size_t{0}, log.pool().items().size(),
                                  [&log](std::size_t position) { log.mark_at(position); });
            });
            costs_.mark += clock::now() - begin;
        });
        tbb::flow::make_edge(mark, frame.compaction());
        return mark;
    }

    /// Records what the frame has changed, and has another thread append it to the journal, while the next
    /// one is simulated. Waits until the frame before was appended. To be called between two frames. Throws
    /// what the library throws, also for the frame before.
    void end_frame() {
        const auto begin = clock::now();
        const std::uint64_t frame = space_.frames;
        progress_ = progress_of(space_);
        changes_.append(frame, delta_);
        std::optional<handlepool::captured_snapshot> captured;
        if (frame % snapshot_every_ == 0) {
            captured = all_.capture();
        }
        const auto recorded = clock::now();
        costs_.bytes += delta_.size();
        costs_.record += recorded - begin;

        std::vector<std::byte> memory = wait_for(appending_);
        appending_ = std::async(std::launch::async, [this, frame, delta = std::move(delta_),
                                                     now = std::move(captured)]() mutable {
            append(frame, delta, std::move(now));
            delta.clear();
            return std::move(delta);
        });
        delta_ = std::move(memory);
        costs_.hand_over += clock::now() - recorded;
    }

    /// Returns when all frames were appended, and tells what that took. Throws what end_frame() throws.
    const keeping_costs& finish() {
        wait_for(appending_);
        wait_for(saving_);
        return costs_;
    }

private:
    /// What makes the world what it is, and must not change.
    struct rules {
        std::uint64_t world = 0; // a random number; no world has 0
        std::uint64_t entities = 0;
        std::uint64_t seed = 0;
    };
    /// What a frame goes on from beside the objects.
    struct progress {
        std::uint64_t replaced = 0;
        std::uint64_t hits = 0;
        std::uint64_t hits_of_lost_ships = 0;
    };

    // A process that is killed loses nothing that was written. Snapshots are waited for, so that a crash of
    // the system costs the frames of a journal at most.
    static constexpr handlepool::journal_options journaling{.sync_every = 0};

    static progress progress_of(const world& space) {
        return {
            .replaced = space.replaced, .hits = space.hits, .hits_of_lost_ships = space.hits_of_lost_ships};
    }

    template <class Visit>
    void for_each_log(const Visit& visit) {
        visit("rocks", rocks_);
        visit("ships", ships_);
        visit("projectiles", projectiles_);
        visit("debris", dust_);
    }

    void require_same_rules(const handlepool::saved_world& saved) {
        handlepool::snapshot alone;
        alone.add("rules", rules_);
        alone.load(saved.snapshot, folder_.string()); // passes over the rest
        if (rules_.entities != space_.entities || rules_.seed != space_.seed) {
            throw std::runtime_error(
                fmt::format("--world: {} has a world of {} entities with seed {}, and can't go on with {} "
                            "entities and seed {}",
                            folder_.string(), rules_.entities, rules_.seed, space_.entities, space_.seed));
        }
    }

    static std::uint64_t random_number() {
        std::random_device random;
        return std::uint64_t{random()} << 32 | random() | 1; // not 0
    }

    handlepool::journal_writer new_journal(std::uint64_t frame) const {
        return handlepool::journal_writer::create(handlepool::journal_file_of(folder_, frame),
                                                  {.world = rules_.world, .frame = frame}, journaling);
    }

    void append(std::uint64_t frame, const std::vector<std::byte>& delta,
                std::optional<handlepool::captured_snapshot> captured) {
        const auto begin = clock::now();
        journal_->append(frame, {{"changes", delta}});
        costs_.append += clock::now() - begin;
        if (appended_) {
            appended_(frame);
        }
        if (captured) {
            journal_ = new_journal(frame);
            wait_for(saving_);
            saving_ = std::async(
                std::launch::async, [now = *std::move(captured), folder = folder_, frame]() mutable {
                    const std::vector<std::byte> bytes = std::move(now).bytes();
                    handlepool::write_snapshot_file(handlepool::snapshot_file_of(folder, frame), bytes);
                    handlepool::remove_saved_before(folder, frame);
                });
        }
    }

    template <class Result>
    static Result wait_for(std::future<Result>& running) {
        return running.valid() ? running.get() : Result();
    }

    world& space_;
    std::filesystem::path folder_;
    std::uint64_t snapshot_every_;
    std::function<void(std::uint64_t)> appended_;

    handlepool::change_log<handlepool::pool<rock>> rocks_{space_.rocks};
    handlepool::change_log<handlepool::pool<ship>> ships_{space_.ships};
    handlepool::change_log<handlepool::pool<projectile>> projectiles_{space_.projectiles};
    handlepool::change_log<handlepool::pool<debris>> dust_{space_.dust};
    rules rules_;
    progress progress_;
    handlepool::snapshot all_;
    handlepool::delta_recorder changes_;
    std::optional<handlepool::journal_writer> journal_;
    std::vector<std::byte> delta_; // of the frame that ends
    keeping_costs costs_;
    std::future<void> saving_;
    std::future<std::vector<std::byte>> appending_; // last: it uses all of them
};

} // namespace asteroids
