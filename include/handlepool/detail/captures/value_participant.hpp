// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/memory_use.hpp>
#include <handlepool/time/world_participant.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// What stays attached to something while it gets what another one has: the containers of handles, and the
/// property_store.
template <class Value>
concept attachable_value = requires(Value& value, const Value& other) {
    value.assign(other);
    value.swap_contents(value);
};

/// A value in a world, of which it keeps copies. Each is made in the memory of one that was given up, if
/// there is any: that of copies after `count_`, which are kept for nothing else.
template <class Value>
class value_participant final : public world_participant {
public:
    explicit value_participant(Value& value) noexcept : value_(value) {}

    void capture(std::uint64_t frame) override {
        keep(value_);
        copies_[count_]->frame = frame;
        ++count_;
    }
    void drop_newest() noexcept override { --count_; }
    void restore(std::uint64_t frame) override {
        const std::size_t place = place_of(frame);
        count_ = place + 1;
        if constexpr (attachable_value<Value>) {
            // By an exchange that can't fail; and values in a container that use it find it whole.
            keep(copies_[place]->value);
            value_.swap_contents(copies_[count_]->value);
        } else {
            value_ = std::as_const(copies_[place]->value);
        }
    }
    void confirm(std::uint64_t frame) noexcept override {
        const std::size_t place = place_of(frame);
        std::rotate(copies_.begin(), copies_.begin() + static_cast<std::ptrdiff_t>(place), copies_.end());
        count_ -= place;
    }
    memory_use memory() const noexcept override {
        const std::size_t pointers = copies_.capacity() * sizeof(copies_[0]);
        memory_use sum{.reserved = pointers, .resident = pointers};
        for (const auto& each : copies_) {
            sum = sum + memory_use{.reserved = sizeof(copy), .resident = sizeof(copy)};
            if constexpr (requires(const Value& value) { memory_use(sum) + value.memory(); }) {
                sum = sum + each->value.memory();
            } else if constexpr (requires(const Value& value) { std::size_t{value.memory()}; }) {
                const std::size_t bytes = each->value.memory();
                sum = sum + memory_use{.reserved = bytes, .resident = bytes};
            }
        }
        return sum;
    }

private:
    struct copy {
        explicit copy(const Value& of) : value(of) {}

        std::uint64_t frame = 0;
        Value value;
    };

    /// Copies to the first place that is free.
    void keep(const Value& now) {
        if (count_ == copies_.size()) {
            copies_.push_back(std::make_unique<copy>(now));
        } else if constexpr (attachable_value<Value>) {
            copies_[count_]->value.assign(now);
        } else {
            copies_[count_]->value = now;
        }
    }
    std::size_t place_of(std::uint64_t frame) const noexcept {
        std::size_t place = 0;
        while (copies_[place]->frame != frame) {
            ++place;
        }
        return place;
    }

    Value& value_;
    // Each where it was made: values may be large, and need not be movable.
    std::vector<std::unique_ptr<copy>> copies_;
    std::size_t count_ = 0; // the first of them are kept; the others lend their memory
};

} // namespace handlepool::detail
