// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// Where pools and services keep what they keep: for programs that read the memory of this one, and may be of
/// another build. Plain addresses and numbers; who changes any of it raises process_description::version.
namespace handlepool::detail {

/// Elements of the same kind, the same distance apart, which may be negative.
struct described_array {
    const void* first = nullptr;
    std::int64_t stride = 0;
    std::uint64_t count = 0;
};

struct described_text {
    const char* first = nullptr;
    std::uint64_t size = 0;

    static constexpr described_text of(std::string_view text) noexcept { return {text.data(), text.size()}; }
};

/// The elements of a column, or the objects themselves, by location.
struct described_column {
    described_array elements;
    described_text type;
};

/// Who keeps compactions away, of a pool or of a service.
struct described_gate {
    // Of each thread's number: how many guards it holds, 32 bits; and who made the first of them and since
    // when it is held, 64 bits each, if that is recorded.
    described_array guards;
    described_array guard_makers;
    described_array guards_since;
    const void* thread_count = nullptr;      ///< 32 bits: numbers of threads that have used it
    const void* state = nullptr;             ///< 32 bits: 0 open, 1 wanted, 2 closed
    const void* compacting_thread = nullptr; ///< 32 bits, a thread's number
    const void* closed_for = nullptr;        ///< 8 bits: 0 a compaction, 1 exclusive access
    const void* waiting_since = nullptr;     ///< 64 bits: nanoseconds of the monotonic clock; 0 for not
};

struct described_pool {
    described_text type; ///< of its objects; empty when it is known at run time only
    std::uint64_t capacity = 0;

    described_array slot_table;      ///< 32 bits of a tag, 32 of a location
    const void* first_tag = nullptr; ///< 32 bits: below those of all objects since the last reset

    // Objects: those of the dense store come first.
    const described_column* columns = nullptr;
    std::uint64_t column_count = 0;
    std::uint64_t dense_positions = 0;
    const void* dense_size = nullptr; ///< 32 bits
    described_array owners;           ///< of positions of the dense store: 32 bits of a slot

    // A counter of 64 bits for each shard.
    described_array created;
    described_array erased;
    described_array reserved;                        ///< handles, ever
    described_array closed;                          ///< of these, fulfilled or cancelled
    const void* shard_count = nullptr;               ///< 32 bits
    const void* erased_without_shard = nullptr;      ///< 64 bits
    const void* objects_that_left_nursery = nullptr; ///< 64 bits, as the next three
    const void* objects_destroyed = nullptr;
    const void* frames = nullptr;
    const void* compaction_nanoseconds = nullptr; ///< of all frames
    described_array phase_nanoseconds;            ///< 64 bits for each phase of these compactions alone:
    const void* timed_compactions = nullptr;      ///< 64 bits

    described_gate gate;

    // What is recorded of lives: four 64-bit words each, 2^lives_bits of a slot. None if there is no first.
    described_array lives;
    std::uint64_t lives_bits = 0;
    const void* lives_frame = nullptr; ///< 32 bits
    const void* last_reset = nullptr;  ///< two such words
    // Ends that wait for a compaction: 64 bits of a slot and, in the lower half, a generation, and two such
    // words. They lie below a position.
    described_array waiting_ends;
    const void* waiting_ends_reach = nullptr; ///< 64 bits

    // The frames in which each slot's last object was taken into the store, and destroyed: two 64-bit words,
    // a tag above 32 bits of a frame. None if there is no first.
    described_array history;

    // All memory of the pool.
    const void* memory = nullptr;
    std::uint64_t memory_size = 0;
};

} // namespace handlepool::detail
