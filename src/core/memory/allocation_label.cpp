// SPDX-License-Identifier: MIT
#include <handlepool/detail/memory/allocation_label.hpp>

#include <array>
#include <cstddef>

namespace handlepool::detail {

fixed_message allocation_label::text() const noexcept {
    // Written back to front, since its length is unknown. No allocation: it is memory that is lacking.
    std::array<char, 255> text; // what fits into the message
    std::size_t first = text.size();
    const auto put_before = [&](std::string_view more) {
        const std::string_view fitting =
            more.substr(more.size() - (more.size() < first ? more.size() : first));
        first -= fitting.size();
        fitting.copy(text.data() + first, fitting.size());
    };
    for (const allocation_label* part = this; part != nullptr; part = part->whole_) {
        if (part->is_pool_) {
            put_before("'");
        }
        put_before(part->text_);
        if (part->is_pool_) {
            put_before("pool '");
        }
    }
    return fixed_message(std::string_view(text.data() + first, text.size() - first));
}

} // namespace handlepool::detail
