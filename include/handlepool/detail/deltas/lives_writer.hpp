// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/call_site.hpp>
#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/recorder/life_event.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace handlepool::detail {

// Bits of an event in the block, above the event itself.
inline constexpr std::uint32_t told_is_undone = 256;
inline constexpr std::uint32_t told_is_there = 512;

/// What was known of an event of a life when it was noted.
struct noted_event {
    /// It has happened, and nobody knows how.
    bool is_unknown() const noexcept { return event == life_event::none; }

    bool is_there = false; ///< it has happened
    life_event event = life_event::none;
    bool is_undone = false;
    std::uint32_t frame = 0; ///< of the recorder
    caller who = caller::unknown;
};
struct noted_life {
    std::uint64_t handle = 0;
    noted_event beginning{};
    noted_event end{};
};

/// What the handles of lives say of their pool.
struct pool_of_lives {
    std::string_view name;
    std::uint32_t widths = 0; // of their layout, as widths_of_layout() has them
    std::uint32_t id = 0;
};

/// The block in which a delta tells of lives. It has each name of a thread, a task and a place once. These
/// are looked up when they are first written, which takes long.
///
/// ```
///   note()  note()  ─▶ write(): a block ─┬─▶ commit() ─▶ the next one tells of what comes
///                                        └─────────────▶ the next one tells of these, too
/// ```
class HANDLEPOOL_EXPORT lives_writer {
public:
    static constexpr std::uint32_t version = 1; // of what the block has

    /// Places are named by `namer`, or else by the one that the program has chosen.
    /// Throws std::bad_alloc.
    explicit lives_writer(site_namer namer) : namer_(namer) {}

    /// Where there is no memory for it, the next block says that some are missing.
    void note(const noted_life& life) noexcept;
    /// Some are missing.
    void miss() noexcept { some_are_missing_ = true; }
    /// In this frame of the recorder. Throws std::bad_alloc.
    void write(snapshot_writer& to, std::string_view name, const pool_of_lives& pool, std::uint32_t frame);
    /// Forgets what was noted, in this frame of the recorder: what comes is told from here on.
    void commit(std::uint32_t frame) noexcept;

private:
    /// Names that are known, by their positions in `names_`; the first one is no name.
    struct named_caller {
        std::size_t thread = 0;
        std::size_t task = 0;
        std::size_t site = 0;
    };
    struct known_name {
        std::string text;
        std::uint32_t number = 0; // in the block that is written, if it has the name
    };

    /// All that was noted, as the block has it, and the names that it needs.
    void encode(std::uint32_t frame);
    std::byte* encode(const noted_event& event, std::uint32_t frame, std::byte* to);
    const named_caller& known(caller who);
    std::size_t position_of(std::string name);
    std::uint32_t number_of_name(std::size_t position);

    site_namer namer_;
    std::vector<noted_life> lives_;
    bool some_are_missing_ = false;
    std::uint32_t told_frame_ = 0; // that of the block before
    std::vector<known_name> names_{known_name()};
    std::unordered_map<std::string, std::size_t> positions_;
    std::unordered_map<std::uint64_t, named_caller> callers_;
    // Of the block that is written: its names, in their order, and its lives.
    std::vector<std::size_t> written_;
    std::vector<std::byte> encoded_;
};

} // namespace handlepool::detail
