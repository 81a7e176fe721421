// SPDX-License-Identifier: MIT

/// @file
/// The C interface, for C99 and C++, and for languages that call C: pools whose objects are `size` bytes, and
/// services of such pools. It is the library `handlepool_c`, component `c` of the package.
///
/// *Errors.* A function that can fail returns a handlepool_error, and leaves what its pointers point to as it
/// was unless it says otherwise. A function that answers a question returns the answer: false, 0 or NULL also
/// for a NULL argument. Wherever a call fails, handlepool_last_error() of that thread says why. No exception
/// leaves a function, and none may leave a callback.
///
/// *Frame contract.* A pointer to an object may be used until the next compaction of its pool, or of the
/// pool's service, begins. A thread that the program does not order with its compactions holds them off:
/// handlepool_begin_access().
///
/// *Callbacks* may call whatever their description allows. From a callback that a compaction calls, other
/// compactions of that pool, or of that service, and guards of it are refused.
///
/// *Threads.* "Any time" includes the time during which a compaction runs. What one thread passes to another,
/// such as a pool or a handle, needs the usual synchronization.
#ifndef HANDLEPOOL_HANDLEPOOL_H
#define HANDLEPOOL_HANDLEPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Marks what the shared library exports, and on Windows what its users import.
#if defined(_WIN32) && defined(HANDLEPOOL_C_BUILD)
#define HANDLEPOOL_C_API __declspec(dllexport)
#elif defined(_WIN32)
#define HANDLEPOOL_C_API __declspec(dllimport)
#elif defined(__GNUC__)
#define HANDLEPOOL_C_API __attribute__((visibility("default")))
#else
#define HANDLEPOOL_C_API
#endif

#define HANDLEPOOL_VERSION_MAJOR 0 ///< of the version of this header
#define HANDLEPOOL_VERSION_MINOR 1 ///< of the version of this header
#define HANDLEPOOL_VERSION_PATCH 0 ///< of the version of this header

/// The version as one number that grows: 1002003 would be version 1.2.3.
#define HANDLEPOOL_VERSION                                                                                   \
    (HANDLEPOOL_VERSION_MAJOR * 1000000 + HANDLEPOOL_VERSION_MINOR * 1000 + HANDLEPOOL_VERSION_PATCH)

/// The handle that names nothing.
#define HANDLEPOOL_NULL UINT64_C(0)

/// No place of a script: calls are told by the address of the code.
#define HANDLEPOOL_NO_PLACE UINT64_C(0)

/// As the reuse_delay of a pool: none, where 0 asks for the default.
#define HANDLEPOOL_NO_DELAY SIZE_MAX

#ifdef __cplusplus
extern "C" {
#endif

/// Names an object of a pool for ever: a number below 2^53, so that it survives a double, and with it JSON
/// and the numbers of any script. It resolves to that object or to nothing, as any other number does.
typedef uint64_t handlepool_handle;

/// A place that calls are made from, as pools with record_lives tell it: a line of a script, say. A number
/// that is good for the rest of the program, in all threads.
typedef uint64_t handlepool_place;

/// A pool of objects of one size; and many pools behind one kind of handle.
typedef struct handlepool_pool handlepool_pool;
typedef struct handlepool_service handlepool_service;

/// What became of a call.
typedef enum handlepool_error {
    HANDLEPOOL_OK = 0,
    HANDLEPOOL_ERROR_INVALID_ARGUMENT, ///< a NULL, a size or a name that is not allowed
    HANDLEPOOL_ERROR_STALE,            ///< the handle names no living object, or not yet
    HANDLEPOOL_ERROR_NOT_RESERVED,     ///< the newborn is not, or no longer, one of the pool
    HANDLEPOOL_ERROR_EXHAUSTED,     ///< no place is left; those of erased objects come back by a compaction
    HANDLEPOOL_ERROR_USED_UP,       ///< the pool has given out all handles that it ever can
    HANDLEPOOL_ERROR_OUT_OF_MEMORY, ///< the system refuses memory or address space
    HANDLEPOOL_ERROR_TOO_MANY_THREADS, ///< the max_threads of the pool or service does not allow this thread
    HANDLEPOOL_ERROR_CONFLICT,         ///< a guard is held, or a compaction runs
    HANDLEPOOL_ERROR_OUT_OF_RANGE,     ///< there is no such position
    HANDLEPOOL_ERROR_ABANDONED,        ///< a callback returned false, and no object was made
    HANDLEPOOL_ERROR_OTHER             ///< what the message says
} handlepool_error;

/// What a pool says of a handle.
typedef enum handlepool_state {
    HANDLEPOOL_STATE_STALE = 0, ///< names no object, and never will again
    HANDLEPOOL_STATE_RESERVED,  ///< names the object that a newborn will become
    HANDLEPOOL_STATE_ALIVE      ///< its object is alive
} handlepool_state;

/// Ends the life of an object. Called by compactions, and at the end of the pool; may create, find and erase
/// objects of any pool. What it creates in a pool that ends is destroyed too, until nothing is left: one that
/// always creates another object must know of the end, or that never comes. To destroy the pool or the
/// service that calls it is refused as CONFLICT, or as INVALID_ARGUMENT at its end; any other one may be
/// destroyed.
typedef void (*handlepool_destroy_function)(void* object, void* user);

/// Moves the object at `from` to the memory at `to`, and ends its life at `from`. Called by compactions and
/// by handlepool_publish(); must not use the pool.
typedef void (*handlepool_relocate_function)(void* to, void* from, void* user);

/// Makes an object in `memory`, whose bytes are undefined. Returns false to abandon it: then it must have
/// released what it took, and the handle is stale for ever. May call anything that does
/// not end or reset the pool.
typedef bool (*handlepool_construct_function)(void* memory, handlepool_handle handle, void* user);

/// Is shown an object; returns false to see no more of them.
typedef bool (*handlepool_visit_function)(handlepool_handle handle, void* object, void* user);

/// Receives a text for people, which ends with the call.
typedef void (*handlepool_report_function)(const char* text, void* user);

/// What a pool is made with. A field that is 0 has its default; `name`, `size` and `capacity` have none:
///
///     const handlepool_description ships = {.name = "ships", .size = sizeof(struct ship), .capacity = 1000};
///
/// `max_threads` counts the threads of the process, not those of the pool: when a thread first uses any pool,
/// it gets the lowest number that no other living thread has, and keeps it until it ends. Threads with a
/// number of `max_threads` or more can't use the pool.
typedef struct handlepool_description {
    const char* name; ///< for messages and statistics; unique in a service; copied
    size_t size;      ///< bytes of an object
    size_t alignment; ///< a power of two up to 1,048,576; by default that of max_align_t
    size_t capacity;  ///< living objects, newborns, and objects erased since the last compaction
    handlepool_destroy_function destroy;   ///< by default there is nothing to do
    handlepool_relocate_function relocate; ///< by default the bytes are copied
    void* user;                            ///< passed to both; see handlepool_pool_user()
    size_t reuse_delay;        ///< a slot is used again after this many others; HANDLEPOOL_NO_DELAY, or 1024
    size_t slot_limit;         ///< slots that may ever be used; by default four times the capacity, and some
    size_t removal_queue_size; ///< removals that a thread can queue in a frame; by default no limit
    size_t max_threads;        ///< see above; by default 4096
    size_t
        record_lives; ///< so many lives of a slot handlepool_describe() explains: who ended them, and where
    size_t record_stack;  ///< with so many callers of each call, 15 at most
    bool remember_frames; ///< so that handlepool_describe() knows when an object was born and died
    bool keep_order;      ///< compactions keep the order of the items
} handlepool_description;

/// An object on its way: its handle, which others may already keep, and zeroed memory to fill.
typedef struct handlepool_newborn {
    handlepool_handle handle; ///< reserved until the object is published, and then the object's
    void* memory;             ///< `size` bytes; NULL once the object is published or cancelled
} handlepool_newborn;

/// Objects that lie one after the other: the one at position i is at `first` + i * `stride`.
typedef struct handlepool_items {
    void* first;   ///< the object at position 0, or where it would be
    size_t count;  ///< of the objects
    size_t stride; ///< bytes from one object to the next: `size` rounded up to the alignment
} handlepool_items;

/// Holds compactions off between handlepool_begin_access() and handlepool_end_access(), which is called for
/// one of its copies. May end in another thread.
typedef struct handlepool_guard {
    void* held; ///< NULL when nothing is held off
} handlepool_guard;

/// What a compaction did.
typedef struct handlepool_compaction {
    size_t pools;            ///< pools that were compacted
    size_t skipped;          ///< pools that a guard kept from it; only handlepool_service_try_compact()
    size_t removed;          ///< objects destroyed
    size_t born;             ///< objects that joined the items
    size_t moved;            ///< survivors that changed their place
    size_t retired;          ///< slots that were used up
    size_t waiting_removals; ///< erased objects left to later compactions
    size_t waiting_newborns; ///< newborns left to later compactions
    uint64_t nanoseconds;    ///< of the whole
} handlepool_compaction;

// ---- Library: any thread, at any time; wait-free

/// The HANDLEPOOL_VERSION that the library was built as, and the same as a text, "0.1.0".
HANDLEPOOL_C_API uint32_t handlepool_version(void);
HANDLEPOOL_C_API const char* handlepool_version_text(void);

/// Why the last call of this thread that failed did so; empty when none has. Stays valid until the next one
/// that fails. A message of more than 511 bytes is cut.
HANDLEPOOL_C_API const char* handlepool_last_error(void);

/// The name of an error, "HANDLEPOOL_ERROR_STALE" for example; NULL for a number that is no error.
HANDLEPOOL_C_API const char* handlepool_error_name(handlepool_error error);

/// Frees a text that one of the functions below returned. NULL is allowed.
HANDLEPOOL_C_API void handlepool_free_text(char* text);

// ---- Pools: making and ending them

/// Makes an empty pool. Any thread, at any time. Fails as INVALID_ARGUMENT for a description that no pool can
/// have, as OUT_OF_MEMORY, and as OTHER when all of the process's 512 pool ids are taken.
HANDLEPOOL_C_API handlepool_error handlepool_pool_create(const handlepool_description* description,
                                                         handlepool_pool** pool);

/// Destroys the pool's objects, and the pool. No other thread may be using it, and every newborn of it must
/// have been published or cancelled. Its handles are stale in every other pool. Fails, and then the pool
/// stays, as CONFLICT while a guard of it is held or a compaction runs, and as INVALID_ARGUMENT for a pool
/// that was destroyed before, unless another one lies there now, or that a service owns. NULL is allowed.
HANDLEPOOL_C_API handlepool_error handlepool_pool_destroy(handlepool_pool* pool);

/// What the description said: its name, which lives as long as the pool, its capacity, and its `user`. Any
/// thread, at any time; wait-free.
HANDLEPOOL_C_API const char* handlepool_pool_name(const handlepool_pool* pool);
HANDLEPOOL_C_API size_t handlepool_pool_capacity(const handlepool_pool* pool);
HANDLEPOOL_C_API void* handlepool_pool_user(const handlepool_pool* pool);

/// The number of living objects. Any thread, at any time; wait-free, linear in the threads that used the
/// pool.
HANDLEPOOL_C_API size_t handlepool_pool_size(const handlepool_pool* pool);

/// One JSON object, {"frames": N, "pools": [{"name": "ships", "alive": N, ...}]}, to be freed by
/// handlepool_free_text(). NULL as OUT_OF_MEMORY. Any thread, at any time.
HANDLEPOOL_C_API char* handlepool_pool_stats(const handlepool_pool* pool);

// ---- Handles: any thread, at any time, also while a compaction runs. Creating fails as EXHAUSTED, USED_UP
// and TOO_MANY_THREADS, and is lock-free beside allocations; the rest is wait-free.

/// Creates an object from the `size` bytes at `bytes`, or from zeros when that is NULL.
HANDLEPOOL_C_API handlepool_error handlepool_insert(handlepool_pool* pool, const void* bytes,
                                                    handlepool_handle* handle);

/// Creates an object by `construct(memory, handle, user)`, in the memory where it will live. Nobody can find
/// it before that has returned true. Fails as ABANDONED when it returned false.
HANDLEPOOL_C_API handlepool_error handlepool_emplace_with(handlepool_pool* pool,
                                                          handlepool_construct_function construct, void* user,
                                                          handlepool_handle* handle);

/// Begins an object: gives out its handle, and memory for the program to fill, of the library's allocator
/// and not yet of the pool. No other thread finds it before handlepool_publish(). Also fails as
/// OUT_OF_MEMORY.
HANDLEPOOL_C_API handlepool_error handlepool_emplace(handlepool_pool* pool, handlepool_newborn* newborn);

/// Moves the newborn into the pool, by the type's relocate, and frees its memory: from here on its handle
/// resolves. Any thread, once. Fails as NOT_RESERVED for a newborn of another pool or one that was published
/// or cancelled, and as EXHAUSTED when newborns leave no room; then it is as it was, and may be published
/// after a compaction.
HANDLEPOOL_C_API handlepool_error handlepool_publish(handlepool_pool* pool, handlepool_newborn* newborn);

/// Gives the newborn up, in place of handlepool_publish(), and frees its memory; its handle is stale for
/// ever. What the program put into the memory is its own to release: `destroy` is not called. Fails as
/// NOT_RESERVED.
HANDLEPOOL_C_API handlepool_error handlepool_cancel(handlepool_pool* pool, handlepool_newborn* newborn);

/// Ends the life of the handle's object. True for exactly one of all calls with a handle. The next compaction
/// destroys it.
HANDLEPOOL_C_API bool handlepool_erase(handlepool_pool* pool, handlepool_handle handle);

/// Erases all objects that are alive when the call begins. Lock-free, linear. Fails for NULL only.
HANDLEPOOL_C_API handlepool_error handlepool_clear(handlepool_pool* pool);

/// Is the handle's object alive?
HANDLEPOOL_C_API bool handlepool_contains(const handlepool_pool* pool, handlepool_handle handle);

/// Is the handle stale, reserved, or that of a living object?
HANDLEPOOL_C_API handlepool_state handlepool_state_of(const handlepool_pool* pool, handlepool_handle handle);

/// Gives the handle's object a new handle, and makes the old one stale. Fails as STALE, also for the last
/// handle that its slot can have.
HANDLEPOOL_C_API handlepool_error handlepool_revoke(handlepool_pool* pool, handlepool_handle handle,
                                                    handlepool_handle* renewed);

/// What is known of a handle, for people: "ships #0 generation 1: erased 3 frames ago". To be freed by
/// handlepool_free_text(); NULL as OUT_OF_MEMORY. Lock-free beside the allocation.
HANDLEPOOL_C_API char* handlepool_describe(const handlepool_pool* pool, handlepool_handle handle);

// ---- Places: any thread, at any time; lock-free

/// The place of this name, "spawn.lua:12", of which 120 bytes are kept. HANDLEPOOL_NO_PLACE for an empty name
/// or NULL, and when a million different ones are kept. Some hundred nanoseconds, so it is worth keeping.
HANDLEPOOL_C_API handlepool_place handlepool_place_named(const char* name);

/// From here on, whatever the calling thread does with pools is done from this place, until another one is
/// set. Returns the one before, for who sets it again behind the calls of a script. Wait-free, some
/// nanoseconds.
HANDLEPOOL_C_API handlepool_place handlepool_set_place(handlepool_place place);

// ---- Objects: any thread, within the frame contract; wait-free

/// The handle's object; NULL when the handle is stale, which is no failure.
HANDLEPOOL_C_API void* handlepool_find(handlepool_pool* pool, handlepool_handle handle);

/// Like handlepool_find(), but fails as STALE, with a message that says why the handle is stale.
HANDLEPOOL_C_API handlepool_error handlepool_at(handlepool_pool* pool, handlepool_handle handle,
                                                void** object);

/// The handle of an object; HANDLEPOOL_NULL for an address that is not in the pool.
HANDLEPOOL_C_API handlepool_handle handlepool_handle_of(const handlepool_pool* pool, const void* object);

/// The objects that were alive at the last compaction, contiguous; {NULL, 0, 0} for NULL.
HANDLEPOOL_C_API handlepool_items handlepool_items_of(handlepool_pool* pool);

/// Writes the handles of `count` items, from position `first` on. Fails as OUT_OF_RANGE when there are fewer.
HANDLEPOOL_C_API handlepool_error handlepool_handles_of(const handlepool_pool* pool, size_t first,
                                                        size_t count, handlepool_handle* handles);

/// Calls `visit(handle, object, user)` for each of the items that is still alive, until that returns false.
/// It may call whatever its thread may, but not end or reset the pool; compactions of the pool are refused
/// there, as CONFLICT. Fails as TOO_MANY_THREADS, and shows nothing, in a thread that can hold no guard.
HANDLEPOOL_C_API handlepool_error handlepool_for_each(handlepool_pool* pool, handlepool_visit_function visit,
                                                      void* user);

// ---- Guards

/// Holds compactions of the pool off until handlepool_end_access(). Guards may be nested. Waits for a running
/// compaction. Any thread. Fails as CONFLICT in a callback of a compaction of the pool, and as
/// TOO_MANY_THREADS.
HANDLEPOOL_C_API handlepool_error handlepool_begin_access(handlepool_pool* pool, handlepool_guard* guard);

/// Like handlepool_begin_access(), but fails as CONFLICT where that would wait or fail. Wait-free.
HANDLEPOOL_C_API handlepool_error handlepool_try_begin_access(handlepool_pool* pool, handlepool_guard* guard);

/// Ends a guard of a pool or a service, and sets it to NULL. Any thread; wait-free. NULL, and a guard that
/// holds nothing off, are allowed.
HANDLEPOOL_C_API void handlepool_end_access(handlepool_guard* guard);

// ---- Frames: one thread at a time, while others use handles. `done` may be NULL.

/// Destroys erased objects, takes newborns into the items, and closes the holes. Waits for guards. Linear in
/// removals and newborns. Fails as CONFLICT while a compaction runs, and when the calling thread holds a
/// guard.
HANDLEPOOL_C_API handlepool_error handlepool_compact(handlepool_pool* pool, handlepool_compaction* done);

/// Like handlepool_compact(), but fails as CONFLICT where that would wait. Any thread, at any time.
HANDLEPOOL_C_API handlepool_error handlepool_try_compact(handlepool_pool* pool, handlepool_compaction* done);

/// Compacts at most `budget` removals and newborns, and in addition as many of the objects that were erased
/// without a record, as clear does; the others are left to the next compactions.
HANDLEPOOL_C_API handlepool_error handlepool_compact_some(handlepool_pool* pool, size_t budget,
                                                          handlepool_compaction* done);

/// Returns memory that the objects don't need now to the system, in whole pages. Another thread that has
/// created objects keeps the places that it has claimed and not used, those of 63 objects at most. Like a
/// compaction in all else.
HANDLEPOOL_C_API handlepool_error handlepool_shrink_to_fit(handlepool_pool* pool);

/// Like handlepool_shrink_to_fit(), but fails as CONFLICT where that would wait. Any thread, at any time.
HANDLEPOOL_C_API handlepool_error handlepool_try_shrink_to_fit(handlepool_pool* pool);

/// Destroys all objects, and starts all slots anew, with a generation above all that were handed out, so that
/// old handles stay stale; where a slot is used up, there is none above, and all slots are used up. No other
/// thread may be using the pool, and every newborn of it must have been published or cancelled, or its
/// memory is lost. Fails as CONFLICT.
HANDLEPOOL_C_API handlepool_error handlepool_reset(handlepool_pool* pool);

// ---- Services: making and ending them

/// What a service is made with; a field that is 0 has its default.
typedef struct handlepool_service_description {
    /// Options of pools, by their names, which override the descriptions: {"pools": {"ships": {"capacity":
    /// 10000}}}, with the fields capacity, reuse_delay, slot_limit, removal_queue_size, max_threads,
    /// remember_frames, record_lives and record_stack. Those of pools that are never added mean nothing. By
    /// default none.
    const char* limits;
    handlepool_report_function report_leaks; ///< told of the pools that still hold objects at the end
    void* user;                              ///< passed to it
    size_t max_threads;                      ///< that hold guards of it at a time; by default 4096
} handlepool_service_description;

/// Makes a service without pools; `description` may be NULL. Any thread, at any time. Fails as
/// INVALID_ARGUMENT for limits that can't be read, with a message that names the place in them, and as
/// OUT_OF_MEMORY.
HANDLEPOOL_C_API handlepool_error handlepool_service_create(const handlepool_service_description* description,
                                                            handlepool_service** service);

/// Destroys the service with its pools, like handlepool_pool_destroy(). Fails, and then the service stays, as
/// CONFLICT while a guard of the service or of one of its pools is held, or a compaction runs. If the guard
/// is that of a pool that was removed, the other pools have been compacted then.
HANDLEPOOL_C_API handlepool_error handlepool_service_destroy(handlepool_service* service);

// ---- Pools of a service: any thread, at any time; these block each other briefly

/// Adds a pool, which lives until it is removed, or as long as the service. `pool` may be NULL. Fails like
/// handlepool_pool_create(), and as INVALID_ARGUMENT when the name is taken or empty.
HANDLEPOOL_C_API handlepool_error handlepool_service_add_pool(handlepool_service* service,
                                                              const handlepool_description* description,
                                                              handlepool_pool** pool);

/// Removes the pool of this name: from here on its handles are stale to the service. The pool itself lives
/// until the service's next compaction begins. Fails as INVALID_ARGUMENT when there is no such pool.
HANDLEPOOL_C_API handlepool_error handlepool_service_remove_pool(handlepool_service* service,
                                                                 const char* name);

/// The pool of this name; NULL when there is none, which is no failure.
HANDLEPOOL_C_API handlepool_pool* handlepool_service_pool(handlepool_service* service, const char* name);

/// One JSON object like that of handlepool_pool_stats(), with all pools in the order in which they were
/// added.
HANDLEPOOL_C_API char* handlepool_service_stats(const handlepool_service* service);

// ---- Handles of a service: those of all its pools, found by the pool id inside. Like the functions of pools
// in all else. A thread that is not ordered with the frames, while pools are removed, holds a guard.

/// The handle's pool, whether its object is alive or not; NULL when the service has none with its id. Any
/// thread, at any time; wait-free.
HANDLEPOOL_C_API handlepool_pool* handlepool_service_route(const handlepool_service* service,
                                                           handlepool_handle handle);

/// As for a pool.
HANDLEPOOL_C_API bool handlepool_service_contains(const handlepool_service* service,
                                                  handlepool_handle handle);
HANDLEPOOL_C_API handlepool_state handlepool_service_state_of(const handlepool_service* service,
                                                              handlepool_handle handle);
HANDLEPOOL_C_API bool handlepool_service_erase(handlepool_service* service, handlepool_handle handle);
HANDLEPOOL_C_API char* handlepool_service_describe(const handlepool_service* service,
                                                   handlepool_handle handle);
HANDLEPOOL_C_API void* handlepool_service_find(handlepool_service* service, handlepool_handle handle);

// ---- Frames of a service: like those of a pool, for all its pools at once

/// A guard of the service holds the service's compactions off, and a compaction of one pool alone waits for
/// that pool's guards only. handlepool_end_access() ends it.
HANDLEPOOL_C_API handlepool_error handlepool_service_begin_access(handlepool_service* service,
                                                                  handlepool_guard* guard);
HANDLEPOOL_C_API handlepool_error handlepool_service_try_begin_access(handlepool_service* service,
                                                                      handlepool_guard* guard);

/// Destroys the removed pools, and compacts the others that have something to do, one after the other in the
/// order in which they were added. Where a pool refuses, fails as CONFLICT after the others were compacted.
HANDLEPOOL_C_API handlepool_error handlepool_service_compact(handlepool_service* service,
                                                             handlepool_compaction* done);

/// Like handlepool_service_compact(), but skips the pools whose guards are held, and fails as CONFLICT when a
/// guard of the service is held, or a compaction of it runs. Any thread, at any time; never waits.
HANDLEPOOL_C_API handlepool_error handlepool_service_try_compact(handlepool_service* service,
                                                                 handlepool_compaction* done);

/// Like handlepool_service_compact(), with a budget for all pools together.
HANDLEPOOL_C_API handlepool_error handlepool_service_compact_some(handlepool_service* service, size_t budget,
                                                                  handlepool_compaction* done);

/// Has all pools return memory, one after the other. Compacts nothing; removed pools live on. Where a pool
/// refuses, fails as CONFLICT after the others have returned theirs.
HANDLEPOOL_C_API handlepool_error handlepool_service_shrink_to_fit(handlepool_service* service);

/// Like handlepool_service_shrink_to_fit(), but leaves out the pools of which a guard is held or a compaction
/// runs, and says in `skipped`, which may be NULL, how many those are. Fails as CONFLICT when that is true of
/// the service itself. Any thread, at any time; never waits.
HANDLEPOOL_C_API handlepool_error handlepool_service_try_shrink_to_fit(handlepool_service* service,
                                                                       size_t* skipped);

#ifdef __cplusplus
}
#endif

#endif
