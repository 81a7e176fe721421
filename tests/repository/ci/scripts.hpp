// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <support/files/read_file.hpp>
#include <support/programs/run_program.hpp>
#include <tests/support/paths.hpp>
#include <tests/support/scratch_directory.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace handlepool::test {

using namespace support;

// The scripts of ci/ in a project of their own, with programs on PATH that only note how they were called.
struct scripts : testing::Test {
    scripts() {
        std::filesystem::create_directories(root);
        std::filesystem::copy(std::filesystem::path(paths::sources) / "ci", root / "ci",
                              std::filesystem::copy_options::recursive);
        for (const char* const name : {"apt-get", "cmake", "ctest"}) {
            make_program(tools / name, "echo \"${0##*/} $*\" >>\"$CALLS\"");
        }
        make_program(tools / "dpkg-query", "exit 1"); // nothing is installed
        make_program(tools / "id", "echo 0");         // root
        for (const char* const build : {"replay", "stress"}) {
            make_program(root / "build" / build / "stress/handlepool-stress", "pwd; printf '<%s>' \"$@\"");
        }
    }

    static void make_program(const std::filesystem::path& file, const std::string& text) {
        std::filesystem::create_directories(file.parent_path());
        std::filesystem::remove(file);
        std::ofstream(file) << "#!/bin/sh\n" << text << "\n";
        std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    }

    // Runs a script as its users may do: from another folder.
    run_result run(const std::string& script, const std::vector<std::string>& arguments = {}) const {
        std::vector<std::string> command{"sh",
                                         "-c",
                                         "cd \"$1\" && export CALLS=\"$1/calls\" PATH=\"$1/tools:$PATH\" && "
                                         "unset CXX && shift && exec \"$@\"",
                                         "sh",
                                         directory.string(),
                                         (std::filesystem::path("a path/with spaces/ci") / script).string()};
        command.insert(command.end(), arguments.begin(), arguments.end());
        return run_program(command);
    }

    // The scripts' paths in ci/; what they share can't be executed.
    std::vector<std::string> all() const {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "ci")) {
            using std::filesystem::perms;
            const bool executable = (entry.status().permissions() & perms::owner_exec) != perms::none;
            if (entry.is_regular_file() && executable) {
                names.push_back(entry.path().lexically_relative(root / "ci").string());
            }
        }
        return names;
    }

    // One line for each.
    std::string calls() const {
        std::ifstream stream(directory / "calls");
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    const scratch_directory scratch;
    const std::filesystem::path& directory = scratch.path();
    const std::filesystem::path root = directory / "a path/with spaces";
    const std::filesystem::path tools = directory / "tools";
};

} // namespace handlepool::test
