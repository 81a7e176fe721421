// SPDX-License-Identifier: MIT

// usage: PROGRAM    whether the tool says of a call in this program what the program says itself

#include <handlepool/call_site.hpp>

#include <tools/inspect/process_memory.hpp>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>

using namespace handlepool;

namespace {

[[gnu::noinline]] std::uintptr_t behind_this_call() {
    return reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
}

/// "game+0x1234", without the name of a function that may stand before it.
std::string place_in(const std::string& name) {
    const std::string place = name.substr(name.rfind('(') + 1);
    return place.substr(0, place.find(')'));
}

} // namespace

int main() {
    const std::uintptr_t address = behind_this_call();
    const std::string own = place_in(name_by_tables(address));
    const std::string told = inspect_tool::place_of_call(getpid(), address);
    std::printf("%s, by the tool %s\n", own.c_str(), told.c_str());
    return own.find('+') != own.npos && told == own ? 0 : 1;
}
