// SPDX-License-Identifier: MIT
#include "../text/cut_name.hpp"

#include <handlepool/error.hpp>

#include <array>
#include <cstdio>
#include <cstring>
#include <string>

namespace handlepool {

namespace {

template <class... Values>
detail::fixed_message print(const char* format, std::string_view name, Values... values) noexcept {
    std::array<char, 256> text{};
    std::snprintf(text.data(), text.size(), format, detail::cut_name(name).c_str(), values...);
    return detail::fixed_message(text.data());
}

} // namespace

pool_exhausted::pool_exhausted(std::string_view pool, std::size_t capacity) noexcept
    : message_(
          print("pool '%s' is exhausted: its capacity is %zu objects (places of erased objects come back "
                "with the next compaction)",
                pool, capacity)) {}

pool_used_up::pool_used_up(std::string_view pool, std::size_t slot_limit) noexcept
    : pool_exhausted(
          print("pool '%s' is used up: all %zu slots that its slot_limit allows, but for reuse_delay of "
                "them, are retired: their generations have run out",
                pool, slot_limit)) {}

spawner_exhausted::spawner_exhausted(std::string_view pool, std::size_t spawner) noexcept
    : pool_exhausted(
          print("pool '%s': spawner %zu has used its share of the room that was dealt out when the "
                "spawners were made; a larger weight or capacity gives it more",
                pool, spawner)) {}

reservation_failed::reservation_failed(std::string_view what_for, std::size_t bytes,
                                       int error_number) noexcept
    : message_(print("%s: cannot reserve %zu bytes of address space: %s", what_for, bytes,
                     std::strerror(error_number))) {}

too_many_threads::too_many_threads(std::string_view owner, std::size_t max_threads)
    : std::runtime_error(std::string(owner) + ": more than max_threads = " + std::to_string(max_threads) +
                         " threads of the process use pools at the same time") {}

foreign_module::foreign_module(std::string_view owner)
    : std::runtime_error(std::string(owner) +
                         " was made by another copy of the handlepool library in this process, which numbers "
                         "threads in its own way; link all modules with the shared library, or let the "
                         "program export its symbols (CMake: ENABLE_EXPORTS)") {}

} // namespace handlepool
