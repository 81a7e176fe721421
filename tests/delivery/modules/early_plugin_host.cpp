// SPDX-License-Identifier: MIT

// usage: modules_early_plugin_host PLUGIN
//
// A program whose object of static storage duration loads a plug-in and unloads it, before the library's own
// objects are made. Forks wait for names afterwards, as in any program.

#include "plugin.hpp"

#include <handlepool/call_site.hpp>

#include <dlfcn.h>
#include <src/core/recorder/names_mutex.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <latch>
#include <string>
#include <thread>

using namespace handlepool;
using namespace handlepool::modules;

namespace {

/// The program's arguments are not there yet.
std::string first_argument() {
    std::ifstream arguments("/proc/self/cmdline");
    std::string program;
    std::string first;
    std::getline(arguments, program, '\0');
    std::getline(arguments, first, '\0');
    return first;
}

bool used_and_unloaded() {
    const std::string plugin = first_argument();
    void* const module = dlopen(plugin.c_str(), RTLD_NOW);
    if (module == nullptr) {
        std::fprintf(stderr, "FAILED: %s\n", dlerror());
        return false;
    }
    const bool is_used = static_cast<plugin_functions*>(dlsym(module, plugin_symbol))->use_own_pool();
    dlclose(module);
    return is_used && dlopen(plugin.c_str(), RTLD_NOW | RTLD_NOLOAD) == nullptr;
}

const bool early_plugin = used_and_unloaded();

} // namespace

int main() {
    if (!early_plugin) {
        std::fputs("FAILED: a plug-in is used and unloaded before main\n", stderr);
        return 1;
    }
    ships pool({.name = "ships", .capacity = 1, .record_lives = 2});
    const auto handle = pool.emplace(std::size_t{1});
    std::latch asking(1);
    std::latch forked(1);
    const std::jthread asks([&] { // for a name that takes long to find
        detail::names_mutex.lock();
        asking.count_down();
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        detail::names_mutex.unlock();
        forked.wait(); // of one that has ended, ThreadSanitizer says in the child that nobody joins it
    });
    asking.wait();
    const pid_t child = fork();
    if (child == 0) {
        alarm(20); // it would wait for ever for a thread that it has not
        _exit(pool.describe(handle).starts_with("ships #") ? 0 : 1);
    }
    forked.count_down();
    int status = -1;
    if (waitpid(child, &status, 0) != child || status != 0) {
        std::fputs("FAILED: a child of fork asks for names\n", stderr);
        return 1;
    }
}
