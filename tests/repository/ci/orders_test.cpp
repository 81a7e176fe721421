// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <support/files/read_file.hpp>
#include <tests/model/order_list.hpp>
#include <tests/support/paths.hpp>

#include <filesystem>
#include <map>
#include <string>

namespace handlepool::model {
namespace {

// The models, which take long, say whether a witness sees what it must: ci/model.sh.
TEST(orders, have_a_number_and_a_witness_each) {
    const std::filesystem::path sources = support::paths::sources;
    const std::map<std::string, std::string> witnesses =
        read_order_witnesses(sources / "tests/mutants/orders/witnesses.txt");
    EXPECT_GT(witnesses.size(), 50U);
    EXPECT_EQ(differences_from_headers(all_order_mutants(sources), witnesses), "");
    for (const auto& [name, witness] : witnesses) {
        EXPECT_NE(witness, "") << name;
    }
}

// ThreadSanitizer does not model them, and g++ refuses them where it is used.
TEST(orders, are_of_accesses_and_not_of_fences) {
    std::string with_fences;
    for (const char* folder : {"include", "src"}) {
        for (const auto& each : std::filesystem::recursive_directory_iterator(
                 support::paths::sources / std::filesystem::path(folder))) {
            if (each.is_regular_file() &&
                support::read_file(each.path().string()).find("atomic_thread_fence") != std::string::npos) {
                with_fences += each.path().string() + "\n";
            }
        }
    }
    EXPECT_EQ(with_fences, "");
}

} // namespace
} // namespace handlepool::model
