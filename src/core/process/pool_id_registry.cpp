// SPDX-License-Identifier: MIT
#include "pool_id_registry.hpp"

#include "at_fork.hpp"
#include "process_state.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/error.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace handlepool::detail {

/// The registries of the process, under its mutex.
class pool_id_registries {
public:
    using map = std::map<std::array<unsigned, 3>, pool_id_registry>;

    static map& of_process() {
        if (this_process.registries == nullptr) {
            this_process.registries = new map;
            // A child of fork has a copy of the registries, and none of the threads that might be in them:
            // the one that calls fork takes all locks before, so that nobody is. Where the system has no
            // memory to note that, a child may find a registry locked for ever.
            at_fork(lock_all, unlock_all);
        }
        return *this_process.registries;
    }

private:
    static void lock_all() {
        this_process.registries_mutex.lock();
        for (auto& [widths, registry] : of_process()) {
            registry.mutex_.lock();
        }
    }
    static void unlock_all() {
        for (auto& [widths, registry] : of_process()) {
            registry.mutex_.unlock();
        }
        this_process.registries_mutex.unlock();
    }
};

void make_registries() {
    const std::scoped_lock lock(this_process.registries_mutex);
    pool_id_registries::of_process();
}

pool_id_registry& pool_ids_of_layout(unsigned index_bits, unsigned generation_bits, unsigned pool_id_bits) {
    const auto mask = [](unsigned bits) {
        return static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1);
    };
    const std::scoped_lock lock(this_process.registries_mutex);
    return pool_id_registries::of_process()
        .try_emplace({index_bits, generation_bits, pool_id_bits}, mask(pool_id_bits),
                     mask(generation_bits) - 2)
        .first->second;
}

pool_id_lease pool_id_registry::acquire(std::optional<unsigned> wanted, std::string_view pool) {
    const std::scoped_lock lock(mutex_);
    if (wanted) {
        if (*wanted > id_mask_) {
            throw_exception(std::invalid_argument(quoted_pool(pool) + ": pool_id " + std::to_string(*wanted) +
                                                  " does not fit the handle's layout; allowed are 0 to " +
                                                  std::to_string(id_mask_)));
        }
        return lease(*wanted, pool);
    }
    while (fresh_left_) {
        const bool unused = !records_.contains(next_fresh_);
        const pool_id_lease fresh = unused ? lease(next_fresh_, pool) : pool_id_lease{};
        fresh_left_ = next_fresh_ != id_mask_;
        ++next_fresh_;
        if (unused) {
            return fresh;
        }
    }
    if (given_back_.empty()) {
        throw_exception(std::runtime_error(
            quoted_pool(pool) + ": no pool id is left; the handle's layout has " +
            std::to_string(std::uint64_t{id_mask_} + 1) + ", each taken by a living pool or used up"));
    }
    return lease(given_back_.front(), pool);
}

pool_id_lease pool_id_registry::lease(std::uint32_t id, std::string_view pool) {
    // Before anything changes.
    std::string user(pool);
    std::list<std::uint32_t> own_place(1, id);
    const auto [found, is_new] = records_.try_emplace(id);
    record& entry = found->second;
    if (entry.in_use) {
        throw_exception(std::invalid_argument(quoted_pool(pool) + ": pool_id " + std::to_string(id) +
                                              " is taken by the living " + quoted_pool(entry.user) +
                                              "; leave pool_id out to get a free one"));
    }
    if (is_used_up(entry)) {
        throw_exception(
            std::invalid_argument(quoted_pool(pool) + ": pool_id " + std::to_string(id) +
                                  " is used up by former pools; leave pool_id out to get a free one"));
    }
    if (is_new) {
        entry.not_given_back.swap(own_place);
    } else { // the first one, unless it was wanted
        entry.not_given_back.splice(entry.not_given_back.end(), given_back_,
                                    std::find(given_back_.begin(), given_back_.end(), id));
    }
    entry.user = std::move(user);
    entry.in_use = true;
    return {id, entry.generation};
}

void pool_id_registry::release(std::uint32_t id, std::uint32_t next_generation) noexcept {
    const std::scoped_lock lock(mutex_);
    record& entry = records_[id];
    entry.in_use = false;
    entry.user.clear();
    entry.generation = next_generation;
    if (!is_used_up(entry)) {
        given_back_.splice(given_back_.end(), entry.not_given_back);
    }
}

pool_id_holder::pool_id_holder(pool_id_registry& registry, std::optional<unsigned> wanted,
                               std::string_view pool)
    : registry_(registry),
      lease_(registry.acquire(wanted, pool)),
      next_generation_(lease_.first_generation) {}

pool_id_holder::~pool_id_holder() {
    registry_.release(lease_.id, next_generation_);
}

} // namespace handlepool::detail
