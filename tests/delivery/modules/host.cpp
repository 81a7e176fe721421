// SPDX-License-Identifier: MIT

// usage: modules_host PLUGIN one_copy|two_copies [names]
//
// How many copies of the library the process is expected to have; and whether names are asked for before the
// plug-in is loaded.

#include "plugin.hpp"

#include <handlepool/call_site.hpp>
#include <handlepool/detail/recorder/caller.hpp>
#include <handlepool/error.hpp>

#include <dlfcn.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <latch>
#include <string_view>
#include <thread>
#include <vector>

using namespace handlepool;
using namespace handlepool::modules;

namespace {

std::atomic<int> failures = 0;

void expect(bool holds, const char* what) {
    if (!holds) {
        std::fprintf(stderr, "FAILED: %s\n", what);
        ++failures;
    }
}

constexpr std::size_t each = 25'000;

/// Threads of the program create objects, half of them by way of the plug-in.
void create_together(const plugin_functions& plugin, bool one_copy) {
    constexpr std::size_t threads = 4;
    ships pool({.name = "ships", .capacity = threads * each});
    std::atomic<std::size_t> made = 0;
    std::atomic<std::size_t> refused = 0;
    {
        std::vector<std::jthread> running;
        for (std::size_t thread = 0; thread != threads; ++thread) {
            running.emplace_back([&, thread] {
                if (thread % 2 == 0) {
                    for (std::size_t i = 0; i != each; ++i) {
                        pool.emplace(i);
                    }
                    made += each;
                    return;
                }
                char message[512] = "";
                made += plugin.create(pool, each, message, sizeof message);
                const std::string_view text(message);
                if (text.find("pool 'ships' was made by another copy") != text.npos) {
                    ++refused;
                } else {
                    expect(text.empty(), message);
                }
            });
        }
    }
    pool.compact();
    expect(made == (one_copy ? threads : threads / 2) * each,
           "as many objects are made as there is one numbering for");
    expect(refused == (one_copy ? 0 : threads / 2), "a pool of another copy is refused at once");
    expect(pool.size() == made && pool.items().size() == made, "no object is lost");
    for (std::size_t i = 0; i != pool.items().size(); ++i) {
        if (&pool.at(pool.handle_at(i)) != &pool.items()[i]) {
            expect(false, "each handle leads to its object");
            return;
        }
    }
}

/// What needs no shard works across copies.
void look_up_and_erase(const plugin_functions& plugin) {
    ships pool({.name = "ships", .capacity = 100});
    std::vector<handle<ship>> handles;
    for (std::size_t i = 0; i != 100; ++i) {
        handles.push_back(pool.emplace(i));
    }
    pool.compact();
    for (std::size_t i = 0; i != 50; ++i) {
        expect(plugin.find_and_erase(pool, handles[i]),
               "handles are looked up and erased by way of the plug-in");
    }
    pool.compact();
    expect(pool.size() == 50 && pool.items().size() == 50, "what the plug-in erased is gone");
}

/// A thread that goes to and fro between the copies has one number in each.
void go_to_and_fro(const plugin_functions& plugin) {
    ships pool({.name = "ships", .capacity = 1000, .max_threads = 64});
    for (std::size_t i = 0; i != 200; ++i) {
        pool.emplace(i);
        expect(plugin.use_own_pool(), "a thread may use pools of two modules in turn");
    }
    expect(pool.size() == 200, "no object is lost");
}

/// A thread that has used the plug-in's copy ends after the plug-in was unloaded.
void end_a_thread_after_unloading(const plugin_functions& plugin, void* module) {
    std::latch used(1);
    std::latch unloaded(1);
    std::jthread thread([&] {
        expect(plugin.use_own_pool(), "a plug-in has pools of its own");
        used.count_down();
        unloaded.wait();
    });
    used.wait();
    dlclose(module);
    unloaded.count_down();
}

/// What the plug-in's copy wants done in a fork must not be called any more.
void fork_after_unloading() {
    const pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    int status = -1;
    expect(waitpid(child, &status, 0) == child && status == 0, "fork works after a plug-in was unloaded");
}

/// Whether a handle is described, which asks for the name of the place where its object was made.
bool describes_a_handle() {
    ships pool({.name = "ships", .capacity = 1, .record_lives = 2});
    return pool.describe(pool.emplace(std::size_t{1})).starts_with("ships #");
}

/// Whether a function without debug information is named, which is looked for elsewhere, too.
bool names_a_function_of_the_standard_library() {
    const auto address = reinterpret_cast<std::uintptr_t>(&std::set_terminate) + 8;
    return !call_site(detail::native_code::site_of(address)).name().empty();
}

// What is asked for while the plug-in is loaded, by two threads.
bool (*asks)() = describes_a_handle;
std::jthread other_asker;

} // namespace

/// This thread has the loader's lock, and another one asks for something for the first time, for which a
/// library is loaded: neither may wait for the other.
extern "C" void handlepool_test_while_loading() {
    std::latch begun(1);
    other_asker = std::jthread([&begun] {
        begun.count_down();
        expect(asks(), "another thread is answered while a plug-in is loaded");
    });
    begun.wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(200)); // so that it probably waits for the lock
    expect(asks(), "a plug-in that is loaded is answered");
}

namespace {

/// Loads the plug-in, and returns when all that was asked is answered.
void* load(const char* file) {
    void* const module = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (other_asker.joinable()) {
        other_asker.join();
    }
    return module;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3 && argc != 4) {
        std::fputs("usage: modules_host PLUGIN one_copy|two_copies [names]\n", stderr);
        return 2;
    }
    if (argc == 4) { // what names are asked for first is loaded already, but not what others need
        expect(describes_a_handle(), "a handle is described before a plug-in is loaded");
        asks = names_a_function_of_the_standard_library;
    }
    const bool one_copy = argv[2] == std::string_view("one_copy");
    void* const module = load(argv[1]);
    const void* const symbol = module == nullptr ? nullptr : dlsym(module, plugin_symbol);
    if (symbol == nullptr) {
        std::fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    const auto& plugin = *static_cast<const plugin_functions*>(symbol);
    create_together(plugin, one_copy);
    look_up_and_erase(plugin);
    go_to_and_fro(plugin);
    end_a_thread_after_unloading(plugin, module);
    fork_after_unloading();
    return failures == 0 ? 0 : 1;
}
