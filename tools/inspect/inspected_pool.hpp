// SPDX-License-Identifier: MIT
#pragma once

#include "inspected_gate.hpp"
#include "inspected_program.hpp"

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/pool/handle_report.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace handlepool::inspect_tool {

/// Numbers of a pool at a moment, each right by itself.
struct pool_counts {
    std::uint64_t alive = 0;
    std::uint64_t dense = 0;
    std::uint64_t newborn = 0;
    std::uint64_t waiting_removals = 0;
    std::uint64_t reserved = 0; ///< handles without an object
    std::uint64_t created = 0;  ///< ever, as the next five
    std::uint64_t erased = 0;
    std::uint64_t destroyed = 0;
    std::uint64_t frames = 0;
    std::uint64_t compaction_nanoseconds = 0; ///< of all frames
    std::uint64_t timed_compactions = 0;      ///< of which alone the time of each compaction_phase is known
    std::array<std::uint64_t, 8> phase_nanoseconds{};
    std::uint64_t bytes_resident = 0;
    std::uint64_t at = 0; ///< nanoseconds of the clock
};

/// An object that lives.
struct living_object {
    std::uint64_t handle = 0;
    std::uint64_t index = 0;
    std::uint32_t generation = 0;
    std::uint32_t location = 0;
    std::optional<std::uint32_t> age = std::nullopt; ///< in frames, if the pool remembers or records it
    std::optional<detail::life_record> beginning = std::nullopt; ///< if the pool records it
};

/// Where a handle's object is, and its bytes; of rows, those of each column one after the other.
struct object_copy {
    std::uint32_t location = 0;
    bool is_dense = false;
    std::vector<std::byte> bytes = {};
};

/// A pool of another program, at one look. Throws process_unreadable, or memory_gone when the pool has ended.
class inspected_pool {
public:
    inspected_pool(const inspected_program& program, const detail::living_pool& listed);

    const std::string& name() const noexcept { return name_; }
    const std::string& type() const noexcept { return type_; }
    std::uint32_t id() const noexcept { return listed_.id; }
    const detail::living_pool& listed() const noexcept { return listed_; }
    /// "32.22.10": the bits of its handles' index, generation and pool id.
    std::string layout() const;
    std::uint64_t capacity() const noexcept { return listed_.description.capacity; }
    std::uint64_t object_bytes() const noexcept; ///< of a row, in all columns
    bool is_stable() const noexcept { return listed_.description.dense_positions == 0; }
    bool records_lives() const noexcept { return listed_.description.lives.first != nullptr; }
    /// So many of each slot, if it does.
    std::uint32_t lives_kept() const noexcept { return std::uint32_t{1} << listed_.description.lives_bits; }
    bool knows_ages() const noexcept {
        return records_lives() || listed_.description.history.first != nullptr;
    }
    /// Whether a handle's value has this pool's id and no bits that its layout leaves out.
    bool may_be_of(std::uint64_t handle) const noexcept;

    pool_counts counts() const;
    gate_view gate() const { return gate_of(program_, listed_.description.gate); }

    /// Calls `visit` for each object that lives when its slot is looked at. Linear in the slots ever used.
    void for_each_living(const std::function<void(const living_object&)>& visit) const;
    /// The same for each handle that is reserved.
    void for_each_reserved(const std::function<void(std::uint64_t handle)>& visit) const;

    // Where objects lie. Locations below this one are the dense store, without holes up to its size except
    // for erased objects; those of newborns come after it. In a stable pool all are of one kind.
    std::uint64_t dense_positions() const noexcept { return listed_.description.dense_positions; }
    std::uint64_t dense_size() const;
    /// The handle of the object that was erased last in the slot that owns a position of the dense store; 0
    /// if its slot has gone on.
    std::uint64_t erased_at(std::uint64_t position) const;
    /// Numbers made of the bytes of objects at `count` neighbouring locations, another one after a change.
    std::vector<std::uint32_t> hashes_at(std::uint32_t first, std::size_t count) const;

    /// "ships #1021 generation 7: erased 3 frames ago by thread ..." as the pool's describe() says it.
    std::string describe(std::uint64_t handle) const;
    bool is_alive(std::uint64_t handle) const;
    /// The bytes of a living object, of one place in which it was while they were read; the program may have
    /// written some of them meanwhile. Nothing if it does not live, or moves all the time.
    std::optional<object_copy> copy(std::uint64_t handle) const;

    // What is recorded of a slot's life with this generation; only if it records lives.
    std::optional<detail::life_record> beginning(detail::slot_index slot, std::uint32_t generation) const;
    std::optional<detail::life_record> end(detail::slot_index slot, std::uint32_t generation,
                                           bool may_wait) const;

private:
    struct slot_words {
        std::uint32_t tag;
        std::uint32_t location;
    };

    void require_sensible() const;
    template <class Value>
    std::uint64_t sum_of(const detail::described_array& counters) const;
    slot_words slot_at(std::uint64_t index) const;
    /// How many slots were ever used, as far as it shows.
    std::uint64_t slots_in_service() const;
    std::optional<detail::life_record> record_at(std::uint64_t address, std::uint32_t generation) const;
    std::optional<detail::life_record> waiting_end(detail::slot_index slot, std::uint32_t generation) const;
    /// Until the look began, so that whatever is told of the pool together has the same ages.
    std::uint32_t frames_since(const detail::life_record& record) const;
    /// Of a slot, counted from any first one, the place of the life with this generation.
    std::uint64_t position_of_life(std::uint64_t slot, std::uint32_t generation) const noexcept;
    std::uint64_t address_of_life(detail::slot_index slot, std::uint32_t generation) const noexcept;

    std::uint64_t index_of(std::uint64_t handle) const noexcept;
    std::uint32_t tag_of(std::uint64_t handle) const noexcept;
    std::uint32_t generation_of(std::uint32_t tag) const noexcept;

    const inspected_program& program_;
    const process_memory& memory_;
    detail::living_pool listed_;
    std::string name_;
    std::string type_;
    std::vector<detail::described_column> columns_;
    mutable std::optional<std::uint64_t> slots_in_service_; // once they were counted
    mutable std::optional<std::uint32_t> lives_frame_;      // once an age was asked for
};

} // namespace handlepool::inspect_tool
