// SPDX-License-Identifier: MIT

// Which lines of /proc/PID/maps are one module.

#include <gtest/gtest.h>
#include <src/core/posix/mapped_modules.hpp>

#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

namespace handlepool::detail {
namespace {

struct told {
    std::string path;
    std::vector<std::uint64_t> firsts; // of its parts

    friend bool operator==(const told&, const told&) = default;
};

/// The modules of a process with these mappings, which are of pages of 4 KiB.
std::vector<told> modules_in(const std::string& maps) {
    std::istringstream lines(maps);
    std::vector<told> found;
    for (const mapped_module& each : mapped_modules(lines)) {
        told& module = found.emplace_back(told{each.path, {}});
        for (const mapping& part : each.parts) {
            module.firsts.push_back(part.first);
        }
    }
    return found;
}

class mapped_modules_of : public testing::Test {
protected:
    void SetUp() override {
        if (sysconf(_SC_PAGESIZE) != 4096) {
            GTEST_SKIP() << "these pages have 4 KiB";
        }
    }
};

TEST_F(mapped_modules_of, a_process_have_their_parts) {
    EXPECT_EQ(modules_in("10000-11000 r--p 00000000 fe:00 7    /usr/bin/a game (old)\n"
                         "11000-13000 r-xp 00001000 fe:00 7    /usr/bin/a game (old)\n"
                         "13000-14000 rw-p 00002000 fe:00 7    /usr/bin/a game (old)\n"
                         "14000-20000 rw-p 00000000 00:00 0 \n"
                         "20000-30000 rw-p 00000000 00:00 0    [heap]\n"
                         "30000-31000 r--p 00000000 fe:00 8    /lib/engine.so\n"
                         "31000-32000 r-xp 00001000 fe:00 8    /lib/engine.so\n"
                         "no mapping\n"),
              (std::vector<told>{{"/usr/bin/a game (old)", {0x10000, 0x11000, 0x13000}},
                                 {"/lib/engine.so", {0x30000, 0x31000}}}));
}

TEST_F(mapped_modules_of, a_file_that_is_also_mapped_beside_them_are_several) {
    EXPECT_EQ(modules_in("10000-14000 rw-p 00000000 fe:00 8    /lib/engine.so\n"
                         "14000-15000 r--p 00000000 fe:00 8    /lib/engine.so\n"
                         "15000-16000 r-xp 00001000 fe:00 8    /lib/engine.so\n"
                         "16000-17000 rw-p 00002000 fe:00 8    /lib/engine.so\n"
                         "17000-1b000 r--p 00000000 fe:00 8    /lib/engine.so\n"),
              (std::vector<told>{{"/lib/engine.so", {0x10000}},
                                 {"/lib/engine.so", {0x14000, 0x15000, 0x16000}},
                                 {"/lib/engine.so", {0x17000}}}));
}

TEST_F(mapped_modules_of, files_of_one_name_are_several) {
    EXPECT_EQ(modules_in("10000-11000 r-xp 00000000 fe:00 8    /lib/engine.so (deleted)\n"
                         "11000-12000 r-xp 00001000 fe:00 9    /lib/engine.so (deleted)\n")
                  .size(),
              2U);
}

// Some linkers put all of a small library's parts into the first page of its file.
TEST_F(mapped_modules_of, a_small_library_are_one) {
    EXPECT_EQ(modules_in("10000-11000 r--p 00000000 fe:00 8    /lib/small.so\n"
                         "11000-12000 r-xp 00000000 fe:00 8    /lib/small.so\n"
                         "12000-13000 rw-p 00000000 fe:00 8    /lib/small.so\n"),
              (std::vector<told>{{"/lib/small.so", {0x10000, 0x11000, 0x12000}}}));
    EXPECT_EQ(modules_in("10000-11000 r-xp 00000000 fe:00 8    /lib/small.so\n"
                         "11000-210000 ---p 00001000 fe:00 8    /lib/small.so\n"
                         "210000-211000 rw-p 00000000 fe:00 8    /lib/small.so\n"),
              (std::vector<told>{{"/lib/small.so", {0x10000, 0x11000, 0x210000}}}))
        << "with a gap";
}

} // namespace
} // namespace handlepool::detail
