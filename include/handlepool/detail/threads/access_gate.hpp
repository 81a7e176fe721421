// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/access_guard.hpp>
#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/memory/described_pool.hpp>
#include <handlepool/detail/threads/parent_gate.hpp>
#include <handlepool/detail/threads/per_thread_table.hpp>
#include <handlepool/error.hpp>
#include <handlepool/stats.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace handlepool::detail {

template <class Pin>
class access_gate;

/// Has a gate closed while it lives, unless that was refused.
template <class Pin>
class gate_lock {
public:
    ~gate_lock() {
        if (*this) {
            gate_.open();
        }
    }

    gate_lock(const gate_lock&) = delete;
    gate_lock& operator=(const gate_lock&) = delete;

    explicit operator bool() const noexcept { return refusal_ == gate_refusal::none; }
    gate_refusal refusal() const noexcept { return refusal_; }

private:
    friend class access_gate<Pin>;

    gate_lock(access_gate<Pin>& gate, gate_refusal refusal) noexcept : gate_(gate), refusal_(refusal) {}

    access_gate<Pin>& gate_;
    gate_refusal refusal_;
};

/// Keeps compaction and the holders of access guards apart: a reader-writer lock whose readers count in their
/// own threads. It follows Dekker's protocol: a guard raises its pin and then looks at the state, compaction
/// sets the state and then looks at the pins, each in the one order of sequentially consistent accesses, so
/// that one of them sees the other. The state also keeps compactions apart.
///
///     open     guards pass
///       |  ^
///       |  |   the compaction has ended, or try_close() has found a raised pin
///       v  |
///     closed   guards wait; the compaction looks at the pins, and runs when none is raised
///       |  ^
///       |  |   no pin is raised any more
///       v  |
///     wanted   the compaction waits for a raised pin, or for another gate (step_aside); so do guards, but
///              not for long. A compaction that gives up (close_within) opens the gate from here.
///
/// A compaction that still waits for guards makes new ones wait too, or it might never begin. But only for a
/// while: a thread that holds a guard of one pool, and waits for one of another, may be what keeps the
/// compaction waiting. So guards may be taken in any order.
///
/// @tparam Pin a pin, or what is derived from it
template <class Pin>
class access_gate final : public parent_gate {
public:
    using policy = typename Pin::policy;
    using guard_type = access_guard<policy>;

    /// Keeps the guards of these pins off. `owner`, "pool 'ships'" say, is for messages.
    access_gate(per_thread_table<Pin>& pins, std::string owner) : pins_(pins), owner_(std::move(owner)) {}

    /// A guard of the calling thread, made when no compaction runs: none can start until it ends. Waits for a
    /// running one, and for some time for one that waits. Throws compaction_conflict when the calling thread
    /// itself runs it, and foreign_module or too_many_threads when the thread has no pin. Notes who made it,
    /// unless `maker` is 0.
    guard_type access(std::uint64_t maker = 0) {
        Pin& mine = pins_.mine_or_throw(owner_);
        if (!pass(mine, false)) {
            wait_and_pass(mine);
        }
        note_maker(mine, maker);
        return guard_type(mine);
    }

    /// Like access(), but returns an empty guard where that would wait or throw. Wait-free.
    guard_type try_access(std::uint64_t maker = 0) noexcept {
        Pin* const mine = pins_.mine();
        if (mine == nullptr || !pass(*mine, false)) {
            return {};
        }
        note_maker(*mine, maker);
        return guard_type(*mine);
    }

    /// Compaction: closes the gate, and waits for guards. Returns the reason, and changes nothing, if the
    /// gate is already closed or the calling thread made a guard that still exists: see has_guard_of_caller()
    /// of the pin. While it waits, guards pass `parent`.
    [[nodiscard]] gate_refusal close(parent_gate* parent = nullptr,
                                     gate_use use = gate_use::compaction) noexcept {
        const Pin* const mine = pins_.mine();
        if (mine != nullptr && mine->has_guard_of_caller()) {
            return gate_refusal::guard_of_caller;
        }
        let_waiting_guards_pass();
        if (!try_set(use)) {
            return closed_for_.load(std::memory_order::relaxed) == gate_use::compaction
                       ? gate_refusal::running
                       : gate_refusal::exclusive;
        }
        if (!pinned()) {
            return gate_refusal::none;
        }
        step_aside();
        do {
            if (parent != nullptr) {
                parent->step_aside();
            }
            wait_for_guards();
            if (parent != nullptr) {
                parent->close_again();
            }
        } while (!close_unless_pinned());
        return gate_refusal::none;
    }
    /// Like close(), but throws compaction_conflict.
    void close_or_throw(gate_use use = gate_use::compaction) { throw_refused(close(nullptr, use), use); }

    /// Compaction: closes the gate, or returns false when it is closed already, or a guard is held or was
    /// kept waiting by the last compaction and has not passed since.
    bool try_close(gate_use use = gate_use::compaction) noexcept {
        if (waiting_guards_.load(std::memory_order::relaxed) != 0 || !try_set(use)) {
            return false;
        }
        if (pinned()) {
            open();
            return false;
        }
        return true;
    }

    /// Compaction: closes the gate as close() does, or returns false when that would take longer than
    /// `patience`, in nanoseconds. New guards wait meanwhile. Without patience, this is try_close().
    bool close_within(std::uint64_t patience, gate_use use) noexcept {
        if (patience == 0) {
            return try_close(use);
        }
        const std::uint64_t since = policy::now();
        let_waiting_guards_pass();
        bool is_wanted = false; // this compaction waits
        for (std::uint64_t waited = 0; waited <= patience; waited = policy::now() - since) {
            is_wanted = is_wanted || try_set(use);
            if (is_wanted && close_unless_pinned()) {
                return true;
            }
            policy::wait(waited);
        }
        if (is_wanted) {
            open();
        }
        return false;
    }

    /// Compaction: like close(), close_or_throw() and try_close(), until what they return ends.
    [[nodiscard]] gate_lock<Pin> lock(parent_gate* parent = nullptr) noexcept {
        return gate_lock<Pin>(*this, close(parent));
    }
    [[nodiscard]] gate_lock<Pin> lock_or_throw() {
        close_or_throw();
        return gate_lock<Pin>(*this, gate_refusal::none);
    }
    [[nodiscard]] gate_lock<Pin> try_lock() noexcept {
        return gate_lock<Pin>(*this, try_close() ? gate_refusal::none : gate_refusal::running);
    }

    const std::string& owner() const noexcept { return owner_; }

    /// Throws compaction_conflict, unless there is no refusal.
    void throw_refused(gate_refusal refusal, gate_use asked = gate_use::compaction) const {
        if (refusal != gate_refusal::none) [[unlikely]] {
            detail::throw_refused(owner_, asked, refusal);
        }
    }

    /// Compaction: lets guards pass while it waits for something else, and then waits for them.
    void step_aside() noexcept override {
        // (27) release: pairs with (23), for what the compaction did so far
        state_.store(gate_state::wanted, std::memory_order::release);
        if (waiting_since_.load(std::memory_order::relaxed) == 0) {
            waiting_since_.store(policy::now(), std::memory_order::relaxed);
        }
    }
    void close_again() noexcept override {
        while (!close_unless_pinned()) {
            wait_for_guards();
        }
    }

    void open() noexcept {
        compacting_thread_.store(nobody, std::memory_order::relaxed);
        waiting_since_.store(0, std::memory_order::relaxed);
        // (27) release: pairs with (23) and (24), for what the compaction did
        state_.store(gate_state::open, std::memory_order::release);
    }

    /// Returns whether the calling thread has closed the gate. Wait-free.
    bool is_closed_by_caller() const noexcept {
        const std::uint32_t caller = pins_.thread_index();
        return caller != nobody && compacting_thread_.load(std::memory_order::relaxed) == caller;
    }

    /// Returns whether any guard is held.
    bool pinned() const noexcept {
        // (9) seq_cst: the number of pins is part of the protocol
        for (std::size_t i = 0, last = pins_.count(); i < last; ++i) {
            // (25) in is_raised
            if (pins_[i].is_raised()) {
                return true;
            }
        }
        return false;
    }

    /// For programs that read this one's memory.
    described_gate described() const noexcept {
        described_gate gate;
        Pin::describe_guards(pins_, gate);
        gate.state = &state_;
        gate.compacting_thread = &compacting_thread_;
        gate.closed_for = &closed_for_;
        gate.waiting_since = &waiting_since_;
        return gate;
    }

    /// Returns whether a compaction runs, or waits for guards.
    bool running() const noexcept { return state_.load(std::memory_order::relaxed) != gate_state::open; }

private:
    enum class gate_state : std::uint32_t { open, wanted, closed };

    static constexpr std::uint32_t nobody = 0xffff'ffff;

    static bool may_pass(gate_state state, bool impatient) noexcept {
        return state == gate_state::open || (state == gate_state::wanted && impatient);
    }

    /// Raises the pin, unless it would have to wait.
    bool pass(Pin& mine, bool impatient) noexcept {
        // (22) in raise
        if (!mine.raise()) {
            // Another guard of this thread keeps compactions off. To look at the state would be to wait for
            // one that waits for this thread.
            return true;
        }
        // (23) seq_cst: see (22); acquire: pairs with (27), for what the last compaction did
        if (may_pass(state_.load(std::memory_order::seq_cst), impatient)) {
            return true;
        }
        mine.lower();
        return false;
    }

    /// Who made the guard that has just passed, if that is known and the thread holds no others.
    static void note_maker(Pin& mine, std::uint64_t maker) noexcept {
        if (maker != 0 && mine.guards() == 1) {
            mine.note_maker(maker, policy::now());
        }
    }

    /// Guards that wait: those that the last compaction has kept waiting go before the next one.
    class waiting_guard {
    public:
        explicit waiting_guard(access_gate& gate) noexcept : gate_(gate) {
            gate_.waiting_guards_.fetch_add(1, std::memory_order::relaxed);
        }
        ~waiting_guard() { gate_.waiting_guards_.fetch_sub(1, std::memory_order::relaxed); }

        waiting_guard(const waiting_guard&) = delete;
        waiting_guard& operator=(const waiting_guard&) = delete;

    private:
        access_gate& gate_;
    };

    void wait_and_pass(Pin& mine) {
        const waiting_guard waiting(*this);
        std::uint64_t waits_since = 0; // for a compaction that waits
        for (bool impatient = false; !pass(mine, impatient);) {
            if (compacting_thread_.load(std::memory_order::relaxed) == pins_.thread_index()) {
                throw_guard_refused(owner_, closed_for_.load(std::memory_order::relaxed));
            }
            gate_state state = state_.load(std::memory_order::relaxed);
            for (; !may_pass(state, impatient); state = state_.load(std::memory_order::relaxed)) {
                if (state == gate_state::wanted) {
                    const std::uint64_t now = policy::now();
                    waits_since = waits_since == 0 ? now : waits_since;
                    impatient = now - waits_since >= policy::guard_patience;
                }
                policy::wait(); // without sleep, or the gate would be closed again
            }
        }
    }

    /// While the gate is open. A guard that comes now passes without waiting, so this ends; one whose thread
    /// does not run gives up its turn. Only for fairness: nothing relies on it.
    void let_waiting_guards_pass() const noexcept {
        for (std::size_t i = 0;
             i != policy::turns_for_guards && waiting_guards_.load(std::memory_order::relaxed) != 0 &&
             state_.load(std::memory_order::relaxed) == gate_state::open;
             ++i) {
            policy::wait();
        }
    }

    bool try_set(gate_use use) noexcept {
        gate_state state = gate_state::open;
        // (24) seq_cst: see (22); acquire: pairs with (27), for what the last compaction did; a failure reads
        // nothing
        if (!state_.compare_exchange_strong(state, gate_state::closed, std::memory_order::seq_cst,
                                            std::memory_order::relaxed)) {
            return false;
        }
        closed_for_.store(use, std::memory_order::relaxed);
        compacting_thread_.store(pins_.thread_index(), std::memory_order::relaxed);
        return true;
    }

    bool close_unless_pinned() noexcept {
        // (24) seq_cst: see (22)
        state_.store(gate_state::closed, std::memory_order::seq_cst);
        if (!pinned()) {
            waiting_since_.store(0, std::memory_order::relaxed);
            return true;
        }
        step_aside();
        return false;
    }

    void wait_for_guards() const noexcept {
        for (const std::uint64_t since = policy::now(); pinned();) {
            policy::wait(policy::now() - since);
        }
    }

    per_thread_table<Pin>& pins_;
    std::string owner_;
    alignas(cache_line) typename policy::template atomic<gate_state> state_{gate_state::open};
    // Thread index of the compacting thread; it is only ever compared with the reader's own.
    typename policy::template atomic<std::uint32_t> compacting_thread_{nobody};
    // For messages.
    typename policy::template atomic<gate_use> closed_for_{gate_use::compaction};
    typename policy::template atomic<std::uint32_t> waiting_guards_{0};
    // For readers of reports alone; 0 while the compaction does not wait for guards.
    std::atomic<std::uint64_t> waiting_since_{0};
};

} // namespace handlepool::detail
