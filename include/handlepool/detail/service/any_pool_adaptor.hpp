// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/any_pool.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/base/type_id.hpp>
#include <handlepool/detail/objects/object_access.hpp>
#include <handlepool/detail/objects/row_address.hpp>
#include <handlepool/detail/pool/pool_access.hpp>
#include <handlepool/detail/recorder/caller.hpp>
#include <handlepool/detail/threads/access_gate.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/executor_ref.hpp>
#include <handlepool/scoped_hook.hpp>
#include <handlepool/stats.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// A pool or raw_pool, or an exclusive view of one, seen as any pool.
template <class Pool>
class any_pool_adaptor final : public any_pool<typename Pool::layout::unkeyed> {
    using base = any_pool<typename Pool::layout::unkeyed>;
    using typed_handle = typename Pool::handle_type;

public:
    using typename base::handle_type;
    using typename base::hook;

    template <class... Args>
    explicit any_pool_adaptor(Args&&... args) : pool_(std::forward<Args>(args)...) {}

    Pool& get() noexcept { return pool_; }

    const std::string& name() const noexcept override { return pool_.name(); }
    std::uint32_t id() const noexcept override { return pool_.id(); }
    std::size_t size() const noexcept override { return pool_.size(); }
    bool contains(handle_type handle) const noexcept override { return pool_.contains(typed(handle)); }
    handle_state state(handle_type handle) const noexcept override { return pool_.state(typed(handle)); }
    HANDLEPOOL_NOINLINE bool erase(handle_type handle) noexcept override {
        return view_core().erase(typed(handle).value(), view_core().from_site(return_site()));
    }
    HANDLEPOOL_NOINLINE handle_type revoke(handle_type handle) noexcept override {
        return typed_handle::from_value(
            view_core().revoke(typed(handle).value(), view_core().from_site(return_site())));
    }
    HANDLEPOOL_NOINLINE bool cancel(handle_type handle) noexcept override {
        return view_core().cancel(typed(handle).value(), view_core().from_site(return_site()));
    }
    HANDLEPOOL_NOINLINE void clear() noexcept override {
        view_core().clear(view_core().from_site(return_site()));
    }
    using base::find;
    void* find(handle_type handle) noexcept override {
        if constexpr (has_rows) {
            const auto found = pool_.find(typed(handle));
            return found ? address_of(*found) : nullptr;
        } else {
            return pool_.find(typed(handle));
        }
    }
    std::string describe(handle_type handle) const override { return pool_.describe(typed(handle)); }
    std::vector<handle_type> oldest(std::size_t most) const override {
        const auto handles = pool_.oldest(most);
        return {handles.begin(), handles.end()};
    }
    pool_stats stats() const override { return pool_.stats(); }
    scoped_hook on_destroy(hook called, hook_order order) override {
        return pool_.on_destroy(untyped(std::move(called)), order);
    }
    scoped_hook on_birth(hook called) override { return pool_.on_birth(untyped(std::move(called))); }

    compaction_stats compact(executor_ref executor) override { return pool_.compact(executor); }
    std::optional<compaction_stats> try_compact(executor_ref executor) override {
        return pool_.try_compact(executor);
    }
    compaction_stats compact_some(std::size_t budget, executor_ref executor) override {
        return pool_.compact_some(budget, executor);
    }
    void shrink_to_fit() override { pool_.shrink_to_fit(); }
    bool try_shrink_to_fit() noexcept override { return pool_.try_shrink_to_fit(); }
    std::unique_ptr<base> exclusive_access() override {
        return std::make_unique<view_adaptor>(closing{core()});
    }
    bool has_guards() const noexcept override { return core().has_guards(); }
    bool is_compacting() const noexcept override { return core().is_compacting(); }
    bool idle() const noexcept override { return pool_.idle(); }

protected:
    void skip_frame() noexcept override { core().skip_frame(); }
    std::size_t waiting() const noexcept override { return core().waiting(); }
    compaction_attempt compact_inside(parent_gate* parent, executor_ref executor,
                                      std::size_t budget) override {
        return core().compact_inside(parent, executor, budget);
    }
    gate_refusal shrink_inside(parent_gate* parent) noexcept override { return core().shrink_inside(parent); }
    std::unique_ptr<base> exclusive_access_within(std::uint64_t patience) override {
        if (!core().try_close_for_exclusive(patience)) {
            return nullptr;
        }
        auto* const view = new (std::nothrow) view_adaptor(core());
        if (view == nullptr) {
            core().whole().gate.open();
            throw_exception(std::bad_alloc());
        }
        return std::unique_ptr<base>(view);
    }
    row_address find_row([[maybe_unused]] handle_type handle) noexcept override {
        if constexpr (has_rows) {
            return pool_.find(typed(handle)).place();
        } else {
            return {};
        }
    }
    type_id type() const noexcept override { return type_id::of<Pool>(); }
    type_id object_type() const noexcept override {
        return type_id::of<typename typed_handle::element_type>();
    }
    type_id type_of_handles() const noexcept override { return type_id::of<typed_handle>(); }
    void* address() noexcept override { return &pool_; }

private:
    /// The pool's own core, of a view too.
    auto& core() noexcept { return pool_access::pool_of(pool_); }
    const auto& core() const noexcept { return pool_access::pool_of(pool_); }
    /// What the pool's functions work with, of a view its own.
    auto& view_core() noexcept { return pool_access::core_of(pool_); }

    /// The view, made when there is memory for it. Of a view there is none: its pool's gate is closed.
    using view_adaptor = any_pool_adaptor<typename pool_access::view_of<Pool>>;
    using core_type = std::remove_reference_t<decltype(pool_access::pool_of(std::declval<Pool&>()))>;
    struct closing {
        core_type& core;
        operator core_type&() const { // NOLINT(google-explicit-constructor): it is a constructor's argument
            core.close_for_exclusive();
            return core;
        }
    };

    static constexpr bool has_rows = is_columns<typename typed_handle::element_type>;

    template <class Object>
    static void* address_of(Object&& object) noexcept {
        if constexpr (has_rows) {
            return std::addressof(object.template get<0>());
        } else {
            return std::addressof(object);
        }
    }

    static typed_handle typed(handle_type handle) noexcept {
        return typed_handle::from_value(handle.value());
    }

    /// A hook for objects that calls `called` with their addresses.
    static auto untyped(hook called) {
        if constexpr (std::is_void_v<typename typed_handle::element_type>) {
            return called;
        } else {
            return [called = std::move(called)](typed_handle handle, auto&& object) {
                called(handle, address_of(object));
            };
        }
    }

    Pool pool_;
};

} // namespace handlepool::detail
