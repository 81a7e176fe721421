// SPDX-License-Identifier: MIT
#include <handlepool/detail/memory/poison.hpp>
#include <handlepool/detail/properties/block_arena.hpp>
#include <handlepool/detail/threads/thread_index.hpp>

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>
#include <thread>

namespace handlepool::detail {

namespace {

constexpr std::size_t largest_arena = std::size_t{8} << 32; // what the numbers of blocks name
constexpr std::uint32_t most_sets = 64;

// Memory is populated in steps of a part of what is in use, so that little is wasted, and not so large that
// anybody waits long. Up to two steps are ready.
constexpr std::size_t step_part = 16;
constexpr std::size_t largest_step = std::size_t{256} << 10;
constexpr std::size_t step_unit = 4096;

// More than there are processors, so that two threads that run at the same time seldom share one.
std::uint32_t sets_of_this_machine() noexcept {
    return std::min(std::bit_ceil(4 * std::max(std::thread::hardware_concurrency(), 1U)), most_sets);
}

} // namespace

static_assert(block_class(block_class::count - 1).bytes() == 65'536);

constexpr std::uint32_t block_arena::magazine_size(block_class size) noexcept {
    return static_cast<std::uint32_t>(std::clamp<std::size_t>(4096 / size.bytes(), 1, 64));
}

block_arena::block_arena(std::size_t bytes)
    : memory_(allocation_label("blocks of a property_store").in_steps(),
              std::min(bytes, largest_arena) / unit, unit,
              bytes > virtual_memory::huge_page_size ? virtual_memory::huge_page_size : alignof(links), 0),
      set_mask_(sets_of_this_machine() - 1),
      sets_(std::make_unique<magazine_set[]>(set_mask_ + 1)) {
    // Not for the beginning, not even where the system does so unasked: no store is to take twice what it
    // uses.
    const std::size_t beginning = std::min(2 * virtual_memory::huge_page_size, memory_.size());
    memory_.refuse_huge_pages(0, beginning);
    memory_.prefer_huge_pages(beginning, memory_.size());
}

block_arena::~block_arena() {
    unpoison(base(), 1, used());
}

void block_arena::clear() noexcept {
    unpoison(base(), 1, used());
    memory_.discard(0, end_of_touched());
    for (std::uint32_t i = 0; i <= set_mask_; ++i) {
        magazine_set& each = sets_[i];
        each.loaded = {};
        each.spare = {};
        each.taken = 0;
        each.given_back = 0;
    }
    full_ = {};
    fresh_ = unit;
    populated_ = 0;
}

void block_arena::trim() noexcept {
    memory_.release(used(), end_of_touched());
    populated_ = 0;
}

std::size_t block_arena::end_of_touched() const noexcept {
    // With the rest of the last huge page, and no byte of the next.
    constexpr std::size_t huge = virtual_memory::huge_page_size;
    return std::min((std::max(used(), populated_) + huge - 1) / huge * huge, memory_.size());
}

block_arena::magazine_set& block_arena::own_set() noexcept {
    // Threads without a number of their own share a set, too.
    return sets_[this_thread::index() & set_mask_];
}

// ---- A thread's magazines --------------------------------------------------------------------------------

std::optional<block> block_arena::take(block_class size) noexcept {
    magazine_set& own = own_set();
    const std::lock_guard lock(own.access);
    magazine& loaded = own.loaded[size.number()];
    if (loaded.size == 0) {
        std::swap(loaded, own.spare[size.number()]);
    }
    if (loaded.size == 0) {
        loaded = full_magazine(size);
        if (loaded.size == 0) {
            return std::nullopt;
        }
    }
    ++own.taken;
    const block taken = pop(loaded);
    unpoison((*this)[taken], 1, size.bytes());
    return taken;
}

void block_arena::give_back(block freed, block_class size) noexcept {
    magazine_set& own = own_set();
    const std::lock_guard lock(own.access);
    magazine& loaded = own.loaded[size.number()];
    if (loaded.size == magazine_size(size)) {
        std::swap(loaded, own.spare[size.number()]);
    }
    if (loaded.size == magazine_size(size)) {
        keep_magazine(loaded, size);
        loaded = {};
    }
    ++own.given_back;
    push(loaded, freed);
    poison((*this)[freed] + sizeof(links), 1, size.bytes() - sizeof(links));
}

void block_arena::push(magazine& onto, block freed) noexcept {
    ::new (static_cast<void*>((*this)[freed])) links{.next = onto.first, .next_magazine = block::none};
    onto.first = freed;
    ++onto.size;
}

block block_arena::pop(magazine& from) noexcept {
    const block taken = from.first;
    from.first = links_of(taken).next;
    --from.size;
    return taken;
}

// ---- The depot -------------------------------------------------------------------------------------------

block_arena::magazine block_arena::full_magazine(block_class size) noexcept {
    std::size_t begin = 0;
    std::size_t end = 0;
    range next;
    {
        const std::lock_guard lock(depot_access_);
        if (block& first = full_[size.number()]; first != block::none) {
            const magazine full{.first = first, .size = magazine_size(size)};
            first = links_of(first).next_magazine;
            return full;
        }
        begin = fresh_;
        const std::size_t fitting = (memory_.size() - used()) / size.bytes();
        end = begin + std::min<std::size_t>(fitting, magazine_size(size)) * size.bytes();
        if (!memory_.make_ready(begin, end)) {
            return {};
        }
        fresh_ = end;
        next = next_to_populate();
    }
    // Without the lock, because the system may have to find memory for it.
    if (next.first != next.last) {
        memory_.populate(next.first, next.last);
    }
    magazine carved;
    for (std::size_t at = end; at != begin; at -= size.bytes()) { // so that the lowest is taken first
        push(carved, static_cast<block>((at - size.bytes()) / unit));
    }
    return carved;
}

block_arena::range block_arena::next_to_populate() noexcept {
    const std::size_t step = std::min(used() / step_part, largest_step) / step_unit * step_unit;
    populated_ = std::max(populated_, used());
    if (populated_ - used() >= step) {
        return {};
    }
    const range next{.first = populated_, .last = std::min(populated_ + step, memory_.size())};
    populated_ = next.last;
    return next;
}

void block_arena::keep_magazine(magazine full, block_class size) noexcept {
    const std::lock_guard lock(depot_access_);
    links_of(full.first).next_magazine = full_[size.number()];
    full_[size.number()] = full.first;
}

// ---- Numbers ---------------------------------------------------------------------------------------------

std::size_t block_arena::in_use() const noexcept {
    std::size_t taken = 0;
    std::size_t given_back = 0;
    for (std::uint32_t i = 0; i <= set_mask_; ++i) {
        const std::lock_guard lock(sets_[i].access);
        taken += sets_[i].taken;
        given_back += sets_[i].given_back;
    }
    // While others work, more may be seen given back than taken.
    return taken - std::min(taken, given_back);
}

memory_use block_arena::memory() const noexcept {
    return {.reserved = memory_.size(), .resident = memory_.resident()};
}

} // namespace handlepool::detail
