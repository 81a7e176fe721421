// SPDX-License-Identifier: MIT
#pragma once

#include "hostile_types.hpp"
#include "parts_rig.hpp"

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/compaction/dense_promoter.hpp>
#include <handlepool/detail/compaction/promotion_log.hpp>
#include <handlepool/detail/compaction/reaper.hpp>
#include <handlepool/detail/slots/slot_history.hpp>
#include <handlepool/executor.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool::test {

/// Objects of the dense store and of the nursery, and a reaper.
template <class Setup>
class reaper_rig : public testing::Test {
protected:
    using Policy = typename Setup::policy;
    using rig_type = parts_rig<Policy>;
    using value_type = typename rig_type::value_type;
    using positions = std::vector<std::uint32_t>;

    ~reaper_rig() override {
        for (const value_type handle : alive) {
            parts.destroy(handle);
        }
    }

    std::vector<value_type> in_dense_store(std::size_t count) {
        alive = parts.emplace_sequence(count);
        packing.take_newborns({}, 0);
        return alive;
    }

    void erase(value_type handle, bool recorded = true) {
        EXPECT_TRUE(parts.kill(handle));
        std::erase(alive, handle);
        if (recorded) {
            EXPECT_TRUE(parts.record(handle));
        }
    }

    detail::reaped reap() {
        work.look();
        if constexpr (Setup::one_pass) {
            return work.reap_queued(frame++);
        } else {
            work.list_queued();
            return reap_listed();
        }
    }
    detail::reaped reap_listed() {
        if constexpr (Setup::one_pass) {
            return work.reap_listed(frame++);
        } else {
            inline_executor executor;
            return work.reap_listed(executor, frame++);
        }
    }

    positions holes() const {
        positions all;
        for (std::size_t i = 0; i != work.hole_count(); ++i) {
            all.push_back(raw(work.hole(i)));
        }
        return all;
    }

    rig_type parts{20};
    detail::slot_history<Policy> history{"history", 100, 100};
    detail::reaper<counted, typename rig_type::config> work{"reaper", parts, history};
    detail::promotion_log<counted, typename rig_type::config> births{"promoter", history};
    detail::dense_promoter<counted, typename rig_type::config> packing{"promoter", parts, work, births};
    std::vector<value_type> alive;
    std::uint64_t frame = 0;
};

} // namespace handlepool::test
