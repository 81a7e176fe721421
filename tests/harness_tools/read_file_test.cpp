// SPDX-License-Identifier: MIT

// Whole files, of any size.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/files/read_file.hpp>
#include <tests/support/scratch_directory.hpp>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace handlepool::support {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(read_file, returns_all_bytes) {
    const scratch_directory scratch;
    for (const std::size_t size : {0UL, 1UL, 1UL << 16, (1UL << 16) + 1, 1'000'000UL}) {
        std::string bytes;
        for (std::size_t i = 0; i < size; ++i) {
            bytes.push_back(static_cast<char>(i % 251));
        }
        const std::filesystem::path path = scratch.path() / "file";
        std::ofstream(path, std::ios::binary) << bytes;
        EXPECT_EQ(read_file(path), bytes);
        EXPECT_TRUE(bytes.starts_with(read_file(path, size / 2)));
        EXPECT_GE(read_file(path, size / 2).size(), size / 2);
    }
}

TEST(read_file, ends_where_more_is_not_wanted) {
    EXPECT_LT(read_file("/dev/zero", 1'000'000).size(), 3'000'000U);
}

TEST(read_file, says_which_file_it_cannot_read) {
    for (const char* const path : {"/nonexistent", "/"}) {
        EXPECT_THAT([&] { read_file(path); }, ThrowsMessage<std::system_error>(HasSubstr(path)));
    }
}

} // namespace
} // namespace handlepool::support
