// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/pool/spawner_refusal.hpp>
#include <handlepool/detail/slots/deal.hpp>
#include <handlepool/detail/text/text.hpp>
#include <handlepool/error.hpp>
#include <handlepool/policy.hpp>

#include <stdexcept>
#include <string>

namespace handlepool::detail {

void expect_weights(const std::string& pool, std::size_t most_spawners,
                    std::span<const std::uint32_t> weights) {
    const std::string begin = quoted_pool(pool) + ": ";
    if (weights.empty() || weights.size() > most_spawners) {
        throw_exception(std::invalid_argument(
            begin + std::to_string(weights.size()) + " spawners were asked for; " +
            (most_spawners == 0
                 ? "the pool was made without any, see pool_options::spawners"
                 : "allowed are 1 to " + std::to_string(most_spawners) + ", by pool_options::spawners")));
    }
    constexpr std::uint64_t most = deal<default_policy>::most_blocks_of_round;
    std::uint64_t sum = 0;
    for (const std::uint32_t weight : weights) {
        if (weight == 0) {
            throw_exception(std::invalid_argument(begin + "a spawner's weight of 0 is not allowed; 1 is the "
                                                          "least"));
        }
        sum += weight;
    }
    if (sum > most) {
        throw_exception(std::invalid_argument(begin + "spawners' weights with a sum of " +
                                              std::to_string(sum) + " are not allowed; allowed are " +
                                              std::to_string(most) + " at the most"));
    }
}

void throw_spawners_live(const std::string& pool) {
    throw_exception(spawner_conflict(quoted_pool(pool) + ": spawners were asked for while others live; they "
                                                         "end with close(), or with the set that has them"));
}

void throw_spawner_ended(const std::string& pool, std::size_t spawner) {
    throw_exception(spawner_conflict(quoted_pool(pool) + ": spawner " + std::to_string(spawner) +
                                     " was used after its end"));
}

void throw_no_spawner(const std::string& pool) {
    throw_exception(spawner_conflict(
        quoted_pool(pool) +
        ": it has spawners, and so objects are created by one of them, under exclusive access, or by what a "
        "compaction calls: the handle of another would depend on the scheduler"));
}

} // namespace handlepool::detail
