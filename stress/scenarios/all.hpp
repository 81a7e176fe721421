#pragma once

#include "conductor.hpp"

// The scenarios, one file each.
namespace handlepool::stress {

void run_stale(conductor& by);
void run_race_erase(conductor& by);
void run_race_find(conductor& by);
void run_overlap(conductor& by);
void run_exhaust(conductor& by);
void run_retire(conductor& by);
void run_overflow(conductor& by);
void run_threads(conductor& by);
void run_reentrant(conductor& by);
void run_throwing(conductor& by);
void run_stopped(conductor& by);
void run_hand_off(conductor& by);

} // namespace handlepool::stress
