// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/any_pool.hpp>
#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/mutex.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/service/any_pool_adaptor.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/policy.hpp>
#include <handlepool/pool_limits.hpp>
#include <handlepool/pool_options.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// The way from a handle to its pool: a pointer for each pool id. Any number of threads look up while one
/// changes it; all functions are wait-free and constant.
template <class Layout, class Policy>
class route_table {
public:
    using pool_type = any_pool<Layout>;
    using handle_type = handle<void, Layout>;

    explicit route_table(const allocation_label& what_for)
        : routes_(what_for, std::size_t{Layout::pool_id_mask} + 1, 0) {}

    /// The pool with the handle's pool id, or null.
    pool_type* find(handle_type handle) const noexcept {
        // (18) acquire: pairs with (17), so that the pool is seen complete
        return routes_[Layout::pool_id_of(handle.tag())].load(std::memory_order::acquire);
    }

    void add(pool_type& pool) noexcept {
        // (17) release: pairs with (18)
        routes_[pool.id()].store(&pool, std::memory_order::release);
    }
    void remove(const pool_type& pool) noexcept {
        routes_[pool.id()].store(nullptr, std::memory_order::relaxed);
    }

private:
    // By pool id.
    typename Policy::template array<typename Policy::template atomic<pool_type*>> routes_;
};

/// The pools of a service: owns them, and finds them by name and by the pool id inside a handle. A pool that
/// is removed can't be found from then on, but lives until a compaction ends it, and at least until all views
/// that it is in are gone.
///
/// Unless noted otherwise, any thread may call any function; but for route(), they block each other briefly.
template <class Layout, class Policy>
class HANDLEPOOL_EXPORT pool_directory {
public:
    using pool_type = any_pool<Layout>;
    using handle_type = handle<void, Layout>;
    using pool_list = std::vector<pool_type*>;
    class view;

    /// `limits` override the options that pools are added with, by their names.
    explicit pool_directory(limits_by_pool limits) : limits_(std::move(limits)), routes_("service routes") {}

    /// Adds a pool. Returns null and puts the reason into `error` when the name, the options or the type are
    /// refused.
    template <class Pool, class... Args>
    Pool* try_add(std::string& error, std::string_view name, const pool_options& options,
                  const Args&... args);

    /// Removes a pool. Returns false when there is no such pool.
    bool remove(std::string_view name);

    pool_type* find(std::string_view name) const;

    /// The pool with the handle's pool id, or null. Wait-free.
    pool_type* route(handle_type handle) const noexcept { return routes_.find(handle); }

    std::size_t size() const;

    /// Names of limits that no pool ever had.
    std::vector<std::string> unused_limits() const;

    /// Destroys all pools, the last one first. Their objects may still use the directory, but no other thread
    /// may. Needs no memory.
    void destroy_all() {
        while (take_next_to_end() != nullptr) { // and ends it here, where the mutex is free
        }
    }

    // ---- Compaction: one thread at a time

    /// A pool that is in no list from version `since` on.
    struct removed_pool {
        std::unique_ptr<pool_type> pool;
        std::uint64_t since = 0;
    };

    /// Takes the pools that there are now, and with them the removed ones that no view sees. Keeps the last
    /// frame's list if that would have to wait for the mutex and `may_wait` is false.
    void begin_frame(bool may_wait);
    const pool_list& of_frame() const noexcept { return *of_frame_; }
    /// Removed pools, of which the caller erases those that it has ended. They are nobody else's, so their
    /// objects may use the directory while they end.
    std::list<removed_pool>& ending() noexcept { return ending_; }

private:
    using lock_type = std::unique_lock<typename Policy::mutex>;
    using name_map = std::map<std::string, pool_type*, std::less<>>;

    /// Returns whether there is a pool of that name, and says so in `error`. The mutex is locked.
    bool is_taken(std::string_view name, std::string& error) const {
        if (!by_name_.contains(name)) {
            return false;
        }
        error = "handlepool: the service has a " + quoted_pool(name) + " already";
        return true;
    }

    /// Takes a pool that is in no list any more out of everything else. Can't fail. The mutex is locked.
    std::unique_ptr<pool_type> take_out(typename name_map::iterator found);

    /// Takes a removed pool, or when there is none the last one, which from here on can't be found. Null when
    /// there is none either.
    std::unique_ptr<pool_type> take_next_to_end();

    const limits_by_pool limits_;
    route_table<Layout, Policy> routes_;

    // Held briefly, for what follows.
    mutable typename Policy::mutex mutex_;
    std::vector<std::unique_ptr<pool_type>> pools_; // in the order in which they were added
    name_map by_name_;
    std::set<std::string, std::less<>> limits_used_;                  // by a pool of their name
    std::list<removed_pool> removed_;                                 // until a compaction takes them
    std::shared_ptr<pool_list> list_ = std::make_shared<pool_list>(); // of pools_; others may share it
    std::uint64_t version_ = 0;                                       // of list_
    mutable std::map<std::uint64_t, std::size_t> views_; // that live, by the version that they see

    // Compaction's.
    std::shared_ptr<const pool_list> of_frame_ = list_;
    std::list<removed_pool> ending_;
};

/// The pools of a directory at one moment, none of which is destroyed while the view lives.
template <class Layout, class Policy>
class pool_directory<Layout, Policy>::view {
public:
    explicit view(const pool_directory& whose) : directory_(whose) {
        const lock_type lock(directory_.mutex_);
        ++directory_.views_[directory_.version_]; // may throw
        list_ = directory_.list_;
        version_ = directory_.version_;
    }
    ~view() {
        const lock_type lock(directory_.mutex_);
        if (const auto mine = directory_.views_.find(version_); --mine->second == 0) {
            directory_.views_.erase(mine);
        }
    }

    view(const view&) = delete;
    view& operator=(const view&) = delete;

    const pool_list& pools() const noexcept { return *list_; }

private:
    const pool_directory& directory_;
    std::shared_ptr<const pool_list> list_;
    std::uint64_t version_ = 0;
};

extern template class pool_directory<default_layout, default_policy>;

// -----------------------------------------------------------------------------------------------------------

template <class Layout, class Policy>
template <class Pool, class... Args>
Pool* pool_directory<Layout, Policy>::try_add(std::string& error, std::string_view name,
                                              const pool_options& options, const Args&... args) {
    if (name.empty()) {
        error = "handlepool: a pool of a service needs a name";
        return nullptr;
    }
    if (const lock_type lock(mutex_); is_taken(name, error)) {
        return nullptr;
    }
    pool_options wanted = options;
    wanted.name = name;
    if (const auto limits = limits_.find(name); limits != limits_.end()) {
        wanted = limits->second.applied_to(std::move(wanted));
    }
    if (std::string refusal = Pool::validate(wanted, args...); !refusal.empty()) {
        error = std::move(refusal);
        return nullptr;
    }
    // Not under the lock: it asks the system for address space.
    auto made = std::make_unique<any_pool_adaptor<Pool>>(wanted, args...);
    Pool& result = made->get();

    const lock_type lock(mutex_);
    if (is_taken(name, error)) {
        return nullptr;
    }
    auto list = std::make_shared<pool_list>(*list_);
    list->push_back(made.get());
    pools_.reserve(pools_.size() + 1);
    std::set<std::string, std::less<>> used;
    if (limits_.contains(name)) {
        used.insert(wanted.name);
    }
    by_name_.try_emplace(wanted.name, made.get());
    // What follows can't fail.
    limits_used_.merge(used);
    list_ = std::move(list);
    routes_.add(*made);
    pools_.push_back(std::move(made));
    ++version_;
    return &result;
}

template <class Layout, class Policy>
bool pool_directory<Layout, Policy>::remove(std::string_view name) {
    const lock_type lock(mutex_);
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) {
        return false;
    }
    auto list = std::make_shared<pool_list>(*list_);
    std::erase(*list, found->second);
    removed_.emplace_back();
    // What follows can't fail.
    list_ = std::move(list);
    removed_.back() = {take_out(found), ++version_};
    return true;
}

template <class Layout, class Policy>
auto pool_directory<Layout, Policy>::take_out(typename name_map::iterator found)
    -> std::unique_ptr<pool_type> {
    const auto position =
        std::ranges::find(pools_, found->second, [](const auto& owned) { return owned.get(); });
    std::unique_ptr<pool_type> taken = std::move(*position);
    routes_.remove(*taken);
    pools_.erase(position);
    by_name_.erase(found);
    return taken;
}

template <class Layout, class Policy>
auto pool_directory<Layout, Policy>::find(std::string_view name) const -> pool_type* {
    const lock_type lock(mutex_);
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
}

template <class Layout, class Policy>
std::size_t pool_directory<Layout, Policy>::size() const {
    const lock_type lock(mutex_);
    return pools_.size();
}

template <class Layout, class Policy>
std::vector<std::string> pool_directory<Layout, Policy>::unused_limits() const {
    const lock_type lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [name, limits] : limits_) {
        if (!limits_used_.contains(name)) {
            names.push_back(name);
        }
    }
    return names;
}

template <class Layout, class Policy>
auto pool_directory<Layout, Policy>::take_next_to_end() -> std::unique_ptr<pool_type> {
    const lock_type lock(mutex_);
    for (std::list<removed_pool>* const removed : {&ending_, &removed_}) {
        if (!removed->empty()) {
            std::unique_ptr<pool_type> taken = std::move(removed->front().pool);
            removed->pop_front();
            return taken;
        }
    }
    if (pools_.empty()) {
        return nullptr;
    }
    list_->pop_back(); // from the list itself: a new one would need memory, and nobody reads this one now
    ++version_;
    return take_out(by_name_.find(pools_.back()->name()));
}

template <class Layout, class Policy>
void pool_directory<Layout, Policy>::begin_frame(bool may_wait) {
    const lock_type lock = may_wait ? lock_type(mutex_) : lock_type(mutex_, std::try_to_lock);
    if (!lock) {
        return;
    }
    // Both at once: no pool of the list is destroyed before the list is taken anew.
    of_frame_ = list_;
    // Those that a view sees live on; one that begins later doesn't find them.
    const std::uint64_t oldest = views_.empty() ? version_ : views_.begin()->first;
    ending_.splice(
        ending_.end(), removed_, removed_.begin(),
        std::ranges::find_if(removed_, [oldest](const removed_pool& one) { return one.since > oldest; }));
}

} // namespace handlepool::detail
