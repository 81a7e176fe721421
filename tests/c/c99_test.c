// SPDX-License-Identifier: MIT
/* Each function and each error of the C interface, from C99. */
#define _POSIX_C_SOURCE 200809L

#include <handlepool/handlepool.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void expect(bool holds, const char* what, int line) {
    if (!holds) {
        fprintf(stderr, "line %d: does not hold: %s; the last error: %s\n", line, what,
                handlepool_last_error());
        ++failures;
    }
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)

/* The call fails so, and says this. */
static void expect_failure(handlepool_error expected, handlepool_error error, const char* message, int line) {
    if (error != expected || strstr(handlepool_last_error(), message) == NULL) {
        fprintf(stderr, "line %d: %s: %s\n  instead of %s: ...%s...\n", line, handlepool_error_name(error),
                handlepool_last_error(), handlepool_error_name(expected), message);
        ++failures;
    }
}
#define EXPECT_FAILURE(error, call, message) expect_failure((error), (call), (message), __LINE__)

/* The function answers nothing, and says this. */
#define EXPECT_NOTHING(call, message)                                                                        \
    do {                                                                                                     \
        forget_error();                                                                                      \
        EXPECT(!(call));                                                                                     \
        EXPECT(strstr(handlepool_last_error(), (message)) != NULL);                                          \
    } while (0)

static void forget_error(void) {
    handlepool_publish(NULL, NULL); /* any other failure */
}

static void expect_text(char* text, const char* part, int line) {
    if (text == NULL || strstr(text, part) == NULL) {
        fprintf(stderr, "line %d: \"%s\" has no \"%s\"\n", line, text == NULL ? "NULL" : text, part);
        ++failures;
    }
    handlepool_free_text(text);
}
#define EXPECT_TEXT(text, part) expect_text((text), (part), __LINE__)

/* A number of the statistics: the first member of this name. */
static unsigned long long number_in(char* stats, const char* member) {
    unsigned long long number = 0;
    char start[64];
    snprintf(start, sizeof(start), "\"%s\": ", member);
    const char* const found = stats == NULL ? NULL : strstr(stats, start);
    EXPECT(found != NULL && sscanf(found + strlen(start), "%llu", &number) == 1);
    handlepool_free_text(stats);
    return number;
}

struct ship {
    int hull;
    double position;
};

struct calls {
    int destroyed;
    int relocated;
    handlepool_pool* pool; /* what a destroy function tries to use */
    handlepool_error compact;
    handlepool_error access;
    handlepool_error destroy;
};

static void count_destroyed(void* object, void* user) {
    struct calls* const calls = user;
    (void)object;
    ++calls->destroyed;
    if (calls->pool != NULL) {
        handlepool_guard guard;
        calls->compact = handlepool_compact(calls->pool, NULL);
        calls->access = handlepool_begin_access(calls->pool, &guard);
        calls->destroy = handlepool_pool_destroy(calls->pool);
    }
}

static void count_relocated(void* to, void* from, void* user) {
    struct calls* const calls = user;
    ++calls->relocated;
    memcpy(to, from, sizeof(struct ship));
}

static handlepool_pool* pool_of(const char* name, size_t capacity) {
    handlepool_pool* pool = NULL;
    const handlepool_description description = {
        .name = name, .size = sizeof(struct ship), .capacity = capacity};
    EXPECT(handlepool_pool_create(&description, &pool) == HANDLEPOOL_OK);
    return pool;
}

static void library(void) {
    EXPECT(handlepool_version() == HANDLEPOOL_VERSION);
    EXPECT(HANDLEPOOL_VERSION_MAJOR * 1000000 + HANDLEPOOL_VERSION_MINOR * 1000 + HANDLEPOOL_VERSION_PATCH ==
           HANDLEPOOL_VERSION);
    EXPECT(handlepool_version_text()[0] == '0' + HANDLEPOOL_VERSION_MAJOR);
    EXPECT(strcmp(handlepool_last_error(), "") == 0); /* the first test of its thread */
    int named = 0;
    while (handlepool_error_name((handlepool_error)named) != NULL) {
        ++named;
    }
    EXPECT(named == HANDLEPOOL_ERROR_OTHER + 1);
#define EXPECT_NAME(error) EXPECT(strcmp(handlepool_error_name(error), #error) == 0)
    EXPECT_NAME(HANDLEPOOL_OK);
    EXPECT_NAME(HANDLEPOOL_ERROR_INVALID_ARGUMENT);
    EXPECT_NAME(HANDLEPOOL_ERROR_STALE);
    EXPECT_NAME(HANDLEPOOL_ERROR_NOT_RESERVED);
    EXPECT_NAME(HANDLEPOOL_ERROR_EXHAUSTED);
    EXPECT_NAME(HANDLEPOOL_ERROR_USED_UP);
    EXPECT_NAME(HANDLEPOOL_ERROR_OUT_OF_MEMORY);
    EXPECT_NAME(HANDLEPOOL_ERROR_TOO_MANY_THREADS);
    EXPECT_NAME(HANDLEPOOL_ERROR_CONFLICT);
    EXPECT_NAME(HANDLEPOOL_ERROR_OUT_OF_RANGE);
    EXPECT_NAME(HANDLEPOOL_ERROR_ABANDONED);
    EXPECT_NAME(HANDLEPOOL_ERROR_OTHER);
    handlepool_free_text(NULL);
}

static void descriptions(void) {
    struct calls calls = {0};
    const handlepool_description good = {.name = "ships",
                                         .size = sizeof(struct ship),
                                         .alignment = 64,
                                         .capacity = 10,
                                         .user = &calls,
                                         .reuse_delay = HANDLEPOOL_NO_DELAY,
                                         .remember_frames = true,
                                         .keep_order = true};
    handlepool_pool* pool = NULL;
    EXPECT(handlepool_pool_create(&good, &pool) == HANDLEPOOL_OK);
    EXPECT(strcmp(handlepool_pool_name(pool), "ships") == 0);
    EXPECT(handlepool_pool_capacity(pool) == 10);
    EXPECT(handlepool_pool_user(pool) == &calls);
    EXPECT(handlepool_pool_size(pool) == 0);
    EXPECT(handlepool_items_of(pool).stride == 64);
    EXPECT_TEXT(handlepool_pool_stats(pool), "\"reuse_delay\": 0");
    EXPECT(handlepool_pool_destroy(pool) == HANDLEPOOL_OK);
    EXPECT_FAILURE(HANDLEPOOL_ERROR_INVALID_ARGUMENT, handlepool_pool_destroy(pool), "destroyed before");
    EXPECT(handlepool_pool_destroy(NULL) == HANDLEPOOL_OK);

    handlepool_pool* const untouched = pool;
    handlepool_description bad = good;
    bad.size = 0;
    EXPECT_FAILURE(HANDLEPOOL_ERROR_INVALID_ARGUMENT, handlepool_pool_create(&bad, &pool),
                   "pool 'ships': size of the type is 0, and must be from 1");
    bad = good;
    bad.alignment = 3;
    EXPECT_FAILURE(HANDLEPOOL_ERROR_INVALID_ARGUMENT, handlepool_pool_create(&bad, &pool),
                   "pool 'ships': alignment of the type is 3, and must be a power of two up to 1048576");
    bad.alignment = (size_t)1 << 21;
    EXPECT_FAILURE(
        HANDLEPOOL_ERROR_INVALID_ARGUMENT, handlepool_pool_create(&bad, &pool),
        "pool 'ships': alignment of the type is 2097152, and must be a power of two up to 1048576");
    bad.alignment = (size_t)1 << 20; /* the largest */
    EXPECT(handlepool_pool_create(&bad, &pool) == HANDLEPOOL_OK);
    EXPECT(handlepool_items_of(pool).stride == (size_t)1 << 20);
    EXPECT(handlepool_pool_destroy(pool) == HANDLEPOOL_OK);
    pool = untouched;
    bad = good;
    bad.capacity = 0;
    EXPECT_FAILURE(HANDLEPOOL_ERROR_INVALID_ARGUMENT, handlepool_pool_create(&bad, &pool), "capacity");
    bad = good;
    bad.name = NULL;
    EXPECT_FAILURE(HANDLEPOOL_ERROR_INVALID_ARGUMENT, handlepool_pool_create(&bad, &pool),
                   "handlepool_pool_create: description->name is NULL");
    EXPECT_FAILURE(HANDLEPOOL_ERROR_INVALID_ARGUMENT, handlepool_pool_create(NULL, &pool),
                   "description is NULL");
    EXPECT_FAILURE(HANDLEPOOL_ERROR_INVALID_ARGUMENT, handlepool_pool_create(&good, NULL), "pool is NULL");
    bad = good;
    bad.size = (size_t)1 << 40;
    bad.capacity = (size_t)1 << 20;
    EXPECT_FAILURE(HANDLEPOOL_ERROR_OUT_OF_MEMORY, handlepool_pool_create(&bad, &pool), "cannot reserve");
    EXPECT(pool == untouched);
}

/* What others can show: no control characters, and UTF-8. */
static void places_of_scripts_are_told(void) {
    handlepool_pool* pool = NULL;
    const handlepool_description ships = {
        .name = "ships", .size = sizeof(struct ship), .capacity = 10, .record_lives = 1};
    EXPECT(handlepool_pool_create(&ships, &pool) == HANDLEPOOL_OK);
    EXPECT(handlepool_place_named(NULL) == HANDLEPOOL_NO_PLACE);
    EXPECT(handlepool_place_named("") == HANDLEPOOL_NO_PLACE);
    const handlepool_place spawn = handlepool_place_named("spawn.lua:12");
    const handlepool_place explode = handlepool_place_named("ships.lua:99");
    EXPECT(spawn != HANDLEPOOL_NO_PLACE && spawn != explode);
    EXPECT(handlepool_place_named("spawn.lua:12") == spawn);

    handlepool_handle handle = HANDLEPOOL_NULL;
    EXPECT(handlepool_set_place(spawn) == HANDLEPOOL_NO_PLACE);
    EXPECT(handlepool_insert(pool, NULL, &handle) == HANDLEPOOL_OK);
    const handlepool_place before = handlepool_set_place(explode); /* which the first script calls */
    EXPECT(handlepool_erase(pool, handle));
    EXPECT(handlepool_set_place(before) == explode);
    EXPECT_TEXT(handlepool_describe(pool, handle), " in spawn.lua:12");
    EXPECT_TEXT(handlepool_describe(pool, handle), " in ships.lua:99; created in this frame");
    EXPECT(handlepool_insert(pool, NULL, &handle) == HANDLEPOOL_OK);
    EXPECT_TEXT(handlepool_describe(pool, handle), " in spawn.lua:12");
    EXPECT(handlepool_set_place(HANDLEPOOL_NO_PLACE) == spawn);
    EXPECT(handlepool_erase(pool, handle));
    EXPECT(handlepool_set_place(HANDLEPOOL_NO_PLACE) == HANDLEPOOL_NO_PLACE);
    char* const text = handlepool_describe(pool, handle);
    EXPECT(text != NULL && strstr(text, "erased in this frame") != NULL);
    EXPECT(text != NULL && strstr(strstr(text, "erased"), "lua") > strstr(text, "created"));
    handlepool_free_text(text);
    EXPECT(handlepool_pool_destroy(pool) == HANDLEPOOL_OK);
}

static void texts_can_be_read_whatever_the_name(void) {
    handlepool_pool* pool = NULL;
    void* object = NULL;
    const handlepool_description strange = {.name = "a\nb\x1b[2J\xff", .size = 1, .capacity = 1};
    EXPECT(handlepool_pool_create(&strange, &pool) == HANDLEPOOL_OK);
    EXPECT(strcmp(handlepool_pool_name(pool), strange.name) == 0); /* as it was given */
    EXPECT(handlepool_at(pool, HANDLEPOOL_NULL, &object) == HANDLEPOOL_ERROR_STALE);
    EXPECT(strcmp(handlepool_last_error(),
                  "pool 'a\xef\xbf\xbd"
                  "b\xef\xbf\xbd[2J\xef\xbf\xbd': the null handle names no object") == 0);
    EXPECT_TEXT(handlepool_describe(pool, HANDLEPOOL_NULL), "a\xef\xbf\xbd"
                                                            "b\xef\xbf\xbd[2J\xef\xbf\xbd null");
    EXPECT_TEXT(handlepool_pool_stats(pool), "\"name\": \"a\\nb\\u001b[2J\xef\xbf\xbd\"");
    EXPECT(handlepool_pool_destroy(pool) == HANDLEPOOL_OK);

    /* A long message ends with a whole character. */
    char name[600] = "xy";
    for (size_t i = 2; i + 2 < sizeof(name); i += 2) {
        memcpy(name + i, "\xc3\xa9", 3);
    }
    handlepool_description wide = strange;
    wide.name = name;
    wide.capacity = 0;
    EXPECT(handlepool_pool_create(&wide, &pool) == HANDLEPOOL_ERROR_INVALID_ARGUMENT);
    EXPECT(strlen(handlepool_last_error()) == 510);
    EXPECT(strncmp(handlepool_last_error(), "pool 'xy\xc3\xa9", 10) == 0);
    EXPECT((unsigned char)handlepool_last_error()[strlen(handlepool_last_error()) - 1] == 0xa9);
}

static void objects_live_under_their_handles(void) {
    handlepool_pool* const pool = pool_of("ships", 100);
    const struct ship argo = {7, 1.5};
    handlepool_handle handle = HANDLEPOOL_NULL;
    handlepool_handle zeros = HANDLEPOOL_NULL;
    EXPECT(handlepool_insert(pool, &argo, &handle) == HANDLEPOOL_OK);
    EXPECT(handlepool_insert(pool, NULL, &zeros) == HANDLEPOOL_OK);
    EXPECT(handle != HANDLEPOOL_NULL && handle != zeros && handle < (handlepool_handle)1 << 53);
    EXPECT((handlepool_handle)(double)handle == handle);
    EXPECT(handlepool_contains(pool, handle));
    EXPECT(handlepool_state_of(pool, handle) == HANDLEPOOL_STATE_ALIVE);
    EXPECT(handlepool_pool_size(pool) == 2);
    EXPECT(handlepool_items_of(pool).count == 0); /* before the first compaction */

    handlepool_compaction done = {0};
    EXPECT(handlepool_compact(pool, &done) == HANDLEPOOL_OK);
    EXPECT(done.pools == 1 && done.born == 2 && done.removed == 0 && done.waiting_newborns == 0);
    const struct ship* const found = handlepool_find(pool, handle);
    EXPECT(found != NULL && found->hull == 7 && found->position == 1.5);
    void* same = NULL;
    EXPECT(handlepool_at(pool, handle, &same) == HANDLEPOOL_OK && same == found);
    EXPECT(handlepool_handle_of(pool, found) == handle);
    EXPECT(handlepool_handle_of(pool, &argo) == HANDLEPOOL_NULL);
    EXPECT(((struct ship*)handlepool_find(pool, zeros))->hull == 0);

    EXPECT(handlepool_erase(pool, handle));
    EXPECT(!handlepool_erase(pool, handle));
    EXPECT(!handlepool_contains(pool, handle));
    EXPECT(handlepool_find(pool, handle) == NULL);
    EXPECT_FAILURE(HANDLEPOOL_ERROR_STALE, handlepool_at(pool, handle, &same), "pool 'ships': handle #0");
    EXPECT(same == found);
    EXPECT_TEXT(handlepool_describe(pool, handle), "ships #0 generation 1");
    EXPECT_TEXT(handlepool_describe(pool, zeros), "alive");

    handlepool_handle renewed = HANDLEPOOL_NULL;
    EXPECT(handlepool_revoke(pool, zeros, &renewed) == HANDLEPOOL_OK);
    EXPECT(!handlepool_contains(pool, zeros) && handlepool_contains(pool, renewed));
    EXPECT_FAILURE(HANDLEPOOL_ERROR_STALE, handlepool_revoke(pool, zeros, &renewed), "pool 'ships'");

    /* Of another pool, and of none. */
    handlepool_pool* const rockets = pool_of("rockets", 100);
    EXPECT(!handlepool_contains(rockets, renewed) && !handlepool_erase(rockets, renewed));
    EXPECT(handlepool_find(rockets, renewed) == NULL);
    EXPECT_FAILURE(HANDLEPOOL_ERROR_STALE, handlepool_at(rockets, renewed, &same), "pool 'rockets'");
    EXPECT(!handlepool_contains(pool, UINT64_MAX) && !handlepool_contains(pool, HANDLEPOOL_NULL));

    EXPECT(handlepool_clear(pool) == HANDLEPOOL_OK);
    EXPECT(handlepool_pool_size(pool) == 0);
    EXPECT(handlepool_insert(pool, NULL, &handle) == HANDLEPOOL_OK);
    EXPECT(handlepool_reset(pool) == HANDLEPOOL_OK);
    EXPECT(!handlepool_contains(pool, handle));
    EXPECT(handlepool_shrink_to_fit(pool) == HANDLEPOOL_OK);
    EXPECT(handlepool_insert(rockets, NULL, &handle) == HANDLEPOOL_OK);
    EXPECT(handlepool_pool_destroy(rockets) == HANDLEPOOL_OK);
    EXPECT(!handlepool_contains(pool, handle)); /* of a destroyed pool */
    EXPECT(handlepool_pool_destroy(pool) == HANDLEPOOL_OK);
}

struct made {
    handlepool_pool* pool;
    handlepool_handle handle;
    bool succeed;
};

static bool construct(void* memory, handlepool_handle handle, void* user) {
    struct made* const made = user;
    const struct ship ship = {3, 0};
    EXPECT(!handlepool_contains(made->pool, handle)); /* nobody finds it yet */
    EXPECT(handlepool_state_of(made->pool, handle) == HANDLEPOOL_STATE_RESERVED);
    memcpy(memory, &ship, sizeof(ship));
    made->handle = handle;
    return made->succeed;
}

static void newborns_are_seen_when_they_are_published(void) {
    struct calls calls = {0};
    const handlepool_description description = {.name = "ships",
                                                .size = sizeof(struct ship),
                                                .alignment = 256,
                                                .capacity = 10,
                                                .destroy = count_destroyed,
                                                .relocate = count_relocated,
                                                .user = &calls};
    handlepool_pool* pool = NULL;
    EXPECT(handlepool_pool_create(&description, &pool) == HANDLEPOOL_OK);
    handlepool_pool* const other = pool_of("rockets", 10);

    handlepool_newborn newborn = {0, NULL};
    EXPECT(handlepool_emplace(pool, &newborn) == HANDLEPOOL_OK);
    EXPECT(newborn.memory != NULL && (uintptr_t)newborn.memory % 256 == 0);
    struct ship* const ship = newborn.memory;
    EXPECT(ship->hull == 0 && ship->position == 0);
    ship->hull = 5;
    EXPECT(!handlepool_contains(pool, newborn.handle));
    EXPECT(handlepool_state_of(pool, newborn.handle) == HANDLEPOOL_STATE_RESERVED);
    EXPECT(!handlepool_erase(pool, newborn.handle));
    EXPECT(handlepool_compact(pool, NULL) == HANDLEPOOL_OK); /* which it outlives */
    EXPECT_FAILURE(HANDLEPOOL_ERROR_NOT_RESERVED, handlepool_publish(other, &newborn), "pool 'rockets'");
    EXPECT_FAILURE(HANDLEPOOL_ERROR_NOT_RESERVED, handlepool_cancel(other, &newborn), "pool 'rockets'");
    EXPECT(newborn.memory == ship && ship->hull == 5);
    EXPECT(handlepool_publish(pool, &newborn) == HANDLEPOOL_OK);
    EXPECT(newborn.memory == NULL && calls.relocated == 1);
    EXPECT(((struct ship*)handlepool_find(pool, newborn.handle))->hull == 5);
    EXPECT_FAILURE(HANDLEPOOL_ERROR_NOT_RESERVED, handlepool_publish(pool, &newborn),
                   "published or cancelled");
    EXPECT_FAILURE(HANDLEPOOL_ERROR_NOT_RESERVED, handlepool_cancel(pool, &newborn),
                   "published or cancelled");

    handlepool_newborn given_up;
    EXPECT(handlepool_emplace(pool, &given_up) == HANDLEPOOL_OK);
    EXPECT(handlepool_cancel(pool, &given_up) == HANDLEPOOL_OK);
    EXPECT(given_up.memory == NULL);
    EXPECT(handlepool_state_of(pool, given_up.handle) == HANDLEPOOL_STATE_STALE);
    EXPECT(calls.destroyed == 0);

    struct made made = {pool, HANDLEPOOL_NULL, true};
    handlepool_handle handle = HANDLEPOOL_NULL;
    EXPECT(handlepool_emplace_with(pool, construct, &made, &handle) == HANDLEPOOL_OK);
    EXPECT(handle == made.handle && ((struct ship*)handlepool_find(pool, handle))->hull == 3);
    made.succeed = false;
    handlepool_handle abandoned = HANDLEPOOL_NULL;
    EXPECT_FAILURE(HANDLEPOOL_ERROR_ABANDONED, handlepool_emplace_with(pool, construct, &made, &abandoned),
                   "pool 'ships': the construct function has abandoned");
    EXPECT(abandoned == HANDLEPOOL_NULL && !handlepool_contains(pool, made.handle));
    EXPECT(handlepool_pool_size(pool) == 2);

    EXPECT(handlepool_pool_destroy(other) == HANDLEPOOL_OK);
    EXPECT(handlepool_pool_destroy(pool) == HANDLEPOOL_OK);
    EXPECT(calls.destroyed == 2);
}

struct seen {
    handlepool_pool* pool;
    size_t count;
    size_t most;
};

static bool visit(handlepool_handle handle, void* object, void* user) {
    struct seen* const seen = user;
    EXPECT(handlepool_find(seen->pool, handle) == object);
    return ++seen->count != seen->most;
}

static void items_lie_in_a_row(void) {
    handlepool_pool* const pool = pool_of("ships", 100);
    handlepool_handle handles[50];
    for (int i = 0; i != 50; ++i) {
        const struct ship ship = {i, 0};
        EXPECT(handlepool_insert(pool, &ship, &handles[i]) == HANDLEPOOL_OK);
    }
    EXPECT(handlepool_compact(pool, NULL) == HANDLEPOOL_OK);
    const handlepool_items items = handlepool_items_of(pool);
    EXPECT(items.count == 50 && items.stride == sizeof(struct ship));
    handlepool_handle of_items[50];
    EXPECT(handlepool_handles_of(pool, 0, 50, of_items) == HANDLEPOOL_OK);
    for (size_t i = 0; i != items.count; ++i) {
        EXPECT((char*)items.first + i * items.stride == handlepool_find(pool, of_items[i]));
    }
    handlepool_handle last = HANDLEPOOL_NULL;
    EXPECT(handlepool_handles_of(pool, 49, 1, &last) == HANDLEPOOL_OK && last == of_items[49]);
    EXPECT(handlepool_handles_of(pool, 50, 0, NULL) == HANDLEPOOL_OK);
    EXPECT_FAILURE(HANDLEPOOL_ERROR_OUT_OF_RANGE, handlepool_handles_of(pool, 49, 2, of_items),
                   "no 2 items from position 49 on; the pool has 50");
    EXPECT_FAILURE(HANDLEPOOL_ERROR_OUT_OF_RANGE, handlepool_handles_of(pool, 1, SIZE_MAX, of_items),
                   "the pool has");

    EXPECT(handlepool_erase(pool, handles[20])); /* still an item, and no longer shown */
    struct seen seen = {pool, 0, 0};
    EXPECT(handlepool_for_each(pool, visit, &seen) == HANDLEPOOL_OK && seen.count == 49);
    seen.count = 0;
    seen.most = 10;
    EXPECT(handlepool_for_each(pool, visit, &seen) == HANDLEPOOL_OK && seen.count == 10);

    handlepool_compaction done;
    EXPECT(handlepool_clear(pool) == HANDLEPOOL_OK);
    EXPECT(handlepool_compact_some(pool, 10, &done) == HANDLEPOOL_OK);
    EXPECT(done.removed <= 20 && done.waiting_removals >= 30); /* ten with a record, ten without */
    EXPECT(handlepool_try_compact(pool, &done) == HANDLEPOOL_OK && done.waiting_removals == 0);
    EXPECT(handlepool_items_of(pool).count == 0);
    EXPECT(handlepool_pool_destroy(pool) == HANDLEPOOL_OK);
}

/* Do the hulls of the items grow from one to the next? */
static bool in_order(handlepool_pool* pool) {
    const handlepool_items items = handlepool_items_of(pool);
    int last = -1;
    for (size_t i = 0; i != items.count; ++i) {
        const struct ship* const ship =
            (const struct ship*)(const void*)((const char*)items.first + i * items.stride);
        if (ship->hull <= last) {
            return false;
        }
        last = ship->hull;
    }
    return true;
}

static void items_keep_their_order_where_that_is_asked_for(void) {
    const handlepool_description description = {
        .name = "ships", .size = sizeof(struct ship), .capacity = 100, .keep_order = true};
    handlepool_pool* pool = NULL;
    EXPECT(handlepool_pool_create(&description, &pool) == HANDLEPOOL_OK);
    handlepool_handle handles[60];
    for (int i = 0; i != 60; ++i) {
        const struct ship ship = {i, 0};
        EXPECT(handlepool_insert(pool, &ship, &handles[i]) == HANDLEPOOL_OK);
        if (i == 49) {
            EXPECT(handlepool_compact(pool, NULL) == HANDLEPOOL_OK);
        }
    }
    EXPECT(handlepool_items_of(pool).count == 50 && in_order(pool));
    EXPECT(handlepool_erase(pool, handles[0]) && handlepool_erase(pool, handles[20]));
    handlepool_compaction done;
    EXPECT(handlepool_compact(pool, &done) == HANDLEPOOL_OK);
    EXPECT(done.removed == 2 && done.born == 10 && done.moved == 48);
    EXPECT(handlepool_items_of(pool).count == 58 && in_order(pool)); /* the newborns come last */
    EXPECT(handlepool_pool_destroy(pool) == HANDLEPOOL_OK);
}

/* What finds no room in the queue makes the compaction look at all objects, and is destroyed all the same. */
static void removals_beyond_the_queue_cost_a_sweep(void) {
    for (size_t queue = 0; queue != 2; ++queue) { /* 0: as many as there are */
        const handlepool_description description = {
            .name = "ships", .size = 1, .capacity = 100, .removal_queue_size = queue};
        handlepool_pool* pool = NULL;
        EXPECT(handlepool_pool_create(&description, &pool) == HANDLEPOOL_OK);
        for (int i = 0; i != 10; ++i) {
            handlepool_handle handle = HANDLEPOOL_NULL;
            EXPECT(handlepool_insert(pool, NULL, &handle) == HANDLEPOOL_OK);
            EXPECT(handlepool_erase(pool, handle));
        }
        handlepool_compaction done;
        EXPECT(handlepool_compact(pool, &done) == HANDLEPOOL_OK && done.removed == 10);
        EXPECT(number_in(handlepool_pool_stats(pool), "sweeps") == queue);
        EXPECT(handlepool_pool_destroy(pool) == HANDLEPOOL_OK);
    }
}

static void statistics_count_frames(void) {
    handlepool_pool* const pool = pool_of("ships", 10);
    handlepool_handle handle = HANDLEPOOL_NULL;
    EXPECT(handlepool_insert(pool, NULL, &handle) == HANDLEPOOL_OK);
    EXPECT(number_in(handlepool_pool_stats(pool), "frames") == 0);
    for (unsigned i = 1; i != 8; ++i) {
        EXPECT(handlepool_compact(pool, NULL) == HANDLEPOOL_OK);
        EXPECT(number_in(handlepool_pool_stats(pool), "frames") == i);
        EXPECT(number_in(handlepool_pool_stats(pool), "compactions") == i);
    }
    EXPECT(number_in(handlepool_pool_stats(pool), "alive") == 1);
    EXPECT(handlepool_pool_destroy(pool) == HANDLEPOOL_OK);
}

static void memory_returns_to_the_system(void) {
    handlepool_pool* const pool = pool_of("ships", 100000);
    const unsigned long long empty = number_in(handlepool_pool_stats(pool), "bytes_resident");
    handlepool_handle handle = HANDLEPOOL_NULL;
    for (int i = 0; i != 100000; ++i) {
        EXPECT(handlepool_insert(pool, NULL, &handle) == HANDLEPOOL_OK);
    }
    EXPECT(handlepool_compact(pool, NULL) == HANDLEPOOL_OK);
    EXPECT(handlepool_clear(pool) == HANDLEPOOL_OK && handlepool_compact(pool, NULL) == HANDLEPOOL_OK);
    const size_t objects = 100000 * sizeof(struct ship);
    const unsigned long long before = number_in(handlepool_pool_stats(pool), "bytes_resident");
    EXPECT(before >= empty + objects); /* which compactions keep */
    EXPECT(handlepool_shrink_to_fit(pool) == HANDLEPOOL_OK);
    EXPECT(number_in(handlepool_pool_stats(pool), "bytes_resident") <= before - objects);
    EXPECT(handlepool_try_shrink_to_fit(pool) == HANDLEPOOL_OK);
    EXPECT(handlepool_insert(pool, NULL, &handle) == HANDLEPOOL_OK && handlepool_contains(pool, handle));
    EXPECT(handlepool_pool_destroy(pool) == HANDLEPOOL_OK);
}

static void* end_guard(void* guard) {
    handlepool_end_access(guard);
    return NULL;
}

static void guards_hold_compactions_off(void) {
    handlepool_pool* const pool = pool_of("ships", 10);
    handlepool_guard first;
    handlepool_guard second;
    EXPECT(handlepool_begin_access(pool, &first) == HANDLEPOOL_OK);
    EXPECT(handlepool_try_begin_access(pool, &second) == HANDLEPOOL_OK);
    EXPECT(first.held != NULL && second.held != NULL);
    EXPECT_FAILURE(HANDLEPOOL_ERROR_CONFLICT, handlepool_compact(pool, NULL), "pool 'ships'");
    EXPECT_FAILURE(HANDLEPOOL_ERROR_CONFLICT, handlepool_compact_some(pool, 1, NULL), "pool 'ships'");
    EXPECT_FAILURE(HANDLEPOOL_ERROR_CONFLICT, handlepool_shrink_to_fit(pool), "pool 'ships'");
    EXPECT_FAILURE(HANDLEPOOL_ERROR_CONFLICT, handlepool_reset(pool), "pool 'ships'");
    EXPECT_FAILURE(HANDLEPOOL_ERROR_CONFLICT, handlepool_pool_destroy(pool), "can't be destroyed");
    handlepool_end_access(&first);
    EXPECT(first.held == NULL);
    handlepool_end_access(&first);
    handlepool_end_access(NULL);
    EXPECT_FAILURE(HANDLEPOOL_ERROR_CONFLICT, handlepool_try_compact(pool, NULL), "a guard is held");
    EXPECT_FAILURE(HANDLEPOOL_ERROR_CONFLICT, handlepool_try_shrink_to_fit(pool),
                   "pool 'ships': a guard is held, or a compaction runs");
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, end_guard, &second) == 0);
    EXPECT(pthread_join(thread, NULL) == 0);
    EXPECT(handlepool_compact(pool, NULL) == HANDLEPOOL_OK);
    EXPECT(handlepool_pool_destroy(pool) == HANDLEPOOL_OK);
}

static void try_access_in_a_compaction(void* object, void* user) {
    handlepool_guard guard = {NULL};
    (void)object;
    EXPECT_FAILURE(HANDLEPOOL_ERROR_CONFLICT, handlepool_try_begin_access(*(handlepool_pool**)user, &guard),
                   "a compaction of the pool runs");
    EXPECT(guard.held == NULL);
}

static void compactions_call_callbacks_which_are_refused_some_things(void) {
    struct calls calls = {0};
    const handlepool_description description = {.name = "ships",
                                                .size = sizeof(struct ship),
                                                .capacity = 10,
                                                .destroy = count_destroyed,
                                                .user = &calls};
    handlepool_handle handle = HANDLEPOOL_NULL;
    EXPECT(handlepool_pool_create(&description, &calls.pool) == HANDLEPOOL_OK);
    EXPECT(handlepool_insert(calls.pool, NULL, &handle) == HANDLEPOOL_OK);
    EXPECT(handlepool_erase(calls.pool, handle) && calls.destroyed == 0);
    EXPECT(handlepool_compact(calls.pool, NULL) == HANDLEPOOL_OK && calls.destroyed == 1);
    EXPECT(calls.compact == HANDLEPOOL_ERROR_CONFLICT);
    EXPECT(calls.access == HANDLEPOOL_ERROR_CONFLICT);
    EXPECT(calls.destroy == HANDLEPOOL_ERROR_CONFLICT);
    EXPECT(handlepool_pool_destroy(calls.pool) == HANDLEPOOL_OK);

    handlepool_pool* pool = NULL;
    const handlepool_description trying = {
        .name = "ships", .size = 1, .capacity = 10, .destroy = try_access_in_a_compaction, .user = &pool};
    EXPECT(handlepool_pool_create(&trying, &pool) == HANDLEPOOL_OK);
    EXPECT(handlepool_insert(pool, NULL, &handle) == HANDLEPOOL_OK && handlepool_erase(pool, handle));
    EXPECT(handlepool_compact(pool, NULL) == HANDLEPOOL_OK);
    EXPECT(handlepool_pool_destroy(pool) == HANDLEPOOL_OK);
}

static void room_ends(void) {
    handlepool_pool* const pool = pool_of("ships", 4);
    handlepool_handle handle = HANDLEPOOL_NULL;
    handlepool_error error = HANDLEPOOL_OK;
    for (int i = 0; error == HANDLEPOOL_OK && i != 10000; ++i) {
        error = handlepool_insert(pool, NULL, &handle);
    }
    EXPECT_FAILURE(HANDLEPOOL_ERROR_EXHAUSTED, error, "pool 'ships' is exhausted: its capacity is 4 objects");
    struct made made = {pool, HANDLEPOOL_NULL, true};
    handlepool_newborn newborn = {0, NULL};
    EXPECT_FAILURE(HANDLEPOOL_ERROR_EXHAUSTED, handlepool_emplace(pool, &newborn), "exhausted");
    EXPECT_FAILURE(HANDLEPOOL_ERROR_EXHAUSTED, handlepool_emplace_with(pool, construct, &made, &handle),
                   "exhausted");
    EXPECT(newborn.memory == NULL && made.handle == HANDLEPOOL_NULL);
    EXPECT(handlepool_clear(pool) == HANDLEPOOL_OK && handlepool_compact(pool, NULL) == HANDLEPOOL_OK);
    EXPECT(handlepool_insert(pool, NULL, &handle) == HANDLEPOOL_OK);
    EXPECT(handlepool_pool_destroy(pool) == HANDLEPOOL_OK);
}

/* Each newborn that is cancelled takes one of its slot's 524,287 generations. */
static void handles_end(void) {
    const handlepool_description description = {.name = "ships",
                                                .size = 1,
                                                .alignment = 1,
                                                .capacity = 1,
                                                .reuse_delay = HANDLEPOOL_NO_DELAY,
                                                .slot_limit = 1};
    handlepool_pool* pool = NULL;
    EXPECT(handlepool_pool_create(&description, &pool) == HANDLEPOOL_OK);
    handlepool_error error = HANDLEPOOL_OK;
    for (int i = 0; error == HANDLEPOOL_OK && i != 100000000; ++i) {
        handlepool_newborn newborn;
        error = handlepool_emplace(pool, &newborn);
        if (error == HANDLEPOOL_OK) {
            EXPECT(handlepool_cancel(pool, &newborn) == HANDLEPOOL_OK);
        }
    }
    EXPECT_FAILURE(HANDLEPOOL_ERROR_USED_UP, error, "pool 'ships' is used up");
    EXPECT(handlepool_pool_destroy(pool) == HANDLEPOOL_OK);
}

static void* insert_in_another_thread(void* pool) {
    handlepool_handle handle = HANDLEPOOL_NULL;
    handlepool_guard guard = {NULL};
    EXPECT_FAILURE(HANDLEPOOL_ERROR_TOO_MANY_THREADS, handlepool_insert(pool, NULL, &handle),
                   "pool 'ships': more than max_threads = 1");
    EXPECT_FAILURE(HANDLEPOOL_ERROR_TOO_MANY_THREADS, handlepool_begin_access(pool, &guard), "max_threads");
    EXPECT(handle == HANDLEPOOL_NULL && guard.held == NULL);
    return NULL;
}

static void threads_are_bounded(void) {
    const handlepool_description description = {.name = "ships", .size = 1, .capacity = 10, .max_threads = 1};
    handlepool_pool* pool = NULL;
    handlepool_handle handle = HANDLEPOOL_NULL;
    EXPECT(handlepool_pool_create(&description, &pool) == HANDLEPOOL_OK);
    EXPECT(handlepool_insert(pool, NULL, &handle) == HANDLEPOOL_OK);
    forget_error();
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, insert_in_another_thread, pool) == 0);
    EXPECT(pthread_join(thread, NULL) == 0);
    EXPECT(strstr(handlepool_last_error(), "max_threads") == NULL); /* each thread has its own */
    EXPECT(handlepool_pool_destroy(pool) == HANDLEPOOL_OK);
}

static void* access_in_another_thread(void* service) {
    handlepool_guard guard = {NULL};
    EXPECT_FAILURE(HANDLEPOOL_ERROR_TOO_MANY_THREADS, handlepool_service_begin_access(service, &guard),
                   "max_threads = 1");
    EXPECT_FAILURE(HANDLEPOOL_ERROR_CONFLICT, handlepool_service_try_begin_access(service, &guard),
                   "max_threads does not allow this thread");
    EXPECT(guard.held == NULL);
    return NULL;
}

static void threads_of_services_are_bounded(void) {
    const handlepool_service_description description = {.max_threads = 1};
    handlepool_service* service = NULL;
    EXPECT(handlepool_service_create(&description, &service) == HANDLEPOOL_OK);
    handlepool_guard guard = {NULL};
    EXPECT(handlepool_service_begin_access(service, &guard) == HANDLEPOOL_OK);
    handlepool_end_access(&guard);
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, access_in_another_thread, service) == 0);
    EXPECT(pthread_join(thread, NULL) == 0);
    EXPECT(handlepool_service_destroy(service) == HANDLEPOOL_OK);
}

static void pool_ids_end(void) {
    static handlepool_pool* pools[513];
    const handlepool_description description = {
        .name = "ships", .size = 1, .alignment = 1, .capacity = 1, .max_threads = 1};
    int made = 0;
    handlepool_error error = HANDLEPOOL_OK;
    while (made != 513 && error == HANDLEPOOL_OK) {
        error = handlepool_pool_create(&description, &pools[made]);
        made += error == HANDLEPOOL_OK ? 1 : 0;
    }
    EXPECT_FAILURE(HANDLEPOOL_ERROR_OTHER, error, "pool");
    EXPECT(made == 512);
    while (made != 0) {
        EXPECT(handlepool_pool_destroy(pools[--made]) == HANDLEPOOL_OK);
    }
}

static void nothing_is_done_to_null(void) {
    handlepool_pool* const pool = pool_of("ships", 10);
    handlepool_handle handle = HANDLEPOOL_NULL;
    handlepool_guard guard = {NULL};
    handlepool_newborn newborn = {0, NULL};
    void* object = NULL;
    struct made made = {NULL, HANDLEPOOL_NULL, true};
    struct seen seen = {NULL, 0, 0};
#define EXPECT_NULL(call, argument)                                                                          \
    EXPECT_FAILURE(HANDLEPOOL_ERROR_INVALID_ARGUMENT, call, argument " is NULL")
    EXPECT_NULL(handlepool_insert(NULL, NULL, &handle), "handlepool_insert: pool");
    EXPECT_NULL(handlepool_insert(pool, NULL, NULL), "handle");
    EXPECT_NULL(handlepool_emplace_with(NULL, construct, &made, &handle), "pool");
    EXPECT_NULL(handlepool_emplace_with(pool, NULL, &made, &handle), "construct");
    EXPECT_NULL(handlepool_emplace_with(pool, construct, &made, NULL), "handle");
    EXPECT_NULL(handlepool_emplace(NULL, &newborn), "pool");
    EXPECT_NULL(handlepool_emplace(pool, NULL), "newborn");
    EXPECT_NULL(handlepool_publish(NULL, &newborn), "pool");
    EXPECT_NULL(handlepool_publish(pool, NULL), "newborn");
    EXPECT_NULL(handlepool_cancel(NULL, &newborn), "pool");
    EXPECT_NULL(handlepool_cancel(pool, NULL), "newborn");
    EXPECT_NULL(handlepool_clear(NULL), "pool");
    EXPECT_NULL(handlepool_revoke(NULL, handle, &handle), "pool");
    EXPECT_NULL(handlepool_revoke(pool, handle, NULL), "renewed");
    EXPECT_NULL(handlepool_at(NULL, handle, &object), "pool");
    EXPECT_NULL(handlepool_at(pool, handle, NULL), "object");
    EXPECT_NULL(handlepool_handles_of(NULL, 0, 1, &handle), "pool");
    EXPECT_NULL(handlepool_handles_of(pool, 0, 1, NULL), "handles");
    EXPECT_NULL(handlepool_for_each(NULL, visit, &seen), "pool");
    EXPECT_NULL(handlepool_for_each(pool, NULL, &seen), "visit");
    EXPECT_NULL(handlepool_begin_access(NULL, &guard), "pool");
    EXPECT_NULL(handlepool_begin_access(pool, NULL), "guard");
    EXPECT_NULL(handlepool_try_begin_access(NULL, &guard), "pool");
    EXPECT_NULL(handlepool_try_begin_access(pool, NULL), "guard");
    EXPECT_NULL(handlepool_compact(NULL, NULL), "pool");
    EXPECT_NULL(handlepool_try_compact(NULL, NULL), "pool");
    EXPECT_NULL(handlepool_compact_some(NULL, 1, NULL), "pool");
    EXPECT_NULL(handlepool_shrink_to_fit(NULL), "pool");
    EXPECT_NULL(handlepool_try_shrink_to_fit(NULL), "pool");
    EXPECT_NULL(handlepool_reset(NULL), "pool");
    EXPECT_NOTHING(handlepool_pool_name(NULL), "handlepool_pool_name: pool is NULL");
    EXPECT_NOTHING(handlepool_pool_capacity(NULL), "capacity: pool is NULL");
    EXPECT_NOTHING(handlepool_pool_user(NULL), "user: pool is NULL");
    EXPECT_NOTHING(handlepool_pool_size(NULL), "size: pool is NULL");
    EXPECT_NOTHING(handlepool_pool_stats(NULL), "stats: pool is NULL");
    EXPECT_NOTHING(handlepool_erase(NULL, handle), "erase: pool is NULL");
    EXPECT_NOTHING(handlepool_contains(NULL, handle), "contains: pool is NULL");
    EXPECT_NOTHING(handlepool_state_of(NULL, handle), "state_of: pool is NULL");
    EXPECT_NOTHING(handlepool_describe(NULL, handle), "describe: pool is NULL");
    EXPECT_NOTHING(handlepool_find(NULL, handle), "find: pool is NULL");
    EXPECT_NOTHING(handlepool_handle_of(NULL, &made), "handle_of: pool is NULL");
    EXPECT_NOTHING(handlepool_items_of(NULL).first, "items_of: pool is NULL");

    handlepool_service* service = NULL;
    const handlepool_description description = {.name = "ships", .size = 1, .capacity = 1};
    EXPECT(handlepool_service_create(NULL, &service) == HANDLEPOOL_OK);
    EXPECT_NULL(handlepool_service_create(NULL, NULL), "service");
    EXPECT_NULL(handlepool_service_add_pool(NULL, &description, NULL), "service");
    EXPECT_NULL(handlepool_service_add_pool(service, NULL, NULL), "description");
    EXPECT_NULL(handlepool_service_remove_pool(NULL, "ships"), "service");
    EXPECT_NULL(handlepool_service_remove_pool(service, NULL), "name");
    EXPECT_NULL(handlepool_service_begin_access(NULL, &guard), "service");
    EXPECT_NULL(handlepool_service_begin_access(service, NULL), "guard");
    EXPECT_NULL(handlepool_service_try_begin_access(NULL, &guard), "service");
    EXPECT_NULL(handlepool_service_try_begin_access(service, NULL), "guard");
    EXPECT_NULL(handlepool_service_compact(NULL, NULL), "service");
    EXPECT_NULL(handlepool_service_try_compact(NULL, NULL), "service");
    EXPECT_NULL(handlepool_service_compact_some(NULL, 1, NULL), "service");
    EXPECT_NULL(handlepool_service_shrink_to_fit(NULL), "service");
    EXPECT_NULL(handlepool_service_try_shrink_to_fit(NULL, NULL), "service");
    EXPECT_NOTHING(handlepool_service_pool(NULL, "ships"), "service is NULL");
    EXPECT_NOTHING(handlepool_service_pool(service, NULL), "name is NULL");
    EXPECT_NOTHING(handlepool_service_stats(NULL), "service is NULL");
    EXPECT_NOTHING(handlepool_service_route(NULL, handle), "route: service is NULL");
    EXPECT_NOTHING(handlepool_service_contains(NULL, handle), "contains: service is NULL");
    EXPECT_NOTHING(handlepool_service_state_of(NULL, handle), "state_of: service is NULL");
    EXPECT_NOTHING(handlepool_service_erase(NULL, handle), "erase: service is NULL");
    EXPECT_NOTHING(handlepool_service_describe(NULL, handle), "describe: service is NULL");
    EXPECT_NOTHING(handlepool_service_find(NULL, handle), "find: service is NULL");
    EXPECT(handlepool_service_destroy(NULL) == HANDLEPOOL_OK);
    EXPECT(handlepool_service_destroy(service) == HANDLEPOOL_OK);
    EXPECT(handlepool_pool_destroy(pool) == HANDLEPOOL_OK);
}

static void keep_report(const char* text, void* user) {
    strncpy(user, text, 99);
}

static void services_route_handles(void) {
    char report[100] = "";
    const handlepool_service_description with_limits = {.limits =
                                                            "{\"pools\": {\"ships\": {\"capacity\": 77}}}",
                                                        .report_leaks = keep_report,
                                                        .user = report,
                                                        .max_threads = 100};
    const handlepool_description ships = {.name = "ships", .size = sizeof(struct ship), .capacity = 10};
    handlepool_description rockets = ships;
    rockets.name = "rockets";
    rockets.user = report;

    handlepool_service* service = NULL;
    EXPECT(handlepool_service_create(&with_limits, &service) == HANDLEPOOL_OK);
    handlepool_pool* pool = NULL;
    EXPECT(handlepool_service_add_pool(service, &ships, &pool) == HANDLEPOOL_OK);
    EXPECT(handlepool_service_add_pool(service, &rockets, NULL) == HANDLEPOOL_OK);
    EXPECT(handlepool_pool_capacity(pool) == 77);
    EXPECT_FAILURE(HANDLEPOOL_ERROR_INVALID_ARGUMENT, handlepool_service_add_pool(service, &ships, NULL),
                   "has a pool 'ships' already");
    EXPECT(handlepool_service_pool(service, "ships") == pool);
    EXPECT(handlepool_service_pool(service, "boats") == NULL);
    EXPECT_FAILURE(HANDLEPOOL_ERROR_INVALID_ARGUMENT, handlepool_pool_destroy(pool), "a service owns it");

    const struct ship argo = {9, 0};
    handlepool_handle ship = HANDLEPOOL_NULL;
    handlepool_handle rocket = HANDLEPOOL_NULL;
    EXPECT(handlepool_insert(pool, &argo, &ship) == HANDLEPOOL_OK);
    EXPECT(handlepool_insert(handlepool_service_pool(service, "rockets"), NULL, &rocket) == HANDLEPOOL_OK);
    EXPECT(handlepool_service_route(service, ship) == pool);
    EXPECT(handlepool_pool_user(handlepool_service_route(service, rocket)) == report);
    EXPECT(handlepool_service_route(service, HANDLEPOOL_NULL) == NULL);
    EXPECT(handlepool_service_contains(service, ship) && !handlepool_service_contains(service, UINT64_MAX));
    EXPECT(handlepool_service_state_of(service, rocket) == HANDLEPOOL_STATE_ALIVE);
    EXPECT(((struct ship*)handlepool_service_find(service, ship))->hull == 9);
    EXPECT_TEXT(handlepool_service_describe(service, ship), "ships #0 generation");
    EXPECT_TEXT(handlepool_service_stats(service), "\"name\": \"rockets\"");

    handlepool_guard guard;
    EXPECT(handlepool_service_begin_access(service, &guard) == HANDLEPOOL_OK);
    EXPECT_FAILURE(HANDLEPOOL_ERROR_CONFLICT, handlepool_service_compact(service, NULL), "service");
    EXPECT_FAILURE(HANDLEPOOL_ERROR_CONFLICT, handlepool_service_try_compact(service, NULL),
                   "a guard is held");
    EXPECT_FAILURE(HANDLEPOOL_ERROR_CONFLICT, handlepool_service_shrink_to_fit(service), "service");
    EXPECT_FAILURE(HANDLEPOOL_ERROR_CONFLICT, handlepool_service_try_shrink_to_fit(service, NULL),
                   "service: a guard is held, or a compaction runs");
    EXPECT_FAILURE(HANDLEPOOL_ERROR_CONFLICT, handlepool_service_destroy(service), "can't be destroyed");
    handlepool_end_access(&guard);
    EXPECT(handlepool_service_try_begin_access(service, &guard) == HANDLEPOOL_OK);
    handlepool_end_access(&guard);

    handlepool_compaction done;
    EXPECT(handlepool_service_compact_some(service, 1, &done) == HANDLEPOOL_OK);
    EXPECT(done.born + done.waiting_newborns == 2 && done.born >= 1);
    EXPECT(handlepool_service_compact(service, &done) == HANDLEPOOL_OK);
    EXPECT(handlepool_items_of(pool).count == 1);

    // A guard of a pool that has nothing to do counts too, and nothing is compacted to find out.
    handlepool_pool* const rocket_pool = handlepool_service_pool(service, "rockets");
    handlepool_handle newer = HANDLEPOOL_NULL;
    EXPECT(handlepool_insert(rocket_pool, NULL, &newer) == HANDLEPOOL_OK);
    EXPECT(handlepool_begin_access(pool, &guard) == HANDLEPOOL_OK);
    EXPECT_FAILURE(HANDLEPOOL_ERROR_CONFLICT, handlepool_service_destroy(service), "can't be destroyed");
    EXPECT(handlepool_items_of(rocket_pool).count == 1);
    handlepool_end_access(&guard);

    EXPECT(handlepool_insert(pool, NULL, &ship) == HANDLEPOOL_OK);
    EXPECT(handlepool_begin_access(pool, &guard) == HANDLEPOOL_OK);
    EXPECT(handlepool_service_try_compact(service, &done) == HANDLEPOOL_OK && done.skipped == 1);
    size_t skipped = 0;
    EXPECT(handlepool_service_try_shrink_to_fit(service, &skipped) == HANDLEPOOL_OK && skipped == 1);
    EXPECT_FAILURE(HANDLEPOOL_ERROR_CONFLICT, handlepool_service_shrink_to_fit(service), "pool 'ships'");
    EXPECT_FAILURE(HANDLEPOOL_ERROR_CONFLICT, handlepool_service_destroy(service), "can't be destroyed");
    handlepool_end_access(&guard);

    EXPECT(handlepool_service_shrink_to_fit(service) == HANDLEPOOL_OK);
    EXPECT(handlepool_service_try_shrink_to_fit(service, &skipped) == HANDLEPOOL_OK && skipped == 0);
    EXPECT(handlepool_service_erase(service, rocket) && !handlepool_service_erase(service, rocket));
    EXPECT(handlepool_service_find(service, rocket) == NULL);
    EXPECT(handlepool_service_remove_pool(service, "rockets") == HANDLEPOOL_OK);
    EXPECT_FAILURE(HANDLEPOOL_ERROR_INVALID_ARGUMENT, handlepool_service_remove_pool(service, "rockets"),
                   "no pool 'rockets'");
    EXPECT(handlepool_service_route(service, rocket) == NULL);
    EXPECT_TEXT(handlepool_service_describe(service, rocket), "no pool of the service");
    EXPECT(handlepool_service_destroy(service) == HANDLEPOOL_OK);
    EXPECT(strstr(report, "pool 'ships' still holds 2 objects") != NULL);
    EXPECT_FAILURE(HANDLEPOOL_ERROR_INVALID_ARGUMENT, handlepool_service_destroy(service),
                   "destroyed before");

    const handlepool_service_description misspelt = {.limits = "{\"pools\": {\"ships\": {\"capacty\": 7}}}"};
    EXPECT_FAILURE(HANDLEPOOL_ERROR_INVALID_ARGUMENT, handlepool_service_create(&misspelt, &service),
                   "capacty");
}

int main(void) {
    library();
    descriptions();
    texts_can_be_read_whatever_the_name();
    objects_live_under_their_handles();
    places_of_scripts_are_told();
    newborns_are_seen_when_they_are_published();
    items_lie_in_a_row();
    items_keep_their_order_where_that_is_asked_for();
    removals_beyond_the_queue_cost_a_sweep();
    statistics_count_frames();
    memory_returns_to_the_system();
    guards_hold_compactions_off();
    compactions_call_callbacks_which_are_refused_some_things();
    room_ends();
    threads_are_bounded();
    threads_of_services_are_bounded();
    pool_ids_end();
    handles_end(); /* which leaves an id without handles */
    nothing_is_done_to_null();
    services_route_handles();
    if (failures != 0) {
        fprintf(stderr, "%d expectations do not hold\n", failures);
        return EXIT_FAILURE;
    }
    puts("the C interface does what handlepool.h says");
    return EXIT_SUCCESS;
}
