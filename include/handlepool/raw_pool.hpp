// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/objects/object_type.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/placement.hpp>
#include <handlepool/pool_frames.hpp>
#include <handlepool/pool_options.hpp>
#include <handlepool/raw_type.hpp>
#include <handlepool/traits.hpp>

#include <concepts>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

namespace handlepool {

/// Objects in a row, each `stride` bytes after the one before, like a span. Void is void or const void.
template <class Void>
class basic_raw_items {
    using byte = std::conditional_t<std::is_const_v<Void>, const std::byte, std::byte>;

public:
    /// `count` objects, of which `first` is the first.
    basic_raw_items(Void* first, std::size_t stride, std::size_t count) noexcept
        : first_(static_cast<byte*>(first)), stride_(stride), count_(count) {}

    /// The object at a position, which must be below size().
    Void* operator[](std::size_t position) const noexcept { return first_ + position * stride_; }

    /// The first object.
    Void* data() const noexcept { return first_; }

    /// Bytes from one object to the next.
    std::size_t stride() const noexcept { return stride_; }

    /// The number of objects, and whether it is 0.
    std::size_t size() const noexcept { return count_; }
    bool empty() const noexcept { return count_ == 0; }

private:
    byte* first_;
    std::size_t stride_;
    std::size_t count_;
};

/// The ranges that items() and mutable_items() of a raw_pool return.
using raw_items = basic_raw_items<const void>;
using mutable_raw_items = basic_raw_items<void>;

/// A pool whose objects are of a type that the program learns of at run time: pool, with `void*` for
/// references and untyped handles. Results, threads, progress, errors and costs are those of pool's function
/// of the same name. It has no insert, emplace_n and iterators, which need the type.
/// Where `construct` is left out, all bytes of the object are zero.
template <class Traits>
class raw_pool : public detail::interface_of<void, Traits> {
    static_assert(!std::is_same_v<typename Traits::placement, recycling_placement>,
                  "a type that is known at run time says how objects end, not how they are cleared");
    using base = detail::interface_of<void, Traits>;
    using base::core;
    using base::dense;
    using base::from_here;

public:
    using typename base::entry_type;
    using typename base::handle_type;

    /// An empty pool. Throws like the constructor of pool, and std::invalid_argument for a type that can't
    /// have objects.
    raw_pool(const pool_options& options, const raw_type& type)
        requires(!base::is_view)
        : base(options, detail::object_type<void>(detail::checked_raw_type(type, options.name))) {}

    /// Destroys all objects. No other thread may be using the pool.
    ~raw_pool() = default;

    /// For exclusive_access(), and for a spawner.
    explicit raw_pool(typename base::view_origin of)
        requires(base::is_view)
        : base(of) {}

    /// Explains why no pool can have these options, or objects of this type; empty when one can.
    static std::string validate(const pool_options& options, const raw_type& type) {
        std::string error = detail::validate(type, options.name);
        return error.empty() ? base::core_type::validate(options) : error;
    }

    /// The type that the pool was made with. Any thread, at any time; wait-free, constant.
    const raw_type& object_type_description() const noexcept { return core().type().description(); }

    // ---- Handles: any thread, at any time, also while a compaction runs

    /// Creates an object by `construct(memory)` and returns its handle. `construct` may throw, and then
    /// nothing has changed.
    template <class Construct>
        requires std::invocable<Construct&, void*>
    HANDLEPOOL_ALWAYS_INLINE handle_type emplace(Construct&& construct) {
        return base::made_or_throw(try_emplace(std::forward<Construct>(construct)));
    }
    HANDLEPOOL_ALWAYS_INLINE handle_type emplace() { return emplace(zeros()); }

    /// Like emplace(), but returns the null handle where that throws an error of its own; then `construct`
    /// was not called.
    template <class Construct>
        requires std::invocable<Construct&, void*>
    HANDLEPOOL_ALWAYS_INLINE handle_type try_emplace(Construct&& construct) {
        return handle_type::from_value(core().create(construct, from_here()));
    }
    HANDLEPOOL_ALWAYS_INLINE handle_type try_emplace() { return try_emplace(zeros()); }

    /// Like emplace(), but returns the object's address too, which is valid within the frame contract.
    template <class Construct>
        requires std::invocable<Construct&, void*>
    HANDLEPOOL_ALWAYS_INLINE entry_type emplace_entry(Construct&& construct) {
        return base::entry_of(emplace(std::forward<Construct>(construct)));
    }
    HANDLEPOOL_ALWAYS_INLINE entry_type emplace_entry() { return emplace_entry(zeros()); }

    /// Creates an object by `construct(memory, handle)`, where the handle is the one that it will have.
    template <class Construct>
        requires std::invocable<Construct&, void*, handle_type>
    HANDLEPOOL_ALWAYS_INLINE handle_type emplace_with(Construct&& construct) {
        return base::made_or_throw(try_emplace_with(std::forward<Construct>(construct)));
    }
    template <class Construct>
        requires std::invocable<Construct&, void*, handle_type>
    HANDLEPOOL_ALWAYS_INLINE handle_type try_emplace_with(Construct&& construct) {
        return handle_type::from_value(core().create_with(
            [&](void* memory, auto value) { construct(memory, handle_type::from_value(value)); },
            from_here()));
    }

    // ---- Handles before objects: any thread, at any time, also while a compaction runs

    /// Creates the object of a reserved handle by `construct(memory)`. When `construct` throws, the handle is
    /// still reserved.
    template <class Construct>
        requires std::invocable<Construct&, void*>
    HANDLEPOOL_ALWAYS_INLINE void fulfill(handle_type handle, Construct&& construct) {
        base::fulfill_or_throw(handle, construct, from_here());
    }
    HANDLEPOOL_ALWAYS_INLINE void fulfill(handle_type handle) { fulfill(handle, zeros()); }

    /// Like fulfill(), but returns false where that throws an error of its own; then `construct` was not
    /// called.
    template <class Construct>
        requires std::invocable<Construct&, void*>
    HANDLEPOOL_ALWAYS_INLINE bool try_fulfill(handle_type handle, Construct&& construct) {
        return base::fulfilled(handle, construct, from_here());
    }
    HANDLEPOOL_ALWAYS_INLINE bool try_fulfill(handle_type handle) { return try_fulfill(handle, zeros()); }

    // ---- Objects: within the frame contract

    /// The dense store: the objects that were alive at the last compaction. To change them, mutable_items().
    raw_items items() const noexcept
        requires dense
    {
        return {core().store().first(), core().type().stride(), core().store().dense_size()};
    }
    mutable_raw_items mutable_items() noexcept
        requires dense
    {
        return {core().store().first(), core().type().stride(), core().store().dense_size()};
    }

    /// The handle of an object of this pool; null for an address that is not in the pool.
    handle_type handle_of(const void* object) const noexcept {
        return handle_type::from_value(core().store().handle_of(object));
    }

    /// Calls `visit(object)` for each object of the store; with an executor for ranges of them at the same
    /// time.
    template <std::invocable<void*> Visit, executor Executor = inline_executor>
    void for_each(Visit visit, Executor&& executor = Executor()) {
        core().store().for_each(executor, visit);
    }

private:
    auto zeros() const noexcept {
        return
            [size = object_type_description().size](void* memory) noexcept { std::memset(memory, 0, size); };
    }
};

} // namespace handlepool
