// SPDX-License-Identifier: MIT
#include <handlepool/detail/followers/published_world.hpp>

#include <string>

namespace handlepool::detail {

published_world::published_world(std::span<const std::byte> snapshot, frame_position position)
    : world_(snapshot, position.frame), history_(position.history) {}

void published_world::apply(const published_delta& delta) {
    const frame_position next = after(delta);
    world_.apply(delta.bytes, "frame " + std::to_string(delta.frame));
    history_ = next.history;
}

std::vector<std::byte> published_world::save() const {
    std::vector<std::byte> bytes;
    world_.save(bytes);
    return bytes;
}

} // namespace handlepool::detail
