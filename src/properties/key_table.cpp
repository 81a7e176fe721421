// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/text/text.hpp>
#include <handlepool/key_table.hpp>

#include <fmt/format.h>

#include <mutex>
#include <stdexcept>
#include <utility>

namespace handlepool {

namespace {

std::string name_of_keys(property_hash hash, const std::vector<std::string>& keys) {
    if (keys.empty()) {
        return fmt::format("path #{:08x}", static_cast<std::uint32_t>(hash));
    }
    std::string name;
    for (const std::string& key : keys) {
        name += (name.empty() ? "" : " / ") + detail::json_string(key);
    }
    return name;
}

} // namespace

property_path key_table::add(std::span<const std::string_view> keys) {
    std::string error;
    if (const auto path = try_add(keys, error)) {
        return *path;
    }
    if (keys.empty()) {
        detail::throw_exception(std::invalid_argument(error));
    }
    detail::throw_exception(path_collision(error));
}

void key_table::add(property_path path) {
    if (std::string error; !try_add(path, error)) {
        detail::throw_exception(path_collision(error));
    }
}

void key_table::add(const key_table& other) {
    if (std::string error; !try_add(other, error)) {
        detail::throw_exception(path_collision(error));
    }
}

std::optional<property_path> key_table::try_add(std::span<const std::string_view> keys, std::string& error) {
    if (keys.empty()) {
        error = "a path has no keys, and must have one or more";
        return std::nullopt;
    }
    entry added{.path = property_path(keys.front()), .keys = {}};
    added.keys.emplace_back(keys.front());
    for (const std::string_view key : keys.subspan(1)) {
        added.path = added.path / key;
        added.keys.emplace_back(key);
    }
    const property_path path = added.path;
    entries one;
    one.emplace(path, std::move(added));
    return try_add(std::move(one), error) ? std::optional(path) : std::nullopt;
}

bool key_table::try_add(property_path path, std::string& error) {
    {
        const std::shared_lock lock(mutex_);
        if (const auto known = entries_.find(path); known != entries_.end() && known->second.path == path) {
            return true;
        }
    }
    entries one;
    one.emplace(path, entry{.path = path, .keys = {}});
    return try_add(std::move(one), error);
}

bool key_table::try_add(const key_table& other, std::string& error) {
    entries copy;
    {
        const std::shared_lock lock(other.mutex_);
        copy = other.entries_;
    }
    return try_add(std::move(copy), error);
}

bool key_table::try_add(entries added, std::string& error) {
    const std::unique_lock lock(mutex_);
    for (const auto& [hash, one] : added) {
        const auto known = entries_.find(hash);
        if (known != entries_.end() && known->second.path != one.path) {
            error =
                fmt::format("{} and {} have the same hash {:08x} in bags; another name for one of their keys "
                            "gives another hash",
                            name_of_keys(hash, known->second.keys), name_of_keys(hash, one.keys),
                            static_cast<std::uint32_t>(hash));
            return false;
        }
    }
    // Nothing below allocates: nodes change their owner, and of those that are here already the keys do.
    entries_.merge(added);
    for (auto& [hash, one] : added) {
        std::vector<std::string>& keys = entries_.find(hash)->second.keys;
        if (keys.empty()) {
            keys.swap(one.keys);
        }
    }
    return true;
}

std::optional<property_path> key_table::path_of(property_hash hash) const {
    const std::shared_lock lock(mutex_);
    const auto found = entries_.find(hash);
    return found != entries_.end() ? std::optional(found->second.path) : std::nullopt;
}

std::vector<std::string> key_table::keys_of(property_hash hash) const {
    const std::shared_lock lock(mutex_);
    const auto found = entries_.find(hash);
    return found != entries_.end() ? found->second.keys : std::vector<std::string>();
}

std::size_t key_table::size() const {
    const std::shared_lock lock(mutex_);
    return entries_.size();
}

std::string name_of(property_hash path, const key_table* names) {
    return name_of_keys(path, names != nullptr ? names->keys_of(path) : std::vector<std::string>());
}

} // namespace handlepool
