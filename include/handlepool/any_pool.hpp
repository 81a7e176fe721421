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
#include <optional>
#include <string>
#include <type_traits>
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
    template <class AnyLayout, class Policy>
    friend class basic_service;

    virtual detail::compaction_attempt compact_inside(detail::outer_gate* outer, executor_ref executor) = 0;
    virtual detail::type_id type() const noexcept = 0;
    virtual detail::type_id object_type() const noexcept = 0;
    virtual void* address() noexcept = 0;
};

} // namespace handlepool
