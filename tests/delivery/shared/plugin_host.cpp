// SPDX-License-Identifier: MIT
#include "plugin.hpp"

#include <handlepool/detail/threads/thread_index.hpp>
#include <handlepool/error.hpp>

#include <dlfcn.h>

#include <cstdio>
#include <thread>

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
    if (!holds) {
        std::fprintf(stderr, "does not hold: %s\n", what);
        ++failures;
    }
}

template <class Exception, class Function>
bool throws(Function function) {
    try {
        function();
    } catch (const Exception&) {
        return true;
    } catch (...) {
    }
    return false;
}

} // namespace

int main(int, char** arguments) {
    void* const module = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) {
        std::fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    const auto& plugin = *static_cast<const plugin_functions*>(dlsym(module, "functions"));

    const std::uint32_t index = handlepool::detail::this_thread::index();
    expect(plugin.thread_index() == index, "a thread has one number");
    std::jthread([&] {
        const std::uint32_t other = plugin.thread_index();
        expect(other != index && other == handlepool::detail::this_thread::index(),
               "and another thread has another one");
    }).join();
    expect(handlepool::detail::this_thread::index() == index, "which stays");

    handlepool::service world;
    auto& ships = world.add<handlepool::pool<ship>>("ships", {.capacity = 10});
    expect(plugin.find_ship(world, ships.emplace(1)), "the module finds the program's pools");
    plugin.add_rockets(world);
    expect(world.find_pool<handlepool::pool<ship>>("rockets") != nullptr,
           "the program finds the module's pools");

    expect(throws<handlepool::pool_exhausted>([&] { plugin.exhaust(ships); }), "pool_exhausted is caught");
    expect(throws<handlepool::stale_handle>([&] { plugin.look_up_stale(ships); }), "stale_handle is caught");
    expect(throws<handlepool::compaction_conflict>([&] { plugin.compact_under_guard(world); }),
           "compaction_conflict is caught");
    return failures == 0 ? 0 : 1;
}
