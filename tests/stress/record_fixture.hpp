// SPDX-License-Identifier: MIT
#pragma once

// What record_fixture.cpp does, for the test that records it.

#include <cstddef>

namespace handlepool::stress::fixture {

inline constexpr int crossing_objects = 20'000;
inline constexpr int rounds = 20;
inline constexpr int threads_in_round = 8;
inline constexpr int churned_objects = 500;
inline constexpr int many_objects = 30'000; // 60,000 events, which take 1.9 MB

// Sizes in bytes, each for one purpose.
inline constexpr std::size_t crossing_size = 10'007;
inline constexpr std::size_t churned_size = 117;
inline constexpr std::size_t malloc_size = 20'011;
inline constexpr std::size_t calloc_size = 20'021;
inline constexpr std::size_t realloc_from_size = 20'023;
inline constexpr std::size_t realloc_to_size = 200'029;
inline constexpr std::size_t reallocarray_size = 20'047;
inline constexpr std::size_t posix_memalign_size = 20'051;
inline constexpr std::size_t aligned_alloc_size = 20'032;
inline constexpr std::size_t kept_size = 20'063;
inline constexpr std::size_t parent_size = 20'071;
inline constexpr std::size_t child_size = 20'089;
inline constexpr std::size_t many_size = 20'107;
inline constexpr std::size_t early_size = 20'101;

} // namespace handlepool::stress::fixture
