// SPDX-License-Identifier: MIT
#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/snapshots/captured_snapshot.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace handlepool {

std::vector<std::byte> captured_snapshot::bytes() && noexcept {
    if (!bytes_.empty()) {
        detail::hash_payloads(bytes_);
    }
    return std::exchange(bytes_, {});
}

} // namespace handlepool
