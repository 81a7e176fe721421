// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/objects/object_blocks.hpp>
#include <handlepool/detail/objects/object_type.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// Objects that were taken out of a store, each under a number, with the slot that it had and the first
/// capture that has it; and lists of them, which are joined and handed on without memory.
///
/// ```
///   list of frame 7    3 ─▶ 5          an object that ended then, and comes back if frame 6 is restored
///   list of frame 8    4 ─▶ 1 ─▶ 2
/// ```
///
/// @tparam Store a captured_store, which says what comes before a destructor
template <class T, class Store>
class graveyard {
public:
    static constexpr std::uint32_t none = 0;

    /// Numbers in the order in which they came.
    struct list {
        std::uint32_t first = none;
        std::uint32_t last = none;
    };

    explicit graveyard(const object_type<T>& type) noexcept : objects_(type) {}
    ~graveyard() {
        for (std::uint32_t number = 1; number < graves_.size(); ++number) {
            if (graves_[number].slot != slot_index::none) {
                end(number);
            }
        }
    }

    graveyard(const graveyard&) = delete;
    graveyard& operator=(const graveyard&) = delete;

    /// Sees to it that so many objects can be put in. Throws std::bad_alloc.
    void make_room(std::size_t count) {
        while (free_.size() < count) {
            graves_.reserve(objects_.size() + objects_.block_size() + 1);
            free_.reserve(objects_.size() + objects_.block_size());
            objects_.grow();
            graves_.resize(objects_.size() + 1);
            for (std::size_t number = objects_.size(), i = objects_.block_size(); i != 0; --i, --number) {
                free_.push_back(static_cast<std::uint32_t>(number));
            }
        }
    }

    /// Takes the object of a slot out of a location. There must be room.
    template <class Objects>
    std::uint32_t put_in(Objects& objects, location where, slot_index slot, std::uint64_t since) noexcept {
        const std::uint32_t number = free_.back();
        free_.pop_back();
        objects.take_out(where, memory(number));
        graves_[number] = {.since = since, .slot = slot};
        return number;
    }
    /// Puts it back to a location, which holds none.
    template <class Objects>
    void put_back(std::uint32_t number, Objects& objects, location where) noexcept {
        objects.put_in(memory(number), where);
        give_back(number);
    }
    /// Ends the objects of a list, whose destructors may put others in.
    void destroy(list& unwanted) noexcept {
        for (std::uint32_t number = std::exchange(unwanted, list()).first; number != none;) {
            const std::uint32_t next = graves_[number].next;
            end(number);
            give_back(number);
            number = next;
        }
    }

    /// Adds one that is in no list any more.
    void add(list& to, std::uint32_t number) noexcept {
        graves_[number].next = none;
        join(to, {.first = number, .last = number});
    }
    /// Adds the others behind them.
    void join(list& to, const list& others) noexcept {
        if (to.first == none) {
            to = others;
        } else if (others.first != none) {
            graves_[to.last].next = others.first;
            to.last = others.last;
        }
    }
    /// Calls `visit(number, slot, since)` for each, which may put it in another list.
    template <class Visit>
    void for_each(const list& of, Visit visit) const {
        for (std::uint32_t number = of.first; number != none;) {
            const grave each = graves_[number];
            visit(number, each.slot, each.since);
            number = each.next;
        }
    }

    std::size_t bytes() const noexcept {
        return objects_.bytes() + graves_.capacity() * sizeof(grave) + free_.capacity() * sizeof(free_[0]);
    }

private:
    struct grave {
        std::uint64_t since = 0;
        slot_index slot = slot_index::none; // while there is no object
        std::uint32_t next = none;
    };

    void end(std::uint32_t number) noexcept {
        Store::template clear_object<T>(memory(number));
        objects_.type().destroy(memory(number));
    }
    void give_back(std::uint32_t number) noexcept {
        graves_[number].slot = slot_index::none;
        free_.push_back(number);
    }

    void* memory(std::uint32_t number) const noexcept { return objects_[number - 1]; }

    object_blocks<T> objects_;
    std::vector<grave> graves_;       // by number
    std::vector<std::uint32_t> free_; // has room for all
};

} // namespace handlepool::detail
