#pragma once

#include <handlepool/detail/access_gate.hpp>
#include <handlepool/detail/config.hpp>
#include <handlepool/detail/type_id.hpp>
#include <handlepool/executor_ref.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/stats.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool {

/// A pool of objects of any type, as a service sees it. What is said of the functions of pool holds.
template <class Layout>
class HANDLEPOOL_EXPORT any_pool {
public:
    using handle_type = handle<void, Layout>;
    using erase_hook = std::function<void(handle_type handle, void* object)>;

    any_pool() = default;
    any_pool(const any_pool&) = delete;
    any_pool& operator=(const any_pool&) = delete;
    virtual ~any_pool() = default;

    virtual const std::string& name() const noexcept = 0;
    virtual std::uint32_t id() const noexcept = 0;
    virtual std::size_t size() const noexcept = 0;
    virtual bool contains(handle_type handle) const noexcept = 0;
    virtual bool erase(handle_type handle) noexcept = 0;
    virtual void clear() noexcept = 0;
    virtual void* find(handle_type handle) noexcept = 0;
    virtual std::string describe(handle_type handle) const = 0;
    virtual std::vector<handle_type> oldest(std::size_t most) const = 0;
    virtual pool_stats stats() const = 0;
    virtual void on_erase(erase_hook hook) = 0;

    virtual compaction_stats compact(executor_ref executor) = 0;
    virtual detail::compaction_attempt compact_inside(detail::outer_gate* outer, executor_ref executor) = 0;
    virtual std::optional<compaction_stats> try_compact(executor_ref executor) = 0;
    virtual bool idle() const noexcept = 0;
    virtual void skip_frame() noexcept = 0;

    /// The pool, if it is of this type, else null.
    template <class Pool>
    Pool* as() noexcept {
        return static_cast<Pool*>(type() == detail::type_id::of<Pool>() ? address() : nullptr);
    }
    /// The same for a pool of objects of this type, whatever else is chosen for it.
    template <class T>
    bool holds() const noexcept {
        return object_type() == detail::type_id::of<std::remove_cv_t<T>>();
    }

protected:
    virtual detail::type_id type() const noexcept = 0;
    virtual detail::type_id object_type() const noexcept = 0;
    virtual void* address() noexcept = 0;
};

/// Pool is some pool or raw_pool.
template <class Pool>
class pool_as_any final : public any_pool<typename Pool::layout> {
    using base = any_pool<typename Pool::layout>;
    using typed_handle = typename Pool::handle_type;

public:
    using typename base::erase_hook;
    using typename base::handle_type;

    template <class... Args>
    explicit pool_as_any(Args&&... args) : pool_(std::forward<Args>(args)...) {}

    Pool& get() noexcept { return pool_; }

    const std::string& name() const noexcept override { return pool_.name(); }
    std::uint32_t id() const noexcept override { return pool_.id(); }
    std::size_t size() const noexcept override { return pool_.size(); }
    bool contains(handle_type handle) const noexcept override { return pool_.contains(typed(handle)); }
    bool erase(handle_type handle) noexcept override { return pool_.erase(typed(handle)); }
    void clear() noexcept override { pool_.clear(); }
    void* find(handle_type handle) noexcept override { return pool_.find(typed(handle)); }
    std::string describe(handle_type handle) const override { return pool_.describe(typed(handle)); }
    std::vector<handle_type> oldest(std::size_t most) const override {
        const auto handles = pool_.oldest(most);
        return {handles.begin(), handles.end()};
    }
    pool_stats stats() const override { return pool_.stats(); }
    void on_erase(erase_hook hook) override {
        if constexpr (std::is_void_v<typename typed_handle::element_type>) {
            pool_.on_erase(std::move(hook));
        } else {
            pool_.on_erase([hook = std::move(hook)](typed_handle handle, auto& object) {
                hook(handle, std::addressof(object));
            });
        }
    }

    compaction_stats compact(executor_ref executor) override { return pool_.compact(executor); }
    detail::compaction_attempt compact_inside(detail::outer_gate* outer, executor_ref executor) override {
        return pool_.compact_inside(outer, executor);
    }
    std::optional<compaction_stats> try_compact(executor_ref executor) override {
        return pool_.try_compact(executor);
    }
    bool idle() const noexcept override { return pool_.idle(); }
    void skip_frame() noexcept override { pool_.skip_frame(); }

protected:
    detail::type_id type() const noexcept override { return detail::type_id::of<Pool>(); }
    detail::type_id object_type() const noexcept override {
        return detail::type_id::of<typename typed_handle::element_type>();
    }
    void* address() noexcept override { return &pool_; }

private:
    static typed_handle typed(handle_type handle) noexcept {
        return typed_handle::from_value(handle.value());
    }

    Pool pool_;
};

} // namespace handlepool
