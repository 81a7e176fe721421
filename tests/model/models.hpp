// SPDX-License-Identifier: MIT
#pragma once

#include "model.hpp"

#include <vector>

namespace handlepool::model {

// One for each file of models; all_models() puts them together.
void add_freelist_models(std::vector<model_entry>& to);
void add_shard_models(std::vector<model_entry>& to);
void add_gate_models(std::vector<model_entry>& to);
void add_pool_models(std::vector<model_entry>& to);
void add_claim_models(std::vector<model_entry>& to);
void add_unused_models(std::vector<model_entry>& to);
void add_compaction_models(std::vector<model_entry>& to);
void add_parallel_models(std::vector<model_entry>& to);
void add_sort_models(std::vector<model_entry>& to);
void add_destructor_models(std::vector<model_entry>& to);
void add_reset_models(std::vector<model_entry>& to);
void add_stable_models(std::vector<model_entry>& to);
void add_reservation_models(std::vector<model_entry>& to);
void add_extract_models(std::vector<model_entry>& to);
void add_exclusive_models(std::vector<model_entry>& to);
void add_spawner_models(std::vector<model_entry>& to);
void add_watch_models(std::vector<model_entry>& to);
void add_recorder_models(std::vector<model_entry>& to);
void add_service_models(std::vector<model_entry>& to);

} // namespace handlepool::model
