// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/compaction/hook_list.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/frame_list.hpp>
#include <handlepool/detail/parts/pool_state.hpp>
#include <handlepool/detail/slots/slot_history.hpp>
#include <handlepool/detail/slots/slot_table.hpp>
#include <handlepool/memory_use.hpp>
#include <handlepool/scoped_hook.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace handlepool::detail {

/// The newborns that a compaction promotes, for the pool's history and for the hooks that are called for
/// births; without either it costs nothing. The gate is closed whenever it is used.
template <class T, class Config>
class promotion_log {
    using parts_type = pool_state<T, Config>;
    using layout = typename Config::layout;
    using policy = typename Config::policy;
    using value_type = typename layout::value_type;

public:
    using hooks_type = hook_list<policy, value_type, typename parts_type::pointer>;

    /// The name of the pool must outlive it.
    promotion_log(std::string_view pool, slot_history<policy>& history) noexcept
        : pool_(pool), history_(history) {}

    /// Throws like hook_list::add, and reservation_failed.
    template <class Hook>
    scoped_hook add_hook(Hook hook, std::size_t most_newborns) {
        if (!slots_) {
            slots_.emplace(allocation_label::of_pool(pool_).part(" compaction births"), most_newborns);
        }
        return hooks_.add(std::move(hook), hook_order::early);
    }
    hooks_type& hooks() noexcept { return hooks_; }

    /// Begins a frame.
    void begin(std::uint64_t frame) noexcept {
        frame_ = frame;
        count_ = 0;
    }
    /// Returns whether record() does anything.
    bool is_wanted() const noexcept { return history_.remembers() || !hooks_.empty(); }
    /// Records the promotion of a newborn; promotions are reported in this order.
    void record(value_type handle) noexcept {
        const slot_index slot = slot_table<Config>::slot_of(handle);
        history_.born(slot, layout::tag_of(handle), frame_);
        if (!hooks_.empty()) {
            (*slots_)[count_] = slot;
            count_ = count_ + 1;
        }
    }

    /// Calls the hooks for the newborns that are still alive, in this thread. Nothing moves any more.
    void report(parts_type& parts) {
        for (std::size_t i = 0; i != count_; ++i) {
            const slot_index slot = (*slots_)[i];
            const auto tag = parts.table.tag(slot); // (4)
            if (layout::is_alive(tag)) {
                hooks_.call(parts.table.handle_of(slot, tag),
                            parts.objects.at(parts.table.location_of(slot)));
            }
        }
    }

    /// Reports one object that was born in this frame, without recording it.
    void report(value_type handle, typename parts_type::pointer object, std::uint64_t frame) {
        history_.born(slot_table<Config>::slot_of(handle), layout::tag_of(handle), frame);
        hooks_.call(handle, object);
    }

    /// Lets the memory of the list follow its use.
    void end_frame() noexcept {
        if (slots_) {
            slots_->filled(count_);
            slots_->end_frame();
        }
    }
    /// Gives the memory of the list back to the system.
    void shrink() noexcept {
        if (slots_) {
            slots_->discard();
        }
    }

    memory_use memory() const noexcept { return slots_ ? slots_->memory() : memory_use(); }

private:
    template <class Value>
    using plain = typename policy::template plain<Value>;

    std::string_view pool_;
    slot_history<policy>& history_;
    hooks_type hooks_;
    std::optional<frame_list<policy, plain<slot_index>>> slots_;
    plain<std::size_t> count_{0};
    plain<std::uint64_t> frame_{0};
};

} // namespace handlepool::detail
