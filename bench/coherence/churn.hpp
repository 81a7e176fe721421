// SPDX-License-Identifier: MIT
#pragma once

#include "machine.hpp"
#include "tally.hpp"
#include "virtual_threads.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::coherence {

/// Which objects a thread erases: those that it has created, or any.
enum class victims : std::uint8_t { own, random };
/// Which thread compacts: the first one, each in its turn, or one that does nothing else.
enum class compactor : std::uint8_t { first, each, apart };

struct churn_options {
    std::size_t threads = 2;
    std::size_t alive = 100'000;
    std::size_t warm_up = 15; ///< frames that are not counted
    std::size_t frames = 3;
    victims erased = victims::own;
    compactor compacts = compactor::apart;
    std::uint64_t seed = 1;
};

/// What one operation, on the average, costs the caches; by array, and all together.
struct operation_counts {
    std::uint64_t times = 0;
    std::map<std::string, tally> by_array;

    tally all() const;
    double transfers() const { return a_time(all().transfers); }
    double a_time(std::uint64_t sum) const {
        return times == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(times);
    }
};

struct churn_result {
    churn_options options;
    std::string contender;
    /// By operation. Of a compaction, the times are the objects replaced.
    std::array<operation_counts, operation_names.size()> operations;
    std::vector<false_sharing_found> false_sharing;
    std::vector<busy_line> busiest_lines;

    const operation_counts& of(operation what) const { return operations[static_cast<std::size_t>(what)]; }
    /// Of a whole frame, for each object replaced.
    double transfers_of_frame() const {
        return of(operation::emplace).transfers() + of(operation::erase).transfers() +
               of(operation::compact).transfers();
    }
};

inline tally operation_counts::all() const {
    tally sum;
    for (const auto& [name, each] : by_array) {
        sum += each;
    }
    return sum;
}

/// Frames of a program on the simulated machine: all threads erase their part of a tenth of the objects, then
/// they create as many, then one compacts, then all look objects up.
template <class Contender>
class churn {
public:
    explicit churn(const churn_options& options)
        : options_(options),
          machine_(options.threads + (options.compacts == compactor::apart ? 1 : 0), options.seed),
          contender_(made_for(options)),
          handles_(options.threads),
          random_(options.seed + 1) {
        for (std::uint32_t thread = 0; thread != options.threads; ++thread) {
            thread_random_.emplace_back(options.seed * most_threads + thread + 2);
        }
    }

    churn_result run() {
        // A tenth a frame, as it goes on later.
        for (std::size_t tenth = 0; tenth != 10; ++tenth) {
            create(options_.alive / 10);
            compact();
        }
        for (std::size_t i = 0; i != options_.warm_up; ++i) {
            frame();
        }
        machine_.clear_counts();
        erased_ = created_ = found_ = 0;
        for (std::size_t i = 0; i != options_.frames; ++i) {
            frame();
        }
        return result();
    }

    Contender& contender() noexcept { return contender_; }

private:
    using handle_type = typename Contender::handle_type;

    void frame() {
        const std::size_t replaced = options_.alive / 10;
        erase(replaced);
        create(replaced);
        compact();
        find(replaced);
    }

    static Contender made_for(const churn_options& options) {
        if constexpr (std::is_constructible_v<Contender, std::size_t, std::size_t>) {
            return Contender(options.alive, options.threads);
        } else {
            return Contender(options.alive);
        }
    }
    /// With what a thread creates and erases.
    auto& worker([[maybe_unused]] std::uint32_t thread) {
        if constexpr (requires { contender_.worker(thread); }) {
            return contender_.worker(thread);
        } else {
            return contender_;
        }
    }

    /// The part of `count` that this thread does.
    std::size_t part(std::uint32_t thread, std::size_t count) const {
        return count / options_.threads + (thread < count % options_.threads ? 1 : 0);
    }

    template <class Body>
    void in_all_threads(Body body) {
        machine_.run(0, static_cast<std::uint32_t>(options_.threads), body);
    }

    void create(std::size_t count) {
        in_all_threads([&](std::uint32_t thread) {
            for (std::size_t i = part(thread, count); i != 0; --i) {
                const doing now(operation::emplace);
                handles_[thread].push_back(worker(thread).emplace(i));
            }
        });
        created_ += count;
    }

    void erase(std::size_t count) {
        if (options_.erased == victims::random) {
            mix();
        }
        in_all_threads([&](std::uint32_t thread) {
            std::vector<handle_type>& mine = handles_[thread];
            for (std::size_t i = part(thread, count); i != 0; --i) {
                std::swap(mine[thread_random_[thread].below(mine.size())], mine.back());
                const doing now(operation::erase);
                require(worker(thread).erase(mine.back()), "an object that lives was not erased");
                mine.pop_back();
            }
        });
        erased_ += count;
    }

    void compact() {
        const auto first =
            static_cast<std::uint32_t>(options_.compacts == compactor::first   ? 0
                                       : options_.compacts == compactor::apart ? options_.threads
                                                                               : frames_ % options_.threads);
        machine_.run(first, first + 1, [&](std::uint32_t) {
            const doing now(operation::compact);
            contender_.end_frame();
        });
        ++frames_;
    }

    void find(std::size_t count) {
        in_all_threads([&](std::uint32_t thread) {
            random_sequence& random = thread_random_[thread];
            for (std::size_t i = part(thread, count); i != 0; --i) {
                const std::vector<handle_type>& owner = handles_[random.below(handles_.size())];
                const handle_type wanted = owner[random.below(owner.size())];
                const doing now(operation::find);
                require(contender_.find(wanted).has_value(), "an object that lives was not found");
            }
        });
        found_ += count;
    }

    /// Deals all handles out anew.
    void mix() {
        std::vector<handle_type> all;
        for (std::vector<handle_type>& each : handles_) {
            all.insert(all.end(), each.begin(), each.end());
        }
        for (std::size_t i = all.size(); i > 1; --i) {
            std::swap(all[i - 1], all[random_.below(i)]);
        }
        auto next = all.begin();
        for (std::vector<handle_type>& each : handles_) {
            const auto end = next + static_cast<std::ptrdiff_t>(each.size());
            each.assign(next, end);
            next = end;
        }
    }

    churn_result result() {
        machine_.settle();
        churn_result counted{.options = options_,
                             .contender = std::string(Contender::name),
                             .operations = {},
                             .false_sharing = machine_.false_sharing(),
                             .busiest_lines = machine_.busiest_lines(16)};
        const auto count = [&](operation what, std::uint64_t times) {
            counted.operations[static_cast<std::size_t>(what)] = {.times = times,
                                                                  .by_array = machine_.counts(what)};
        };
        count(operation::emplace, created_);
        count(operation::erase, erased_);
        count(operation::find, found_);
        count(operation::compact, created_);
        return counted;
    }

    /// A simulation that doesn't do what it says must not go on.
    static void require(bool done, const char* otherwise) {
        if (!done) {
            throw std::logic_error(otherwise);
        }
    }

    churn_options options_;
    machine machine_;
    Contender contender_;
    std::vector<std::vector<handle_type>> handles_; // by the thread that may erase them
    random_sequence random_;
    std::vector<random_sequence> thread_random_;
    std::size_t frames_ = 0;
    std::uint64_t created_ = 0;
    std::uint64_t erased_ = 0;
    std::uint64_t found_ = 0;
};

} // namespace handlepool::coherence
