// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace handlepool::detail {

/// An object that a thread takes out of the pool: its handle, and the sink that gets it.
template <class Policy, class Value, class Pointer>
class extraction {
public:
    explicit extraction(Value handle) noexcept : handle_(handle) {}
    virtual ~extraction() = default;

    extraction(const extraction&) = delete;
    extraction& operator=(const extraction&) = delete;

    Value handle() const noexcept { return handle_; }

    /// Compaction: gives the object to the sink.
    virtual void deliver(Pointer object) = 0;

private:
    template <class, class, class>
    friend class extractions;

    // Between the announcement and the resolution, nobody can say who ended the object's life.
    enum class outcome : std::uint32_t { unresolved, taken, lost };

    const Value handle_;
    typename Policy::template atomic<outcome> outcome_{outcome::unresolved};
    typename Policy::template plain<extraction*> next_{nullptr};
};

/// What threads take out of a pool, until compaction delivers it.
///
/// An extraction is announced, then its thread kills the object, then the extraction is resolved. A taken
/// object has no record of its removal, and a sweep must not mistake it for one whose record was lost. It
/// doesn't, because it first looks for dead objects and then collects: having seen a kill (4), it sees the
/// announcement that came before it (45). It delivers those that are resolved, and spares the objects of
/// those that are not. A thread that stops for ever in between holds back one object, but no other thread.
template <class Policy, class Value, class Pointer>
class extractions {
public:
    using extraction_type = extraction<Policy, Value, Pointer>;

    extractions() = default;
    ~extractions() {
        delete_all(unresolved_);
        delete_all(announced_.load(std::memory_order::relaxed));
    }

    extractions(const extractions&) = delete;
    extractions& operator=(const extractions&) = delete;

    /// Any thread: from here on compaction knows of it, and owns it once it is resolved. Lock-free.
    void announce(extraction_type& mine) noexcept {
        extraction_type* before = announced_.load(std::memory_order::relaxed);
        do {
            mine.next_ = before;
            // (43) release: pairs with (44), for the extraction and its sink
        } while (!announced_.compare_exchange_weak(before, &mine, std::memory_order::release,
                                                   std::memory_order::relaxed));
    }

    /// The same thread: has it killed the object? Must be its last use of the extraction. Wait-free.
    void resolve(extraction_type& mine, bool killed) noexcept {
        // (46) release: pairs with (47), for the object as (2) has shown it, and for this last use
        mine.outcome_.store(killed ? outcome::taken : outcome::lost, std::memory_order::release);
    }

    /// Compaction: calls `deliver(extraction)` for those that have taken their object, and deletes all that
    /// are resolved. Those announced meanwhile are left to the next call.
    template <class Deliver>
    void collect(Deliver deliver) noexcept {
        extraction_type* earlier = std::exchange(unresolved_, nullptr);
        resolve_all(earlier, deliver);
        resolve_all(take_announced(), deliver);
        waiting_.store(unresolved_ != nullptr, std::memory_order::relaxed);
    }

    /// Compaction: calls `visit(handle)` for the extractions that collect() found unresolved.
    template <class Visit>
    void for_unresolved(Visit visit) const {
        for (const extraction_type* each = unresolved_; each != nullptr; each = each->next_) {
            visit(each->handle());
        }
    }

    /// Would collect() find nothing? Any thread, wait-free; exact for what happened before the call.
    bool empty() const noexcept {
        return announced_.load(std::memory_order::relaxed) == nullptr &&
               !waiting_.load(std::memory_order::relaxed);
    }

private:
    using outcome = typename extraction_type::outcome;

    /// Those that were announced, the first one first.
    extraction_type* take_announced() noexcept {
        if (announced_.load(std::memory_order::relaxed) == nullptr) {
            return nullptr;
        }
        // (44) acquire: pairs with (43). All announcements are exchanges, so it acquires from each of them.
        extraction_type* newest = announced_.exchange(nullptr, std::memory_order::acquire);
        extraction_type* first = nullptr;
        while (newest != nullptr) {
            extraction_type* const older = newest->next_;
            newest->next_ = first;
            first = std::exchange(newest, older);
        }
        return first;
    }

    template <class Deliver>
    void resolve_all(extraction_type* next, Deliver& deliver) noexcept {
        while (next != nullptr) {
            extraction_type* const one = std::exchange(next, next->next_);
            // (47) acquire: pairs with (46)
            const outcome found = one->outcome_.load(std::memory_order::acquire);
            if (found == outcome::unresolved) {
                one->next_ = unresolved_;
                unresolved_ = one;
                continue;
            }
            if (found == outcome::taken) {
                deliver(*one);
            }
            delete one;
        }
    }

    static void delete_all(extraction_type* next) noexcept {
        while (next != nullptr) {
            delete std::exchange(next, next->next_);
        }
    }

    // Head of a linked list, the newest first.
    typename Policy::template atomic<extraction_type*> announced_{nullptr};
    // Compaction's: those whose threads had announced but not resolved them when it looked; and for others,
    // whether there are any.
    extraction_type* unresolved_ = nullptr;
    typename Policy::template atomic<bool> waiting_{false};
};

} // namespace handlepool::detail
