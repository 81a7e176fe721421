// SPDX-License-Identifier: MIT

// What publishers and followers receive of anybody. The first byte says by whom; and whoever follows is at
// frame 5 of origin 1 with history 2. What is taken for a message makes the same bytes again, and lies within
// those that came; what follows from it leads forward.

#include "require.hpp"

#include <handlepool/detail/followers/frame_position.hpp>

#include <src/zeromq/followed_origin.hpp>
#include <src/zeromq/zeromq_message.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace handlepool::fuzz {
namespace {

using detail::zeromq_kind;

void hear(const detail::zeromq_message& message) {
    detail::followed_origin origin;
    origin.begin({.kind = zeromq_kind::snapshot, .origin = 1, .before = 5, .frame = 5, .history = 2});
    std::string problem;
    const detail::zeromq_news news = origin.hear(message, problem);
    require(problem.empty() == (news != detail::zeromq_news::loss), "a loss has a reason");
    if (news == detail::zeromq_news::next) {
        require(message.header.kind == zeromq_kind::delta && message.header.before == 5 &&
                    message.header.history == detail::history_after(2, message.payload),
                "the delta is the next one");
        require(origin.hear(message, problem) == detail::zeromq_news::old, "it is known then");
    }
}

void read(std::span<const std::byte> bytes, std::initializer_list<zeromq_kind> kinds) {
    std::string problem;
    const auto message = detail::read_zeromq_message(bytes, kinds, problem);
    require(message.has_value() == problem.empty(), "a reason is given");
    if (!message) {
        return;
    }
    require(std::ranges::find(kinds, message->header.kind) != kinds.end(), "it is of one of these kinds");
    const auto header = detail::bytes_of(message->header);
    std::vector<std::byte> again(header.begin(), header.end());
    again.insert(again.end(), message->payload.begin(), message->payload.end());
    require(std::ranges::equal(again, bytes), "it makes the same bytes again");
    if (message->header.kind == zeromq_kind::delta || message->header.kind == zeromq_kind::position) {
        hear(*message);
    }
}

} // namespace
} // namespace handlepool::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using handlepool::detail::zeromq_kind;
    if (size == 0) {
        return 0;
    }
    const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
    switch (data[0] % 3) {
    case 0:
        handlepool::fuzz::read(bytes, {zeromq_kind::request});
        break;
    case 1:
        handlepool::fuzz::read(bytes, {zeromq_kind::snapshot});
        break;
    default:
        handlepool::fuzz::read(bytes, {zeromq_kind::delta, zeromq_kind::position});
        break;
    }
    return 0;
}
