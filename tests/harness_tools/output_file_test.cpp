// SPDX-License-Identifier: MIT

// Files that are there when they are whole, and not before.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <support/files/output_file.hpp>
#include <support/files/read_file.hpp>
#include <tests/support/message_of.hpp>
#include <tests/support/scratch_directory.hpp>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace handlepool::support {
namespace {

using testing::StartsWith;

struct output_file_test : testing::Test {
    std::ptrdiff_t files() const { return std::distance(std::filesystem::directory_iterator(directory), {}); }

    const scratch_directory scratch;
    const std::filesystem::path& directory = scratch.path();
    std::filesystem::path path = directory / "result.json";
};

TEST_F(output_file_test, appears_when_it_is_whole) {
    {
        output_file file("--json", path);
        EXPECT_FALSE(std::filesystem::exists(path));
        file.write_json(nlohmann::json{{"a", 1}});
    }
    EXPECT_EQ(read_file(path), "{\n  \"a\": 1\n}\n");
    EXPECT_EQ(files(), 1);
}

TEST_F(output_file_test, leaves_nothing_behind_when_it_is_not_written) {
    {
        const output_file file("--json", path);
        EXPECT_EQ(files(), 0) << "nor when the program is interrupted";
    }
    {
        output_file file("--json", path);
        file.prepare("whole, but of no use");
    }
    EXPECT_EQ(files(), 0);
}

TEST_F(output_file_test, replaces_an_old_one_only_when_it_is_whole) {
    std::ofstream(path) << "old";
    {
        const output_file file("--json", path);
    }
    EXPECT_EQ(read_file(path), "old");
    output_file("--json", path).write_json(nlohmann::json(1));
    EXPECT_EQ(read_file(path), "1\n");
    EXPECT_EQ(files(), 1);
}

TEST_F(output_file_test, says_why_it_cannot_be_written) {
    for (const auto& [bad, why] : {std::pair{directory / "no" / "file", "No such file or directory"},
                                   std::pair{directory, "Is a directory"}}) {
        EXPECT_EQ(test::message_of<std::runtime_error>([&] { output_file("--json", bad); }),
                  "--json: " + bad.string() + " cannot be written: " + why);
    }
    EXPECT_THROW(output_file("-o", "/dev/full").write_json(nlohmann::json(1)), std::runtime_error);
}

TEST_F(output_file_test, what_is_no_regular_file_stays_what_it_is) {
    const std::filesystem::path link = directory / "null";
    std::filesystem::create_symlink("/dev/null", link);
    output_file("--json", link).write_json(nlohmann::json(1));
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_TRUE(std::filesystem::is_character_file(link));
}

TEST_F(output_file_test, goes_where_links_lead) {
    std::filesystem::create_directory(directory / "elsewhere");
    const std::filesystem::path target = directory / "elsewhere" / "result.json";
    std::filesystem::create_symlink("elsewhere/result.json", path);
    for (const char* const what : {"made", "replaced"}) {
        output_file("--json", path).write(what);
        EXPECT_TRUE(std::filesystem::is_symlink(path)) << what;
        EXPECT_EQ(read_file(target), what);
    }
    EXPECT_EQ(files(), 2);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory / "elsewhere"), {}), 1);
}

TEST_F(output_file_test, keeps_the_permissions_of_an_old_one) {
    using std::filesystem::perms;
    constexpr perms own = perms::owner_read | perms::owner_write;
    std::ofstream(path) << "old";
    std::filesystem::permissions(path, own);
    output_file("--json", path).write("new");
    EXPECT_EQ(std::filesystem::status(path).permissions(), own);
    EXPECT_EQ(read_file(path), "new");
}

TEST_F(output_file_test, may_be_a_text) {
    output_file("-o", path).write("<html>\n");
    EXPECT_EQ(read_file(path), "<html>\n");
}

TEST_F(output_file_test, names_need_not_be_utf_8) {
    output_file("--json", path).write_json(nlohmann::json{{"name", "\xff"}});
    EXPECT_THAT(read_file(path), StartsWith("{"));
    EXPECT_EQ(nlohmann::json::parse(read_file(path))["name"], "\xEF\xBF\xBD");
}

TEST_F(output_file_test, is_named_alone_when_no_option_named_it) {
    EXPECT_EQ(test::message_of<std::runtime_error>([&] { output_file("", directory); }),
              directory.string() + " cannot be written: Is a directory");
}

} // namespace
} // namespace handlepool::support
