#pragma once

#include "record/recorder.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace handlepool::stress {

// What was recorded, for people.
std::string to_text(const record_result& recorded, const record_options& options);

// For programs; the keys are documented in stress/README.md.
nlohmann::json to_json(const record_result& recorded, const record_options& options);

} // namespace handlepool::stress
