// SPDX-License-Identifier: MIT
#include <handlepool/detail/snapshots/saved_objects.hpp>

namespace handlepool::detail {

void require_rows(const block_reader& from, const elements_header& there, bool here) {
    const auto text = [](bool rows) { return std::string(rows ? "rows" : "no rows"); };
    if (there.name.empty() == here) {
        from.refuse(static_cast<std::size_t>(bytes_of(there)),
                    "objects are " + text(!here) + "; here they are " + text(here));
    }
}

} // namespace handlepool::detail
