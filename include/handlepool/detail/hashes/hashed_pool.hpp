// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/hashes/hashed_content.hpp>
#include <handlepool/detail/hashes/hashed_part.hpp>
#include <handlepool/detail/hashes/object_hash.hpp>
#include <handlepool/row.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// The hash of what a pointer to an object, or a row, points to.
template <class T>
struct pointed_to {
    template <class Members>
    static std::uint64_t hash(const T* object, std::size_t, const Members& members) {
        return hash_of(*object, members);
    }
};
template <class... Cs>
struct pointed_to<columns<Cs...>> {
    template <class Pointer, class Members>
    static std::uint64_t hash(const Pointer& row, std::size_t, const Members& members) {
        if constexpr (std::is_same_v<Members, members_beside_type>) {
            object_hash hash;
            [&]<std::size_t... Is>(std::index_sequence<Is...>) {
                (hash(row->template get<Is>()), ...); // by index: two columns may have one type
            }(std::index_sequence_for<Cs...>());
            return hash.value();
        } else {
            return hash_of(*row, members);
        }
    }
};
template <class Void>
    requires std::is_void_v<Void>
struct pointed_to<Void> {
    template <class Members>
    static std::uint64_t hash(const void* object, std::size_t size, const Members& members) {
        if constexpr (std::is_same_v<Members, members_beside_type>) {
            return content_hash_of(std::span(static_cast<const std::byte*>(object), size));
        } else {
            return hash_of(object, members);
        }
    }
};

/// The hash of a pool that a change_log follows: a sum, to which each object adds a number that follows from
/// its position, its handle and its content. So it costs what has changed since the last update:
///
/// ```
///   records, written positions ──▶ position ──▶ sum - former number + number now
/// ```
///
/// Sums of hashes are due to Bellare and Micciancio, A New Paradigm for Collision-free Hashing, 1997: they
/// see each accident, but no forgery.
template <class Log, class T, class Members>
class hashed_pool final : public hashed_part {
public:
    /// `size` is that of an object whose type is known at run time.
    hashed_pool(std::string name, const Log& log, std::size_t size, Members members)
        : hashed_part(std::move(name)), log_(log), size_(size), members_(std::move(members)) {}

    void update() override {
        if (!log_.attached()) { // the pool has ended
            return;
        }
        if (!is_known_ || log_.oldest() > seen_) {
            look_at_all();
        } else {
            look_at_changes();
        }
        while (!numbers_.empty() && numbers_.back() == 0) {
            numbers_.pop_back();
        }
        is_known_ = true;
        seen_ = log_.frame();
    }
    bool is_pool() const noexcept override { return true; }
    std::span<const std::uint64_t> objects() const noexcept override { return numbers_; }

private:
    void look_at_all() {
        for (std::size_t position = 0; position != numbers_.size(); ++position) {
            look_at(position);
        }
        log_.for_each_known([this](auto, std::size_t position) { look_at(position); });
    }
    void look_at_changes() {
        changed_.clear();
        const auto records = log_.changes_since(seen_);
        for (const auto& record : *records) {
            for (const auto& each : record.destroyed) {
                changed_.push_back(each.position);
            }
            for (const auto& each : record.moved) {
                changed_.push_back(each.from);
            }
            for (const auto& each : record.renamed) {
                changed_.push_back(each.position);
            }
        }
        log_.for_each_upload_range(seen_, 0, [this](const auto& range) {
            for (std::size_t position = range.first; position != range.last; ++position) {
                changed_.push_back(position);
            }
        });
        for (std::size_t i = 0; i != changed_.size(); ++i) {
            if (i + ahead < changed_.size()) { // nobody has looked at the numbers since the last frame
                prefetch(numbers_.data(), changed_[i + ahead]);
            }
            look_at(changed_[i]);
        }
    }
    /// Once or more often.
    void look_at(std::size_t position) {
        if (position >= numbers_.size()) {
            numbers_.resize(position + 1);
        }
        const std::uint64_t now = number_at(position);
        value_ += now - std::exchange(numbers_[position], now);
    }
    std::uint64_t number_at(std::size_t position) const {
        const auto handle = log_.told_at(position);
        if (!handle) {
            return 0;
        }
        const std::uint64_t content = pointed_to<T>::hash(log_.told_object_at(position), size_, members_);
        const std::uint64_t number = mixed(mixed(content + mixed(handle.value())) + position);
        return number != 0 ? number : 1; // 0 is that of none
    }

    static constexpr std::size_t ahead = 16;

    const Log& log_;
    const std::size_t size_;
    [[no_unique_address]] Members members_;
    std::vector<std::uint64_t> numbers_; // by position
    std::vector<std::size_t> changed_;   // positions, during an update
    std::uint64_t seen_ = 0;
    bool is_known_ = false;
};

} // namespace handlepool::detail
