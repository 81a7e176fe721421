// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace handlepool::detail {

/// An object that a thread takes out of the pool: its handle, and the sink that gets it.
template <class Policy, class Value, class Pointer>
class taking {
public:
    explicit taking(Value handle) noexcept : handle_(handle) {}
    virtual ~taking() = default;

    taking(const taking&) = delete;
    taking& operator=(const taking&) = delete;

    Value handle() const noexcept { return handle_; }

    /// Compaction: gives the object to the sink.
    virtual void deliver(Pointer object) = 0;

private:
    template <class, class, class>
    friend class takings;

    // Between the announcement and the settlement, nobody can say who ended the object's life.
    enum class outcome : std::uint32_t { unsettled, taken, lost };

    const Value handle_;
    typename Policy::template atomic<outcome> outcome_{outcome::unsettled};
    typename Policy::template plain<taking*> next_{nullptr};
};

/// What threads take out of a pool, until compaction delivers it.
///
/// A taking is announced, then its thread kills the object, then the taking is settled. A taken object has no
/// record of its removal, and a sweep must not mistake it for one whose record was lost. It doesn't, because
/// it first looks for dead objects and then collects: having seen a kill (4), it sees the announcement that
/// came before it (45). It delivers those that are settled, and spares the objects of those that are not. A
/// thread that stops for ever in between holds back one object, but no other thread.
template <class Policy, class Value, class Pointer>
class takings {
public:
    using taking_type = taking<Policy, Value, Pointer>;

    takings() = default;
    ~takings() {
        delete_all(unsettled_);
        delete_all(announced_.load(std::memory_order::relaxed));
    }

    takings(const takings&) = delete;
    takings& operator=(const takings&) = delete;

    /// Any thread: from here on compaction knows of it, and owns it once it is settled. Lock-free.
    void announce(taking_type& mine) noexcept {
        taking_type* before = announced_.load(std::memory_order::relaxed);
        do {
            mine.next_ = before;
            // (43) release: pairs with (44), for the taking and its sink
        } while (!announced_.compare_exchange_weak(before, &mine, std::memory_order::release,
                                                   std::memory_order::relaxed));
    }

    /// The same thread: has it killed the object? Must be its last use of the taking. Wait-free.
    void settle(taking_type& mine, bool killed) noexcept {
        // (46) release: pairs with (47), for the object as (2) has shown it, and for this last use
        mine.outcome_.store(killed ? outcome::taken : outcome::lost, std::memory_order::release);
    }

    /// Compaction: calls `deliver(taking)` for those that have taken their object, and deletes all that are
    /// settled. Those announced meanwhile are left to the next call.
    template <class Deliver>
    void collect(Deliver deliver) noexcept {
        taking_type* earlier = std::exchange(unsettled_, nullptr);
        settle_all(earlier, deliver);
        settle_all(take_announced(), deliver);
        waiting_.store(unsettled_ != nullptr, std::memory_order::relaxed);
    }

    /// Compaction: calls `visit(handle)` for the takings that collect() found unsettled.
    template <class Visit>
    void for_unsettled(Visit visit) const {
        for (const taking_type* each = unsettled_; each != nullptr; each = each->next_) {
            visit(each->handle());
        }
    }

    /// Would collect() find nothing? Any thread, wait-free; exact for what happened before the call.
    bool empty() const noexcept {
        return announced_.load(std::memory_order::relaxed) == nullptr &&
               !waiting_.load(std::memory_order::relaxed);
    }

private:
    using outcome = typename taking_type::outcome;

    /// Those that were announced, the first one first.
    taking_type* take_announced() noexcept {
        if (announced_.load(std::memory_order::relaxed) == nullptr) {
            return nullptr;
        }
        // (44) acquire: pairs with (43). All announcements are exchanges, so it acquires from each of them.
        taking_type* newest = announced_.exchange(nullptr, std::memory_order::acquire);
        taking_type* first = nullptr;
        while (newest != nullptr) {
            taking_type* const older = newest->next_;
            newest->next_ = first;
            first = std::exchange(newest, older);
        }
        return first;
    }

    template <class Deliver>
    void settle_all(taking_type* next, Deliver& deliver) noexcept {
        while (next != nullptr) {
            taking_type* const one = std::exchange(next, next->next_);
            // (47) acquire: pairs with (46)
            const outcome found = one->outcome_.load(std::memory_order::acquire);
            if (found == outcome::unsettled) {
                one->next_ = unsettled_;
                unsettled_ = one;
                continue;
            }
            if (found == outcome::taken) {
                deliver(*one);
            }
            delete one;
        }
    }

    static void delete_all(taking_type* next) noexcept {
        while (next != nullptr) {
            delete std::exchange(next, next->next_);
        }
    }

    // Head of a linked list, the newest first.
    typename Policy::template atomic<taking_type*> announced_{nullptr};
    // Compaction's: those whose threads had announced but not settled them when it looked; and for others,
    // whether there are any.
    taking_type* unsettled_ = nullptr;
    typename Policy::template atomic<bool> waiting_{false};
};

} // namespace handlepool::detail
