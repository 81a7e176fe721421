// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace handlepool::stress {

// What a run would need more of than the machine has is refused before it begins. Otherwise the system would
// end the program in the midst of it, or a library that can't start a thread would.

// Bytes that the system can give to this process: memory that is free, or what its control group allows it.
std::uint64_t available_memory();

// Throws std::runtime_error if fewer bytes are available than `what`, a part of a sentence, is going to need.
void require_memory(std::string_view what, double bytes);

// Throws std::runtime_error if the system does not start as many threads as `what`, a part of a sentence, is
// going to need at the same time. Starts them, once for each larger number.
void require_threads(std::string_view what, std::size_t threads);

// Measured: what an object that is alive, or was erased in the same frame, takes with what is recorded of it.
constexpr double bytes_of_an_object = 400;

} // namespace handlepool::stress
