// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace handlepool {

/// What snapshot::capture() has kept: a snapshot without its hashes, which another thread can make while the
/// world goes on.
///
///     handlepool::captured_snapshot now = game.capture();
///     saver.submit([now = std::move(now)]() mutable {
///         handlepool::write_snapshot_file("quick.save", std::move(now).bytes());
///     });
///
/// It knows nothing of the pools, which may be changed and destroyed. A value: one thread at a time uses it.
class HANDLEPOOL_EXPORT captured_snapshot {
public:
    /// Without bytes.
    captured_snapshot() noexcept = default;

    /// The bytes, as snapshot::save() would have written them at that time. Linear.
    std::vector<std::byte> bytes() && noexcept;

private:
    friend class snapshot;

    explicit captured_snapshot(std::vector<std::byte> bytes) noexcept : bytes_(std::move(bytes)) {}

    std::vector<std::byte> bytes_;
};

} // namespace handlepool
