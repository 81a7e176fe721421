// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/scoped_hook.hpp>

#include <atomic>
#include <cstdint>
#include <utility>

namespace handlepool::detail {

template <class Policy>
class hook_switch_of final : public hook_switch {
public:
    void hold() noexcept { holders_.fetch_add(1, std::memory_order::relaxed); }

    // Relaxed: those who must not see it on are ordered with the compaction, or by a guard.
    bool is_on() const noexcept override { return on_.load(std::memory_order::relaxed); }
    void turn_off() noexcept override { on_.store(false, std::memory_order::relaxed); }
    void release() noexcept override {
        // (42) acq_rel: pairs with itself, so that the last one deletes it after the other's last use
        if (holders_.fetch_sub(1, std::memory_order::acq_rel) == 1) {
            delete this;
        }
    }

private:
    typename Policy::template atomic<bool> on_{true};
    typename Policy::template atomic<std::uint32_t> holders_{1}; // its scoped_hook, and its hook
};

/// A user's hook as a pool calls it: `call(hook, handle, object)`, of a handle's value and a pointer.
template <class Handle, class Hook, class Call>
struct typed_hook {
    template <class Pointer>
    void operator()(typename Handle::value_type value, Pointer object) {
        call(hook, Handle::from_value(value), object);
    }
    HANDLEPOOL_ALWAYS_INLINE void announce(typename Handle::value_type value) noexcept
        requires requires(Hook& hook) { hook.announce(Handle()); }
    {
        hook.announce(Handle::from_value(value));
    }

    Hook hook;
    Call call;
};

template <class Handle, class Hook, class Call>
typed_hook<Handle, Hook, Call> make_typed_hook(Hook hook, Call call) {
    return {std::move(hook), std::move(call)};
}

/// The hooks that are called for each object that is born, for each that ends, or when a frame has ended,
/// with what that is: early ones and then late ones, each in the order in which they were added. They are no
/// std::function, whose header takes longer to compile than the pool.
///
/// Only the thread that has closed the gate uses the list; other threads touch nothing but the switches.
template <class Policy, class First, class Second>
class hook_list {
public:
    hook_list() = default;
    ~hook_list() {
        while (first_ != nullptr) {
            delete std::exchange(first_, first_->next);
        }
    }

    hook_list(const hook_list&) = delete;
    hook_list& operator=(const hook_list&) = delete;

    bool empty() const noexcept { return first_ == nullptr; }

    /// Throws std::bad_alloc, and what moving the hook throws; then nothing has changed.
    template <class Hook>
    scoped_hook add(Hook hook, hook_order order) {
        node** where = &first_;
        while (*where != nullptr && (*where)->order <= order) {
            where = &(*where)->next;
        }
        auto* const shared = new switch_type;
        scoped_hook holder(*shared);
        *where = new node_of<Hook>(*shared, std::move(hook), order, *where);
        return holder;
    }

    void call(First first, Second second) const {
        for (node* each = first_; each != nullptr; each = each->next) {
            if (each->own.is_on()) {
                each->call(first, second);
            }
        }
    }

    /// Lets hooks that can do so prepare for a call that comes soon, and may not come.
    void announce(First first) const noexcept {
        for (node* each = first_; each != nullptr; each = each->next) {
            if (each->prepares && each->own.is_on()) {
                each->announce(first);
            }
        }
    }

    /// Destroys those that were disconnected. Not while they are called.
    void prune() noexcept {
        for (node** each = &first_; *each != nullptr;) {
            if ((*each)->own.is_on()) {
                each = &(*each)->next;
            } else {
                delete std::exchange(*each, (*each)->next);
            }
        }
    }

private:
    using switch_type = hook_switch_of<Policy>;

    struct node {
        node(switch_type& shared, hook_order when, bool can_prepare, node* behind) noexcept
            : own(shared), order(when), prepares(can_prepare), next(behind) {
            own.hold();
        }
        virtual ~node() {
            own.turn_off();
            own.release();
        }
        node(const node&) = delete;
        node& operator=(const node&) = delete;
        virtual void call(First first, Second second) = 0;
        virtual void announce(First first) noexcept = 0;

        switch_type& own;
        const hook_order order;
        const bool prepares; // whether announce() does something
        node* next;
    };

    template <class Hook>
    struct node_of final : node {
        static constexpr bool can_prepare = requires(Hook& each, First first) { each.announce(first); };

        node_of(switch_type& shared, Hook&& moved, hook_order when, node* behind)
            : node(shared, when, can_prepare, behind), hook(std::move(moved)) {}
        void call(First first, Second second) override { hook(first, second); }
        void announce([[maybe_unused]] First first) noexcept override {
            if constexpr (can_prepare) {
                hook.announce(first);
            }
        }
        Hook hook;
    };

    node* first_ = nullptr;
};

} // namespace handlepool::detail
