// SPDX-License-Identifier: MIT
#include "measurement.hpp"

#include "common_size.hpp"

#include <fmt/format.h>
#include <support/progress_bar.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <string_view>

namespace handlepool_bench::peers {

namespace {

// Of memory little is left to chance.
constexpr std::size_t memory_rounds = 3;

// Until nothing lies as it was created. Each takes seconds where there are many.
std::size_t frames_before(std::size_t alive) {
    return alive > 1'000'000 ? 5 : 30;
}

bool is_one_of(const auto& all, const auto& one) {
    return std::ranges::find(all, one) != all.end();
}

/// Carries a plan out.
class measurement {
public:
    explicit measurement(const plan& wanted) : plan_(wanted) {
        if (is_one_of(wanted.parts, "frames")) {
            add_frames();
        }
        if (is_one_of(wanted.parts, "latency") && is_one_of(wanted.sizes, common_size)) {
            for (const unsigned threads : {1U, 2U}) {
                if (is_one_of(wanted.threads, threads)) {
                    add("latency", common_size, threads, &measurement::latency);
                }
            }
        }
        if (is_one_of(wanted.parts, "memory")) {
            for (const std::size_t alive : {common_size, 10 * common_size}) {
                if (is_one_of(wanted.sizes, alive)) {
                    add("memory", alive, 1, &measurement::memory);
                }
            }
        }
        if (is_one_of(wanted.parts, "start") && is_one_of(wanted.sizes, common_size)) {
            add("start", common_size, 1, &measurement::start);
        }
    }

    results run() {
        for (const step& each : steps_) {
            handlepool::support::progress_bar progress(fmt::format(
                "{}, {} alive, {} threads", each.where.part, each.where.alive, each.where.threads));
            progress_ = &progress;
            (this->*each.run)(each.where);
        }
        return std::move(results_);
    }

private:
    struct step {
        cell where;
        void (measurement::*run)(const cell&);
    };

    void add(std::string_view part, std::size_t alive, unsigned threads,
             void (measurement::*body)(const cell&)) {
        steps_.push_back({.where = {.part = part, .alive = alive, .threads = threads}, .run = body});
    }

    void add_frames() {
        for (const std::size_t alive : plan_.sizes) {
            for (const unsigned threads : plan_.threads) {
                if (threads <= 2 || alive == common_size) {
                    add("frames", alive, threads, &measurement::frames);
                }
            }
        }
    }

    /// Those that can do it. With one thread and another number of objects than usual, those that several
    /// threads can use would only show what a lock costs that nobody needs.
    std::vector<known_contender> contenders_for(const cell& where) const {
        std::vector<known_contender> chosen;
        std::ranges::copy_if(plan_.contenders, std::back_inserter(chosen), [&](const known_contender& each) {
            const bool sequential_or_ours = each.most_threads == 1 || each.name.starts_with("handlepool::");
            return each.fewest_threads <= where.threads && where.threads <= each.most_threads &&
                   (where.threads > 1 || where.part != "frames" || where.alive == common_size ||
                    sequential_or_ours);
        });
        return chosen;
    }

    /// Contenders that live at the same time take turns, after a round of each that does not count.
    void in_turns(const cell& where, const std::function<figures(served_contender&)>& round) {
        std::vector<served_contender> served;
        const std::vector<known_contender> chosen = contenders_for(where);
        const std::size_t turns = (plan_.rounds + 2) * chosen.size();
        std::size_t done = 0;
        for (const known_contender& each : chosen) {
            served_contender& one = served.emplace_back(each, where.alive, where.threads);
            one.ask("construct");
            one.ask("fill", frames_before(where.alive));
            show(++done, turns);
        }
        for (std::size_t i = 0; i != plan_.rounds + 1; ++i) {
            for (served_contender& each : served) {
                const figures found = round(each);
                if (i != 0) {
                    results_.add(where, each.name(), found);
                }
                show(++done, turns);
            }
        }
    }

    /// Contenders take turns; each begins each turn in a process that has done nothing else.
    void each_in_new_processes(const cell& where, std::size_t rounds,
                               const std::function<figures(const known_contender&)>& round) {
        const std::vector<known_contender> chosen = contenders_for(where);
        const std::size_t turns = (rounds + 1) * chosen.size();
        std::size_t done = 0;
        for (std::size_t i = 0; i != rounds + 1; ++i) { // first, the programs come into memory
            for (const known_contender& each : chosen) {
                const figures found = round(each);
                if (i != 0) {
                    results_.add(where, each.name, found);
                }
                show(++done, turns);
            }
        }
    }

    void frames(const cell& where) {
        in_turns(where, [&](served_contender& one) {
            figures found = one.ask("churn", plan_.objects);
            for (const char* const task : {"find", "iterate"}) {
                std::ranges::move(one.ask(task, plan_.objects), std::back_inserter(found));
            }
            return found;
        });
    }

    void latency(const cell& where) {
        in_turns(where, [&](served_contender& one) { return one.ask("latency", plan_.objects); });
    }

    void memory(const cell& where) {
        each_in_new_processes(where, memory_rounds, [&](const known_contender& each) {
            figures found;
            for (const auto& [name, task] : {std::pair{"loaded", "load"}, std::pair{"settled", "fill"}}) {
                served_contender one(each, where.alive, where.threads);
                one.ask("construct");
                one.ask(task, frames_before(where.alive));
                found.emplace_back(name, one.ask("memory").front().second);
            }
            return found;
        });
    }

    void start(const cell& where) {
        each_in_new_processes(where, plan_.rounds, [&](const known_contender& each) {
            served_contender one(each, where.alive, where.threads);
            figures found = one.ask("construct");
            std::ranges::move(one.ask("load"), std::back_inserter(found));
            return found;
        });
    }

    void show(std::size_t done, std::size_t all) {
        progress_->show(static_cast<double>(done) / static_cast<double>(all));
    }

    const plan& plan_;
    std::vector<step> steps_;
    results results_;
    handlepool::support::progress_bar* progress_ = nullptr; // of the step that runs
};

} // namespace

results measure(const plan& wanted) {
    return measurement(wanted).run();
}

} // namespace handlepool_bench::peers
