// SPDX-License-Identifier: MIT
#pragma once

#include "sim_policy.hpp"

#include <cstdint>

namespace handlepool::coherence {

/// What all contenders hold: 64 bytes, a line. To make, move, read and destroy it are accesses to the line.
class alignas(line_size) sim_object {
public:
    explicit sim_object(std::uint64_t seed) noexcept : seed_(seed) { written(); }
    sim_object(sim_object&& other) noexcept : seed_(other.read()) { written(); }
    sim_object& operator=(sim_object&& other) noexcept {
        seed_ = other.read();
        written();
        return *this;
    }
    /// Looks whether there is something to free, as the destructor of a string does.
    ~sim_object() { report(this, line_size, access_kind::read); }

    std::uint64_t read() const noexcept {
        report(this, line_size, access_kind::read);
        return seed_;
    }

private:
    void written() const noexcept { report(this, line_size, access_kind::write); }

    std::uint64_t seed_;
};

static_assert(sizeof(sim_object) == line_size);

} // namespace handlepool::coherence
