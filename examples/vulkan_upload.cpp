// SPDX-License-Identifier: MIT

// Trees in a pool, and a buffer of a graphics device that has the same trees. In each frame threads plant,
// change and fell some of them, a change_log knows which positions that has written, and these ranges alone
// are copied to the device. Now and then the trees are sorted, more come than the buffer has room for, or
// some frames pass in which nobody looks. After each upload the buffer is read back, and must have the bytes
// of items().

#include "require.hpp"
#include "vulkan_upload/device.hpp"
#include "vulkan_upload/forest.hpp"
#include "vulkan_upload/options.hpp"
#include "vulkan_upload/report.hpp"
#include "vulkan_upload/uploader.hpp"

#include <support/threads/thread_team.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace {

using namespace vulkan_upload;

void require_equal(std::span<const std::byte> on_device, std::span<const tree> items, std::uint64_t frame) {
    const auto bytes = std::as_bytes(items);
    const auto different = std::ranges::mismatch(on_device, bytes).in2;
    examples::require(different == bytes.end(), "frame {}: the device has another tree at position {} of {}",
                      frame, static_cast<std::size_t>(different - bytes.begin()) / sizeof(tree),
                      items.size());
}

/// Frames that pass before the one that is uploaded, in which nobody looks: sometimes one more than the log
/// keeps.
std::uint64_t frames_without_a_look(std::uint64_t uploads, std::size_t kept) {
    return uploads % 50 == 49 ? kept : uploads % 20 == 19 ? kept / 2 : 0;
}

void run(const options& chosen) {
    device graphics; // first, so that no simulation runs where there is none
    handlepool::support::thread_team threads(chosen.threads);
    forest wood(chosen.trees, chosen.seed, chosen.kept, threads);
    uploader buffer(graphics, wood.log(), chosen.max_gap);
    report results(chosen, graphics.name());
    for (std::uint64_t i = 0; i != chosen.frames; ++i) {
        for (std::uint64_t skipped = frames_without_a_look(i, chosen.kept); skipped != 0; --skipped) {
            wood.run_frame();
        }
        wood.run_frame();
        results.add(buffer.upload(), wood.items().size_bytes());
        require_equal(buffer.read_back(), wood.items(), wood.frame());
    }
    if (chosen.frames >= 1'000) {
        examples::require(results.new_buffers() > 1, "the trees have never outgrown the buffer");
        examples::require(results.gaps() != 0, "the log has never had a gap");
    }
    results.print(wood.items().size(), wood.frame(), wood.fingerprint());
}

} // namespace

int main(int argc, char** argv) {
    return run_with_options(argc, argv, "Trees whose changes are uploaded to a graphics device", run);
}
