// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/call_site.hpp>
#include <handlepool/detail/memory/virtual_array.hpp>
#include <handlepool/fmt.hpp>
#include <handlepool/pool_options.hpp>
#include <handlepool/recorded_life.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::stress {

// Who has made and who has erased the latest object of each slot, as these threads know it themselves: what a
// pool must say that records lives. Each thread calls it from a site of its own.
template <class Pool>
class explanations {
public:
    using handle_type = typename Pool::handle_type;

    // Of `slots` slots, which so many clients use.
    explanations(const pool_options& options, std::size_t slots, std::size_t clients)
        : lives_(options.record_lives == 0 ? 0 : std::bit_ceil(options.record_lives)),
          makers_("slots' makers", lives_ == 0 ? 1 : slots, 0),
          erasers_("slots' erasers", lives_ == 0 ? 1 : slots, 0) {
        for (std::size_t client = 0; is_recorded() && client != clients; ++client) {
            sites_.push_back(call_site::named(fmt::format("client {}", client)));
        }
    }

    bool is_recorded() const noexcept { return lives_ != 0; }

    // Where a client calls from; not known if nobody asks.
    call_site site(std::size_t client) const noexcept { return is_recorded() ? sites_[client] : call_site(); }

    void note_made(handle_type handle, std::size_t client) noexcept { note(makers_, handle, client); }
    void note_erased(handle_type handle, std::size_t client) noexcept { note(erasers_, handle, client); }

    // What the pool says wrongly of a handle whose object was erased; nothing if it is right, or more lives
    // of the slot have followed than it keeps.
    std::optional<std::string> contradiction(const Pool& pool, handle_type handle) const {
        const std::optional<std::size_t> maker = client_of(makers_, handle);
        const std::optional<std::size_t> eraser = client_of(erasers_, handle);
        const recorded_life life = pool.life_of(handle);
        const bool is_kept =
            !life_after(pool, handle, lives_ - 1).end && !life_after(pool, handle, lives_).beginning;
        if (eraser && (life.end ? life.end->site != sites_[*eraser] || life.end->event != life_event::erased
                                : is_kept)) {
            return fmt::format("client {} erased handle {}, and the pool says: {}", *eraser, handle,
                               pool.describe(handle));
        }
        if (maker && (life.beginning ? life.beginning->site != sites_[*maker] : is_kept)) {
            return fmt::format("client {} made handle {}, and the pool says: {}", *maker, handle,
                               pool.describe(handle));
        }
        return std::nullopt;
    }

private:
    using layout = typename Pool::layout;
    using array = detail::virtual_array<std::atomic<std::uint64_t>>;

    // A generation, and above it the client plus one.
    static constexpr unsigned client_shift = 32;

    void note(array& whose, handle_type handle, std::size_t client) noexcept {
        if (is_recorded()) {
            whose[static_cast<std::size_t>(handle.index())].store(
                (std::uint64_t{client} + 1) << client_shift | handle.generation(),
                std::memory_order::relaxed);
        }
    }
    static std::optional<std::size_t> client_of(const array& whose, handle_type handle) noexcept {
        const std::uint64_t noted =
            whose[static_cast<std::size_t>(handle.index())].load(std::memory_order::relaxed);
        return (noted & 0xffff'ffff) == handle.generation() && noted >> client_shift != 0
                   ? std::optional<std::size_t>((noted >> client_shift) - 1)
                   : std::nullopt;
    }

    // So many lives later.
    static recorded_life life_after(const Pool& pool, handle_type handle, std::size_t lives) {
        const std::uint64_t generation = std::uint64_t{handle.generation()} + 2 * lives;
        if (generation >> layout::generation_bits != 0) {
            return {};
        }
        using value_type = typename handle_type::value_type;
        return pool.life_of(handle_type::from_value(static_cast<value_type>(
            handle.value() + (value_type{2} * static_cast<value_type>(lives) << layout::index_bits))));
    }

    std::size_t lives_;
    array makers_;
    array erasers_;
    std::vector<call_site> sites_;
};

} // namespace handlepool::stress
