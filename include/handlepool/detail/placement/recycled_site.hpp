// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/objects/construction.hpp>
#include <handlepool/recycler.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace handlepool::detail {

/// Where a recycling_pool makes an object: raw memory, or an object that is kept there, cleared.
///
/// @tparam Word an atomic number with a bit for each place of a group: is there an object?
template <class Word>
class recycled_site {
public:
    recycled_site(void* memory, Word& constructed, std::uint64_t bit) noexcept
        : memory_(memory), constructed_(constructed), bit_(bit) {}

    /// Makes the object by `make(memory)`, or gives the kept one its value by `assign(object)`. When that
    /// throws, there is no object, or the kept one is cleared.
    template <class T, class Make, class Assign>
    void make_or_assign(Make make, Assign assign) const {
        if (!is_kept()) {
            make(memory_);
            constructed_.fetch_or(bit_, std::memory_order::relaxed);
            return;
        }
        assign_or_clear<T>(assign);
    }

    /// Makes a value-initialized object, unless one is kept, and calls `fill(object)`. When that throws, the
    /// object is kept, and cleared.
    template <class T, class Fill>
    void make_and_fill(Fill fill) const {
        if (!is_kept()) {
            make_at<T>(memory_);
            constructed_.fetch_or(bit_, std::memory_order::relaxed);
        }
        assign_or_clear<T>(fill);
    }

private:
    bool is_kept() const noexcept { return (constructed_.load(std::memory_order::relaxed) & bit_) != 0; }

    template <class T, class Assign>
    void assign_or_clear(Assign& assign) const {
        struct undo {
            ~undo() {
                if (!done) {
                    recycler<T>::clear(object);
                }
            }
            T& object;
            bool done = false;
        } kept{*std::launder(static_cast<T*>(memory_))};
        assign(kept.object);
        kept.done = true;
    }

    void* memory_;
    Word& constructed_;
    std::uint64_t bit_;
};

/// Can a kept T take these values over?
template <class T, class... Args>
concept recycled_from =
    requires(T& object, Args&&... args) { recycler<T>::assign(object, std::forward<Args>(args)...); };

/// Gives a kept object its value from arguments.
template <class T, class... Args>
void assign_kept(T& object, Args&&... args) {
    static_assert(recycled_from<T, Args...>,
                  "a kept object can't be assigned these values: fill it by emplace_with(fill), "
                  "or specialize recycler<T>");
    recycler<T>::assign(object, std::forward<Args>(args)...);
}

// These overloads are those of construction.hpp for raw memory.

template <class T, class Word, class... Args>
    requires emplaceable_from<T, Args...>
void make_at(const recycled_site<Word>& site, Args&&... args) {
    if constexpr (sizeof...(Args) == 0) {
        site.template make_and_fill<T>([](T&) noexcept {});
    } else {
        site.template make_or_assign<T>(
            [&](void* memory) { make_at<T>(memory, std::forward<Args>(args)...); },
            [&](T& kept) { assign_kept(kept, std::forward<Args>(args)...); });
    }
}

template <class T, class Word, class Make>
void make_by(const recycled_site<Word>& site, Make&& make) {
    site.template make_or_assign<T>([&](void* memory) { make_by<T>(memory, make); },
                                    [&](T& kept) { assign_kept(kept, make()); });
}

} // namespace handlepool::detail
