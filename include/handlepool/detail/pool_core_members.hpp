#pragma once

// The definitions of pool_core's member functions, in the order of their declarations in pool_core.hpp, which
// includes them.

#include <handlepool/detail/pool_core.hpp>

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <type_traits>

namespace handlepool::detail {
template <class T, class Layout, class Policy, template <class> class Freelist>
pool_core<T, Layout, Policy, Freelist>::pool_core(const pool_options& options, const object_type<T>& type)
    : name_(options.name),
      geometry_(plan_geometry(options, limits_of_options)),
      id_(pool_id_registry::of_layout(Layout::index_bits, Layout::generation_bits, Layout::pool_id_bits),
          options.pool_id, name_),
      fresh_tag_(Layout::make_tag(id_.id(), id_.first_generation())),
      slots_(quoted_pool(name_) + " slots", geometry_.slot_limit, geometry_.capacity),
      dense_(quoted_pool(name_), geometry_.object_limit, geometry_.nursery_chunks * Policy::nursery_chunk,
             geometry_.capacity, type),
      lanes_(quoted_pool(name_) + " lanes", geometry_.max_threads),
      supply_(quoted_pool(name_) + " freelist", geometry_, slots_, lanes_),
      nursery_(quoted_pool(name_) + " nursery", geometry_.nursery_chunks, Policy::nursery_chunk),
      removals_(quoted_pool(name_) + " removal queues", geometry_.removal_chunks, Policy::removal_chunk,
                geometry_.removal_queue_size),
      compactor_(quoted_pool(name_) + " compaction", geometry_, slots_, supply_, nursery_, removals_, dense_,
                 lanes_),
      gate_(lanes_, quoted_pool(name_)) {}

template <class T, class Layout, class Policy, template <class> class Freelist>
void pool_core<T, Layout, Policy, Freelist>::shut_down() noexcept {
    // Closed, so that a destructor that compacts or asks for a guard is refused like in a compaction.
    expect(gate_.try_close(), name_, "destroyed while an access guard is held or a compaction runs");
    destroy_all();
    id_.set_next_generation(next_generation());
    const_cast<volatile std::uint32_t&>(in_use_) = 0; // or the store is dropped, as nobody may read it
}

template <class T, class Layout, class Policy, template <class> class Freelist>
auto pool_core<T, Layout, Policy, Freelist>::lane_or_throw() -> lane_type& {
    expect_in_use();
    lane_type* const mine = lanes_.mine();
    if (mine == nullptr) {
        throw_without_lane(quoted_pool(name_), lanes_.is_of_this_module(), geometry_.max_threads);
    }
    return *mine;
}

// An object is made in three steps: its place is taken, it is constructed in the place's memory, and it is
// published. A constructor that throws ends the place before the third.
template <class T, class Layout, class Policy, template <class> class Freelist>
class pool_core<T, Layout, Policy, Freelist>::place {
public:
    place(pool_core& pool, lane_type& mine) noexcept : pool_(pool), lane_(mine) {
        if (!pool_.supply_.take(lane_, slot_)) {
            return;
        }
        taken_ = pool_.nursery_.take(lane_.newborns, position_);
        if (!taken_) {
            pool_.supply_.give_back(slot_);
            return;
        }
        pool_.dense_.prefetch_object(pool_.location_of(position_) + newborns_ahead);
        pool_.dense_.unpoison_objects(pool_.location_of(position_));
    }
    ~place() {
        if (taken_) {
            pool_.dense_.poison_objects(pool_.location_of(position_));
            pool_.nursery_.give_back(lane_.newborns, position_);
            pool_.supply_.give_back(slot_);
        }
    }

    place(const place&) = delete;
    place& operator=(const place&) = delete;

    bool taken() const noexcept { return taken_; }
    void* memory() noexcept { return pool_.dense_.memory(pool_.location_of(position_)); }

    handle_type publish() noexcept {
        taken_ = false;
        add(lane_.created, 1); // before anybody can erase it
        return pool_.publish(slot_, position_);
    }

private:
    pool_core& pool_;
    lane_type& lane_;
    std::uint32_t slot_ = 0;
    std::uint32_t position_ = 0;
    bool taken_ = false;
};

// The same for objects of which nobody may see any before all are made.
template <class T, class Layout, class Policy, template <class> class Freelist>
class pool_core<T, Layout, Policy, Freelist>::place_batch {
public:
    place_batch(pool_core& pool, lane_type& mine, std::size_t count)
        : pool_(pool), lane_(mine), slots_(count) {
        positions_taken_ = pool_.supply_.can_give(count) &&
                           pool_.nursery_.take(lane_.newborns, count, positions_); // may throw
        if (positions_taken_) {
            slots_taken_ = pool_.supply_.take_many(lane_, slots_.data(), count);
        }
    }
    ~place_batch() {
        if (taken() && constructed_ != slots_.size()) {
            pool_.dense_.poison_objects(location(constructed_));
        }
        for (; constructed_ != 0; --constructed_) {
            pool_.dense_.destroy(location(constructed_ - 1));
        }
        if (positions_taken_) {
            pool_.nursery_.give_back(lane_.newborns, positions_);
        }
        for (; slots_taken_ != 0; --slots_taken_) {
            pool_.supply_.give_back(slots_[slots_taken_ - 1]);
        }
    }

    place_batch(const place_batch&) = delete;
    place_batch& operator=(const place_batch&) = delete;

    bool taken() const noexcept { return positions_taken_ && slots_taken_ == slots_.size(); }

    template <class Construct>
    void construct_all(Construct construct) {
        for (; constructed_ != slots_.size(); ++constructed_) {
            const std::uint32_t next = location(constructed_);
            pool_.dense_.unpoison_objects(next);
            construct(pool_.dense_.memory(next));
        }
    }

    void publish_all(std::vector<handle_type>& made) noexcept {
        const std::size_t count = std::exchange(constructed_, 0);
        positions_taken_ = false;
        slots_taken_ = 0;
        pool_.nursery_.append(lane_.newborns, count, positions_);
        add(lane_.created, count); // before anybody can erase one
        for (std::size_t i = 0; i != count; ++i) {
            if (i + slots_ahead < count) {
                pool_.slots_.prefetch_slot(slots_[i + slots_ahead]);
            }
            made[i] = pool_.publish(slots_[i], pool_.nursery_.position(positions_, i));
        }
    }

private:
    static constexpr std::size_t slots_ahead = 16;

    std::uint32_t location(std::size_t object) const noexcept {
        return pool_.location_of(pool_.nursery_.position(positions_, object));
    }

    pool_core& pool_;
    lane_type& lane_;
    std::vector<std::uint32_t> slots_;
    newborn_batch positions_;
    std::size_t slots_taken_ = 0;
    std::size_t constructed_ = 0;
    bool positions_taken_ = false;
};

template <class T, class Layout, class Policy, template <class> class Freelist>
template <class Construct>
auto pool_core<T, Layout, Policy, Freelist>::create(Construct construct) -> handle_type {
    expect_in_use();
    lane_type* const mine = lanes_.mine();
    if (mine == nullptr) {
        return {};
    }
    place taken(*this, *mine);
    if (!taken.taken()) {
        return {};
    }
    construct(taken.memory());
    return taken.publish();
}

template <class T, class Layout, class Policy, template <class> class Freelist>
template <class Construct>
auto pool_core<T, Layout, Policy, Freelist>::create_many(std::size_t count, Construct construct)
    -> std::vector<handle_type> {
    expect_in_use();
    lane_type* const mine = lanes_.mine();
    if (mine == nullptr || count > geometry_.object_limit) {
        return {};
    }
    std::vector<handle_type> made(count);
    place_batch taken(*this, *mine, count);
    if (!taken.taken()) {
        return {};
    }
    taken.construct_all(construct);
    taken.publish_all(made);
    return made;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
auto pool_core<T, Layout, Policy, Freelist>::publish(std::uint32_t slot, std::uint32_t position) noexcept
    -> handle_type {
    const tag_type tag = slots_.next_tag(slot, fresh_tag_);
    const auto handle = handle_type::from_value(Layout::value_of(slot, tag));
    nursery_.own(position, handle.value());
    slots_.publish(slot, tag, location_of(position));
    return handle;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
bool pool_core<T, Layout, Policy, Freelist>::erase(handle_type handle) noexcept {
    expect_in_use();
    if (!slots_.kill(handle.value())) {
        return false;
    }
    lane_type* const mine = lanes_.mine();
    if (mine == nullptr) {
        erased_without_lane_.fetch_add(1, std::memory_order::relaxed);
        compactor_.demand_sweep();
        return true;
    }
    if (!removals_.push(mine->removals, handle.value())) {
        compactor_.demand_sweep();
    }
    add(mine->erased, 1);
    return true;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
template <std::ranges::input_range Range>
    requires std::convertible_to<std::ranges::range_reference_t<Range>, handle<T, Layout>>
std::size_t pool_core<T, Layout, Policy, Freelist>::erase(Range&& handles) {
    std::size_t erased = 0;
    for (const handle_type handle : handles) {
        erased += erase(handle) ? 1U : 0U;
    }
    return erased;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
void pool_core<T, Layout, Policy, Freelist>::clear() noexcept {
    expect_in_use();
    for (std::size_t index = 0, last = slots_in_service(); index < last; ++index) {
        const tag_type tag = slots_.tag(index);
        erase(handle_type::from_value(Layout::value_of(index, tag)));
    }
}

template <class T, class Layout, class Policy, template <class> class Freelist>
std::size_t pool_core<T, Layout, Policy, Freelist>::size() const noexcept {
    expect_in_use();
    // Erased ones first, so that the difference is rather too large than too small while others are at work.
    const std::uint64_t erased = lanes_.sum([](const lane_type& one) {
        return one.erased.load(std::memory_order::relaxed);
    }) + erased_without_lane_.load(std::memory_order::relaxed);
    const std::uint64_t created =
        lanes_.sum([](const lane_type& one) { return one.created.load(std::memory_order::relaxed); });
    return created > erased ? static_cast<std::size_t>(created - erased) : 0;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
refused_handle pool_core<T, Layout, Policy, Freelist>::examine(handle_type handle) const {
    refused_handle found{.null = !handle,
                         .fits_layout = Layout::fits(handle.value()),
                         .index = handle.index(),
                         .generation = handle.generation(),
                         .pool_id = handle.pool_id(),
                         .own_pool_id = id(),
                         .first_generation = Layout::generation_of(fresh_tag_),
                         .slots_in_service = slots_in_service()};
    if (handle.index() < slots_.size()) {
        found.slot_generation = Layout::generation_of(slots_.known_tag(handle.index()));
        if (const auto& history = compactor_.history(); history.remembers()) {
            const std::uint64_t now = compactor_.runs();
            // What no compaction has seen yet was created, or erased, since the last one.
            found.frames_since_birth =
                history.frames_since_birth(handle.index(), handle.tag(), now).value_or(0);
            found.frames_since_death =
                history.frames_since_death(handle.index(), handle.tag(), now).value_or(0);
        }
    }
    return found;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
auto pool_core<T, Layout, Policy, Freelist>::oldest(std::size_t most) const -> std::vector<handle_type> {
    expect_in_use();
    struct candidate {
        std::uint32_t frames;
        handle_type handle;
    };
    std::vector<candidate> alive;
    const auto& history = compactor_.history();
    for (std::size_t index = 0, last = slots_in_service(); index < last; ++index) {
        const tag_type tag = slots_.tag(index);
        if (Layout::is_alive(tag)) {
            const std::uint32_t frames =
                history.remembers() ? history.frames_since_birth(index, tag, compactor_.runs()).value_or(0)
                                    : 0;
            alive.push_back({frames, handle_type::from_value(Layout::value_of(index, tag))});
        }
    }
    const std::size_t count = std::min(most, alive.size());
    const auto older = [](const candidate& one, const candidate& other) {
        return std::tuple(other.frames, one.handle.generation(), one.handle.index()) <
               std::tuple(one.frames, other.handle.generation(), other.handle.index());
    };
    std::ranges::partial_sort(alive, alive.begin() + static_cast<std::ptrdiff_t>(count), older);
    std::vector<handle_type> result;
    for (std::size_t i = 0; i != count; ++i) {
        result.push_back(alive[i].handle);
    }
    return result;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
std::string pool_core<T, Layout, Policy, Freelist>::describe(handle_type handle) const {
    expect_in_use();
    return describe_handle(name_, contains(handle), examine(handle));
}

template <class T, class Layout, class Policy, template <class> class Freelist>
T* pool_core<T, Layout, Policy, Freelist>::object_or_throw(handle_type handle) {
    T* const found = find_object(handle);
    if (found == nullptr) {
        raise(stale_handle(describe_refusal(name_, examine(handle))));
    }
    return found;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
auto pool_core<T, Layout, Policy, Freelist>::handle_in_slot(std::uint32_t slot) const noexcept
    -> handle_type {
    if (slot == no_slot) {
        return {};
    }
    // The object's own tag, be it erased or not: compaction alone lets a slot go further.
    const tag_type tag = (slots_.known_tag(slot) - 1) | 1U;
    return handle_type::from_value(Layout::value_of(slot, tag));
}

template <class T, class Layout, class Policy, template <class> class Freelist>
auto pool_core<T, Layout, Policy, Freelist>::handle_at(std::size_t position) const -> handle_type {
    expect_in_use();
    if (position >= dense_.size()) {
        raise(std::out_of_range(quoted_pool(name_) + ": there is no position " + std::to_string(position) +
                                "; the dense store has " + std::to_string(dense_.size())));
    }
    return handle_in_slot(dense_.owner(static_cast<std::uint32_t>(position)));
}

template <class T, class Layout, class Policy, template <class> class Freelist>
auto pool_core<T, Layout, Policy, Freelist>::handle_of_address(const void* object) const noexcept
    -> handle_type {
    expect_in_use();
    const std::size_t location = dense_.location_of(object);
    if (location < dense_.size()) {
        return handle_in_slot(dense_.owner(static_cast<std::uint32_t>(location)));
    }
    if (location < dense_.capacity() || location >= dense_.locations()) {
        return {};
    }
    const auto owner = nursery_.owner(static_cast<std::uint32_t>(location) - dense_.capacity());
    return Layout::is_alive(Layout::tag_of(owner)) ? handle_type::from_value(owner) : handle_type{};
}

/// The gate is closed.
template <class T, class Layout, class Policy, template <class> class Freelist>
template <executor Executor>
compaction_stats pool_core<T, Layout, Policy, Freelist>::compact_alone(Executor& executor) {
    if constexpr (phase_listener<Executor>) {
        executor.begin_compaction(name_);
        const compaction_stats stats = compactor_.run(executor);
        executor.end_compaction(stats);
        return stats;
    } else {
        return compactor_.run(executor);
    }
}

template <class T, class Layout, class Policy, template <class> class Freelist>
template <executor Executor>
compaction_stats pool_core<T, Layout, Policy, Freelist>::compact(Executor&& executor) {
    const compaction_attempt attempt = compact_inside(nullptr, executor);
    throw_refused(gate_.owner(), attempt.refusal);
    return attempt.done;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
template <executor Executor>
compaction_attempt pool_core<T, Layout, Policy, Freelist>::compact_inside(outer_gate* outer,
                                                                          Executor& executor) {
    expect_in_use();
    if (const gate_refusal refusal = gate_.close(outer); refusal != gate_refusal::none) {
        return {.refusal = refusal, .done = {}};
    }
    const closed_gate closed(gate_);
    return {.refusal = gate_refusal::none, .done = compact_alone(executor)};
}

template <class T, class Layout, class Policy, template <class> class Freelist>
template <executor Executor>
std::optional<compaction_stats> pool_core<T, Layout, Policy, Freelist>::try_compact(Executor&& executor) {
    expect_in_use();
    if (!gate_.try_close()) {
        return std::nullopt;
    }
    const closed_gate closed(gate_);
    return compact_alone(executor);
}

template <class T, class Layout, class Policy, template <class> class Freelist>
void pool_core<T, Layout, Policy, Freelist>::add_hook(erase_hook hook) {
    expect_in_use();
    gate_.close_or_throw();
    const closed_gate closed(gate_);
    compactor_.add_hook([hook = std::move(hook)](typename Layout::value_type handle, T* object) {
        hook(handle_type::from_value(handle), object);
    });
}

template <class T, class Layout, class Policy, template <class> class Freelist>
void pool_core<T, Layout, Policy, Freelist>::destroy_all() noexcept {
    if (dense_.type().has_destructor() || compactor_.has_hooks()) {
        inline_executor executor;
        // Again as long as destructors make new objects.
        do {
            clear();
            compactor_.run(executor);
        } while (size() != 0 || dense_.size() != 0);
    }
}

template <class T, class Layout, class Policy, template <class> class Freelist>
std::uint32_t pool_core<T, Layout, Policy, Freelist>::next_generation() const noexcept {
    std::uint32_t highest = Layout::generation_of(fresh_tag_);
    for (std::size_t index = 0, last = slots_in_service(); index < last; ++index) {
        highest = std::max<std::uint32_t>(highest, Layout::generation_of(slots_.tag(index)));
    }
    return (highest + 1) & ~1U;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
void pool_core<T, Layout, Policy, Freelist>::reset() {
    expect_in_use();
    gate_.close_or_throw();
    const closed_gate closed(gate_);
    destroy_all();
    const std::uint32_t generation = next_generation();
    const bool used_up = generation + 1 > Layout::last_generation;
    fresh_tag_ = Layout::make_tag(id(), generation);

    const std::uint64_t created =
        lanes_.sum([](const lane_type& one) { return one.created.load(std::memory_order::relaxed); });
    compactor_.account_for(static_cast<std::size_t>(created - compactor_.destroyed()),
                           static_cast<std::size_t>(created - compactor_.left_nursery()));
    erased_without_lane_.store(0, std::memory_order::relaxed);
    for (std::size_t i = 0, last = lanes_.count(); i < last; ++i) {
        lanes_[i].forget_objects();
    }
    slots_.discard();
    dense_.discard();
    nursery_.reset();
    removals_.reset();
    supply_.reset(used_up);
    compactor_.forget();
}

template <class T, class Layout, class Policy, template <class> class Freelist>
void pool_core<T, Layout, Policy, Freelist>::shrink_to_fit() {
    expect_in_use();
    gate_.close_or_throw();
    const closed_gate closed(gate_);
    dense_.shrink();
    compactor_.shrink();
}

template <class T, class Layout, class Policy, template <class> class Freelist>
void pool_core<T, Layout, Policy, Freelist>::throw_refusal() {
    lane_or_throw();
    if (supply_.used_up()) {
        raise(pool_used_up(name_, geometry_.slot_limit));
    }
    raise(pool_exhausted(name_, geometry_.capacity));
}

template <class T, class Layout, class Policy, template <class> class Freelist>
pool_stats pool_core<T, Layout, Policy, Freelist>::stats() const {
    expect_in_use();
    const auto sum = [this](auto counter) {
        return lanes_.sum(
            [counter](const lane_type& one) { return (one.*counter).load(std::memory_order::relaxed); });
    };
    const auto difference = [](std::uint64_t more, std::uint64_t less) {
        return more > less ? static_cast<std::size_t>(more - less) : 0;
    };
    pool_stats view;
    view.name = name_;
    view.pool_id = id();
    view.capacity = geometry_.capacity;
    view.alive = size();
    view.dense = dense_.size();
    view.destroyed = compactor_.destroyed();
    view.created = sum(&lane_type::created);
    view.newborn = difference(view.created, compactor_.left_nursery());
    view.waiting_removals = difference(view.created, view.alive + view.destroyed);
    view.slots_in_service = slots_in_service();
    view.slots_free = supply_.waiting();
    view.slots_claimed = supply_.held();
    view.slots_retired = supply_.retired();
    view.slot_limit = geometry_.slot_limit;
    view.reuse_delay = geometry_.reuse_delay;
    view.smallest_reuse_distance = supply_.list().smallest_reuse_distance();
    view.lanes = lanes_.count();
    view.compactions = compactor_.runs();
    view.sweeps = compactor_.sweeps();
    view.bytes_resident_in_objects = dense_.object_bytes_resident();
    view.bytes_reserved = slots_.bytes_reserved() + dense_.bytes_reserved() + lanes_.bytes_reserved() +
                          supply_.bytes_reserved() + nursery_.bytes_reserved() + removals_.bytes_reserved() +
                          compactor_.bytes_reserved();
    view.bytes_resident = slots_.bytes_resident() + view.bytes_resident_in_objects +
                          dense_.owner_bytes_resident() + lanes_.bytes_resident() + supply_.bytes_resident() +
                          nursery_.bytes_resident() + removals_.bytes_resident() +
                          compactor_.bytes_resident();
    return view;
}

} // namespace handlepool::detail
