// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
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

} // namespace
} // namespace handlepool::model
