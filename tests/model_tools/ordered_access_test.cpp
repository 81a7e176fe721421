// SPDX-License-Identifier: MIT

// How the model checker's program finds the accesses whose orders it makes weaker: in the text of the
// headers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <model/ordered_access.hpp>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using handlepool::model::find_ordered_accesses;
using handlepool::model::ordered_access;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

/// A folder with one header, whose lines are those of a class.
class ordered_access_test : public testing::Test {
protected:
    ordered_access_test() { fs::create_directories(folder_); }
    ~ordered_access_test() override { fs::remove_all(folder_); }

    std::vector<ordered_access> find_in(const std::string& body) const {
        write("word.hpp", body);
        return find_ordered_accesses(folder_);
    }
    void write(const fs::path& file, const std::string& body) const {
        fs::create_directories((folder_ / file).parent_path());
        std::ofstream(folder_ / file) << "class word {\n" << body << "};\n";
    }

    fs::path folder_ =
        fs::path(testing::TempDir()) /
        (std::string("handlepool_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(ordered_access_test, are_told_with_their_number_their_function_and_their_place) {
    const auto found = find_in("    int look() {\n"
                               "        // (7) acquire: pairs with (6)\n"
                               "        return value_.load(std::memory_order::acquire);\n"
                               "    }\n");
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].number, "7");
    EXPECT_EQ(found[0].file, "word.hpp");
    EXPECT_EQ(found[0].function, "look");
    EXPECT_EQ(found[0].access, "value_.load");
    EXPECT_EQ(found[0].order, std::memory_order::acquire);
    EXPECT_FALSE(found[0].of_failure);
    EXPECT_EQ(found[0].place.first_line, 4U);
    EXPECT_EQ(found[0].place.last_line, 4U);
}

TEST_F(ordered_access_test, may_take_several_lines) {
    const auto found = find_in("    void put(int next) {\n"
                               "        // (1) release\n"
                               "        values_[index(next)].store(make(next,\n"
                               "                                        std::memory_order::relaxed),\n"
                               "                                   std::memory_order::release);\n"
                               "    }\n");
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].access, "values_.store");
    EXPECT_EQ(found[0].order, std::memory_order::release) << "the other belongs to another call";
    EXPECT_EQ(found[0].place.first_line, 4U);
    EXPECT_EQ(found[0].place.last_line, 6U);
}

TEST_F(ordered_access_test, of_an_exchange_are_two) {
    const auto found =
        find_in("    bool swap(int& old, int next) {\n"
                "        // (3) acq_rel, and acquire when it fails\n"
                "        return value_.compare_exchange_strong(old, next, std::memory_order::acq_rel,\n"
                "                                              std::memory_order::acquire);\n"
                "    }\n");
    ASSERT_THAT(found, SizeIs(2));
    EXPECT_EQ(found[0].access, "value_.compare_exchange_strong");
    EXPECT_FALSE(found[0].of_failure);
    EXPECT_THAT(found[0].weaker(), ElementsAre(std::memory_order::acquire, std::memory_order::release));
    EXPECT_EQ(found[1].access, "value_.compare_exchange_strong that fails");
    EXPECT_TRUE(found[1].of_failure);
    EXPECT_THAT(found[1].weaker(), ElementsAre(std::memory_order::relaxed));
}

TEST_F(ordered_access_test, that_are_sequentially_consistent_lose_that_alone) {
    const auto found = find_in("    void all(int next) {\n"
                               "        // (4) seq_cst\n"
                               "        value_.store(next, std::memory_order::seq_cst);\n"
                               "        // (5) seq_cst\n"
                               "        value_.load(std::memory_order::seq_cst);\n"
                               "        // (6) seq_cst\n"
                               "        value_.exchange(next, std::memory_order::seq_cst);\n"
                               "    }\n");
    ASSERT_THAT(found, SizeIs(3));
    EXPECT_THAT(found[0].weaker(), ElementsAre(std::memory_order::release));
    EXPECT_THAT(found[1].weaker(), ElementsAre(std::memory_order::acquire));
    EXPECT_THAT(found[2].weaker(), ElementsAre(std::memory_order::acq_rel));
}

TEST_F(ordered_access_test, that_are_relaxed_are_left_out) {
    const auto found = find_in("    void count() {\n"
                               "        value_.fetch_add(1, std::memory_order::relaxed);\n"
                               "        // (2) release\n"
                               "        value_.fetch_add(1, std::memory_order::release);\n"
                               "    }\n");
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].number, "2");
}

TEST_F(ordered_access_test, without_a_number_are_refused) {
    EXPECT_THAT([&] { find_in("    int look() { return value_.load(std::memory_order::acquire); }\n"); },
                ThrowsMessage<std::runtime_error>(HasSubstr("word.hpp:2: value_.load is acquire")));
}

TEST_F(ordered_access_test, have_no_number_from_the_access_before) {
    EXPECT_THAT(
        [&] {
            find_in("    void two() {\n"
                    "        // (1) acquire\n"
                    "        value_.load(std::memory_order::acquire);\n"
                    "        value_.load(std::memory_order::acquire);\n"
                    "    }\n");
        },
        ThrowsMessage<std::runtime_error>(HasSubstr("word.hpp:5: ")));
}

TEST_F(ordered_access_test, in_a_form_that_is_not_understood_are_refused) {
    for (const std::string order : {"std::memory_order::release", "std::memory_order_release"}) {
        EXPECT_THAT(
            [&] {
                find_in("    // (1) release\n"
                        "    void set() { flag_.test_and_set(" +
                        order + "); }\n");
            },
            ThrowsMessage<std::runtime_error>(HasSubstr("word.hpp:3: " + order)));
    }
    EXPECT_THAT(
        [&] {
            find_in("    // (1) acquire\n"
                    "    int look() { return value_.load(std::memory_order_acquire); }\n");
        },
        ThrowsMessage<std::runtime_error>(HasSubstr("word.hpp:3: std::memory_order_acquire")));
}

// A header of the public face and one of the inside may have the same name.
TEST_F(ordered_access_test, in_files_of_one_name_are_told_apart_by_their_folders) {
    const std::string body = "    // (1) acquire\n"
                             "    int look() { return value_.load(std::memory_order::acquire); }\n";
    write("detail/word.hpp", body);
    write("word.hpp", body);
    const auto found = find_ordered_accesses(folder_);
    ASSERT_THAT(found, SizeIs(2));
    EXPECT_EQ(found[0].file, found[1].file);
    EXPECT_TRUE((folder_ / "detail/word.hpp").string().ends_with(found[0].place.file));
    EXPECT_FALSE((folder_ / "word.hpp").string().ends_with(found[0].place.file));
    EXPECT_TRUE((folder_ / "word.hpp").string().ends_with(found[1].place.file));
    EXPECT_FALSE((folder_ / "detail/word.hpp").string().ends_with(found[1].place.file));
}

TEST_F(ordered_access_test, must_be_there) {
    EXPECT_THAT([&] { find_in(""); }, ThrowsMessage<std::runtime_error>(HasSubstr("no header there")));
}

} // namespace
