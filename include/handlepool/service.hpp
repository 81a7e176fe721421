// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/access_guard.hpp>
#include <handlepool/any_pool.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/objects/object_access.hpp>
#include <handlepool/detail/process/pool_listing.hpp>
#include <handlepool/detail/recorder/caller.hpp>
#include <handlepool/detail/service/pool_directory.hpp>
#include <handlepool/detail/service/service_compactor.hpp>
#include <handlepool/detail/threads/access_gate.hpp>
#include <handlepool/detail/threads/per_thread_table.hpp>
#include <handlepool/detail/threads/pin.hpp>
#include <handlepool/exclusive_service.hpp>
#include <handlepool/executor_ref.hpp>
#include <handlepool/handle_routing.hpp>
#include <handlepool/pinned_object.hpp>
#include <handlepool/policy.hpp>
#include <handlepool/pool_limits.hpp>
#include <handlepool/scoped_hook.hpp>
#include <handlepool/service_stats.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool {

/// What a service is made with.
struct service_options {
    /// Override the options that the program adds a pool with, by the pool's name.
    limits_by_pool limits = {};

    /// Called with a text for people when the service ends while pools still hold objects, unless there is no
    /// memory for the text. Must not throw.
    std::function<void(const std::string& text)> report_leaks = {};

    /// Threads that may hold a guard of the service at the same time.
    std::size_t max_threads = 4096;
};

/// Owns many pools of different types; a program holds one. Handles are routed by the pool id inside them, so
/// that code with a handle needs to know neither its pool nor its type.
///
/// *Frame contract.* That of pool, for all pools at once: pointers may be used until the next compact() of
/// the service, and a guard of the service holds all of them off. A compaction of one pool alone, by the
/// pool's own function, waits only for that pool's own guards.
///
/// @tparam Layout how the bits of a handle are divided, in all pools
/// @tparam Policy atomics, memory and locks of the service itself; each pool has its own
template <class Layout, class Policy>
class HANDLEPOOL_EXPORT basic_service : public handle_routing<Layout, basic_service<Layout, Policy>> {
    static_assert(std::is_same_v<typename Layout::unkeyed, Layout>,
                  "a service routes handles of all keys: give keys to its pools");

public:
    /// What its functions take and return.
    using layout = Layout;
    using handle_type = handle<void, Layout>;
    using pool_type = any_pool<Layout>;
    using guard_type = access_guard<Policy>;
    using exclusive_type = basic_exclusive_service<Layout, Policy>;

    /// A service without pools. Throws reservation_failed, std::bad_alloc.
    explicit basic_service(service_options options = {});

    /// A service whose pools have the limits in the file: see read_pool_limits, also for what it throws in
    /// addition. The pools are still added by the program, which knows their types. A program without
    /// exceptions calls try_read_pool_limits instead.
    static basic_service from_json(const std::filesystem::path& file, service_options options = {}) {
        options.limits = read_pool_limits(file);
        return basic_service(std::move(options));
    }

    /// Reports leaks, and then destroys all pools, the last one first. No other thread may be using the
    /// service.
    ~basic_service();

    basic_service(const basic_service&) = delete;
    basic_service& operator=(const basic_service&) = delete;

    // ---- Pools: any thread, at any time; these block each other briefly, and nothing else. Unless
    // said otherwise, they throw at most std::bad_alloc.

    /// Adds an empty pool and returns it; it lives as long as the service, or until it is removed. The pool
    /// has handles of this service, with a key or without:
    ///
    ///     service.add<pool<ship>>("ships", {.capacity = 5'000});
    ///     service.add<stable_pool<anchor, with_layout<keyed_layout<struct harbour>>>>("anchors");
    ///     service.add<raw_pool<>>("plugin", {}, type);
    ///
    /// The name must be unique in the service; `options.name` is ignored. `args` are what the pool's
    /// constructor takes beside the options: the raw_type of a raw_pool. Linear in the pools. Throws
    /// std::invalid_argument when the name is taken or empty, and what the pool's constructor throws.
    template <class Pool, class... Args>
        requires std::is_same_v<typename Pool::layout::unkeyed, Layout>
    Pool& add(std::string_view name, const pool_options& options = {}, const Args&... args) {
        std::string error;
        Pool* const added = try_add<Pool>(name, options, error, args...);
        if (added == nullptr) {
            detail::throw_exception(std::invalid_argument(error));
        }
        return *added;
    }

    /// Like add(), but returns null where that throws because of the name, the options or `args`, and puts
    /// the message into `error`. Throws what else the pool's constructor throws.
    template <class Pool, class... Args>
        requires std::is_same_v<typename Pool::layout::unkeyed, Layout>
    Pool* try_add(std::string_view name, const pool_options& options, std::string& error,
                  const Args&... args) {
        return pools_.template try_add<Pool>(error, name, options, args...);
    }

    /// Removes the pool of this name: from here on its handles are refused, and its name is free. The pool
    /// itself, and references to it, live on until the next compact() begins, which destroys it with its
    /// objects. Returns false when there is no such pool. Linear in the pools.
    bool remove_pool(std::string_view name) { return pools_.remove(name); }

    /// The pool of this name and type, or null. Logarithmic in the pools.
    template <class Pool>
    Pool* find_pool(std::string_view name) {
        pool_type* const found = find_any_pool(name);
        return found == nullptr ? nullptr : found->template as<Pool>();
    }

    /// The pool of this name, or null. Logarithmic in the pools.
    pool_type* find_any_pool(std::string_view name) { return pools_.find(name); }

    /// The number of pools, removed ones not counted. Constant.
    std::size_t size() const { return pools_.size(); }

    /// Names in the configuration for which the program has added no pool: misspelt ones, for example.
    /// Linear in those limits.
    std::vector<std::string> unused_limits() const { return pools_.unused_limits(); }

    // ---- Guards: any thread, at any time

    /// The object together with a guard of the service, which keeps compactions from moving or destroying it;
    /// or nothing when find() finds nothing. It holds off compactions and nothing else: other threads may
    /// pin, write and erase the same object.
    /// Progress: blocking, like access(), and it throws the same.
    template <class T>
    HANDLEPOOL_ALWAYS_INLINE pinned_object<T, Policy> pin(handle_type handle) {
        guard_type guard = access();
        return {this->template find<T>(handle), std::move(guard)};
    }

    /// Like pin(), but also returns an empty result where that would wait or throw.
    /// Progress: wait-free after a thread's first call, which is lock-free.
    template <class T>
    HANDLEPOOL_ALWAYS_INLINE pinned_object<T, Policy> try_pin(handle_type handle) noexcept {
        guard_type guard = try_access();
        const typename detail::object_access<T>::pointer object =
            guard ? this->template find<T>(handle) : nullptr;
        return {object, std::move(guard)};
    }

    /// Holds the service's compaction off while the guard lives. Guards of a service and of its pools may be
    /// taken in any order. When there is a pool that records lives, who made a thread's first guard is
    /// recorded, for programs that look into this one.
    /// Progress: blocking, like pool::access, and it throws the same.
    [[nodiscard]] HANDLEPOOL_ALWAYS_INLINE guard_type access() { return gate_.access(from_here()); }
    /// Like access(), but returns an empty guard where that would wait or throw.
    /// Progress: wait-free after a thread's first call, which is lock-free.
    [[nodiscard]] HANDLEPOOL_ALWAYS_INLINE guard_type try_access() noexcept {
        return gate_.try_access(from_here());
    }

    // ---- Exclusive access: one thread

    /// Compacts all pools, and returns views of them that do at once what they are told, together with this
    /// service's functions for handles: see basic_exclusive_service. While it lives, nobody uses the service
    /// or its pools but by it, in this thread.
    /// Progress: blocking: waits for access guards of the service and of its pools, which may be taken in any
    /// order. It keeps new guards of other pools waiting meanwhile, for 50 ms at most: so it comes in among
    /// threads that hold one guard at a time, each for less than that; others may keep it off.
    /// Throws what pool::exclusive_access throws, of the service or of a pool, and std::bad_alloc; then no
    /// pool is left closed.
    [[nodiscard]] exclusive_type exclusive_access() {
        return exclusive_type::of(gate_, pools_, [this] { return frames(); });
    }

    /// Like exclusive_access(), but returns nothing where that would wait or be refused.
    /// Progress: never waits for guards or for a compaction.
    [[nodiscard]] std::optional<exclusive_type> try_exclusive_access() {
        return exclusive_type::try_of(gate_, pools_, [this] { return frames(); });
    }

    // ---- Frames: one thread at a time

    /// The per-frame task of all pools: destroys the removed ones, and compacts those that have something to
    /// do, one after the other in the order in which they were added, each with `executor`.
    /// Progress: blocking: waits for access guards. Linear in removals and newborns, and in the pools and
    /// their shards.
    /// Throws compaction_conflict when a compaction of the service is running or the calling thread holds a
    /// guard of it; when that is true of one of its pools, it throws after the others were compacted.
    service_compaction compact() { return compact(inline_executor()); }
    service_compaction compact(executor_ref executor) { return compactor_.compact(executor); }
    template <executor Executor>
    service_compaction compact(Executor&& executor) {
        return compact(executor_ref(executor));
    }

    /// Like compact(), but returns nothing when a guard of the service is held or a compaction of it is
    /// running. Leaves out the pools whose guards are held, and what another thread is changing or viewing
    /// just then: a pool that is being added may miss this frame, and a removed one may live a frame longer.
    /// Throws nothing of its own.
    /// Progress: never waits for guards, for another compaction or for a mutex.
    std::optional<service_compaction> try_compact() { return try_compact(inline_executor()); }
    std::optional<service_compaction> try_compact(executor_ref executor) {
        return compactor_.try_compact(executor);
    }
    template <executor Executor>
    std::optional<service_compaction> try_compact(Executor&& executor) {
        return try_compact(executor_ref(executor));
    }

    /// Like compact(), with at most `budget` removals and newborns of all pools together, in equal shares
    /// where there are more; see pool::compact_some. Removed pools are destroyed whole.
    service_compaction compact_some(std::size_t budget) { return compact_some(budget, inline_executor()); }
    service_compaction compact_some(std::size_t budget, executor_ref executor) {
        return compactor_.compact(executor, budget);
    }
    template <executor Executor>
    service_compaction compact_some(std::size_t budget, Executor&& executor) {
        return compact_some(budget, executor_ref(executor));
    }

    /// Returns memory that the pools' objects don't need now to the system: shrink_to_fit() of each pool, one
    /// after the other. It is no frame: nothing is compacted, and removed pools live on.
    /// Progress: blocking: waits for access guards. Costs what pool::shrink_to_fit costs for each.
    /// Throws compaction_conflict like compact(), for a pool after the others have returned theirs.
    service_shrink shrink_to_fit() { return compactor_.shrink(); }

    /// Like shrink_to_fit(), but returns nothing where that would wait or throw because of the service; and
    /// leaves out the pools of which that is true, and those that another thread is adding just then. Any
    /// thread, at any time. Throws nothing.
    /// Progress: never waits for guards, for a compaction or for a mutex.
    std::optional<service_shrink> try_shrink_to_fit() noexcept { return compactor_.try_shrink(); }

    /// Compactions so far. Any thread, at any time; wait-free, constant.
    std::uint64_t frames() const noexcept { return compactor_.frames(); }

    // ---- Views: any thread, at any time; these block each other and what adds and removes pools, briefly.
    // A removed pool stays alive until every view that includes it is finished. They throw std::bad_alloc.

    /// A moment's view of each pool; costs what pool::stats costs for each.
    service_stats stats() const;

    /// Returns whether a guard of the service, or of one of its pools, is held at this moment. Linear in the
    /// pools and the threads that have used them.
    bool has_guards() const;

    /// Returns whether a compaction of the service, or of one of its pools, runs now, or waits for guards.
    /// Linear in the pools.
    bool is_compacting() const;

    /// The pools that hold objects, with at most `most` of the oldest in each. Removed pools are not among
    /// them: they were given up with all that they held. Linear in the slots ever used.
    std::vector<pool_leak> leaks(std::size_t most = 5) const;

private:
    friend class handle_routing<Layout, basic_service>;

    pool_type* pool_of(handle_type handle) const noexcept { return pools_.route(handle); }

    /// The user's function, when such things are recorded; else 0.
    HANDLEPOOL_ALWAYS_INLINE static std::uint64_t from_here() noexcept {
        return detail::has_recorders.load(std::memory_order::relaxed)
                   ? static_cast<std::uint64_t>(detail::this_caller(0))
                   : 0;
    }

    std::function<void(const std::string& text)> report_leaks_;
    detail::per_thread_table<detail::pin<Policy>> pins_;
    detail::access_gate<detail::pin<Policy>> gate_;
    detail::service_listing listing_;
    detail::pool_directory<Layout, Policy> pools_;
    detail::service_compactor<Layout, Policy> compactor_;
};

extern template class basic_service<default_layout>;

// -----------------------------------------------------------------------------------------------------------

template <class Layout, class Policy>
basic_service<Layout, Policy>::basic_service(service_options options)
    : report_leaks_(std::move(options.report_leaks)),
      pins_("service guards", options.max_threads),
      gate_(pins_, "service"),
      listing_(gate_.described()),
      pools_(std::move(options.limits)),
      compactor_(gate_, pools_) {}

template <class Layout, class Policy>
basic_service<Layout, Policy>::~basic_service() {
    if (report_leaks_) {
        std::string found;
        static_cast<void>(detail::capture_exception([&] { found = to_text(leaks()); }));
        if (!found.empty()) {
            report_leaks_(found);
        }
    }
    pools_.destroy_all(); // while all of the service can still be used, as their objects may
}

template <class Layout, class Policy>
service_stats basic_service<Layout, Policy>::stats() const {
    const typename detail::pool_directory<Layout, Policy>::view now(pools_);
    service_stats result;
    result.frames = frames();
    for (const pool_type* const pool : now.pools()) {
        result.pools.push_back(pool->stats());
    }
    return result;
}

template <class Layout, class Policy>
bool basic_service<Layout, Policy>::has_guards() const {
    const typename detail::pool_directory<Layout, Policy>::view now(pools_);
    for (const pool_type* const pool : now.pools()) {
        if (pool->has_guards()) {
            return true;
        }
    }
    return gate_.pinned();
}

template <class Layout, class Policy>
bool basic_service<Layout, Policy>::is_compacting() const {
    const typename detail::pool_directory<Layout, Policy>::view now(pools_);
    return gate_.running() || std::ranges::any_of(now.pools(), &pool_type::is_compacting);
}

template <class Layout, class Policy>
std::vector<pool_leak> basic_service<Layout, Policy>::leaks(std::size_t most) const {
    const typename detail::pool_directory<Layout, Policy>::view now(pools_);
    std::vector<pool_leak> found;
    for (const pool_type* const pool : now.pools()) {
        if (const std::size_t objects = pool->size(); objects != 0) {
            pool_leak leak{.pool = pool->name(), .objects = objects, .oldest = {}};
            for (const handle_type handle : pool->oldest(most)) {
                leak.oldest.push_back(pool->describe(handle));
            }
            found.push_back(std::move(leak));
        }
    }
    return found;
}

} // namespace handlepool
