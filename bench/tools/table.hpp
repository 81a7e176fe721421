// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace handlepool_bench {

/// What is asked of a figure, and what was measured.
struct row {
    enum class better { lower, higher };

    std::string name;
    better direction;
    double must;
    std::optional<double> aim;
    std::string limit_format; // of must and aim
    std::string measured_format;
    bool strict = false; // must be below, not only reach

    std::optional<double> measured{};
    double spread = 0;

    bool reaches(double limit) const;
    bool holds() const { return reaches(must); }
};

/// Places of the rows in the table.
enum class figure : std::size_t {
    exclusive_churn_1k,
    exclusive_churn_10k,
    exclusive_churn_100k,
    exclusive_churn_1m,
    exclusive_anew_1k,
    exclusive_anew_10k,
    exclusive_anew_100k,
    exclusive_anew_1m,
    exclusive_find_10k,
    exclusive_find_100k,
    exclusive_find_1m,
    exclusive_clearing,
    exclusive_bulk,
    exclusive_entry,
    exclusive_entry_newborns,
    exclusive_stable_10k,
    exclusive_stable_100k,
    exclusive_stable_1m,
    exclusive_rows,
    changes_mark,
    changes_mark_again,
    changes_record,
    captures_all,
    captures_some,
    captures_none,
    captures_restore,
    snapshots_save,
    snapshots_capture,
    snapshots_load,
    snapshots_load_over,
    deltas_apply,
    deltas_bytes,
    deltas_record,
    hashes_changed,
    spawners_create,
    spawners_create_2_threads,
    spawners_frame,
    recorder_sites,
    recorder_sites_in_order,
    recorder_stacks,
    recorder_memory,
    recorder_told,
    churn_1k,
    churn_10k,
    churn_100k,
    churn_1m,
    find_10k,
    find_100k,
    find_1m,
    look_up_10k,
    look_up_100k,
    look_up_1m,
    batch_1m,
    batch_work_100k,
    batch_work_1m,
    bulk_1k,
    bulk_100k,
    fresh_pool,
    clearing,
    create_2_against_1,
    create_2_threads,
    erase_2_threads,
    find_2_threads,
    iteration,
    memory,
    memory_loaded,
    idle_compaction,
    parallel_compaction,
    small_compaction,
    budgeted_compaction,
    guarded_find,
    waiting_compaction,
    parallel_for_each,
    routed_erase,
    idle_pools,
    pool_share,
    small_pool_memory,
    small_pool_construction,
    small_pool_destruction,
    stable_churn,
    stable_create_10,
    stable_create_100,
    stable_iteration,
    recycling_churn,
    sort_shuffled,
    sort_time,
    sort_in_order,
    sort_some,
    column_iteration_100k,
    column_iteration_1m,
    column_churn_100k,
    column_churn_1m,
    map_std,
    map_boost,
    index_look_up,
    hierarchy_children,
    set_pruning,
    property_look_up,
    property_building,
};

/// The figures that the pool is judged by.
class table {
public:
    table();

    /// Records a measurement; of several for one row the worst is kept.
    void record(figure place, double measured, double spread = 0);
    const std::string& name(figure place) const { return rows_.at(static_cast<std::size_t>(place)).name; }
    /// Something worth knowing that nobody judges.
    void remark(std::string text) { remarks_.push_back(std::move(text)); }

    /// The table on the standard output; remarks, and warnings about rows that varied much, on the standard
    /// error.
    void print() const;
    /// The rows that were measured, for programs.
    std::string to_json() const;
    /// Does every row hold that was measured?
    bool holds() const;

private:
    std::vector<row> rows_;
    std::vector<std::string> remarks_;
};

} // namespace handlepool_bench
