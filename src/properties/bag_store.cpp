// SPDX-License-Identifier: MIT
#include "bag_merge.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/containers/member_check.hpp>
#include <handlepool/detail/properties/bag_store.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace handlepool::detail {

namespace {

// The end of the slots moves in steps, so that threads that give bags to new objects seldom write to it.
constexpr std::size_t end_step = 1024;

} // namespace

bag_store::bag_store(std::size_t slot_limit, std::size_t bytes)
    : table_("slots of a property_store", slot_limit, 0),
      bytes_(bytes),
      arena_(std::make_unique<block_arena>(bytes)) {
    // As the arena: the slots of few bags are to take little memory.
    constexpr std::size_t few = virtual_memory::huge_page_size / sizeof(entry);
    table_.refuse_huge_pages(0, std::min(few, slot_limit));
}

// ---- All bags --------------------------------------------------------------------------------------------

void bag_store::clear() noexcept {
    table_.discard(0, slots_end());
    slots_end_.store(0, std::memory_order::relaxed);
    arena_->clear();
}

void bag_store::assign(const bag_store& other) {
    if (this == &other) {
        return;
    }
    bool done = try_assign(other);
    if (!done) { // blocks of other sizes may be in the way
        clear();
        done = try_assign(other);
    }
    if (!done) {
        clear();
        throw_exception(property_store_full(bytes()));
    }
    names_ = other.names_;
    slots_end_.store(other.slots_end(), std::memory_order::relaxed);
    pool_id_.store(other.pool_id_.load(std::memory_order::relaxed), std::memory_order::relaxed);
}

bool bag_store::try_assign(const bag_store& other) noexcept {
    // First those that are in the way, so that their blocks are there for others.
    for (std::size_t slot = 0; slot != slots_end(); ++slot) {
        const entry mine = entry_of(slot);
        const entry its = other.entry_of(slot);
        if (mine.tag != 0 && (its.tag == 0 || class_of(mine).number() != other.class_of(its).number())) {
            set_entry(slot, {});
            release(mine);
        }
    }
    for (std::size_t slot = 0; slot != other.slots_end(); ++slot) {
        const entry its = other.entry_of(slot);
        if (its.tag == 0) {
            continue;
        }
        entry mine = entry_of(slot);
        const block_class size = other.class_of(its);
        if (mine.tag == 0) {
            const std::optional<block> taken = arena_->take(size);
            if (!taken) {
                return false;
            }
            mine.bag = *taken;
            include(slot);
        }
        const std::byte* const from = other.memory_of(its);
        std::copy(from, from + size.bytes(), (*arena_)[mine.bag]);
        set_entry(slot, {.tag = its.tag, .bag = mine.bag});
    }
    return true;
}

void bag_store::shrink_to_fit() {
    auto arena = std::make_unique<block_arena>(bytes());
    std::vector<block> moved; // in the order of the slots
    moved.reserve(size());
    std::size_t end = 0;
    for (std::size_t slot = 0; slot != slots_end(); ++slot) {
        if (tag_of(slot) == 0) {
            continue;
        }
        const bag_reader bag = reader_of(bag_in(slot));
        const auto size = block_class::of(bag.compact_size());
        const std::optional<block> place = arena->take(size);
        if (!place) {
            throw_exception(property_store_full(bytes()));
        }
        copy_to((*arena)[*place], size.bytes(), bag);
        moved.push_back(*place);
        end = slot + 1;
    }
    // Nothing throws from here on.
    arena->trim();
    arena_ = std::move(arena);
    auto next = moved.begin();
    for (std::size_t slot = 0; slot != end; ++slot) {
        if (tag_of(slot) != 0) {
            set_entry(slot, {.tag = tag_of(slot), .bag = *next++});
        }
    }
    table_.discard(end, slots_end());
    slots_end_.store(end, std::memory_order::relaxed);
}

memory_use bag_store::memory() const noexcept {
    return table_.memory() + arena_->memory();
}

std::optional<std::uint32_t> bag_store::pool_id() const noexcept {
    const std::uint32_t id = pool_id_.load(std::memory_order::relaxed);
    return id == no_pool ? std::nullopt : std::optional(id);
}

void bag_store::leave_other_pool(std::uint32_t pool_id) noexcept {
    std::uint32_t known = pool_id_.load(std::memory_order::acquire);
    if (known != pool_id && known != no_pool && size() == 0) {
        pool_id_.compare_exchange_strong(known, no_pool, std::memory_order::relaxed);
    }
}

// ---- One bag ---------------------------------------------------------------------------------------------

property_view bag_store::no_bag() const noexcept {
    return {property_view().bytes().data(), names_};
}

bag_store::outcome bag_store::validate(const bag_owner& owner) const noexcept {
    if (owner.slot >= table_.size()) {
        return outcome::no_slot;
    }
    return tag_of(owner.slot) > owner.tag ? outcome::stale : outcome::done;
}

template <class Fill>
bag_store::outcome bag_store::replace(const bag_owner& owner, block_class size, Fill fill) {
    const std::optional<block> made = arena_->take(size);
    if (!made) {
        return outcome::full;
    }
    if (!join_pool(owner.pool_id)) {
        arena_->give_back(*made, size);
        return outcome::foreign;
    }
    fill((*arena_)[*made], size.bytes());
    const entry before = entry_of(owner.slot);
    set_entry(owner.slot, {.tag = owner.tag, .bag = *made});
    if (before.tag != 0) { // what was filled in may be a part of the old bag
        release(before);
    } else {
        include(owner.slot);
    }
    return outcome::done;
}

void bag_store::release(entry of) noexcept {
    arena_->give_back(of.bag, class_of(of));
}

bool bag_store::join_pool(std::uint32_t pool_id) noexcept {
    std::uint32_t known = pool_id_.load(std::memory_order::relaxed);
    if (known == no_pool && pool_id_.compare_exchange_strong(known, pool_id, std::memory_order::release,
                                                             std::memory_order::relaxed)) {
        return true;
    }
    return known == pool_id;
}

void bag_store::include(std::uint64_t slot) noexcept {
    const std::size_t end = std::min((slot / end_step + 1) * end_step, slot_limit());
    std::size_t now = slots_end();
    while (now < end && !slots_end_.compare_exchange_weak(now, end, std::memory_order::relaxed)) {
    }
}

bag_store::outcome bag_store::put(const bag_owner& owner, property_path path, const bag_entry& value,
                                  std::string& error) {
    if (const outcome came = validate(owner); came != outcome::done) {
        return came;
    }
    if (names_ != nullptr && !names_->try_add(path, error)) {
        return outcome::collides;
    }
    if (const block own = bag_of(owner); own != block::none && bag_writer((*arena_)[own]).put(value)) {
        return outcome::done;
    }
    const bag_reader before = reader_of(find(owner));
    const std::size_t needed = compact_size_with(before, value);
    if (needed > bag_limit) {
        return outcome::too_large;
    }
    // Never a smaller one: what was erased may come again.
    const auto size = block_class::of(std::max(needed, before.capacity()));
    return replace(owner, size, [&](std::byte* memory, std::size_t capacity) {
        copy_with(memory, capacity, before, value);
    });
}

bool bag_store::set(const bag_owner& owner, property_path path, const bag_entry& value) {
    std::string error;
    const outcome came = put(owner, path, value, error);
    if (came == outcome::collides) {
        throw_exception(path_collision(error));
    }
    if (came == outcome::too_large) {
        throw_exception(too_large_with(reader_of(find(owner)), path, value, names_));
    }
    return throw_unless_done(came, owner);
}

bool bag_store::assign(const bag_owner& owner, property_view bag) {
    outcome came = validate(owner);
    if (came == outcome::done) {
        add_paths_of(bag, names_);
        const bag_reader from = reader_of(bag);
        came = replace(owner, block_class::of(from.compact_size()),
                       [&](std::byte* memory, std::size_t capacity) { copy_to(memory, capacity, from); });
    }
    return throw_unless_done(came, owner);
}

bool bag_store::merge(const bag_owner& owner, property_view later, removals how) {
    outcome came = validate(owner);
    if (came == outcome::done) {
        add_paths_of(later, names_);
        const bag_merge merged{.earlier = reader_of(find(owner)), .later = reader_of(later), .how = how};
        came = replace(owner, block_class::of(merged.size(names_)),
                       [&](std::byte* memory, std::size_t capacity) { merged.write_to(memory, capacity); });
    }
    return throw_unless_done(came, owner);
}

bool bag_store::erase(const bag_owner& owner, property_hash path) noexcept {
    const block own = bag_of(owner);
    if (own == block::none) {
        return false;
    }
    bag_writer bag((*arena_)[own]);
    const std::size_t position = bag.find(path);
    if (position == bag.count()) {
        return false;
    }
    bag.erase(position);
    const auto size = block_class::of(bag.compact_size());
    if (size.bytes() <= bag.capacity() / 2) { // it stays where it is when there is no such block
        static_cast<void>(replace(
            owner, size, [&](std::byte* memory, std::size_t capacity) { copy_to(memory, capacity, bag); }));
    }
    return true;
}

bool bag_store::erase(const bag_owner& owner) noexcept {
    if (!has(owner)) {
        return false;
    }
    forget(owner);
    return true;
}

void bag_store::forget(const bag_owner& owner) noexcept {
    if (owner.slot < table_.size()) {
        const entry last = entry_of(owner.slot);
        if (last.tag != 0 && last.tag <= owner.tag) {
            set_entry(owner.slot, {});
            release(last);
        }
    }
}

bool bag_store::throw_unless_done(outcome came, const bag_owner& owner) const {
    if (came == outcome::no_slot) {
        throw_exception(
            std::length_error(fmt::format("property_store: slot {} is beyond the {} that its option "
                                          "`slot_limit` allows",
                                          owner.slot, table_.size())));
    }
    if (came == outcome::foreign) {
        require_pool(pool_id(), owner.pool_id, "property_store");
    }
    if (came == outcome::full) {
        throw_exception(property_store_full(bytes()));
    }
    return came == outcome::done;
}

} // namespace handlepool::detail
