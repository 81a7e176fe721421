#pragma once

// std::chrono::nanoseconds. libstdc++ keeps durations apart from the calendars and formats of <chrono>, which
// take longer to compile than a pool.
#if __has_include(<bits/chrono.h>)
#include <bits/chrono.h>
#else
#include <chrono>
#endif
