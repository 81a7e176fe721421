#pragma once

#include <handlepool/detail/pool_core.hpp>
#include <handlepool/locked_object.hpp>

#include <concepts>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

namespace handlepool {

/// Objects that lie one after the other in memory, each `stride` bytes behind the one before. Void is void,
/// or const void.
template <class Void>
class basic_raw_items {
    using byte = std::conditional_t<std::is_const_v<Void>, const std::byte, std::byte>;

public:
    basic_raw_items(Void* first, std::size_t stride, std::size_t count) noexcept
        : first_(static_cast<byte*>(first)), stride_(stride), count_(count) {}

    Void* operator[](std::size_t position) const noexcept { return first_ + position * stride_; }
    Void* data() const noexcept { return first_; }
    std::size_t stride() const noexcept { return stride_; }
    std::size_t size() const noexcept { return count_; }
    bool empty() const noexcept { return count_ == 0; }

private:
    byte* first_;
    std::size_t stride_;
    std::size_t count_;
};

using raw_items = basic_raw_items<const void>;
using mutable_raw_items = basic_raw_items<void>;

/// A pool whose objects are of a type that the program learns of at run time. What is said of pool holds for
/// it, with `void*` for references and untyped handles.
template <class Layout, class Policy, template <class> class Freelist>
class raw_pool : public detail::pool_core<void, Layout, Policy, Freelist> {
    using core = detail::pool_core<void, Layout, Policy, Freelist>;

public:
    using typename core::erase_hook;
    using typename core::handle_type;

    /// Throws like the constructor of pool, and std::invalid_argument for a type that can't be.
    raw_pool(const pool_options& options, const raw_type& type)
        : core(options, detail::object_type<void>(detail::checked_raw_type(type, options.name))) {}

    /// Destroys all objects. No thread may be using the pool.
    ~raw_pool() { this->shut_down(); }

    /// Why no pool can have these options, or objects of this type; see pool_core.
    static std::string refusal_of(const pool_options& options, const raw_type& type) {
        std::string error = detail::refusal_of(type, options.name);
        return error.empty() ? core::refusal_of(options) : error;
    }

    const raw_type& object_type_description() const noexcept { return this->type().description(); }

    // ---- Handles: any thread, at any time, also while a compaction runs

    /// Creates an object, which `construct(memory)` makes, and returns its handle. Progress and errors are
    /// those of pool::emplace; `construct` may throw, and then nothing has changed.
    template <class Construct>
        requires std::invocable<Construct&, void*>
    handle_type emplace(Construct&& construct) {
        const handle_type handle = try_emplace(std::forward<Construct>(construct));
        if (!handle) {
            this->throw_refusal();
        }
        return handle;
    }
    /// The same, of bytes that are zero.
    handle_type emplace() {
        return emplace(
            [this](void* memory) noexcept { std::memset(memory, 0, object_type_description().size); });
    }

    /// The same, but returns the null handle where emplace throws an error of its own; then `construct` was
    /// not called.
    template <class Construct>
        requires std::invocable<Construct&, void*>
    handle_type try_emplace(Construct&& construct) {
        return this->create(std::ref(construct));
    }

    // ---- Objects: within the frame contract

    /// The handle's object, or null when the handle is stale. Wait-free, constant.
    void* find(handle_type handle) noexcept { return this->find_object(handle); }
    const void* find(handle_type handle) const noexcept { return const_cast<raw_pool*>(this)->find(handle); }

    /// The handle's object with a guard that keeps it where it is; see pool::lock.
    locked_object<void, Policy> lock(handle_type handle) {
        auto guard = this->access();
        return {find(handle), std::move(guard)};
    }

    /// The same, but also empty where lock() would wait or throw. Wait-free.
    locked_object<void, Policy> try_lock(handle_type handle) noexcept {
        auto guard = this->try_access();
        void* const object = guard ? find(handle) : nullptr;
        return {object, std::move(guard)};
    }

    /// The handle's object. Throws stale_handle.
    void* at(handle_type handle) { return this->object_or_throw(handle); }

    /// The dense store, as of the last compaction; see pool::items and pool::mutable_items.
    raw_items items() const noexcept {
        return {const_cast<raw_pool*>(this)->first_object(), this->type().stride(), this->dense_size()};
    }
    mutable_raw_items mutable_items() noexcept {
        return {this->first_object(), this->type().stride(), this->dense_size()};
    }

    /// The handle of an object of this pool; null for an address that is not in the pool.
    handle_type handle_of(const void* object) const noexcept { return this->handle_of_address(object); }

    // ---- The whole pool: while no compaction runs

    /// Like pool::on_erase.
    void on_erase(erase_hook hook) { this->add_hook(std::move(hook)); }
};

} // namespace handlepool
