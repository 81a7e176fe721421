// SPDX-License-Identifier: MIT
#include "../text/cut_name.hpp"

#include <handlepool/detail/base/contract.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/failure.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace handlepool {

namespace {

constinit std::atomic<failure_handler> chosen_handler{nullptr};

} // namespace

failure_handler set_failure_handler(failure_handler handler) noexcept {
    // acq_rel and acquire: what the program did before it chose a handler happens before the handler's call.
    return chosen_handler.exchange(handler, std::memory_order::acq_rel);
}

namespace detail {

void end_program(const char* message) noexcept {
    if (const failure_handler handler = chosen_handler.load(std::memory_order::acquire)) {
        handler(message);
    } else {
        std::fprintf(stderr, "%s\n", message);
    }
    std::abort();
}

void contract_violated(std::string_view pool, std::string_view message) noexcept {
    std::array<char, 512> text{};
    std::snprintf(text.data(), text.size(), "handlepool: pool '%s': %.*s", cut_name(pool).c_str(),
                  static_cast<int>(std::min(message.size(), text.size())), message.data());
    end_program(text.data());
}

} // namespace detail
} // namespace handlepool
