#pragma once

#include <handlepool/access_gate.hpp>
#include <handlepool/any_pool.hpp>
#include <handlepool/executor_ref.hpp>
#include <handlepool/lane.hpp>
#include <handlepool/policy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/pool_limits.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/service_stats.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool {

/// What a service is made with.
struct service_options {
    /// What is said of a pool here stands above the options that it is added with.
    limits_by_pool limits = {};

    /// Called at the end of the service, with a text for people, when pools still hold objects. Must not
    /// throw.
    std::function<void(const std::string& text)> report_leaks = {};

    /// Threads that may hold a guard of the service at the same time.
    std::size_t max_threads = 4096;
};

/// What one compaction of a service did, over all its pools.
struct service_compaction {
    std::size_t pools = 0;   ///< that were compacted; the others had nothing to do
    std::size_t skipped = 0; ///< pools that a guard kept from being compacted; only by try_compact
    std::size_t removed = 0;
    std::size_t born = 0;
    std::size_t moved = 0;
    std::size_t retired = 0;
    std::chrono::nanoseconds duration{};
};

/// Owns many pools of different types; a program holds one. Handles are routed by the pool id inside them, so
/// that whoever holds a handle need not know its pool, nor its type.
///
/// *Frame contract.* That of pool, for all pools at once: pointers may be used until the next compact() of
/// the service, and a guard of the service holds all of them off. Who compacts a pool of a service by itself
/// has only the pool's own guards to wait for.
///
/// @tparam Layout how the bits of a handle are divided, in all pools
/// @tparam Policy atomics, memory and locks of the service itself, and of its pools unless they have their
/// own
template <class Layout, class Policy = default_policy>
class HANDLEPOOL_EXPORT basic_service {
public:
    using layout = Layout;
    using handle_type = handle<void, Layout>;
    using pool_type = any_pool<Layout>;
    using guard_type = access_guard<Policy>;

    template <class T, class PoolPolicy = Policy, template <class> class Freelist = fifo_freelist>
    using pool_of = pool<T, Layout, PoolPolicy, Freelist>;
    using raw_pool_type = raw_pool<Layout, Policy>;

    explicit basic_service(service_options options = {});

    /// A service whose pools have the limits that the file says: see read_pool_limits, which also says what
    /// is thrown. A pool is still added by the program, which knows its type.
    static basic_service from_json(const std::filesystem::path& file, service_options options = {}) {
        options.limits = read_pool_limits(file);
        return basic_service(std::move(options));
    }

    /// Destroys all pools, the last one first, after the report of leaks. No thread may be using the service.
    ~basic_service();

    basic_service(const basic_service&) = delete;
    basic_service& operator=(const basic_service&) = delete;

    // ---- Pools: any thread, at any time; these block each other briefly, and nothing else

    /// Adds a pool, empty, and returns it; it lives as long as the service, or until it is removed. Its name
    /// is unique in the service. `options.name` is ignored. Throws std::invalid_argument when there is a pool
    /// with that name, or it is empty, and what the pool's constructor throws.
    template <class T, class PoolPolicy = Policy, template <class> class Freelist = fifo_freelist>
    pool_of<T, PoolPolicy, Freelist>& add_pool(std::string_view name, const pool_options& options = {}) {
        return add<pool_of<T, PoolPolicy, Freelist>>(name, options);
    }
    raw_pool_type& add_raw_pool(std::string_view name, const raw_type& type,
                                const pool_options& options = {}) {
        return add<raw_pool_type>(name, options, type);
    }

    /// From here on its handles are refused, and its name is free. The pool itself, and references to it,
    /// live on until the next compact() begins, which destroys it with its objects. Returns false when there
    /// is none.
    bool remove_pool(std::string_view name);

    /// The pool of this name and type, or null.
    template <class T, class PoolPolicy = Policy, template <class> class Freelist = fifo_freelist>
    pool_of<T, PoolPolicy, Freelist>* find_pool(std::string_view name) {
        pool_type* const found = find_any_pool(name);
        return found == nullptr ? nullptr : found->template as<pool_of<T, PoolPolicy, Freelist>>();
    }
    /// The pool of this name, or null.
    pool_type* find_any_pool(std::string_view name);

    /// Pools in the service.
    std::size_t size() const;

    /// The pools that the configuration names and the program did not add: misspelt ones, for example.
    std::vector<std::string> unused_limits() const;

    /// `hook(handle, object)` is called for each object of the pool just before it is destroyed; see
    /// pool::on_erase. Not while a compaction of that pool runs.
    template <class Pool, class Hook>
    void on_erase(Pool& pool, Hook hook) {
        pool.on_erase(std::move(hook));
    }

    // ---- Handles: any thread, at any time. Wait-free and constant, but for those that make a string, which
    // are lock-free. A handle of no pool, of a removed one or of another service's is stale. Only this must
    // not be: a call that began before its handle's pool was removed, and still goes on when the compaction
    // that destroys the pool begins; who is not ordered with the frames rules it out by a guard.

    bool contains(handle_type handle) const noexcept {
        const pool_type* const owner = route(handle);
        return owner != nullptr && owner->contains(handle);
    }
    bool erase(handle_type handle) noexcept {
        pool_type* const owner = route(handle);
        return owner != nullptr && owner->erase(handle);
    }

    /// The handle's pool, alive or not as its object may be; null when the service has none with its id.
    pool_type* route(handle_type handle) const noexcept {
        // (18) acquire: pairs with (17), so that the pool is seen complete
        return routes_[Layout::pool_id_of(handle.tag())].load(std::memory_order::acquire);
    }

    /// The handle with its type, or the null handle when its pool is not one of T.
    template <class T>
    handle<T, Layout> handle_cast(handle_type untyped) const noexcept {
        const pool_type* const owner = route(untyped);
        return owner != nullptr && owner->template holds<T>() ? handle<T, Layout>::from_value(untyped.value())
                                                              : handle<T, Layout>();
    }

    /// The object, within the frame contract; null when the handle is stale, or its pool is not one of T.
    template <class T>
    T* find(handle_type handle) const noexcept {
        pool_type* const owner = route(handle);
        return owner != nullptr && owner->template holds<T>() ? static_cast<T*>(owner->find(handle))
                                                              : nullptr;
    }

    /// Name of the handle's pool; empty when there is none.
    std::string name_of(handle_type handle) const {
        const pool_type* const owner = route(handle);
        return owner == nullptr ? std::string() : owner->name();
    }

    /// What is known of a handle, for people: "ships #1021 generation 7: erased 3 frames ago".
    std::string describe(handle_type handle) const;

    /// Holds the service's compaction off while it lives, like pool::access.
    [[nodiscard]] guard_type access();

    // ---- Frames: one thread at a time

    /// The per-frame task of all pools: destroys the removed ones, and compacts those that have something to
    /// do, one after the other in the order in which they were added, each with `executor`. Waits for access
    /// guards. Linear in removals and newborns, and in the pools and their lanes. Throws compaction_conflict
    /// when a compaction of the service is running or the calling thread holds a guard of it; when that is so
    /// for one of its pools, after the others were compacted.
    service_compaction compact() { return compact(inline_executor()); }
    service_compaction compact(executor_ref executor);
    template <executor Executor>
    service_compaction compact(Executor&& executor) {
        return compact(executor_ref(executor));
    }

    /// The same, but never waits: returns nothing when a guard of the service is held, and leaves those pools
    /// out whose guards are held.
    std::optional<service_compaction> try_compact() { return try_compact(inline_executor()); }
    std::optional<service_compaction> try_compact(executor_ref executor);
    template <executor Executor>
    std::optional<service_compaction> try_compact(Executor&& executor) {
        return try_compact(executor_ref(executor));
    }

    /// Compactions so far. Any thread.
    std::uint64_t frames() const noexcept { return frames_.load(std::memory_order::relaxed); }

    // ---- Views: any thread, at any time; these block adding and removing pools

    service_stats stats() const;

    /// The pools that hold objects, and the oldest of them, `most` each. Removed pools are not among them:
    /// they were let go with all that they held.
    std::vector<pool_leak> leaks(std::size_t most = 5) const;

private:
    template <class Pool, class... Args>
    Pool& add(std::string_view name, const pool_options& options, const Args&... args);
    template <class Compact>
    service_compaction compact_all(Compact compact_one);
    lane<Policy>& lane_or_throw();

    service_options options_;

    lane_table<Policy> lanes_;
    access_gate<Policy> gate_;

    // By pool id.
    typename Policy::template array<typename Policy::template atomic<pool_type*>> routes_;

    mutable typename Policy::mutex mutex_;          // for what follows
    std::vector<std::unique_ptr<pool_type>> pools_; // in the order in which they were added
    std::map<std::string, pool_type*, std::less<>> by_name_;
    std::vector<std::unique_ptr<pool_type>> removed_;           // until the next compaction
    std::set<std::string, std::less<>> limits_taken_;           // by a pool
    typename Policy::template plain<std::uint64_t> changes_{0}; // of pools_

    // Compaction's copy of pools_, and the changes it has.
    std::vector<pool_type*> frame_pools_;
    typename Policy::template plain<std::uint64_t> frame_changes_{0};
    typename Policy::template atomic<std::uint64_t> frames_{0};
};

using service = basic_service<default_layout>;

extern template class basic_service<default_layout>;

// ---------------------------------------------------------------------------------------------------------------

template <class Layout, class Policy>
basic_service<Layout, Policy>::basic_service(service_options options)
    : options_(std::move(options)),
      lanes_("service lanes", options_.max_threads),
      gate_(lanes_, "service"),
      routes_("service routes", std::size_t{Layout::pool_id_mask} + 1, 0) {}

template <class Layout, class Policy>
basic_service<Layout, Policy>::~basic_service() {
    if (options_.report_leaks) {
        if (const auto found = leaks(); !found.empty()) {
            options_.report_leaks(to_text(found));
        }
    }
    // Each is unhooked before its objects are destroyed, which may still ask the service, and remove pools.
    while (!removed_.empty() || !pools_.empty()) {
        std::exchange(removed_, {}).clear();
        if (!pools_.empty()) {
            remove_pool(std::string(pools_.back()->name()));
        }
    }
}

template <class Layout, class Policy>
template <class Pool, class... Args>
Pool& basic_service<Layout, Policy>::add(std::string_view name, const pool_options& options,
                                         const Args&... args) {
    if (name.empty()) {
        throw std::invalid_argument("handlepool: a pool of a service needs a name");
    }
    const auto already_there = [&] {
        return std::invalid_argument("handlepool: the service has a pool '" + std::string(name) +
                                     "' already");
    };
    pool_options wanted = options;
    wanted.name = name;
    std::string source;
    {
        const std::scoped_lock lock(mutex_);
        if (by_name_.contains(name)) {
            throw already_there();
        }
        if (const auto limits = options_.limits.find(name); limits != options_.limits.end()) {
            wanted = limits->second.applied_to(std::move(wanted));
            source = limits->second.source;
        }
    }
    // Not under the lock: it asks the system for address space.
    std::unique_ptr<pool_as_any<Pool>> made;
    try {
        made = std::make_unique<pool_as_any<Pool>>(wanted, args...);
    } catch (const std::invalid_argument& refusal) {
        throw std::invalid_argument(
            source.empty() ? std::string(refusal.what())
                           : std::string(refusal.what()).append(" (limits from ").append(source).append(")"));
    }
    Pool& result = made->get();

    const std::scoped_lock lock(mutex_);
    pools_.reserve(pools_.size() + 1);
    limits_taken_.insert(wanted.name);
    if (!by_name_.try_emplace(wanted.name, made.get()).second) {
        throw already_there();
    }
    // (17) release: pairs with (18)
    routes_[made->id()].store(made.get(), std::memory_order::release);
    pools_.push_back(std::move(made));
    changes_ = changes_ + 1;
    return result;
}

template <class Layout, class Policy>
bool basic_service<Layout, Policy>::remove_pool(std::string_view name) {
    const std::scoped_lock lock(mutex_);
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) {
        return false;
    }
    removed_.reserve(removed_.size() + 1); // what follows can't fail
    const auto position =
        std::ranges::find(pools_, found->second, [](const auto& owned) { return owned.get(); });
    routes_[found->second->id()].store(nullptr, std::memory_order::relaxed);
    removed_.push_back(std::move(*position));
    pools_.erase(position);
    by_name_.erase(found);
    changes_ = changes_ + 1;
    return true;
}

template <class Layout, class Policy>
auto basic_service<Layout, Policy>::find_any_pool(std::string_view name) -> pool_type* {
    const std::scoped_lock lock(mutex_);
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
}

template <class Layout, class Policy>
std::size_t basic_service<Layout, Policy>::size() const {
    const std::scoped_lock lock(mutex_);
    return pools_.size();
}

template <class Layout, class Policy>
std::vector<std::string> basic_service<Layout, Policy>::unused_limits() const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [name, limits] : options_.limits) {
        if (!limits_taken_.contains(name)) {
            names.push_back(name);
        }
    }
    return names;
}

template <class Layout, class Policy>
std::string basic_service<Layout, Policy>::describe(handle_type handle) const {
    if (!handle) {
        return "null";
    }
    if (const pool_type* const owner = route(handle)) {
        return owner->describe(handle);
    }
    return "#" + std::to_string(handle.index()) + " generation " + std::to_string(handle.generation()) +
           ": no pool of the service has pool id " + std::to_string(handle.pool_id());
}

template <class Layout, class Policy>
auto basic_service<Layout, Policy>::lane_or_throw() -> lane<Policy>& {
    lane<Policy>* const mine = lanes_.mine();
    if (mine == nullptr) {
        throw too_many_threads("service", lanes_.size());
    }
    return *mine;
}

template <class Layout, class Policy>
auto basic_service<Layout, Policy>::access() -> guard_type {
    return guard_type(gate_, lane_or_throw());
}

/// The gate is closed. Calls `compact_one(pool)` for those that have something to do.
template <class Layout, class Policy>
template <class Compact>
service_compaction basic_service<Layout, Policy>::compact_all(Compact compact_one) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::unique_ptr<pool_type>> ended;
    {
        const std::scoped_lock lock(mutex_);
        if (frame_changes_ != changes_) {
            frame_pools_.clear();
            for (const auto& owned : pools_) {
                frame_pools_.push_back(owned.get());
            }
            frame_changes_ = changes_;
        }
        ended.reserve(removed_.size()); // so that those which must wait can go back without an allocation
        ended.swap(removed_);
    }
    service_compaction sum;
    std::exception_ptr failure;
    for (std::unique_ptr<pool_type>& pool : ended) {
        try {
            if (compact_one(*pool)) { // no guard of it is held
                pool.reset();
                continue;
            }
            ++sum.skipped;
        } catch (const compaction_conflict&) {
            failure = failure ? failure : std::current_exception();
        }
        const std::scoped_lock lock(mutex_);
        removed_.push_back(std::move(pool)); // until the next time
    }
    for (pool_type* const pool : frame_pools_) {
        if (pool->idle()) {
            pool->skip_frame();
            continue;
        }
        try {
            if (const std::optional<compaction_stats> done = compact_one(*pool)) {
                ++sum.pools;
                sum.removed += done->removed;
                sum.born += done->born;
                sum.moved += done->moved;
                sum.retired += done->retired;
            } else {
                ++sum.skipped;
            }
        } catch (const compaction_conflict&) {
            failure = failure ? failure : std::current_exception();
        }
    }
    frames_.store(frames() + 1, std::memory_order::relaxed);
    if (failure) {
        std::rethrow_exception(failure);
    }
    sum.duration = std::chrono::steady_clock::now() - start;
    return sum;
}

template <class Layout, class Policy>
service_compaction basic_service<Layout, Policy>::compact(executor_ref executor) {
    gate_.close();
    const closed_gate closed(gate_);
    return compact_all([&](pool_type& pool) { return std::optional(pool.compact(executor)); });
}

template <class Layout, class Policy>
std::optional<service_compaction> basic_service<Layout, Policy>::try_compact(executor_ref executor) {
    if (!gate_.try_close()) {
        return std::nullopt;
    }
    const closed_gate closed(gate_);
    return compact_all([&](pool_type& pool) { return pool.try_compact(executor); });
}

template <class Layout, class Policy>
service_stats basic_service<Layout, Policy>::stats() const {
    const std::scoped_lock lock(mutex_);
    service_stats view;
    view.frames = frames();
    for (const auto& owned : pools_) {
        view.pools.push_back(owned->stats());
    }
    return view;
}

template <class Layout, class Policy>
std::vector<pool_leak> basic_service<Layout, Policy>::leaks(std::size_t most) const {
    const std::scoped_lock lock(mutex_);
    std::vector<pool_leak> found;
    for (const auto& owned : pools_) {
        if (const std::size_t objects = owned->size(); objects != 0) {
            pool_leak leak{.pool = owned->name(), .objects = objects, .oldest = {}};
            for (const handle_type handle : owned->oldest(most)) {
                leak.oldest.push_back(owned->describe(handle));
            }
            found.push_back(std::move(leak));
        }
    }
    return found;
}

} // namespace handlepool
