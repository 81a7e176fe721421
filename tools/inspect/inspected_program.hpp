// SPDX-License-Identifier: MIT
#pragma once

#include "process_memory.hpp"

#include <handlepool/call_site.hpp>
#include <handlepool/recorded_life.hpp>

#include <src/core/process/process_description.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::inspect_tool {

/// A running program with pools, as its description says; of a process with several copies of the library,
/// one for each.
class inspected_program {
public:
    /// The program in a process, and none if it has no pools' library. Throws process_unreadable, also if the
    /// description is one of another version.
    static std::vector<inspected_program> in_process(int process);

    const process_memory& memory() const noexcept { return memory_; }
    int process() const noexcept { return memory_.process(); }
    /// Which of the copies in its process.
    std::size_t copy() const noexcept { return copy_; }
    std::string name() const { return program_name(process()); }
    /// Whether its description can be read, and is what it was: false when it has ended, has become another
    /// program, or has unloaded this copy of the library.
    bool is_there() const noexcept;

    // What lives, the first one first. Throw process_unreadable when it does not come to a rest.
    std::vector<detail::living_pool> pools() const { return list(description_.living_pools); }
    std::vector<detail::living_service> services() const { return list(description_.living_services); }

    /// The name of the thread with this number of the library's, as the system knows it: "physics"; empty if
    /// that is not known.
    std::string thread_with_number(std::uint32_t number) const;

    /// What a record says, for this program: its sites have names here, too.
    recorded_event event_of(const detail::life_record& record, std::uint32_t frames_ago) const;
    /// Who has called, of a word of the program: the site, the thread's name and the task's.
    recorded_event maker_of(std::uint64_t word) const;
    /// The site of that alone, in words: "explode() at ship.cpp:88", or "an unknown place".
    std::string place_of(std::uint64_t word) const;

private:
    inspected_program(const process_memory& memory, const detail::process_description& description,
                      std::size_t copy) noexcept
        : memory_(memory), description_(description), copy_(copy) {}

    template <class Living>
    std::vector<Living> list(Living* const* first) const;
    template <class Living>
    std::optional<std::vector<Living>> try_to_list(Living* const* first) const;
    call_site site_of(std::uint64_t site) const;
    /// The value of an entry of a depot; nothing where there is none.
    std::optional<detail::word_depot::value_type> entry_of(const detail::listed_depot* depot,
                                                           std::uint64_t number) const;

    process_memory memory_;
    detail::process_description description_;
    std::size_t copy_;
};

/// Whether two were listed for the same pool, perhaps at different times.
bool is_same_pool(const detail::living_pool& one, const detail::living_pool& other) noexcept;
/// Whether a pool is one of these, which were listed at another time.
bool is_among(const detail::living_pool& pool, const std::vector<detail::living_pool>& listed);

} // namespace handlepool::inspect_tool
