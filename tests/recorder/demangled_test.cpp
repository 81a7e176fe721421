// SPDX-License-Identifier: MIT
#if !defined(_WIN32)

#include <gtest/gtest.h>
#include <src/core/posix/demangled.hpp>

namespace handlepool::test {
namespace {

TEST(demangled_names, are_those_of_functions_and_not_of_types) {
    EXPECT_EQ(detail::demangled("_ZN4game7explodeEi"), "game::explode(int)");
    EXPECT_EQ(detail::demangled("main"), "main");
    for (const char* const name : {"f", "i", "x", "Pc", "_Z", ""}) { // some of them are types
        EXPECT_EQ(detail::demangled(name), name);
    }
}

} // namespace
} // namespace handlepool::test

#endif
