// SPDX-License-Identifier: MIT
#include "churn.hpp"

#include "resources.hpp"
#include "watched/watched_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace handlepool::stress {

namespace {

// The place of one living object. Its share's thread writes it; the others read it in later frames.
template <class Handle>
struct seat {
    Handle handle;
    std::uint64_t number = 0;
};

struct churn_size {
    std::size_t alive;
    double churn;
    std::size_t lookups;
};

template <class Pool>
class worker {
public:
    using handle_type = typename Pool::handle_type;
    using seat_type = seat<handle_type>;

    worker(const churn_size& size, test_run& run, std::size_t thread,
           std::vector<std::vector<seat_type>>& shares, const std::vector<handle_type>& contested, Pool& pool)
        : size_(size),
          thread_(thread),
          shares_(shares),
          contested_(contested),
          mine_(pool.by(thread)),
          random_(run.random(thread)) {}

    void run_frame(std::size_t frame) {
        std::vector<seat_type>& share = shares_[(thread_ + frame) % shares_.size()];
        for (const handle_type victim : contested_) {
            mine_.erase(victim); // all threads do: one wins
        }
        if (frame == 0) {
            for (seat_type& one : share) {
                create(one);
            }
        } else {
            replace(share);
        }
        look_around(share);
    }

private:
    void replace(std::vector<seat_type>& share) {
        owed_ += size_.churn * static_cast<double>(share.size());
        for (; owed_ >= 1; owed_ -= 1) {
            seat_type& one = share[random_() % share.size()];
            mine_.look_up(one.handle, one.number);
            mine_.erase_living(one.handle);
            dead_.push_back(one.handle);
            create(one);
        }
        // Old ones are kept too: half of the memory is a random choice of them.
        if (dead_.size() > most_dead) {
            std::shuffle(dead_.begin(), dead_.end(), random_);
            dead_.resize(most_dead / 2);
        }
    }

    void create(seat_type& one) {
        one.number = mine_.next_number();
        one.handle = mine_.create_numbered(one.number);
    }

    void look_around(const std::vector<seat_type>& share) {
        for (std::size_t i = 0; i < size_.lookups; ++i) {
            if (!share.empty()) {
                const seat_type& one = share[random_() % share.size()];
                mine_.look_up(one.handle, one.number);
            }
            if (!dead_.empty()) {
                mine_.try_stale(dead_[random_() % dead_.size()]);
            }
        }
    }

    static constexpr std::size_t most_dead = 1 << 16;

    const churn_size& size_;
    std::size_t thread_;
    std::vector<std::vector<seat_type>>& shares_;
    const std::vector<handle_type>& contested_;
    typename Pool::client_type& mine_;
    std::mt19937_64& random_;
    double owed_ = 0; // replacements; what is left of one is owed to the next frame
    std::vector<handle_type> dead_;
};

template <class Placement>
void run_frames(test_run& run, const churn_size& size, const std::function<bool(std::size_t)>& more) {
    const std::size_t contested_count = std::min<std::size_t>(64, size.alive);
    // In a frame each thread replaces its part, rounded up at the most.
    const auto replaced =
        static_cast<std::size_t>(std::ceil(size.churn * static_cast<double>(size.alive))) + run.threads();
    using pool_type = watched_pool<Placement>;
    pool_type pool(run, {.name = "churn", .capacity = size.alive + replaced + contested_count});

    // Frame 0 fills one share a thread: all of them.
    using handle_type = typename pool_type::handle_type;
    std::vector<std::vector<seat<handle_type>>> shares(run.threads());
    for (std::size_t i = 0; i < shares.size(); ++i) {
        shares[i].resize(size.alive / shares.size() + (i < size.alive % shares.size() ? 1 : 0));
    }
    std::vector<handle_type> contested;
    std::vector<std::unique_ptr<worker<pool_type>>> workers; // apart from each other
    for (std::size_t thread = 0; thread < run.threads(); ++thread) {
        workers.push_back(std::make_unique<worker<pool_type>>(size, run, thread, shares, contested, pool));
    }

    for (std::size_t frame = 0; more(frame); ++frame) {
        contested.clear();
        for (std::size_t i = 0; i < contested_count; ++i) {
            contested.push_back(pool.by_main().create());
        }
        run.together([&](std::size_t thread) { workers[thread]->run_frame(frame); });
        pool.end_frame();
    }
    run.stop_clock();

    for (const auto& share : shares) {
        for (const auto& one : share) {
            if (one.handle) {
                pool.by_main().look_up(one.handle, one.number);
            }
        }
    }
    pool.finish();
}

} // namespace

report churn(const churn_options& options) {
    const auto alive = static_cast<double>(options.alive);
    // Measured: a replaced object takes more than one that lives on, since all that is done to it is
    // recorded.
    require_memory(fmt::format("--alive: '{}' with --churn {}", options.alive, options.churn),
                   alive * bytes_of_an_object * (1.2 + 1.6 * options.churn));
    test_run run("churn", {.threads = options.threads,
                           .seed = options.seed,
                           .sample = options.sample,
                           .service = options.service});
    with_placement(run, [&]<class Placement>(Placement) {
        run_frames<Placement>(run, {options.alive, options.churn, options.lookups},
                              [&](std::size_t frame) { return run.more_frames(frame, options.frames); });
    });
    run.add_parameter("alive", options.alive);
    run.add_parameter("churn", options.churn);
    run.add_parameter("lookups", options.lookups);
    run.add_parameter("seed", options.seed);
    return std::move(run.result());
}

void run_churn(test_run& run) {
    with_placement(run, [&run]<class Placement>(Placement) {
        run_frames<Placement>(run, {run.options().alive, 0.1, 256},
                              [&run](std::size_t) { return run.more(); });
    });
}

} // namespace handlepool::stress
