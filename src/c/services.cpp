// SPDX-License-Identifier: MIT
#include "failures.hpp"
#include "frames.hpp"
#include "registry.hpp"
#include "types.hpp"

#include <handlepool/detail/recorder/caller.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/error.hpp>
#include <handlepool/pool_limits.hpp>
#include <handlepool/service_stats.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

using namespace handlepool;
using namespace handlepool::c;

namespace {

using services = registry<service_type>;

/// All pools of the service are of this type.
handlepool_pool* face_of(service_type::pool_type* pool) noexcept {
    return pool == nullptr ? nullptr : handlepool::c::face_of(pool->as<pool_type>());
}

[[noreturn]] void throw_busy() {
    throw compaction_conflict("service: a guard is held, or a compaction runs");
}

} // namespace

extern "C" {

// ---- Services

handlepool_error handlepool_service_create(const handlepool_service_description* description,
                                           handlepool_service** service) {
    if (missing(service, __func__, "service")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return error_of([&] {
        service_options options;
        if (description != nullptr) {
            if (description->limits != nullptr) {
                options.limits = parse_pool_limits(description->limits, "limits");
            }
            if (description->report_leaks != nullptr) {
                options.report_leaks = [report_leaks = description->report_leaks, user = description->user](
                                           const std::string& text) { report_leaks(text.c_str(), user); };
            }
            if (description->max_threads != 0) {
                options.max_threads = description->max_threads;
            }
        }
        auto made = std::make_unique<service_type>(std::move(options));
        *service = reinterpret_cast<handlepool_service*>(services::instance().add(std::move(made)));
    });
}

handlepool_error handlepool_service_destroy(handlepool_service* service) {
    if (service == nullptr) {
        return HANDLEPOOL_OK;
    }
    return error_of([&] {
        service_type* const known = services::instance().find(reinterpret_cast<service_type*>(service));
        if (known == nullptr) {
            throw std::invalid_argument(
                "handlepool_service_destroy: there is no such service: it was destroyed before");
        }
        // First without a compaction, which would end what the program still has pointers to; and which skips
        // a pool that has nothing left to do, be it in a compaction of its own.
        bool busy = known->has_guards() || known->is_compacting();
        if (!busy) {
            const std::optional<service_compaction> last = known->try_compact();
            busy = !last || last->skipped != 0;
        }
        if (busy) {
            throw compaction_conflict(
                "service: it can't be destroyed while a guard is held or a compaction runs");
        }
        services::instance().destroy(known);
    });
}

// ---- Pools

handlepool_error handlepool_service_add_pool(handlepool_service* service,
                                             const handlepool_description* description,
                                             handlepool_pool** pool) {
    if (missing(service, __func__, "service") || missing(description, __func__, "description") ||
        missing(description->name, __func__, "description->name")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return error_of([&] {
        pool_type& added =
            of(service).add<pool_type>(description->name, options_of(*description), type_of(*description));
        if (pool != nullptr) {
            *pool = handlepool::c::face_of(&added);
        }
    });
}

handlepool_error handlepool_service_remove_pool(handlepool_service* service, const char* name) {
    if (missing(service, __func__, "service") || missing(name, __func__, "name")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return error_of([&] {
        if (!of(service).remove_pool(name)) {
            throw std::invalid_argument("the service has no " + detail::quoted_pool(name));
        }
    });
}

handlepool_pool* handlepool_service_pool(handlepool_service* service, const char* name) {
    if (missing(service, __func__, "service") || missing(name, __func__, "name")) {
        return nullptr;
    }
    handlepool_pool* pool = nullptr;
    error_of([&] { pool = face_of(of(service).find_any_pool(name)); });
    return pool;
}

char* handlepool_service_stats(const handlepool_service* service) {
    if (missing(service, __func__, "service")) {
        return nullptr;
    }
    return text_of([&] { return to_json(of(service).stats()); });
}

// ---- Handles

handlepool_pool* handlepool_service_route(const handlepool_service* service, handlepool_handle handle) {
    return missing(service, __func__, "service") ? nullptr : face_of(of(service).route(of(handle)));
}

bool handlepool_service_contains(const handlepool_service* service, handlepool_handle handle) {
    return !missing(service, __func__, "service") && of(service).contains(of(handle));
}

handlepool_state handlepool_service_state_of(const handlepool_service* service, handlepool_handle handle) {
    return missing(service, __func__, "service") ? HANDLEPOOL_STATE_STALE
                                                 : state_of(of(service).state(of(handle)));
}

HANDLEPOOL_NOINLINE bool handlepool_service_erase(handlepool_service* service, handlepool_handle handle) {
    const auto from = detail::caller_scope::within(detail::return_site());
    return !missing(service, __func__, "service") && of(service).erase(of(handle));
}

char* handlepool_service_describe(const handlepool_service* service, handlepool_handle handle) {
    if (missing(service, __func__, "service")) {
        return nullptr;
    }
    return text_of([&] { return of(service).describe(of(handle)); });
}

void* handlepool_service_find(handlepool_service* service, handlepool_handle handle) {
    if (missing(service, __func__, "service")) {
        return nullptr;
    }
    service_type::pool_type* const owner = of(service).route(of(handle));
    return owner == nullptr ? nullptr : owner->find(of(handle));
}

// ---- Frames

handlepool_error handlepool_service_begin_access(handlepool_service* service, handlepool_guard* guard) {
    if (missing(service, __func__, "service") || missing(guard, __func__, "guard")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return begin_access(of(service), *guard);
}

handlepool_error handlepool_service_try_begin_access(handlepool_service* service, handlepool_guard* guard) {
    if (missing(service, __func__, "service") || missing(guard, __func__, "guard")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return try_begin_access(of(service), *guard,
                            "handlepool_service_try_begin_access: a compaction of the service runs, or "
                            "its max_threads does not allow this thread");
}

handlepool_error handlepool_service_compact(handlepool_service* service, handlepool_compaction* done) {
    if (missing(service, __func__, "service")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return error_of([&] { report(of(service).compact(), done); });
}

handlepool_error handlepool_service_try_compact(handlepool_service* service, handlepool_compaction* done) {
    if (missing(service, __func__, "service")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return error_of([&] {
        const std::optional<service_compaction> stats = of(service).try_compact();
        if (!stats) {
            throw_busy();
        }
        report(*stats, done);
    });
}

handlepool_error handlepool_service_compact_some(handlepool_service* service, size_t budget,
                                                 handlepool_compaction* done) {
    if (missing(service, __func__, "service")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return error_of([&] { report(of(service).compact_some(budget), done); });
}

handlepool_error handlepool_service_shrink_to_fit(handlepool_service* service) {
    if (missing(service, __func__, "service")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return error_of([&] { of(service).shrink_to_fit(); });
}

handlepool_error handlepool_service_try_shrink_to_fit(handlepool_service* service, size_t* skipped) {
    if (missing(service, __func__, "service")) {
        return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
    }
    return error_of([&] {
        const std::optional<service_shrink> done = of(service).try_shrink_to_fit();
        if (!done) {
            throw_busy();
        }
        if (skipped != nullptr) {
            *skipped = done->skipped;
        }
    });
}

} // extern "C"
