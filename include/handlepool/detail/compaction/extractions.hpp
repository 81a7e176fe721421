// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace handlepool::detail {

/// What threads take out of a pool, until compaction delivers it.
///
/// A taken object is dead and has no record of its removal. A sweep looks for just that, and must not mistake
/// it for an object whose record was lost. So the thread announces its extraction before it kills the object,
/// and the sweep looks for dead objects before it collects the extractions:
///
///     a thread that extracts           a sweep
///
///     announce  (43) ──────────┐
///     kill      (45) ───────┐  │
///     resolve   (46) ────┐  └──┼────▶ (4)  find a dead object without a record
///                        │     └────▶ (44) collect what is announced
///                        └──────────▶ (47) resolved: deliver it, or forget it when another had killed
///                                          unresolved: leave the object out, and sweep again
///
/// Having seen the kill, the sweep sees the announcement. A thread that stops for ever between the steps
/// holds back one object, but no other thread.
template <class Policy, class Value, class Pointer>
class extractions {
public:
    /// An object that a thread takes: its handle, and, in a derived class, the sink that gets it.
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
        friend class extractions;

        // Until the extraction is resolved, nobody can say who ended the object's life.
        enum class outcome : std::uint32_t { unresolved, taken, lost };

        Value handle_;
        typename Policy::template atomic<outcome> outcome_{outcome::unresolved};
        typename Policy::template plain<extraction*> next_{nullptr};
    };

    /// The owner of an extraction that no list has yet: a std::unique_ptr, without <memory>.
    class unannounced {
    public:
        explicit unannounced(extraction* made) noexcept : made_(made) {}
        unannounced(unannounced&& other) noexcept : made_(other.release()) {}
        unannounced& operator=(unannounced&& other) noexcept {
            std::swap(made_, other.made_);
            return *this;
        }
        ~unannounced() { delete made_; }

        const extraction* operator->() const noexcept { return made_; }
        extraction* release() noexcept { return std::exchange(made_, nullptr); }

    private:
        extraction* made_;
    };

    extractions() = default;
    ~extractions() {
        delete_all(unresolved_);
        delete_all(announced_.load(std::memory_order::relaxed));
    }

    extractions(const extractions&) = delete;
    extractions& operator=(const extractions&) = delete;

    /// Any thread, which has found the handle alive in this table: ends the object's life, unless another
    /// does so first, and then returns false. Calls `note_killed()` before compaction calls `sink(object)`.
    /// Throws std::bad_alloc, and what moving the sink throws. Lock-free.
    template <class Table, class Sink, class Killed>
    bool extract(Table& table, Value handle, Sink sink, Killed note_killed) {
        return take(table, make(handle, std::move(sink)), handle, note_killed);
    }

    /// An extraction that take() begins. Throws std::bad_alloc, and what moving the sink throws.
    template <class Sink>
    static unannounced make(Value handle, Sink sink) {
        return unannounced(new extraction_to<Sink>(handle, std::move(sink)));
    }
    /// Like extract(), with one that make() has returned, for the handle that the object has now; it need not
    /// be alive. Lock-free.
    template <class Table, class Killed>
    bool take(Table& table, unannounced made, Value handle, Killed note_killed) noexcept {
        extraction& mine = *made.release(); // the list's
        mine.handle_ = handle;
        announce(mine);
        const bool killed = table.is_alive(handle) && table.kill_announced(handle);
        if (killed) {
            note_killed();
        }
        // (46) release: pairs with (47), for the object as (2) has shown it, and for this last use
        mine.outcome_.store(killed ? outcome::taken : outcome::lost, std::memory_order::release);
        return killed;
    }

    /// Compaction: calls `deliver(extraction)` for those that have taken their object, and deletes all that
    /// are resolved. Those announced meanwhile are left to the next call.
    template <class Deliver>
    void collect(Deliver deliver) noexcept {
        // Before the earlier ones are looked at: one that was resolved before another was announced comes
        // first.
        extraction* const announced = take_announced();
        resolve_all(std::exchange(unresolved_, nullptr), deliver);
        resolve_all(announced, deliver);
        has_unresolved_.store(unresolved_ != nullptr, std::memory_order::relaxed);
    }

    /// Compaction: returns whether a thread may have been taking this dead object when collect() last looked.
    bool may_be_taking(Value handle) const noexcept {
        const extraction* each = unresolved_;
        while (each != nullptr && each->handle() != handle) {
            each = each->next_;
        }
        return each != nullptr;
    }

    /// Returns whether collect() would find nothing. Any thread, wait-free; exact for what happened before.
    bool empty() const noexcept {
        return announced_.load(std::memory_order::relaxed) == nullptr &&
               !has_unresolved_.load(std::memory_order::relaxed);
    }

private:
    using outcome = typename extraction::outcome;

    template <class Sink>
    struct extraction_to final : extraction {
        extraction_to(Value handle, Sink&& moved) : extraction(handle), sink(std::move(moved)) {}
        void deliver(Pointer object) override { sink(object); }
        Sink sink;
    };

    /// Makes the extraction known to compaction, which owns it once it is resolved.
    void announce(extraction& mine) noexcept {
        extraction* before = announced_.load(std::memory_order::relaxed);
        do {
            mine.next_ = before;
            // (43) release: pairs with (44), for the extraction and its sink
        } while (!announced_.compare_exchange_weak(before, &mine, std::memory_order::release,
                                                   std::memory_order::relaxed));
    }

    /// Takes the list of those that were announced, the first one first.
    extraction* take_announced() noexcept {
        if (announced_.load(std::memory_order::relaxed) == nullptr) {
            return nullptr;
        }
        // (44) acquire: pairs with (43). All announcements are exchanges, so it acquires from each of them.
        extraction* newest = announced_.exchange(nullptr, std::memory_order::acquire);
        extraction* first = nullptr;
        while (newest != nullptr) {
            extraction* const older = newest->next_;
            newest->next_ = first;
            first = std::exchange(newest, older);
        }
        return first;
    }

    template <class Deliver>
    void resolve_all(extraction* next, Deliver& deliver) noexcept {
        while (next != nullptr) {
            extraction* const one = std::exchange(next, next->next_);
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

    static void delete_all(extraction* next) noexcept {
        while (next != nullptr) {
            delete std::exchange(next, next->next_);
        }
    }

    // Head of a linked list, the newest first.
    typename Policy::template atomic<extraction*> announced_{nullptr};
    // Compaction's: those whose threads had announced but not resolved them when it looked; and for others,
    // whether there are any.
    extraction* unresolved_ = nullptr;
    typename Policy::template atomic<bool> has_unresolved_{false};
};

} // namespace handlepool::detail
