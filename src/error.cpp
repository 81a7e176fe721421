#include <handlepool/error.hpp>
#include <handlepool/failure.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace handlepool {

namespace {

// Room is kept for the text after the name: a long name is cut, never the reason.
constexpr std::size_t longest_name = 96;

template <class... Values>
fixed_message print(const char* format, std::string_view name, Values... values) noexcept {
    std::array<char, 256> text{};
    const std::size_t length = std::min(name.size(), longest_name);
    std::snprintf(text.data(), text.size(), format, static_cast<int>(length), name.data(), values...);
    return fixed_message(text.data());
}

} // namespace

fixed_message::fixed_message(std::string_view text) noexcept {
    text.copy(text_.data(), text_.size() - 1);
}

pool_exhausted::pool_exhausted(std::string_view pool, std::size_t capacity) noexcept
    : message_(
          print("pool '%.*s' is exhausted: its capacity is %zu objects (places of erased objects come back "
                "with the next compaction)",
                pool, capacity)) {}

pool_used_up::pool_used_up(std::string_view pool, std::size_t slot_limit) noexcept
    : pool_exhausted(
          print("pool '%.*s' is used up: all %zu slots that its slot_limit allows, but for reuse_delay of "
                "them, are retired: their generations have run out",
                pool, slot_limit)) {}

reservation_failed::reservation_failed(std::string_view what_for, std::size_t bytes,
                                       int error_number) noexcept
    : message_(print("%.*s: cannot reserve %zu bytes of address space: %s", what_for, bytes,
                     std::strerror(error_number))) {}

too_many_threads::too_many_threads(std::string_view owner, std::size_t max_threads)
    : std::runtime_error(std::string(owner) + ": more than max_threads = " + std::to_string(max_threads) +
                         " threads of the process use pools at the same time") {}

foreign_module::foreign_module(std::string_view owner)
    : std::runtime_error(std::string(owner) +
                         " was made by another copy of the handlepool library in this process, which numbers "
                         "threads in its own way; link all modules with the shared library, or let the "
                         "program export its symbols (CMake: ENABLE_EXPORTS)") {}

void throw_without_lane(std::string_view owner, bool of_this_module, std::size_t max_threads) {
    if (!of_this_module) {
        raise(foreign_module(owner));
    }
    raise(too_many_threads(owner, max_threads));
}

std::string quoted_pool(std::string_view name) {
    return "pool '" + std::string(name) + "'";
}

} // namespace handlepool
