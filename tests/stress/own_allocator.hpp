// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

// What the functions of own_allocator.cpp and own_new.cpp are made of.
void* own_allocate(std::size_t size) noexcept;
void own_release(void* address) noexcept;
