// SPDX-License-Identifier: MIT
#include "failures.hpp"
#include "frames.hpp"
#include "registry.hpp"
#include "types.hpp"

#include <handlepool/detail/recorder/caller.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/error.hpp>
#include <handlepool/service_stats.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

using namespace handlepool;
using namespace handlepool::c;

namespace {

using pools = registry<pool_type>;

std::string message_of(const pool_type& pool, const char* rest) {
    return detail::quoted_pool(pool.name()) + ": " + rest;
}

void require_memory(const pool_type& pool, const handlepool_newborn& newborn) {
    if (newborn.memory == nullptr) {
        throw not_reserved(
            message_of(pool, "the newborn has no memory: it was published or cancelled before"));
    }
}

[[noreturn]] void throw_busy(const pool_type& pool) {
    throw compaction_conflict(message_of(pool, "a guard is held, or a compaction runs"));
}

/// A guard; or none in a callback of a compaction, where another compaction is refused in any case.
guard_type hold_compactions_off(pool_type& pool) {
    try {
        return pool.access();
    } catch (const compaction_conflict&) {
        return {};
    }
}

/// Memory of a newborn, outside of the pool: its bytes, which the program fills at leisure, may wait there
/// for many frames and be published by another thread, which a place of the nursery could not.
struct staged_memory_deleter {
    std::align_val_t alignment;
    void operator()(void* memory) const noexcept { ::operator delete(memory, alignment); }
};
using staged_memory = std::unique_ptr<void, staged_memory_deleter>;

/// Memory for one object, whose bytes are zero. Throws std::bad_alloc.
staged_memory stage(std::size_t size, std::size_t alignment) {
    const std::align_val_t aligned{alignment};
    staged_memory memory(::operator new(size, aligned), {aligned});
    std::memset(memory.get(), 0, size);
    return memory;
}

/// What stage() made and the program has kept.
staged_memory staged(void* memory, std::size_t alignment) noexcept {
    return staged_memory(memory, {std::align_val_t{alignment}});
}

/// Frees the memory of a newborn that is published or cancelled.
void free_memory(handlepool_newborn& newborn, const raw_type& type) noexcept {
    staged(std::exchange(newborn.memory, nullptr), type.alignment).reset();
}

} // namespace

extern "C" {

// ---- Pools

handlepool_error handlepool_pool_create(const handlepool_description* description, handlepool_pool** pool) {
    if (missing(description, __func__, "description") || missing(pool, __func__, "pool") ||
        missing(description->name, __func__, "description->name")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return error_of([&] {
        auto made = std::make_unique<pool_type>(options_of(*description), type_of(*description));
        *pool = face_of(pools::instance().add(std::move(made)));
    });
}

handlepool_error handlepool_pool_destroy(handlepool_pool* pool) {
    if (pool == nullptr) {
        return HANDLEPOOL_OK;
    }
    return error_of([&] {
        pool_type* const known = pools::instance().find(reinterpret_cast<pool_type*>(pool));
        if (known == nullptr) {
            throw std::invalid_argument("handlepool_pool_destroy: there is no such pool: it was destroyed "
                                        "before, or a service owns it");
        }
        if (!known->try_compact()) {
            throw compaction_conflict(
                message_of(*known, "it can't be destroyed while a guard is held or a compaction runs"));
        }
        pools::instance().destroy(known);
    });
}

const char* handlepool_pool_name(const handlepool_pool* pool) {
    return missing(pool, __func__, "pool") ? nullptr : of(pool).name().c_str();
}

size_t handlepool_pool_capacity(const handlepool_pool* pool) {
    return missing(pool, __func__, "pool") ? 0 : of(pool).capacity();
}

void* handlepool_pool_user(const handlepool_pool* pool) {
    return missing(pool, __func__, "pool") ? nullptr : of(pool).object_type_description().context;
}

size_t handlepool_pool_size(const handlepool_pool* pool) {
    return missing(pool, __func__, "pool") ? 0 : of(pool).size();
}

char* handlepool_pool_stats(const handlepool_pool* pool) {
    if (missing(pool, __func__, "pool")) {
        return nullptr;
    }
    return text_of([&] {
        const pool_stats stats = of(pool).stats();
        return to_json(service_stats{.frames = stats.compactions, .pools = {stats}});
    });
}

// ---- Handles

HANDLEPOOL_NOINLINE handlepool_error handlepool_insert(handlepool_pool* pool, const void* bytes,
                                                       handlepool_handle* handle) {
    const auto from = detail::caller_scope::within(detail::return_site());
    if (missing(pool, __func__, "pool") || missing(handle, __func__, "handle")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return error_of([&] {
        const std::size_t size = of(pool).object_type_description().size;
        const auto copy = [=](void* memory) noexcept { std::memcpy(memory, bytes, size); };
        *handle = (bytes == nullptr ? of(pool).emplace() : of(pool).emplace(copy)).value();
    });
}

HANDLEPOOL_NOINLINE handlepool_error handlepool_emplace_with(handlepool_pool* pool,
                                                             handlepool_construct_function construct,
                                                             void* user, handlepool_handle* handle) {
    const auto from = detail::caller_scope::within(detail::return_site());
    if (missing(pool, __func__, "pool") || missing(handle, __func__, "handle")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    if (construct == nullptr) {
        return fail_null(__func__, "construct");
    }
    return error_of([&] {
        const auto construct_or_abandon = [&](void* memory, handle_type made) {
            if (!construct(memory, made.value(), user)) {
                throw abandoned(message_of(of(pool), "the construct function has abandoned its object"));
            }
        };
        *handle = of(pool).emplace_with(construct_or_abandon).value();
    });
}

handlepool_error handlepool_emplace(handlepool_pool* pool, handlepool_newborn* newborn) {
    if (missing(pool, __func__, "pool") || missing(newborn, __func__, "newborn")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return error_of([&] {
        const raw_type& type = of(pool).object_type_description();
        staged_memory memory = stage(type.size, type.alignment);
        const handle_type handle = of(pool).reserve_handle();
        *newborn = {.handle = handle.value(), .memory = memory.release()};
    });
}

HANDLEPOOL_NOINLINE handlepool_error handlepool_publish(handlepool_pool* pool, handlepool_newborn* newborn) {
    const auto from = detail::caller_scope::within(detail::return_site());
    if (missing(pool, __func__, "pool") || missing(newborn, __func__, "newborn")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return error_of([&] {
        require_memory(of(pool), *newborn);
        const raw_type& type = of(pool).object_type_description();
        of(pool).fulfill(of(newborn->handle), [&](void* place) noexcept {
            if (type.relocate != nullptr) {
                type.relocate(place, newborn->memory, type.context);
            } else {
                std::memcpy(place, newborn->memory, type.size);
            }
        });
        free_memory(*newborn, type);
    });
}

HANDLEPOOL_NOINLINE handlepool_error handlepool_cancel(handlepool_pool* pool, handlepool_newborn* newborn) {
    const auto from = detail::caller_scope::within(detail::return_site());
    if (missing(pool, __func__, "pool") || missing(newborn, __func__, "newborn")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return error_of([&] {
        require_memory(of(pool), *newborn);
        if (!of(pool).cancel(of(newborn->handle))) {
            throw not_reserved(message_of(of(pool), "the newborn is not one of the pool"));
        }
        free_memory(*newborn, of(pool).object_type_description());
    });
}

HANDLEPOOL_NOINLINE bool handlepool_erase(handlepool_pool* pool, handlepool_handle handle) {
    const auto from = detail::caller_scope::within(detail::return_site());
    return !missing(pool, __func__, "pool") && of(pool).erase(of(handle));
}

HANDLEPOOL_NOINLINE handlepool_error handlepool_clear(handlepool_pool* pool) {
    const auto from = detail::caller_scope::within(detail::return_site());
    if (missing(pool, __func__, "pool")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    of(pool).clear();
    return HANDLEPOOL_OK;
}

bool handlepool_contains(const handlepool_pool* pool, handlepool_handle handle) {
    return !missing(pool, __func__, "pool") && of(pool).contains(of(handle));
}

handlepool_state handlepool_state_of(const handlepool_pool* pool, handlepool_handle handle) {
    return missing(pool, __func__, "pool") ? HANDLEPOOL_STATE_STALE : state_of(of(pool).state(of(handle)));
}

HANDLEPOOL_NOINLINE handlepool_error handlepool_revoke(handlepool_pool* pool, handlepool_handle handle,
                                                       handlepool_handle* renewed) {
    const auto from = detail::caller_scope::within(detail::return_site());
    if (missing(pool, __func__, "pool") || missing(renewed, __func__, "renewed")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return error_of([&] {
        const handle_type made = of(pool).revoke(of(handle));
        if (!made) {
            of(pool).at(of(handle)); // throws, and says why
            throw stale_handle(message_of(of(pool), "the handle is the last one that its slot can have"));
        }
        *renewed = made.value();
    });
}

char* handlepool_describe(const handlepool_pool* pool, handlepool_handle handle) {
    if (missing(pool, __func__, "pool")) {
        return nullptr;
    }
    return text_of([&] { return of(pool).describe(of(handle)); });
}

// ---- Objects

void* handlepool_find(handlepool_pool* pool, handlepool_handle handle) {
    return missing(pool, __func__, "pool") ? nullptr : of(pool).find(of(handle));
}

handlepool_error handlepool_at(handlepool_pool* pool, handlepool_handle handle, void** object) {
    if (missing(pool, __func__, "pool") || missing(object, __func__, "object")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return error_of([&] { *object = of(pool).at(of(handle)); });
}

handlepool_handle handlepool_handle_of(const handlepool_pool* pool, const void* object) {
    return missing(pool, __func__, "pool") ? HANDLEPOOL_NULL : of(pool).handle_of(object).value();
}

handlepool_items handlepool_items_of(handlepool_pool* pool) {
    if (missing(pool, __func__, "pool")) {
        return {.first = nullptr, .count = 0, .stride = 0};
    }
    const mutable_raw_items items = of(pool).mutable_items();
    return {.first = items.data(), .count = items.size(), .stride = items.stride()};
}

handlepool_error handlepool_handles_of(const handlepool_pool* pool, size_t first, size_t count,
                                       handlepool_handle* handles) {
    if (missing(pool, __func__, "pool") || (count != 0 && missing(handles, __func__, "handles"))) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return error_of([&] {
        const pool_type& from = of(pool);
        const std::size_t size = from.items().size();
        if (first > size || count > size - first) {
            throw std::out_of_range(message_of(from, "there are no ") + std::to_string(count) +
                                    " items from position " + std::to_string(first) + " on; the pool has " +
                                    std::to_string(size));
        }
        for (handlepool_handle& each : std::span(handles, count)) {
            each = from.handle_at(first++).value();
        }
    });
}

handlepool_error handlepool_for_each(handlepool_pool* pool, handlepool_visit_function visit, void* user) {
    if (missing(pool, __func__, "pool")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    if (visit == nullptr) {
        return fail_null(__func__, "visit");
    }
    return error_of([&] {
        // So that a compaction in `visit` is refused: it would end objects that are still to be shown.
        const guard_type held = hold_compactions_off(of(pool));
        for (const auto [handle, object] : of(pool).living()) {
            if (!visit(handle.value(), object, user)) {
                break;
            }
        }
    });
}

// ---- Guards

handlepool_error handlepool_begin_access(handlepool_pool* pool, handlepool_guard* guard) {
    if (missing(pool, __func__, "pool") || missing(guard, __func__, "guard")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return begin_access(of(pool), *guard);
}

handlepool_error handlepool_try_begin_access(handlepool_pool* pool, handlepool_guard* guard) {
    if (missing(pool, __func__, "pool") || missing(guard, __func__, "guard")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return try_begin_access(of(pool), *guard,
                            "handlepool_try_begin_access: a compaction of the pool runs, or its "
                            "max_threads does not allow this thread");
}

void handlepool_end_access(handlepool_guard* guard) {
    if (guard != nullptr) {
        guard_type::adopt(std::exchange(guard->held, nullptr)).reset();
    }
}

// ---- Frames

handlepool_error handlepool_compact(handlepool_pool* pool, handlepool_compaction* done) {
    if (missing(pool, __func__, "pool")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return error_of([&] { report(of(pool).compact(), done); });
}

handlepool_error handlepool_try_compact(handlepool_pool* pool, handlepool_compaction* done) {
    if (missing(pool, __func__, "pool")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return error_of([&] {
        const std::optional<compaction_stats> stats = of(pool).try_compact();
        if (!stats) {
            throw_busy(of(pool));
        }
        report(*stats, done);
    });
}

handlepool_error handlepool_compact_some(handlepool_pool* pool, size_t budget, handlepool_compaction* done) {
    if (missing(pool, __func__, "pool")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return error_of([&] { report(of(pool).compact_some(budget), done); });
}

handlepool_error handlepool_shrink_to_fit(handlepool_pool* pool) {
    if (missing(pool, __func__, "pool")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return error_of([&] { of(pool).shrink_to_fit(); });
}

handlepool_error handlepool_try_shrink_to_fit(handlepool_pool* pool) {
    if (missing(pool, __func__, "pool")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return error_of([&] {
        if (!of(pool).try_shrink_to_fit()) {
            throw_busy(of(pool));
        }
    });
}

HANDLEPOOL_NOINLINE handlepool_error handlepool_reset(handlepool_pool* pool) {
    const auto from = detail::caller_scope::within(detail::return_site());
    if (missing(pool, __func__, "pool")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return error_of([&] { of(pool).reset(); });
}

} // extern "C"
