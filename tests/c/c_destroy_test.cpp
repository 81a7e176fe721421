// SPDX-License-Identifier: MIT

// What a destroy function may end: its own pool, another one, or a service, whatever has called it. And what
// a function that is shown objects may. It works, or is refused, and all goes on.

#include <handlepool/handlepool.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

namespace handlepool::test {
namespace {

/// What a destroy function tries to end, and what became of that.
struct ending {
    handlepool_pool* pool = nullptr;
    handlepool_service* service = nullptr;
    const char* removed = nullptr; // a pool of the service
    std::vector<std::string> became{};

    std::string end() const {
        const handlepool_error error = pool != nullptr      ? handlepool_pool_destroy(pool)
                                       : removed != nullptr ? handlepool_service_remove_pool(service, removed)
                                       : service != nullptr ? handlepool_service_destroy(service)
                                                            : HANDLEPOOL_OK;
        return error == HANDLEPOOL_OK ? "done" : handlepool_last_error();
    }
};

void end_something(void*, void* user) {
    auto& one = *static_cast<ending*>(user);
    one.became.push_back(one.end());
}

using results = std::vector<std::string>;
const std::string pool_is_busy =
    "pool 'ships': it can't be destroyed while a guard is held or a compaction runs";
const std::string no_such_pool =
    "handlepool_pool_destroy: there is no such pool: it was destroyed before, or a service owns it";
const std::string service_is_busy =
    "service: it can't be destroyed while a guard is held or a compaction runs";
const std::string no_such_service =
    "handlepool_service_destroy: there is no such service: it was destroyed before";

handlepool_handle insert(handlepool_pool* pool) {
    handlepool_handle handle = HANDLEPOOL_NULL;
    EXPECT_EQ(handlepool_insert(pool, nullptr, &handle), HANDLEPOOL_OK) << handlepool_last_error();
    return handle;
}

void insert_and_erase(handlepool_pool* pool) {
    EXPECT_TRUE(handlepool_erase(pool, insert(pool)));
}

handlepool_description description_of(const char* name, ending& one) {
    handlepool_description made{};
    made.name = name;
    made.size = 8;
    made.capacity = 10;
    made.destroy = end_something;
    made.user = &one;
    return made;
}

handlepool_pool* pool_with(ending& one) {
    const handlepool_description description = description_of("ships", one);
    handlepool_pool* pool = nullptr;
    EXPECT_EQ(handlepool_pool_create(&description, &pool), HANDLEPOOL_OK) << handlepool_last_error();
    return pool;
}

handlepool_pool* add_pool(handlepool_service* service, const char* name, ending& one) {
    const handlepool_description description = description_of(name, one);
    handlepool_pool* pool = nullptr;
    EXPECT_EQ(handlepool_service_add_pool(service, &description, &pool), HANDLEPOOL_OK)
        << handlepool_last_error();
    return pool;
}

handlepool_service* make_service() {
    handlepool_service* service = nullptr;
    EXPECT_EQ(handlepool_service_create(nullptr, &service), HANDLEPOOL_OK) << handlepool_last_error();
    return service;
}

// ---- A pool

TEST(c_destroy_test, its_own_pool_stays_while_it_is_compacted_or_reset) {
    for (const auto run : {+[](handlepool_pool* pool) { return handlepool_compact(pool, nullptr); },
                           +[](handlepool_pool* pool) { return handlepool_try_compact(pool, nullptr); },
                           +[](handlepool_pool* pool) { return handlepool_reset(pool); }}) {
        ending own;
        own.pool = pool_with(own);
        insert_and_erase(own.pool);
        EXPECT_EQ(run(own.pool), HANDLEPOOL_OK);
        EXPECT_EQ(own.became, results{pool_is_busy});
        insert(own.pool);
        EXPECT_EQ(handlepool_pool_size(own.pool), 1U) << "it goes on";
        insert_and_erase(own.pool);
        // By the last compaction the erased one, and after it the living one.
        EXPECT_EQ(handlepool_pool_destroy(own.pool), HANDLEPOOL_OK);
        EXPECT_EQ(own.became, (results{pool_is_busy, pool_is_busy, no_such_pool}));
    }
}

TEST(c_destroy_test, another_pool_ends_with_its_objects) {
    ending nothing;
    ending other;
    other.pool = pool_with(nothing);
    insert(other.pool);
    handlepool_pool* const pool = pool_with(other);
    insert_and_erase(pool);
    EXPECT_EQ(handlepool_compact(pool, nullptr), HANDLEPOOL_OK);
    EXPECT_EQ(other.became, results{"done"});
    EXPECT_EQ(nothing.became, results{"done"});
    insert_and_erase(pool);
    EXPECT_EQ(handlepool_pool_destroy(pool), HANDLEPOOL_OK);
    EXPECT_EQ(other.became, (results{"done", no_such_pool}));
}

TEST(c_destroy_test, of_two_that_end_each_other_one_is_refused) {
    ending first;
    ending second;
    first.pool = pool_with(second);
    second.pool = pool_with(first);
    insert_and_erase(first.pool);
    insert_and_erase(second.pool);
    EXPECT_EQ(handlepool_pool_destroy(second.pool), HANDLEPOOL_OK);
    EXPECT_EQ(second.became, results{pool_is_busy});
    EXPECT_EQ(first.became, results{"done"});
}

// ---- A service

/// A way in which an object of the service's pool ends.
struct way {
    const char* name;
    void (*end)(handlepool_service* service, handlepool_pool* pool);
};

const way ways[] = {
    {"compacted_as_a_newborn",
     [](handlepool_service* service, handlepool_pool* pool) {
         insert_and_erase(pool);
         EXPECT_EQ(handlepool_service_compact(service, nullptr), HANDLEPOOL_OK);
     }},
    {"compacted_without_waiting",
     [](handlepool_service* service, handlepool_pool* pool) {
         insert_and_erase(pool);
         EXPECT_EQ(handlepool_service_try_compact(service, nullptr), HANDLEPOOL_OK);
     }},
    {"compacted_alone_as_a_newborn",
     [](handlepool_service*, handlepool_pool* pool) {
         insert_and_erase(pool);
         EXPECT_EQ(handlepool_compact(pool, nullptr), HANDLEPOOL_OK);
     }},
    {"compacted_alone_as_the_last_thing_to_do",
     [](handlepool_service*, handlepool_pool* pool) {
         const handlepool_handle one = insert(pool);
         EXPECT_EQ(handlepool_compact(pool, nullptr), HANDLEPOOL_OK);
         EXPECT_TRUE(handlepool_erase(pool, one));
         EXPECT_EQ(handlepool_compact(pool, nullptr), HANDLEPOOL_OK);
     }},
    {"swept_alone",
     [](handlepool_service*, handlepool_pool* pool) {
         insert(pool);
         EXPECT_EQ(handlepool_compact(pool, nullptr), HANDLEPOOL_OK);
         EXPECT_EQ(handlepool_clear(pool), HANDLEPOOL_OK);
         EXPECT_EQ(handlepool_compact(pool, nullptr), HANDLEPOOL_OK);
     }},
    {"forgotten_by_a_reset",
     [](handlepool_service*, handlepool_pool* pool) {
         insert(pool);
         EXPECT_EQ(handlepool_compact(pool, nullptr), HANDLEPOOL_OK);
         EXPECT_EQ(handlepool_reset(pool), HANDLEPOOL_OK);
     }},
};

class c_destroy_of_a_service : public testing::TestWithParam<way> {};

TEST_P(c_destroy_of_a_service, the_service_stays_while_it_or_a_pool_is_compacted) {
    ending whole;
    whole.service = make_service();
    handlepool_pool* const pool = add_pool(whole.service, "ships", whole);
    GetParam().end(whole.service, pool);
    EXPECT_EQ(whole.became, results{service_is_busy});
    EXPECT_EQ(handlepool_service_pool(whole.service, "ships"), pool);
    insert(pool);
    EXPECT_EQ(handlepool_pool_size(pool), 1U) << "it goes on";
    EXPECT_EQ(handlepool_service_destroy(whole.service), HANDLEPOOL_OK);
    EXPECT_EQ(whole.became, (results{service_is_busy, no_such_service}));
}

TEST_P(c_destroy_of_a_service, a_pool_of_it_is_removed_and_lives_until_the_next_compaction) {
    for (const char* const removed : {"ships", "boats"}) {
        ending one;
        one.service = make_service();
        one.removed = removed;
        ending nothing;
        handlepool_pool* const ships = add_pool(one.service, "ships", one);
        handlepool_pool* const boats = add_pool(one.service, "boats", nothing);
        insert(boats);
        GetParam().end(one.service, ships);
        EXPECT_EQ(one.became, results{"done"});
        EXPECT_EQ(nothing.became, results{});
        EXPECT_EQ(handlepool_service_pool(one.service, removed), nullptr);
        insert(ships);
        EXPECT_EQ(handlepool_pool_size(ships) + handlepool_pool_size(boats), 2U) << "both live";
        EXPECT_EQ(handlepool_service_compact(one.service, nullptr), HANDLEPOOL_OK);
        const std::string again = "the service has no pool '" + std::string(removed) + "'";
        EXPECT_EQ(one.became, std::string(removed) == "ships" ? (results{"done", again}) : results{"done"});
        EXPECT_EQ(nothing.became, std::string(removed) == "ships" ? results{} : results{"done"});
        EXPECT_EQ(handlepool_service_destroy(one.service), HANDLEPOOL_OK);
        EXPECT_EQ(one.became, (results{"done", again}));
        EXPECT_EQ(nothing.became, results{"done"});
    }
}

INSTANTIATE_TEST_SUITE_P(of_an_object, c_destroy_of_a_service, testing::ValuesIn(ways),
                         [](const testing::TestParamInfo<way>& tested) { return tested.param.name; });

TEST(c_destroy_test, the_service_stays_while_a_removed_pool_ends) {
    ending whole;
    whole.service = make_service();
    insert(add_pool(whole.service, "ships", whole));
    EXPECT_EQ(handlepool_service_remove_pool(whole.service, "ships"), HANDLEPOOL_OK);
    EXPECT_EQ(handlepool_service_compact(whole.service, nullptr), HANDLEPOOL_OK);
    EXPECT_EQ(whole.became, results{service_is_busy});
    EXPECT_EQ(handlepool_service_destroy(whole.service), HANDLEPOOL_OK);
}

TEST(c_destroy_test, the_service_stays_while_a_removed_pool_has_a_guard) {
    ending nothing;
    handlepool_service* const service = make_service();
    handlepool_pool* const ships = add_pool(service, "ships", nothing);
    insert(ships);
    handlepool_guard guard{};
    ASSERT_EQ(handlepool_begin_access(ships, &guard), HANDLEPOOL_OK);
    EXPECT_EQ(handlepool_service_remove_pool(service, "ships"), HANDLEPOOL_OK);
    EXPECT_EQ(handlepool_service_destroy(service), HANDLEPOOL_ERROR_CONFLICT);
    EXPECT_EQ(handlepool_last_error(), service_is_busy);
    EXPECT_EQ(nothing.became, results{}) << "its object lives";
    EXPECT_EQ(handlepool_pool_size(ships), 1U);
    handlepool_end_access(&guard);
    EXPECT_EQ(handlepool_service_destroy(service), HANDLEPOOL_OK);
    EXPECT_EQ(nothing.became, results{"done"});
}

// ---- A loop

/// What a function that is shown objects has seen, and what became of the frames that it has tried to end.
struct showing {
    handlepool_pool* pool = nullptr;
    std::size_t count = 0;
    std::vector<std::string> became{};

    void note(handlepool_error error) {
        became.push_back(error == HANDLEPOOL_OK ? "done" : handlepool_last_error());
    }
};

bool erase_and_compact(handlepool_handle handle, void* object, void* user) {
    auto& shown = *static_cast<showing*>(user);
    ++shown.count;
    EXPECT_EQ(handlepool_find(shown.pool, handle), object);
    EXPECT_TRUE(handlepool_erase(shown.pool, handle));
    if (shown.count == 1) {
        shown.note(handlepool_compact(shown.pool, nullptr));
        shown.note(handlepool_try_compact(shown.pool, nullptr));
        shown.note(handlepool_try_shrink_to_fit(shown.pool));
    }
    return true;
}

TEST(c_destroy_test, objects_stay_until_all_were_shown) {
    ending nothing;
    showing shown;
    shown.pool = pool_with(nothing);
    for (int i = 0; i != 10; ++i) {
        insert(shown.pool);
    }
    EXPECT_EQ(handlepool_compact(shown.pool, nullptr), HANDLEPOOL_OK);
    EXPECT_EQ(handlepool_for_each(shown.pool, erase_and_compact, &shown), HANDLEPOOL_OK);
    EXPECT_EQ(shown.count, 10U);
    const std::string busy = "pool 'ships': a guard is held, or a compaction runs";
    EXPECT_EQ(
        shown.became,
        (results{"handlepool: pool 'ships': compaction was asked for by a thread that has made an access "
                 "guard or spawners, which still live",
                 busy, busy}));
    EXPECT_EQ(handlepool_compact(shown.pool, nullptr), HANDLEPOOL_OK) << "nothing is held any more";
    EXPECT_EQ(handlepool_items_of(shown.pool).count, 0U);
    EXPECT_EQ(handlepool_pool_destroy(shown.pool), HANDLEPOOL_OK);
}

/// Of a pool that is being compacted.
void show_all(void*, void* user) {
    const auto count = [](handlepool_handle, void*, void* to) {
        ++static_cast<showing*>(to)->count;
        return true;
    };
    auto& shown = *static_cast<showing*>(user);
    shown.note(handlepool_for_each(shown.pool, count, &shown));
}

TEST(c_destroy_test, objects_are_shown_in_a_compaction) {
    showing shown;
    handlepool_description description{};
    description.name = "ships";
    description.size = 8;
    description.capacity = 10;
    description.destroy = show_all;
    description.user = &shown;
    EXPECT_EQ(handlepool_pool_create(&description, &shown.pool), HANDLEPOOL_OK) << handlepool_last_error();
    const handlepool_handle first = insert(shown.pool);
    insert(shown.pool);
    insert(shown.pool);
    EXPECT_EQ(handlepool_compact(shown.pool, nullptr), HANDLEPOOL_OK);
    EXPECT_TRUE(handlepool_erase(shown.pool, first));
    EXPECT_EQ(handlepool_compact(shown.pool, nullptr), HANDLEPOOL_OK);
    EXPECT_EQ(shown.became, results{"done"});
    EXPECT_EQ(shown.count, 2U);
    EXPECT_EQ(handlepool_pool_destroy(shown.pool), HANDLEPOOL_OK);
    EXPECT_EQ(shown.became, (results{"done", "done", "done"})) << "nor does the pool's end refuse it";
}

// It could not keep a compaction from ending what it is about to show.
TEST(c_destroy_test, objects_are_not_shown_to_a_thread_that_max_threads_leaves_out) {
    showing shown;
    handlepool_description description{};
    description.name = "ships";
    description.size = 8;
    description.capacity = 10;
    description.max_threads = 1;
    EXPECT_EQ(handlepool_pool_create(&description, &shown.pool), HANDLEPOOL_OK) << handlepool_last_error();
    insert(shown.pool);
    insert(shown.pool);
    EXPECT_EQ(handlepool_compact(shown.pool, nullptr), HANDLEPOOL_OK);
    std::thread([&] {
        EXPECT_EQ(handlepool_for_each(shown.pool, erase_and_compact, &shown),
                  HANDLEPOOL_ERROR_TOO_MANY_THREADS);
        EXPECT_STREQ(handlepool_last_error(),
                     "pool 'ships': more than max_threads = 1 threads of the process "
                     "use pools at the same time");
    }).join();
    EXPECT_EQ(shown.count, 0U);
    EXPECT_EQ(handlepool_for_each(shown.pool, erase_and_compact, &shown), HANDLEPOOL_OK);
    EXPECT_EQ(shown.count, 2U);
    EXPECT_EQ(handlepool_pool_destroy(shown.pool), HANDLEPOOL_OK);
}

} // namespace
} // namespace handlepool::test
