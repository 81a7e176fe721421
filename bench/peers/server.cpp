// SPDX-License-Identifier: MIT
#include "server.hpp"

#include "contenders.hpp"
#include "figures.hpp"
#include "workload.hpp"

#include <fmt/format.h>

#include <istream>
#include <ostream>
#include <stdexcept>

namespace handlepool_bench::peers {

namespace {

template <contender Contender>
figures run(workload<Contender>& on, const std::string& task, std::size_t count) {
    if (task == "construct") {
        return on.construct();
    }
    if (!on.is_constructed()) {
        throw std::invalid_argument(fmt::format("the task '{}' comes after 'construct'", task));
    }
    if (task == "load") {
        return on.load();
    }
    if (task == "fill") {
        return on.fill(count);
    }
    if (task == "memory") {
        return on.memory();
    }
    if (task == "churn") {
        return on.churn(count);
    }
    if (task == "find") {
        return on.find(count);
    }
    if (task == "iterate") {
        return on.iterate(count);
    }
    if (task == "latency") {
        return on.latency(count);
    }
    throw std::invalid_argument(fmt::format("there is no task '{}'", task));
}

template <contender Contender>
void serve_one(std::size_t alive, unsigned threads, std::istream& tasks, std::ostream& answers) {
    workload<Contender> served(alive, threads);
    std::string task;
    std::size_t count = 0;
    while (tasks >> task >> count) {
        for (const auto& [name, value] : run(served, task, count)) {
            answers << fmt::format("{} {} ", name, value);
        }
        answers << std::endl; // whoever asked waits
    }
}

struct entry : contender_entry {
    void (*serve)(std::size_t alive, unsigned threads, std::istream& tasks, std::ostream& answers);
};

template <contender... Contenders>
std::vector<entry> entries_of(contender_list<Contenders...>) {
    return {entry{{Contenders::name, Contenders::fewest_threads, Contenders::most_threads},
                  serve_one<Contenders>}...};
}

} // namespace

const std::vector<contender_entry>& own_contenders() {
    static const std::vector<contender_entry> all = [] {
        const auto entries = entries_of(all_contenders());
        return std::vector<contender_entry>(entries.begin(), entries.end());
    }();
    return all;
}

void serve(std::string_view contender, std::size_t alive, unsigned threads, std::istream& tasks,
           std::ostream& answers) {
    for (const entry& each : entries_of(all_contenders())) {
        if (each.name == contender) {
            if (threads < each.fewest_threads || threads > each.most_threads) {
                throw std::invalid_argument(fmt::format("{} is for {} to {} threads, not {}", contender,
                                                        each.fewest_threads, each.most_threads, threads));
            }
            if (alive < threads) {
                throw std::invalid_argument(
                    fmt::format("there must be an object for each of {} threads, not {}", threads, alive));
            }
            each.serve(alive, threads, tasks, answers);
            return;
        }
    }
    throw std::invalid_argument(fmt::format("there is no contender '{}'", contender));
}

} // namespace handlepool_bench::peers
