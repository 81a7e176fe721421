// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <tests/model/order_list.hpp>
#include <tests/support/paths.hpp>

#include <set>
#include <string>

namespace handlepool::model {
namespace {

// The models, which take long, say whether a witness sees what it must: ci/model.sh.
TEST(orders, have_a_number_and_a_witness_each) {
    const std::filesystem::path sources = support::paths::sources;
    std::set<std::string> accesses;
    for (const order_mutant& each : all_order_mutants(sources)) {
        accesses.insert(each.name);
    }
    std::set<std::string> witnessed;
    for (const auto& [name, witness] : read_order_witnesses(sources / "tests/mutants/orders/witnesses.txt")) {
        EXPECT_NE(witness, "") << name;
        witnessed.insert(name);
    }
    EXPECT_EQ(witnessed, accesses);
}

} // namespace
} // namespace handlepool::model
