// SPDX-License-Identifier: MIT

// usage: modules_plugins_host PLUGIN OTHER    a program without the library, whose plug-ins each link it

#include "listed_pool.hpp"

#include <dlfcn.h>

#include <cstdio>

using namespace handlepool::modules;

namespace {

list_pool_function load(const char* file) {
    void* const module = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    void* const symbol = module == nullptr ? nullptr : dlsym(module, list_pool_symbol);
    if (symbol == nullptr) {
        std::fprintf(stderr, "%s\n", dlerror());
    }
    return reinterpret_cast<list_pool_function>(symbol);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: modules_plugins_host PLUGIN OTHER\n", stderr);
        return 2;
    }
    const list_pool_function one = load(argv[1]);
    const list_pool_function other = load(argv[2]);
    if (one == nullptr || other == nullptr) {
        return 2;
    }
    const listed_pool first = one("harbour");
    const listed_pool second = other("lighthouse");
    const listed_pool third = one("lighthouse");
    // A linker that gives both plug-ins one list gives them all that belongs to it.
    const bool is_shared = first.list == second.list;
    const bool numbers_differ = second.number > first.number && third.number > second.number;
    const bool places_are_one = second.place == third.place && second.place != first.place;
    std::printf("the plug-ins have %s\n", is_shared ? "one list" : "a list each");
    if (is_shared && !(numbers_differ && places_are_one)) {
        std::fputs("FAILED: plug-ins that share a list of pools number them, and name places, together\n",
                   stderr);
        return 1;
    }
    return 0;
}
