// SPDX-License-Identifier: MIT

// Names of the places that pools were called from, by this program's debug information.

#include <handlepool/columns.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>
#include <handlepool/stable_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/fork.hpp>

#include <atomic>
#include <cstdint>
#include <iterator>
#include <source_location>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#if !defined(_WIN32)
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

using testing::MatchesRegex;
using testing::StartsWith;

// What asks for a name is no part of handlepool.
namespace game {

using ships = handlepool::pool<int>;
using ship = ships::handle_type;

std::string place(std::uint32_t line) {
    return "site_names_test.cpp:" + std::to_string(line);
}
std::uint32_t line(const std::source_location& where = std::source_location::current()) {
    return where.line();
}

/// What was made, and the line in which.
struct made_ship {
    ship handle;
    std::uint32_t line;
};

[[gnu::noinline]] made_ship spawn_wave(ships& all) {
    const ship made = all.emplace(1);
    return {made, line() - 1};
}

[[gnu::noinline]] std::uint32_t explode(ships& all, ship handle) {
    all.erase(handle);
    return line() - 1;
}

// Inlined into whoever calls it, as far as that is built so: its own name is still what is asked for.
inline std::uint32_t sink(ships& all, ship handle) {
    all.erase(handle);
    return line() - 1;
}

template <class Pool>
[[gnu::noinline]] std::uint32_t erase_from(Pool& all, typename Pool::handle_type handle, int /*depth*/) {
    all.erase(handle);
    return line() - 1;
}

[[gnu::noinline]] std::uint32_t outer(ships& all, std::vector<ship>& made) {
    made.push_back(spawn_wave(all).handle);
    return line() - 1;
}

// A type without a name that is unique: g++ gives the pool's functions none, either.
namespace {
struct hidden {
    int number;
};
} // namespace

// As a job system calls it.
template <class Work>
[[gnu::noinline]] void run_job(Work work) {
    work();
}

std::uint32_t erase_by_a_job(ships& all, ship which) {
    std::uint32_t at = 0;
    run_job([&] {
        all.erase(which);
        at = line() - 1;
    });
    return at;
}

std::uint32_t erase_by_a_thread(auto& all, auto which) {
    std::uint32_t at = 0;
    std::thread([&] {
        all.erase(which);
        at = line() - 1;
    }).join();
    return at;
}

std::uint32_t erase_by_a_local_type(ships& all, ship which) {
    struct local {
        static std::uint32_t erase(ships& from, ship one) {
            from.erase(one);
            return line() - 1;
        }
    };
    return local::erase(all, which);
}

std::string end_of(const auto& all, auto handle) {
    return all.life_of(handle).end->site.name();
}
std::string beginning_of(const auto& all, auto handle) {
    return all.life_of(handle).beginning->site.name();
}

} // namespace game

namespace handlepool::test {
namespace {

class site_names : public testing::Test {
protected:
    void SetUp() override {
#if defined(_WIN32)
        GTEST_SKIP() << "there is no libdw on Windows";
#else
        if (dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL) == nullptr) {
            GTEST_SKIP() << "libdw is not installed";
        }
#endif
    }
    ~site_names() override { name_sites_by(nullptr); }

    game::ships all{{.name = "ships", .capacity = 100, .reuse_delay = 0, .record_lives = 2}};
};

TEST_F(site_names, are_the_function_and_the_line_of_the_call) {
    const auto [handle, line] = game::spawn_wave(all);
    EXPECT_EQ(game::beginning_of(all, handle), "game::spawn_wave() at " + game::place(line));
    const std::uint32_t erased = game::explode(all, handle);
    EXPECT_EQ(game::end_of(all, handle), "game::explode() at " + game::place(erased));
    EXPECT_THAT(all.describe(handle), StartsWith("ships #0 generation 1: erased in this frame by thread "));
    EXPECT_THAT(all.describe(handle), testing::HasSubstr(" in game::explode() at " + game::place(erased) +
                                                         "; created in this frame "));
}

TEST_F(site_names, of_what_was_inlined_are_its_own) {
    const auto [handle, line] = game::spawn_wave(all);
    const std::uint32_t erased = game::sink(all, handle);
    EXPECT_EQ(game::end_of(all, handle), "game::sink() at " + game::place(erased));
}

TEST_F(site_names, of_templates_have_no_result_and_no_parameters) {
    stable_pool<int> rocks({.name = "rocks", .capacity = 100, .record_lives = 1});
    const auto rock = rocks.emplace(1);
    const std::uint32_t erased = game::erase_from(rocks, rock, 1);
    EXPECT_THAT(game::end_of(rocks, rock), StartsWith("game::erase_from<"));
    EXPECT_THAT(game::end_of(rocks, rock), testing::EndsWith(">() at " + game::place(erased)));
}

TEST_F(site_names, are_found_for_types_without_a_name_and_in_lambdas) {
    pool<game::hidden> rocks({.name = "rocks", .capacity = 100, .record_lives = 1});
    const auto rock = rocks.emplace(1);
    const std::uint32_t made_at = game::line() - 1;
    EXPECT_THAT(game::beginning_of(rocks, rock), testing::EndsWith("TestBody() at " + game::place(made_at)));
    std::uint32_t line = game::erase_by_a_thread(rocks, rock);
    EXPECT_THAT(game::end_of(rocks, rock), testing::EndsWith(" at " + game::place(line)));
    EXPECT_THAT(game::end_of(rocks, rock), testing::Not(testing::HasSubstr("from_here")));

    const auto [handle, made] = game::spawn_wave(all);
    line = game::erase_by_a_job(all, handle);
    EXPECT_THAT(game::end_of(all, handle), testing::EndsWith(" at " + game::place(line)));
    const auto [other, of_other] = game::spawn_wave(all);
    line = game::erase_by_a_local_type(all, other);
    EXPECT_THAT(game::end_of(all, other), testing::EndsWith(" at " + game::place(line)));
}

#if !defined(_WIN32)
TEST_F(site_names, can_be_asked_for_by_a_child_of_a_process_that_asks) {
    if (!children_can_allocate) {
        GTEST_SKIP() << no_allocator_in_children;
    }
    const auto [handle, line] = game::spawn_wave(all);
    std::atomic<bool> is_over{false};
    std::thread asking([&, ship = handle] {
        while (!is_over) {
            name_sites_by(nullptr);
            static_cast<void>(all.describe(ship));
        }
    });
    for (int i = 0; i != 20; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(20); // ends a child that waits for ever
            game::ships own({.name = "own", .capacity = 10, .record_lives = 1});
            const auto [mine, made] = game::spawn_wave(own);
            _exit(own.describe(mine).find("game::spawn_wave() at ") == std::string::npos ? 1 : 0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    }
    is_over = true;
    asking.join();
}
#endif

// Each from here, with nothing of the library before it.
TEST_F(site_names, are_found_for_all_functions_that_begin_and_end_lives) {
    const auto expect_here = [](const std::string& name, std::uint32_t line) {
        EXPECT_THAT(name, testing::EndsWith(" at " + game::place(line)));
        EXPECT_THAT(name, testing::Not(testing::HasSubstr("pool_base"))) << name;
    };
    std::vector<game::ship> made(1, all.emplace(1));
    std::uint32_t line = game::line() - 1;
    expect_here(game::beginning_of(all, made.back()), line);
    all.emplace_n(1, std::back_inserter(made), 1);
    expect_here(game::beginning_of(all, made.back()), game::line() - 1);
    all.emplace_n(1, std::back_inserter(made), [](std::size_t) { return 1; });
    expect_here(game::beginning_of(all, made.back()), game::line() - 1);
    all.insert_range(std::vector{1}, std::back_inserter(made));
    expect_here(game::beginning_of(all, made.back()), game::line() - 1);
    made.push_back(all.emplace_with([](auto) { return 1; }));
    expect_here(game::beginning_of(all, made.back()), game::line() - 1);
    made.push_back(all.insert(1));
    expect_here(game::beginning_of(all, made.back()), game::line() - 1);
    made.push_back(all.emplace_entry(1).handle);
    expect_here(game::beginning_of(all, made.back()), game::line() - 1);
    made.push_back(all.reserve_handle());
    all.fulfill(made.back(), 1);
    expect_here(game::beginning_of(all, made.back()), game::line() - 1);
    made.push_back(all.reserve_handle());
    all.cancel(made.back());
    expect_here(game::end_of(all, made.back()), game::line() - 1);

    all.extract(made[0], [](int) {});
    expect_here(game::end_of(all, made[0]), game::line() - 1);
    made[1] =
        std::exchange(made[2], all.revoke(made[1])); // of which the old one is lost: only its place counts
    expect_here(game::beginning_of(all, made[2]), game::line() - 1);
    all.erase(std::vector{made[3]});
    expect_here(game::end_of(all, made[3]), game::line() - 1);
    all.erase(made[4]);
    expect_here(game::end_of(all, made[4]), game::line() - 1);
    handlepool::erase_if(all, [](int) { return true; });
    expect_here(game::end_of(all, made[5]), game::line() - 1);
    const auto cleared = all.emplace(1);
    all.clear();
    expect_here(game::end_of(all, cleared), game::line() - 1);
    all.compact();
    const auto drained = all.emplace(1);
    all.drain([](auto, int) {});
    expect_here(game::end_of(all, drained), game::line() - 1);

    auto alone = all.exclusive_access();
    const auto quick = alone.emplace(1);
    expect_here(game::beginning_of(alone, quick), game::line() - 1);
    alone.erase(quick);
    expect_here(game::end_of(alone, quick), game::line() - 1);
}

TEST_F(site_names, lead_through_a_service_and_a_hierarchy) {
    service world;
    auto& rocks = world.add<pool<int>>("rocks", {.capacity = 100, .record_lives = 1});
    const auto first = rocks.emplace(1);
    world.erase(first);
    EXPECT_THAT(game::end_of(rocks, first), testing::EndsWith(game::place(game::line() - 1)));
    const auto second = rocks.emplace(1);
    auto& any = *world.route(second);
    any.erase(second);
    EXPECT_THAT(game::end_of(rocks, second), testing::EndsWith(game::place(game::line() - 1)));
    const auto third = rocks.emplace(1);
    any.clear();
    EXPECT_THAT(game::end_of(rocks, third), testing::EndsWith(game::place(game::line() - 1)));

    hierarchy<int> tree;
    const auto root = rocks.emplace(1);
    const auto child = rocks.emplace(2);
    tree.set_parent(child, root);
    tree.erase_subtree(rocks, root);
    EXPECT_THAT(game::end_of(rocks, child), testing::EndsWith(game::place(game::line() - 1)));
}

TEST_F(site_names, of_stacks_go_as_far_as_there_are_frame_pointers) {
    game::ships deep({.name = "deep", .capacity = 100, .record_lives = 1, .record_stack = 15});
    std::vector<game::ship> made;
    const std::uint32_t line = game::outer(deep, made);
    const std::string name = game::beginning_of(deep, made[0]);
    EXPECT_THAT(name, StartsWith("game::spawn_wave() at site_names_test.cpp:"));
    EXPECT_THAT(name, testing::HasSubstr(" < game::outer() at " + game::place(line) + " < "));
    const call_site site = deep.life_of(made[0]).beginning->site;
    EXPECT_GE(site.addresses().size(), 3U);
    EXPECT_LE(site.addresses().size(), 16U);
    game::outer(deep, made);
    EXPECT_NE(deep.life_of(made[1]).beginning->site, site) << "called from another line of this test";

    game::ships shallow({.name = "shallow", .capacity = 100, .record_lives = 1, .record_stack = 1});
    game::outer(shallow, made);
    EXPECT_EQ(shallow.life_of(made[2]).beginning->site.addresses().size(), 2U);
    for (int i = 0; i != 2; ++i) {
        game::outer(shallow, made);
    }
    EXPECT_EQ(shallow.life_of(made[3]).beginning->site, shallow.life_of(made[2]).beginning->site)
        << "a stack is kept once, and these are the same as far as they are recorded";
}

TEST_F(site_names, without_debug_information_say_where_in_which_file) {
    name_sites_by(name_by_tables);
    const auto [handle, line] = game::spawn_wave(all);
    EXPECT_THAT(game::beginning_of(all, handle), MatchesRegex(".*handlepool_site_names.*\\+0x[0-9a-f]+\\)?"));
}

TEST_F(site_names, are_asked_of_whom_the_program_chooses) {
    const auto mine = [](std::uintptr_t address) -> std::string { return address == 0 ? "" : "somewhere\n"; };
    EXPECT_EQ(name_sites_by(mine), nullptr);
    const auto [handle, line] = game::spawn_wave(all);
    EXPECT_EQ(game::beginning_of(all, handle), "somewhere\xEF\xBF\xBD");
    EXPECT_EQ(name_sites_by([](std::uintptr_t) { return std::string(); }), static_cast<site_namer>(mine));
    EXPECT_EQ(game::beginning_of(all, handle),
              name_by_tables(all.life_of(handle).beginning->site.addresses().front()));
}

TEST_F(site_names, that_the_program_gives_are_its_own) {
    const auto named = [&](auto&& scope) {
        static_cast<void>(scope);
        return game::beginning_of(all, all.emplace(1));
    };
    EXPECT_EQ(named(scoped_site("spawn.lua:12")), "spawn.lua:12");
    EXPECT_EQ(named(scoped_site("a\x1b[1m\xff")), "a\xEF\xBF\xBD[1m\xEF\xBF\xBD");
    EXPECT_EQ(named(scoped_site(std::string(500, 'x'))), std::string(120, 'x'));
    EXPECT_THAT(named(scoped_site("")), testing::HasSubstr(" at site_names_test.cpp:")) << "no name";
    EXPECT_THAT(named(scoped_site()), testing::EndsWith("TestBody() at " + game::place(game::line())));
    const scoped_site outer("outer");
    EXPECT_EQ(named(scoped_site("inner")), "inner");
    EXPECT_EQ(named(0), "outer");
}

} // namespace
} // namespace handlepool::test
