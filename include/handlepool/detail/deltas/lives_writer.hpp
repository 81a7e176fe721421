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

/// What was known of an event of a life when it was noted; `none` if nothing was.
struct noted_event {
    life_event event = life_event::none;
    bool is_undone = false;
    std::uint32_t frames_ago = 0;
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

/// The block in which a delta tells of lives. Names of threads, tasks and places are looked up when they are
/// first written, and told once: later blocks name them by their numbers.
///
/// ```
///   note()  note()  ─▶ write(): a block ─┬─▶ commit() ─▶ the next one tells of what comes
///                                        └─────────────▶ the next one tells of these, too
/// ```
class HANDLEPOOL_EXPORT lives_writer {
public:
    static constexpr std::uint32_t version = 1; // of what the block has

    /// Places are named by `namer`, or else by the one that the program has chosen.
    explicit lives_writer(site_namer namer) noexcept : namer_(namer) {}

    /// Forgets what was noted and what was told. Returns the memory for it.
    void begin() noexcept;
    /// Where there is no memory for it, the next block says that some are missing.
    void note(const noted_life& life) noexcept;
    /// What has ended all lives that were noted as forgotten, by nobody who is known.
    void note_reset(const noted_event& reset) noexcept;
    /// Throws std::bad_alloc.
    void write(snapshot_writer& to, std::string_view name, const pool_of_lives& pool);
    void commit() noexcept;

private:
    /// Of what a caller consists, as numbers of texts.
    struct numbered_caller {
        std::uint32_t thread = 0;
        std::uint32_t task = 0;
        std::uint32_t site = 0;
    };

    numbered_caller numbers_of(caller who);
    std::uint32_t number_of(const std::string& text);
    void write(snapshot_writer& to, const noted_event& event);

    site_namer namer_;
    std::vector<noted_life> lives_;
    bool some_are_missing_ = false;
    // From number 1 on; readers know the first ones, so many of which were told.
    std::vector<std::string> texts_;
    std::size_t told_ = 0;
    std::unordered_map<std::string, std::uint32_t> numbers_;
    std::unordered_map<std::uint64_t, numbered_caller> callers_;
};

} // namespace handlepool::detail
