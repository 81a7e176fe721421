// SPDX-License-Identifier: MIT
#include <handlepool/detail/deltas/pool_delta.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>

namespace handlepool::detail {

namespace {

constexpr std::size_t list_count =
    std::tuple_size_v<decltype(pool_delta::lists(std::declval<pool_delta&>()))>;
constexpr std::uint64_t delta_header_bytes =
    (8 + list_count) * sizeof(std::uint32_t) + 2 * sizeof(std::uint64_t);

std::uint32_t length_of(const std::vector<std::uint32_t>& list) noexcept {
    return static_cast<std::uint32_t>(list.size());
}

} // namespace

std::uint64_t bytes_of(const pool_delta& delta) noexcept {
    std::uint64_t numbers = 0;
    for (const auto* const list : pool_delta::lists(delta)) {
        numbers += list->size();
    }
    return delta_header_bytes + numbers * sizeof(std::uint32_t);
}

void write(snapshot_writer& to, const pool_delta& delta) {
    to.number(delta.widths);
    to.number(delta.placement);
    to.number(delta.id);
    to.number(delta.fresh_generation);
    to.number(delta.in_service);
    to.number(delta.taken);
    to.number(delta.retired);
    to.number(delta.returned_word);
    to.number(delta.turn);
    to.number(delta.claimed_waiting);
    for (const auto* const list : pool_delta::lists(delta)) {
        to.number(length_of(*list));
    }
    for (const auto* const list : pool_delta::lists(delta)) {
        to.numbers(*list);
    }
}

pool_delta read_pool_delta(block_reader& from) {
    pool_delta delta;
    delta.widths = from.number<std::uint32_t>();
    delta.placement = from.number<std::uint32_t>();
    delta.id = from.number<std::uint32_t>();
    delta.fresh_generation = from.number<std::uint32_t>();
    delta.in_service = from.number<std::uint32_t>();
    delta.taken = from.number<std::uint32_t>();
    delta.retired = from.number<std::uint32_t>();
    delta.returned_word = from.number<std::uint32_t>();
    delta.turn = from.number<std::uint64_t>();
    delta.claimed_waiting = from.number<std::uint64_t>();
    std::array<std::uint32_t, list_count> counts{};
    for (std::uint32_t& each : counts) {
        each = from.number<std::uint32_t>();
    }
    const auto lists = pool_delta::lists(delta);
    for (std::size_t i = 0; i != list_count; ++i) {
        from.numbers(counts[i], *lists[i]);
        if (lists[i] == &delta.moved_to || lists[i] == &delta.born_at ||
            lists[i] == &delta.born_generations || lists[i] == &delta.generations) {
            from.require_that(counts[i] == counts[i - 1], 0,
                              "a list has " + std::to_string(counts[i]) +
                                  " numbers, and the one before, to "
                                  "which they belong, " +
                                  std::to_string(counts[i - 1]));
        } else if (lists[i] != &delta.waiting && lists[i] != &delta.claims && lists[i] != &delta.claimed) {
            const auto wrong = std::adjacent_find(lists[i]->begin(), lists[i]->end(), std::greater_equal<>());
            if (wrong != lists[i]->end()) {
                from.refuse(static_cast<std::size_t>(lists[i]->end() - wrong - 1) * sizeof *wrong,
                            "slot " + std::to_string(wrong[1]) + " does not come after slot " +
                                std::to_string(wrong[0]) + " before it");
            }
        }
    }
    return delta;
}

void refuse(const block_reader& from, const pool_delta& delta, const delta_problem& problem) {
    std::size_t back = 0; // numbers, from the end of the lists
    bool is_behind = false;
    for (const auto* const list : pool_delta::lists(delta)) {
        if (list == problem.list) {
            back += list->size() - problem.number;
            is_behind = true;
        } else if (is_behind) {
            back += list->size();
        }
    }
    from.refuse(back * sizeof(std::uint32_t), problem.text);
}

} // namespace handlepool::detail
