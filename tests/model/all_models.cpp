// SPDX-License-Identifier: MIT
#include "models.hpp"

#include <algorithm>
#include <stdexcept>

namespace handlepool::model {

std::vector<model_entry> all_models() {
    std::vector<model_entry> all;
    add_freelist_models(all);
    add_shard_models(all);
    add_gate_models(all);
    add_pool_models(all);
    add_claim_models(all);
    add_unused_models(all);
    add_compaction_models(all);
    add_parallel_models(all);
    add_sort_models(all);
    add_destructor_models(all);
    add_reset_models(all);
    add_stable_models(all);
    add_reservation_models(all);
    add_extract_models(all);
    add_exclusive_models(all);
    add_spawner_models(all);
    add_watch_models(all);
    add_recorder_models(all);
    add_service_models(all);
    return all;
}

std::vector<model_entry> models_named(const std::vector<std::string>& names) {
    std::vector<model_entry> all = all_models();
    if (names.empty()) {
        return all;
    }
    std::vector<model_entry> chosen;
    for (const std::string& name : names) {
        const auto found = std::ranges::find(all, name, &model_entry::name);
        if (found == all.end()) {
            throw std::invalid_argument("there is no model '" + name + "'; list tells their names");
        }
        chosen.push_back(*found);
    }
    return chosen;
}

} // namespace handlepool::model
