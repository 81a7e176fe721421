// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/objects/object_type.hpp>
#include <handlepool/detail/time/value_list.hpp>
#include <handlepool/memory_use.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// The values of destroyed objects as a log keeps them: as they came, and which of them belongs to which
/// element of the record's list.
template <class T>
struct kept_values {
    explicit kept_values(const object_type<T>& type) noexcept : list(type) {}

    void clear() noexcept {
        list.clear();
        order.clear();
    }

    std::size_t bytes() const noexcept { return list.bytes() + order.capacity() * sizeof(std::uint32_t); }

    value_list<T> list;
    std::vector<std::uint32_t> order;
};

/// Looks at the objects of a record's list and their values: at `Entry{handle, object}`.
template <class Entry, class Placed, class T>
class destroyed_projection {
public:
    using value_type = Entry;

    destroyed_projection() noexcept = default;
    destroyed_projection(const std::vector<Placed>& destroyed, const kept_values<T>& values) noexcept
        : destroyed_(&destroyed), values_(&values) {}

    std::size_t size() const noexcept { return destroyed_ == nullptr ? 0 : destroyed_->size(); }
    Entry operator()(std::size_t i) const noexcept {
        return {(*destroyed_)[i].handle, values_->list.at(values_->order[i])};
    }

private:
    const std::vector<Placed>* destroyed_ = nullptr;
    const kept_values<T>* values_ = nullptr;
};

/// Collects the values of the objects that end in a frame. They come in the order of their ends, and the
/// record has the objects in that of their positions when the frame began; both know the slots:
///
/// ```
///   ends                        slot 5: 0   slot 2: 1   slot 9: 2
///   record.destroyed            slot 9, slot 5, slot 2
///   order                            2       0       1
/// ```
///
/// A list of values goes to the frame that ends, and that of the frame which it replaces is filled next.
template <class T, class Policy>
class destroyed_values {
public:
    /// For slots below `slot_limit`. Throws reservation_failed.
    destroyed_values(const allocation_label& what_for, std::size_t slot_limit, const object_type<T>& type)
        : number_of_(what_for.part(" values of slots"), slot_limit, 0), list_(type) {}

    /// An object of which a record has told ends, the first one of its slot in this frame. If it can't be
    /// copied, the frame is lost.
    template <class Pointer>
    void add(slot_index slot, Pointer object) noexcept {
        if (is_complete_) {
            number_of_[raw(slot)] = static_cast<std::uint32_t>(list_.size());
            is_complete_ = capture_exception([&] { list_.add(object); }) == nullptr;
        }
    }

    /// Returns whether there is the value of each object, and memory to keep them.
    bool prepare(kept_values<T>& kept) const noexcept {
        return is_complete_ && capture_exception([&] { kept.order.reserve(list_.size()); }) == nullptr;
    }
    /// The frame ends, and this is its record; prepare() was true.
    template <class Record>
    void give(const Record& record, kept_values<T>& kept) noexcept {
        kept.order.clear();
        for (const auto& each : record.destroyed) {
            kept.order.push_back(number_of_[each.handle.index()]);
        }
        kept.list.swap(list_);
    }
    /// Destroys what is left of the frame that has ended, or of one before it: destructors may use the pool.
    void begin_frame() noexcept {
        list_.clear();
        is_complete_ = true;
    }

    memory_use memory() const noexcept {
        return number_of_.memory() + memory_use{.reserved = list_.bytes(), .resident = list_.bytes()};
    }

private:
    typename Policy::template array<typename Policy::template plain<std::uint32_t>> number_of_; // of slots
    value_list<T> list_;
    bool is_complete_ = true;
};

} // namespace handlepool::detail
