// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/pool_options.hpp>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace handlepool {

/// The limits that a configuration sets for a pool; a value that it leaves out stays as the program has it.
struct HANDLEPOOL_EXPORT pool_limits {
    /// They replace the options of the same names.
    std::optional<std::size_t> capacity;
    std::optional<std::size_t> reuse_delay;
    std::optional<std::size_t> slot_limit;
    std::optional<std::size_t> removal_queue_size;
    std::optional<std::size_t> max_threads;
    std::optional<bool> remember_frames;
    std::optional<std::size_t> record_lives;
    std::optional<std::size_t> record_stack;

    /// Where the limits come from, for messages: "limits.json: pools.ships". May be empty.
    std::string source;

    /// The program's options, changed by these limits. Any thread, at any time; constant.
    pool_options applied_to(pool_options options) const;
};

/// Limits by the names of their pools.
using limits_by_pool = std::map<std::string, pool_limits, std::less<>>;

/// Reads a configuration, in which a pool may have the fields `capacity`, `reuse_delay`, `slot_limit`,
/// `removal_queue_size`, `max_threads`, `remember_frames`, `record_lives` and `record_stack`, as in
/// pool_options; `reuse_delay`, `slot_limit` and `removal_queue_size` may be `"automatic"`:
///
///     {"pools": {"ships": {"capacity": 10000, "reuse_delay": 256}, "rockets": {"capacity": 50000}}}
///
/// A whole number may be written as JSON likes, 1e4 or 10000.0 too.
///
/// Throws std::system_error when the file can't be read, and std::invalid_argument when it is not such a
/// configuration: the message names the file, the place in it and what is allowed there. In errors
/// about a text, `where` takes the place of the file's name. Any thread, at any time; linear.
HANDLEPOOL_EXPORT limits_by_pool read_pool_limits(const std::filesystem::path& file);
HANDLEPOOL_EXPORT limits_by_pool parse_pool_limits(std::string_view json, std::string_view where);

/// Like read_pool_limits() and parse_pool_limits(), but return nothing instead of throwing these errors, and
/// put the message into `error`.
HANDLEPOOL_EXPORT std::optional<limits_by_pool> try_read_pool_limits(const std::filesystem::path& file,
                                                                     std::string& error);
HANDLEPOOL_EXPORT std::optional<limits_by_pool>
try_parse_pool_limits(std::string_view json, std::string_view where, std::string& error);

} // namespace handlepool
