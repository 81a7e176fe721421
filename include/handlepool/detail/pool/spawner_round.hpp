// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/access_guard.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/pool/pool_impl.hpp>
#include <handlepool/detail/pool/spawner_refusal.hpp>
#include <handlepool/detail/pool/whole_pool.hpp>
#include <handlepool/detail/recorder/caller.hpp>
#include <handlepool/freelist.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// The spawners of a pool for a part of a frame: what the pool has room for is dealt out to them, and a guard
/// keeps compactions off until they end.
///
/// ```
///              guard ──────────────────────────────┐
///   compaction ──▶ room is dealt out ──▶ tasks ──▶ deferred calls, what is left goes back ──▶ compaction
/// ```
template <class T, class Config>
class spawner_round {
    using pool_type = pool_impl<T, Config>;
    using policy = typename Config::policy;
    using shard_type = shard<policy>;

    static_assert(dealable_freelist<typename Config::freelist>,
                  "spawners need a freelist whose indices can be dealt out, such as fifo_freelist");

public:
    /// With a spawner for each weight. Throws std::invalid_argument, spawner_conflict, std::bad_alloc, and
    /// what access() throws.
    spawner_round(pool_type& pool, std::span<const std::uint32_t> weights, caller who)
        : pool_(pool), whole_(pool.whole()), calls_(weights.size()) {
        expect_weights(pool.name(), pool.geometry().spawners, weights);
        guard_ = pool.access(who);
        open(weights);
    }
    ~spawner_round() { close(); }

    spawner_round(const spawner_round&) = delete;
    spawner_round& operator=(const spawner_round&) = delete;

    pool_type& pool() const noexcept { return pool_; }
    std::size_t size() const noexcept { return calls_.size(); }
    shard_type& shard_of(std::size_t spawner) const noexcept {
        return whole_.parts.shard_of_spawner(spawner);
    }

    /// Whether the spawners may be used: also by what is called when they end.
    bool is_open() const noexcept { return bool(guard_); }
    /// Throws spawner_conflict, unless they may.
    void expect_open(std::size_t spawner) const {
        if (!is_open()) [[unlikely]] {
            throw_spawner_ended(pool_.name(), spawner);
        }
    }

    /// How many objects a spawner can still create.
    std::size_t left_to(std::size_t spawner) const noexcept {
        return !is_open() ? 0 : whole_.parts.allocator.left_to(shard_of(spawner));
    }

    /// Has close() call `function()`: first what the first spawner was given, in that order. One thread at a
    /// time for each. Throws std::bad_alloc, and what moving the function throws.
    template <class Function>
    void defer(std::size_t spawner, Function function) {
        calls_[spawner].push_back(std::make_unique<call_of<Function>>(std::move(function)));
    }

    /// No task uses a spawner any more.
    void close() noexcept {
        if (!is_open() || is_closing_) {
            return;
        }
        is_closing_ = true;
        for (bool any = true; any;) { // what is called may defer more
            any = false;
            for (auto& calls : calls_) {
                for (std::size_t i = 0; i != calls.size(); ++i) {
                    const std::unique_ptr<call> next = std::move(calls[i]);
                    next->run();
                    any = true;
                }
                calls.clear();
            }
        }
        take_back();
        guard_.reset();
    }

private:
    struct call {
        virtual ~call() = default;
        virtual void run() = 0;
    };
    template <class Function>
    struct call_of final : call {
        explicit call_of(Function&& moved) : function(std::move(moved)) {}
        void run() override { static_cast<void>(function()); }
        Function function;
    };

    /// Deals out what there is room for. Throws spawner_conflict and std::bad_alloc.
    void open(std::span<const std::uint32_t> weights) {
        if (whole_.has_spawners.exchange(true, std::memory_order::relaxed)) {
            throw_spawners_live(pool_.name());
        }
        const auto thrown = capture_exception([&] {
            whole_.parts.newborns.open_deal(weights);
            whole_.parts.allocator.open_deal(weights);
        });
        if (thrown) {
            whole_.parts.newborns.close_deal();
            whole_.has_spawners.store(false, std::memory_order::relaxed);
            std::rethrow_exception(thrown);
        }
    }
    /// Takes back what the spawners have not used.
    void take_back() noexcept {
        for (std::size_t i = 0; i != size(); ++i) {
            whole_.parts.allocator.take_back(shard_of(i));
        }
        whole_.parts.allocator.close_deal();
        whole_.parts.newborns.close_deal();
        whole_.has_spawners.store(false, std::memory_order::relaxed);
    }

    pool_type& pool_;
    whole_pool<T, Config>& whole_;
    access_guard<policy> guard_;
    std::vector<std::vector<std::unique_ptr<call>>> calls_;
    bool is_closing_ = false;
};

} // namespace handlepool::detail
