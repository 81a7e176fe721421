// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/pool/spawner_core.hpp>
#include <handlepool/detail/pool/spawner_round.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/pool_frames.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool {

/// Traits of a pool as a spawner has it: those of `Traits` otherwise.
template <class Traits>
struct spawning : Traits {};

/// What one task creates and erases with, so that the outcome of a frame does not depend on the scheduler:
///
///     auto spawners = ships.spawners(tasks);
///     spawners.for_each([&](auto& spawner) { task(spawner.number(), spawner); }, executor);
///     spawners.close();
///     ships.compact();
///
/// If each task does the same with its own spawner in each run, then handles, the order of the store,
/// records, the order of hooks and the content are the same, bit for bit, with any number of threads. It has
/// the functions of the pool, so that a function template that takes a `pool<T, Traits>&` takes it too. It
/// differs in this:
///
/// - One task at a time uses it. It belongs to no thread, and passes from one to another like any object.
/// - What it creates resolves at once for everybody who knows the handle. Its share of the pool's room was
///   dealt out before; when that is used up, it throws spawner_exhausted, whatever the others have left.
///   When a constructor throws, the handle is spent for this frame.
/// - erase(), extract() and revoke() leave it to the next compaction: until then the object is alive for all.
///   They return whether it is, or the handle that it will have, and several tasks may be told so of one
///   object. The compaction revokes first; then what the first spawner has asked for ends the object, and of
///   one spawner what came first. They throw std::bad_alloc.
/// - Handles that several tasks know may be asked for at any time, but find a new object when its task has
///   got so far: so only the task that has created or reserved a handle asks for it in the same frame. The
///   same holds for size(), and for cancel() and fulfill() of one handle by two tasks.
/// - There are no guards, frames and hooks: these are the pool's.
///
/// Creation is wait-free but for claiming places for 64 objects or more, which is lock-free.
template <class T, class Traits>
class spawner
    : public std::conditional_t<std::is_void_v<T>, raw_pool<spawning<Traits>>, pool<T, spawning<Traits>>> {
    using base = std::conditional_t<std::is_void_v<T>, raw_pool<spawning<Traits>>, pool<T, spawning<Traits>>>;

public:
    /// For a spawner_set.
    explicit spawner(typename base::view_origin of) noexcept : base(of) {}

    /// Its number in the set.
    std::size_t number() const noexcept { return core().number(); }

    /// The objects that it can still create in this frame, as far as slots are concerned. In a stable pool
    /// its places are those of groups that were dealt out too, and can be fewer where these have few holes.
    /// Progress: wait-free, constant.
    std::size_t room() const noexcept { return core().its_round().left_to(number()); }

    /// Has `function()` called when the spawners end: those that the first spawner was given, in that order,
    /// then those of the next one. For what tasks can't do at the same time, such as adding to a set, a map,
    /// a hierarchy or a property store. It may use the spawners, and must not throw.
    /// Progress: constant, with an allocation.
    /// Throws spawner_conflict after its end, std::bad_alloc, and what moving the function throws.
    template <std::invocable Function>
    void defer(Function function) {
        core().its_round().expect_open(number());
        core().its_round().defer(number(), std::move(function));
    }

private:
    auto& core() noexcept { return detail::pool_access::core_of(*this); }
    const auto& core() const noexcept { return detail::pool_access::core_of(*this); }
};

/// The spawners of a pool, for one frame or a part of it: pool_frames::spawners() makes them. While they
/// live, no compaction runs; compact() of the thread that has made them throws compaction_conflict.
template <class T, class Traits>
class spawner_set {
    using config = detail::config_of<Traits>;
    using round_type = detail::spawner_round<T, config>;

public:
    /// A spawner, and what leads from one to the next.
    using value_type = spawner<T, Traits>;
    using iterator = value_type*;

    /// For pool_frames::spawners().
    spawner_set(detail::pool_impl<T, config>& pool, std::span<const std::uint32_t> weights,
                detail::caller who)
        : round_(std::make_unique<round_type>(pool, weights, who)),
          spawners_(std::allocator<value_type>().allocate(weights.size()), destroy{weights.size()}) {
        static_assert(noexcept(value_type(detail::spawner_origin<T, config>{*round_, 0})));
        for (std::size_t i = 0; i != weights.size(); ++i) {
            std::construct_at(&spawners_[i], detail::spawner_origin<T, config>{*round_, i});
        }
    }

    /// Take over the spawners of `other`, which has none then.
    spawner_set(spawner_set&&) noexcept = default;
    spawner_set& operator=(spawner_set&&) noexcept = default;
    /// Closes them.
    ~spawner_set() { close(); }

    /// How many there are, and each of them.
    std::size_t size() const noexcept { return round_ == nullptr ? 0 : round_->size(); }
    value_type& operator[](std::size_t number) noexcept { return spawners_[number]; }
    iterator begin() noexcept { return spawners_.get(); }
    iterator end() noexcept { return begin() + size(); }

    /// Calls `body(spawner)` for each spawner, and returns when all have returned; with an executor at the
    /// same time. The spawners are open still: for another part of the frame.
    /// Progress: blocking, with an executor.
    /// Throws std::bad_alloc before the first call; and what `body` throws: of several errors that of the
    /// first spawner, when all have been called.
    template <std::invocable<value_type&> Body, executor Executor = inline_executor>
    void for_each(Body&& body, Executor&& executor = Executor()) {
        std::vector<std::exception_ptr> thrown(size());
        executor.for_ranges(size(), 1, [&](std::size_t first, std::size_t last) noexcept {
            for (std::size_t i = first; i != last; ++i) {
                thrown[i] = detail::capture_exception([&] { body(spawners_[i]); });
            }
        });
        for (const std::exception_ptr& each : thrown) {
            if (each != nullptr) {
                std::rethrow_exception(each);
            }
        }
    }

    /// Ends the spawners, which no task uses any more: calls what was deferred, takes back what was not used,
    /// and lets compactions run. A spawner that is used later refuses. Does nothing the second time.
    /// Progress: linear in the spawners, the objects that they have created, what they were dealt before
    /// those, and the calls.
    void close() noexcept {
        if (round_ != nullptr) {
            round_->close();
        }
    }

private:
    struct destroy {
        void operator()(value_type* first) const noexcept {
            std::destroy_n(first, count);
            std::allocator<value_type>().deallocate(first, count);
        }
        std::size_t count = 0;
    };

    std::unique_ptr<round_type> round_;
    std::unique_ptr<value_type[], destroy> spawners_; // which can't be moved themselves
};

} // namespace handlepool
