// SPDX-License-Identifier: MIT

// What the tool says of places in modules, as their process says it.

#include <handlepool/call_site.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/loaded_module.hpp>
#include <tests/support/paths.hpp>
#include <tests/support/scratch_directory.hpp>
#include <tools/inspect/process_memory.hpp>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace handlepool::inspect_tool {
namespace {

using support::loaded_module;

const std::string module_file = std::string(support::paths::named_module) + ".so";

void expect_the_same_place(const loaded_module& module) {
    const std::uintptr_t address = module.address_in("launch_rocket");
    EXPECT_EQ(name_by_tables(address), "launch_rocket (" + place_of_call(getpid(), address) + ")");
}

TEST(place_in_module, is_counted_from_where_it_begins) {
    const support::scratch_directory folder;
    expect_the_same_place(support::load_below_which_its_file_is(module_file, folder.path(), "launch_rocket"));
}

TEST(place_in_module, is_told_of_a_file_that_is_gone) {
    const support::scratch_directory folder;
    std::filesystem::copy_file(module_file, folder.path() / "gone.so");
    const loaded_module module(folder.path() / "gone.so");
    std::filesystem::remove(folder.path() / "gone.so");
    expect_the_same_place(module);
    EXPECT_THAT(place_of_call(getpid(), module.address_in("launch_rocket")),
                testing::StartsWith("gone.so+0x"));
}

} // namespace
} // namespace handlepool::inspect_tool
