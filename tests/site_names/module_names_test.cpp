// SPDX-License-Identifier: MIT

// Names of places in modules, whose debug information may be in files of their own.

#include <handlepool/call_site.hpp>
#include <handlepool/detail/recorder/caller.hpp>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <tests/support/loaded_module.hpp>
#include <tests/support/paths.hpp>
#include <tests/support/scratch_directory.hpp>

#include <filesystem>
#include <fstream>
#include <string>

namespace handlepool::test {
namespace {

namespace fs = std::filesystem;
using support::loaded_module;
using testing::StartsWith;

fs::path module_file(const std::string& end) {
    return support::paths::named_module + end;
}

std::string name_in(const loaded_module& module) {
    return call_site(detail::native_code::site_of(module.address_in("launch_rocket"))).name();
}

const auto is_named = [] { return StartsWith("launch_rocket() at named_module.cpp:"); };
const auto is_of_tables = [] { return StartsWith("launch_rocket (rocket.so+0x"); };

class module_names : public testing::Test {
protected:
    void SetUp() override {
        if (dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL) == nullptr) {
            GTEST_SKIP() << "libdw is not installed";
        }
    }
    void TearDown() override {
        // It is loaded to ask servers: while others load modules, that may wait for them, and they for us.
        EXPECT_EQ(dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_NOLOAD), nullptr);
    }

    fs::path file(const std::string& name) const { return folder.path() / name; }
    std::string name_in_copy_of(const fs::path& module) const {
        fs::copy_file(module, file("rocket.so"));
        return name_in(loaded_module(file("rocket.so")));
    }

    support::scratch_directory folder;
};

TEST_F(module_names, come_from_a_file_beside_the_module) {
    fs::copy_file(module_file(".debug"), file("named_module.debug"));
    EXPECT_THAT(name_in_copy_of(module_file("_linked.so")), is_named());
}

TEST_F(module_names, come_from_a_file_to_which_nothing_leads) {
    fs::copy_file(module_file(".debug"), file("rocket.so.debug"));
    EXPECT_THAT(name_in_copy_of(module_file("_stripped.so")), is_named());
}

TEST_F(module_names, come_from_no_file_of_another_build) {
    fs::copy_file(std::string(support::paths::named_module_without_id) + ".debug",
                  file("named_module.debug"));
    EXPECT_THAT(name_in_copy_of(module_file("_linked.so")), is_of_tables());
}

TEST_F(module_names, come_from_no_empty_file) {
    std::ofstream(file("named_module.debug")).flush();
    EXPECT_THAT(name_in_copy_of(module_file("_linked.so")), is_of_tables());
}

TEST_F(module_names, come_from_no_folder) {
    fs::create_directory(file("named_module.debug"));
    EXPECT_THAT(name_in_copy_of(module_file("_linked.so")), is_of_tables());
}

TEST_F(module_names, come_from_no_pipe) {
    ASSERT_EQ(mkfifo(file("named_module.debug").c_str(), 0600), 0);
    EXPECT_THAT(name_in_copy_of(module_file("_linked.so")), is_of_tables());
}

TEST_F(module_names, stay_when_modules_are_loaded) {
    const loaded_module first =
        support::load_below_which_its_file_is(module_file(".so"), folder.path(), "launch_rocket");
    EXPECT_THAT(name_in(first), is_named());
    fs::copy_file(module_file(".so"), file("another.so"));
    const loaded_module another(file("another.so"));
    EXPECT_THAT(name_in(first), is_named());
    EXPECT_THAT(name_in(another), is_named());
}

} // namespace
} // namespace handlepool::test
