// Constructors create objects of the same pool, destructors erase them.

#include "observed.hpp"
#include "scenarios/all.hpp"
#include "tiny_policy.hpp"
#include "watched_pool.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

namespace handlepool::stress {

namespace {

// How an object comes to its child in the pool, and gets rid of it.
class nursery_school {
public:
    virtual ~nursery_school() = default;

    // Creates an object that has so many descendants, and returns its handle.
    virtual std::uint64_t bear(std::size_t descendants) = 0;
    virtual void let_go(std::uint64_t child) = 0;
};

// An object that creates its descendants, one inside the other, and takes them with it.
class parent : public observed {
public:
    parent(census& where, std::uint64_t number, nursery_school& here, nursery_school& at_death,
           std::size_t descendants)
        : observed(where, number),
          at_death_(&at_death),
          child_(descendants == 0 ? 0 : here.bear(descendants - 1)) {}
    parent(parent&& other) noexcept
        : observed(std::move(other)), at_death_(other.at_death_), child_(std::exchange(other.child_, 0)) {}
    ~parent() {
        if (child_ != 0) {
            at_death_->let_go(child_);
        }
    }

private:
    nursery_school* at_death_;
    std::uint64_t child_;
};

template <class Pool>
class school final : public nursery_school {
public:
    school(typename Pool::actor_type& mine, nursery_school* at_death) : mine_(mine), at_death_(at_death) {}

    std::uint64_t bear(std::size_t descendants) override {
        nursery_school& here = *this;
        nursery_school& at_death = at_death_ == nullptr ? here : *at_death_;
        return mine_.create(here, at_death, descendants).value();
    }
    void let_go(std::uint64_t child) override {
        const std::scoped_lock lock(mutex_); // destructors run on many threads
        mine_.erase_living(Pool::handle_type::from_value(child));
    }

private:
    typename Pool::actor_type& mine_;
    nursery_school* at_death_; // null: this one
    std::mutex mutex_;
};

template <class Policy>
void run_until(conductor& by, double part) {
    using pool_type = watched_pool<parent, default_layout, Policy>;
    using handle_type = typename pool_type::handle_type;
    constexpr std::size_t families = 100;
    constexpr std::size_t most_descendants = 5;
    pool_type pool(by, {.name = "reentrant",
                        .capacity = by.threads() * 3 * families * (most_descendants + 1),
                        .reuse_delay = 16});
    // Objects die in compactions, which the conductor runs.
    school<pool_type> end(pool.by_conductor(), nullptr);
    std::deque<school<pool_type>> schools;
    for (std::size_t thread = 0; thread < by.threads(); ++thread) {
        schools.emplace_back(pool.by(thread), &end);
    }
    std::vector<std::vector<handle_type>> elders(by.threads());
    const auto erase_elders = [&](std::size_t thread, std::size_t kept) {
        while (elders[thread].size() > kept) {
            std::swap(elders[thread][by.random(thread)() % elders[thread].size()], elders[thread].back());
            pool.by(thread).erase_living(elders[thread].back());
            elders[thread].pop_back();
        }
    };
    while (by.more(part)) {
        by.together([&](std::size_t thread) {
            for (std::size_t i = 0; i < families; ++i) {
                const std::size_t descendants = by.random(thread)() % (most_descendants + 1);
                elders[thread].push_back(handle_type::from_value(schools[thread].bear(descendants)));
            }
            erase_elders(thread, families);
        });
        // Who dies takes one child along, which dies in the next compaction.
        pool.compact(pool.by_conductor());
    }
    by.together([&](std::size_t thread) { erase_elders(thread, 0); });
    while (pool.get().stats().waiting_removals != 0) {
        pool.compact(pool.by_conductor());
    }
    if (pool.alive() != 0) {
        by.violate(fmt::format("reentrant: {} descendants outlived their parents", pool.alive()));
    }
    pool.finish();
}

} // namespace

void run_reentrant(conductor& by) {
    run_until<default_policy>(by, 0.5);
    run_until<tiny_policy<1>>(by, 0.8);
    run_until<tiny_policy<2>>(by, 1);
}

} // namespace handlepool::stress
