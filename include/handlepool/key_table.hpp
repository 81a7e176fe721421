// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/property_error.hpp>
#include <handlepool/property_path.hpp>

#include <cstddef>
#include <initializer_list>
#include <map>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool {

/// Knows the keys of paths, so that they can be printed, and sees collisions: of the 64 bits that are known
/// of a path, bags hold 32. One table serves all bags of a program, and must outlive them; a bag that is
/// attached to it passes it each path that is set.
///
/// All functions: any thread, at any time; they block each other briefly. Logarithmic in the paths.
class HANDLEPOOL_EXPORT key_table {
public:
    key_table() = default;
    key_table(const key_table&) = delete;
    key_table& operator=(const key_table&) = delete;

    /// The path of these keys, of which there must be one; knows them from here on. Throws path_collision if
    /// another path has its hash in bags, std::invalid_argument without keys, and std::bad_alloc. Then
    /// nothing has changed, here and below.
    property_path add(std::span<const std::string_view> keys);
    property_path add(std::initializer_list<std::string_view> keys) {
        return add(std::span(keys.begin(), keys.size()));
    }

    /// Knows the path from here on, without its keys. Throws path_collision and std::bad_alloc.
    void add(property_path path);

    /// Knows all that another table knows. Throws path_collision and std::bad_alloc.
    void add(const key_table& other);

    /// Like add(), but return nothing or false instead of throwing path_collision, and put the message into
    /// `error`.
    std::optional<property_path> try_add(std::span<const std::string_view> keys, std::string& error);
    bool try_add(property_path path, std::string& error);
    bool try_add(const key_table& other, std::string& error);

    /// The path that bags hold as this hash, if it is known.
    std::optional<property_path> path_of(property_hash hash) const;

    /// Its keys; none if they are not known. Throws std::bad_alloc.
    std::vector<std::string> keys_of(property_hash hash) const;

    /// Paths that are known.
    std::size_t size() const;

private:
    struct entry {
        property_path path;
        std::vector<std::string> keys; // none: they are not known
    };
    using entries = std::map<property_hash, entry>;

    bool try_add(entries added, std::string& error);

    mutable std::shared_mutex mutex_; // for what follows
    entries entries_;
};

/// The path as in a program, `"stats" / "health"`, or else as `path #0a1b2c3d`. Throws std::bad_alloc. Any
/// thread, at any time.
HANDLEPOOL_EXPORT std::string name_of(property_hash path, const key_table* names);

} // namespace handlepool
