#pragma once

#include "test_run.hpp"

// The scenarios, one file each.
namespace handlepool::stress {

void run_stale(test_run& run);
void run_race_erase(test_run& run);
void run_race_find(test_run& run);
void run_overlap(test_run& run);
void run_exhaust(test_run& run);
void run_retire(test_run& run);
void run_overflow(test_run& run);
void run_threads(test_run& run);
void run_reentrant(test_run& run);
void run_throwing(test_run& run);
void run_stopped(test_run& run);
void run_hand_off(test_run& run);

} // namespace handlepool::stress
