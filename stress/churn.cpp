#include "churn.hpp"

#include "checked_pool.hpp"
#include "frames.hpp"
#include "progress.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>

namespace handlepool::stress {

namespace {

// The place of one living object. Its share's thread writes it; the others read it in later frames.
struct seat {
    checked_pool::handle_type handle;
    std::uint64_t id = 0;
};

// What threads fight for in a frame: each tries to erase all of it.
struct contest {
    std::vector<seat> victims;
    std::vector<std::atomic<std::uint32_t>> wins;
};

class worker {
public:
    worker(const churn_options& options, std::size_t thread, std::vector<std::vector<seat>>& shares,
           contest& contested, checked_pool& pool)
        : options_(options),
          thread_(thread),
          shares_(shares),
          contested_(contested),
          pool_(pool),
          random_(options.seed * 1'000'003 + thread),
          next_id_(thread << 40) {}

    void run_frame(std::size_t frame) {
        std::vector<seat>& share = shares_[(thread_ + frame) % options_.threads];
        fight();
        if (frame == 0) {
            fill(share);
        } else {
            replace(share);
        }
        look_around(share);
    }

    const tally& result() const noexcept { return mine_; }

private:
    void fill(std::vector<seat>& share) {
        for (seat& one : share) {
            create(one);
        }
    }

    void replace(std::vector<seat>& share) {
        owed_ += options_.churn * static_cast<double>(share.size());
        for (; owed_ >= 1; owed_ -= 1) {
            seat& one = share[random_() % share.size()];
            pool_.erase(one.handle, one.id, mine_);
            dead_.push_back(one);
            create(one);
        }
        if (dead_.size() >
            most_dead) { // old ones are kept too: half of the memory is a random choice of them
            std::shuffle(dead_.begin(), dead_.end(), random_);
            dead_.resize(most_dead / 2);
        }
    }

    void create(seat& one) {
        one.id = next_id_++;
        one.handle = pool_.create(one.id, mine_);
    }

    void fight() {
        for (std::size_t i = 0; i < contested_.victims.size(); ++i) {
            ++mine_.operations;
            if (pool_.get().erase(contested_.victims[i].handle)) {
                ++mine_.erased;
                contested_.wins[i].fetch_add(
                    1, std::memory_order::relaxed); // looked at after the frame's barrier
            }
        }
    }

    void look_around(const std::vector<seat>& share) {
        for (std::size_t i = 0; i < options_.lookups; ++i) {
            if (!share.empty()) {
                const seat& one = share[random_() % share.size()];
                pool_.look_up(one.handle, one.id, mine_);
            }
            if (!dead_.empty()) {
                const seat& one = dead_[random_() % dead_.size()];
                pool_.try_stale(one.handle, one.id, mine_);
            }
        }
    }

    static constexpr std::size_t most_dead = 1 << 16;

    const churn_options& options_;
    std::size_t thread_;
    std::vector<std::vector<seat>>& shares_;
    contest& contested_;
    checked_pool& pool_;
    std::mt19937_64 random_;
    std::uint64_t next_id_;
    double owed_ = 0; // replacements; what is left of one is owed to the next frame
    std::vector<seat> dead_;
    tally mine_;
};

// Checks the last frame's contest and prepares the next.
class referee {
public:
    referee(std::size_t victims, contest& contested, checked_pool& pool)
        : contested_(contested), pool_(pool) {
        contested_.victims.resize(victims);
        contested_.wins = std::vector<std::atomic<std::uint32_t>>(victims);
        prepare();
    }

    void judge() {
        for (std::size_t i = 0; i < contested_.victims.size(); ++i) {
            if (const auto wins = contested_.wins[i].load(std::memory_order::relaxed); wins != 1) {
                mine_.violate(fmt::format("{} threads won the erase of one handle, {}", wins,
                                          contested_.victims[i].handle));
            }
        }
    }

    void prepare() {
        for (std::size_t i = 0; i < contested_.victims.size(); ++i) {
            seat& one = contested_.victims[i];
            one.id = next_id_++;
            one.handle = pool_.create(one.id, mine_);
            contested_.wins[i].store(0, std::memory_order::relaxed);
        }
    }

    const tally& result() const noexcept { return mine_; }

private:
    contest& contested_;
    checked_pool& pool_;
    std::uint64_t next_id_ = std::uint64_t{1} << 60;
    tally mine_;
};

} // namespace

report churn(const churn_options& options) {
    const std::size_t contested_count = std::min<std::size_t>(64, options.alive);
    // In a frame each thread replaces its part, rounded up at the most.
    const auto replaced =
        static_cast<std::size_t>(options.churn * static_cast<double>(options.alive)) + options.threads + 1;
    checked_pool pool({.name = "churn", .capacity = options.alive + replaced + contested_count});

    std::vector<std::vector<seat>> shares(options.threads);
    for (std::size_t i = 0; i < options.threads; ++i) {
        shares[i].resize(options.alive / options.threads + (i < options.alive % options.threads ? 1 : 0));
    }
    contest contested;
    referee judge(contested_count, contested, pool);
    std::vector<std::unique_ptr<worker>> workers; // apart from each other
    for (std::size_t thread = 0; thread < options.threads; ++thread) {
        workers.push_back(std::make_unique<worker>(options, thread, shares, contested, pool));
    }

    // Frame 0 fills one share a thread: all of them.
    report result{.command = "churn"};
    {
        progress bar("churn", options.frames);
        const auto start = std::chrono::steady_clock::now();
        run_frames(
            options.threads, options.frames,
            [&](std::size_t thread, std::size_t frame, const std::atomic<bool>&) {
                workers[thread]->run_frame(frame);
            },
            [&](std::size_t frame) {
                judge.judge();
                pool.compact();
                if (frame + 1 < options.frames) {
                    judge.prepare();
                }
                bar.show(frame + 1, operations_of(workers));
            });
        result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

    result.all = judge.result();
    result.all += total_of(workers);
    result.timed_operations = result.all.operations;
    pool.check_all(options.frames == 0 ? contested_count : options.alive, result.all);
    for (const auto& share : shares) {
        for (const seat& one : share) {
            if (one.handle) {
                pool.look_up(one.handle, one.id, result.all);
            }
        }
    }
    result.parameters = {{"alive", fmt::to_string(options.alive)},
                         {"churn", fmt::to_string(options.churn)},
                         {"lookups", fmt::to_string(options.lookups)},
                         {"seed", fmt::to_string(options.seed)}};
    result.threads = options.threads;
    result.frames = options.frames;
    result.alive_peak = pool.alive_peak();
    result.compaction_times = pool.compaction_times();
    result.pool = pool.get().stats();
    return result;
}

} // namespace handlepool::stress
