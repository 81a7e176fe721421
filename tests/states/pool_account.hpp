// SPDX-License-Identifier: MIT
#pragma once

#include "pool_in_use.hpp"

#include <handlepool/stats.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace handlepool::test {

/// Does all that a pool can do, and tells what came of it. What depends on generations, on time, or on what
/// was before, is left out: two pools that are as new tell the same.
template <class Kind>
class pool_account {
public:
    pool_account(pool_in_use<Kind>& in, helpers& others) : in_(in), others_(others) {
        // How many slots a thread claims at once depends on the number of shards, and which comes first on
        // the frame.
        others.with_shard([&] { static_cast<void>(pool_.try_access()); });
        if (pool_.stats().compactions % 2 != 0) {
            detail::pool_access::core_of(pool_).skip_frame();
        }
        before_ = pool_.stats();
        in.told.clear();
        tell_stats();
        create_and_erase();
        reserve_and_take();
        change_for_some_frames();
        end_all();
    }

    const std::vector<std::string>& lines() const { return lines_; }

private:
    using handle_type = typename pool_in_use<Kind>::handle_type;

    void create_and_erase() {
        make(150);
        tell_ages();
        others_.with_shard([&] { make(80); });
        tell_compaction(pool_.compact());
        erase_every(3);
        others_.with_shard([&] { erase_every(4); });
        tell_compaction(pool_.compact_some(20));
        if (const auto sorted = in_.sort_some(20)) {
            tell("sorted", sorted->moved, sorted->size, sorted->in_order ? 1 : 0);
            tell_all("objects", in_.numbers());
        }
    }

    void reserve_and_take() {
        make(30);
        const handle_type reserved[] = {pool_.reserve_handle(), pool_.reserve_handle(),
                                        pool_.reserve_handle()};
        tell_stats();
        in_.fulfill(reserved[0], 900);
        pool_.cancel(reserved[1]);
        others_.without_shard([&] {
            pool_.cancel(reserved[2]);
            pool_.erase(handles_.back());
        });
        handles_.pop_back();
        for (const handle_type each : reserved) {
            tell("reserved", each.index(), static_cast<int>(pool_.state(each)));
        }
        std::vector<int> taken;
        for (int i = 0; i != 3; ++i) {
            pool_.extract(handles_.back(), [&taken](auto&& object) {
                taken.push_back(pool_in_use<Kind>::take_number(object));
            });
            handles_.pop_back();
        }
        tell_compaction(pool_.compact(in_pieces()));
        tell_all("taken", taken);
    }

    void change_for_some_frames() {
        for (int i = 0; i != 5; ++i) {
            erase_every(5);
            make(20);
            tell_compaction(pool_.compact_some(15));
        }
        for (int i = 0; i != 3; ++i) {
            erase_every(2);
            make(100);
            others_.with_shard([&] { make(50); });
            tell_compaction(pool_.compact());
        }
        tell_ages();
        for (const handle_type each : handles_) {
            const auto* const found = in_.find(each);
            tell("found", found == nullptr ? -1 : found->number(),
                 found != nullptr && found->is_whole() ? 1 : 0);
        }
    }

    void end_all() {
        pool_.clear();
        make(10);
        tell_compaction(pool_.compact());
        tell("drained", pool_.drain([](auto, auto&& object) { pool_in_use<Kind>::take_number(object); }));
        tell_compaction(pool_.compact());
    }

    void make(std::size_t count) {
        tell("made");
        for (std::size_t i = 0; i != count; ++i) {
            handles_.push_back(in_.make_one(next_++ * 7 % 1000));
            lines_.back() += " " + std::to_string(handles_.back().index());
        }
    }
    void erase_every(std::size_t step) {
        std::vector<handle_type> kept;
        for (std::size_t i = 0; i != handles_.size(); ++i) {
            if (i % step == 0) {
                pool_.erase(handles_[i]);
            } else {
                kept.push_back(handles_[i]);
            }
        }
        handles_ = kept;
    }

    template <class... Numbers>
    void tell(const std::string& what, Numbers... numbers) {
        lines_.push_back(what);
        ((lines_.back() += " " + std::to_string(numbers)), ...);
    }
    void tell_all(const std::string& what, const std::vector<int>& numbers) {
        tell(what);
        for (const int each : numbers) {
            lines_.back() += " " + std::to_string(each);
        }
    }
    void tell_stats() {
        const pool_stats now = pool_.stats();
        tell("stats", now.alive, now.dense, now.newborn, now.waiting_removals, now.created - before_.created,
             now.destroyed - before_.destroyed, now.slots_in_service, now.slots_free, now.slots_claimed,
             now.slots_reserved, now.slots_retired, now.sweeps - before_.sweeps,
             now.compactions - before_.compactions, pool_.size(), pool_.idle() ? 1 : 0);
        EXPECT_GE(now.smallest_reuse_distance, pool_.stats().reuse_delay);
        in_.told.clear();
    }
    void tell_compaction(const compaction_stats& done) {
        tell("compaction", done.removed, done.born, done.moved, done.retired, done.swept, done.size,
             done.waiting_removals, done.waiting_newborns);
        tell_all("hooks", in_.told);
        tell_all("objects", in_.numbers());
        tell_stats();
    }
    void tell_ages() {
        tell("oldest");
        for (const handle_type each : pool_.oldest(10)) {
            lines_.back() += " " + std::to_string(each.index());
        }
        for (std::size_t i = 0; i < handles_.size(); i += 10) {
            const std::string description = pool_.describe(handles_[i]);
            lines_.push_back(description.substr(description.rfind(':')));
        }
    }

    pool_in_use<Kind>& in_;
    helpers& others_;
    typename pool_in_use<Kind>::pool_type& pool_ = in_.pool();
    pool_stats before_;
    std::vector<handle_type> handles_;
    int next_ = 0;
    std::vector<std::string> lines_;
};

/// What a pool tells that has never been used.
template <class Kind>
std::vector<std::string> account_of_new_pool(helpers& others) {
    pool_in_use<Kind> fresh;
    return pool_account(fresh, others).lines();
}

/// Whatever was before, it does as one that is new.
template <class Kind>
void expect_as_new(pool_in_use<Kind>& in, helpers& others, const std::vector<std::string>& as_new) {
    const std::vector<std::string> told = pool_account(in, others).lines();
    ASSERT_EQ(told.size(), as_new.size());
    for (std::size_t i = 0; i != told.size(); ++i) {
        ASSERT_EQ(told[i], as_new[i]) << "line " << i << ", after " << (i == 0 ? "nothing" : told[i - 1]);
    }
}

} // namespace handlepool::test
