#include "text.hpp"

#include "count_sum.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace handlepool::stress {

std::string grouped(std::uint64_t number) {
    const std::string digits = fmt::to_string(number);
    std::string result;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i != 0 && (digits.size() - i) % 3 == 0) {
            result += ',';
        }
        result += digits[i];
    }
    return result;
}

std::string grouped_sum(std::uint64_t sum) {
    return fmt::format("{}{}", sum == largest_sum ? "at least " : "", grouped(sum));
}

std::string duration(std::uint64_t nanoseconds) {
    const auto number = static_cast<double>(nanoseconds);
    if (number < 1e3) {
        return fmt::format("{} ns", nanoseconds);
    }
    if (number < 1e6) {
        return fmt::format("{:.1f} us", number / 1e3);
    }
    return number < 1e9 ? fmt::format("{:.1f} ms", number / 1e6) : fmt::format("{:.2f} s", number / 1e9);
}

std::string gibibytes(std::uint64_t bytes) {
    return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
}

std::optional<double> bound_95(const tally& all) {
    if (all.stale_lookups == 0 || all.stale_accepted != 0) {
        return std::nullopt;
    }
    return std::min(1.0, 3.0 / static_cast<double>(all.stale_lookups));
}

std::string bound_text(const tally& all) {
    const std::optional<double> bound = bound_95(all);
    return bound ? fmt::format(", below {:.1e} of all with 95 % confidence", *bound) : std::string();
}

std::string sample_text(std::size_t sampled) {
    return sampled == 1 ? std::string() : fmt::format(", those of one slot in {}", sampled);
}

} // namespace handlepool::stress
