// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/objects/object_type.hpp>
#include <handlepool/detail/snapshots/saved_elements.hpp>
#include <handlepool/detail/snapshots/saved_type.hpp>
#include <handlepool/detail/snapshots/snapshot_entry.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace handlepool::detail {

/// A value in a snapshot: the only element of its block.
template <class Value, class Archive, class... Steps>
class saved_value_entry final : public snapshot_entry {
    static_assert(std::is_nothrow_move_assignable_v<Value>,
                  "a load can't fail half-way: values must be nothrow move assignable");

public:
    saved_value_entry(std::string name, Value& value, Archive archive, std::tuple<Steps...> steps)
        : snapshot_entry(block_kind::value, std::move(name)),
          value_(value),
          element_(object_type<Value>(), element_names::of_value(), std::move(archive), std::move(steps)) {}

    void save(snapshot_writer& to) override {
        const auto only_run = [this](auto visit) { visit(std::addressof(value_), std::size_t{1}); };
        element_.prepare(1, only_run);
        to.begin_block(kind(), version, name(), element_.bytes({}));
        element_.write(to, {}, only_run);
        to.end_block();
    }
    void read(block_reader& from) override {
        const elements_header there = read_elements_header(from);
        from.require_that(there.name.empty(), bytes_of(there),
                          "the value is a column, which only pools have");
        element_.read(from, there, 1);
        from.require_end();
    }
    void apply() noexcept override { element_.assign_to(value_); }
    void merge(const handle_mapper& map) override {
        if constexpr (std::is_move_constructible_v<Value>) {
            map_handles(merged_.emplace(element_.take(0)), map);
        }
    }
    void keep(const merge_options& options) noexcept override {
        if (options.values && merged_) {
            value_ = std::move(*merged_);
        }
    }
    void unlock(bool) noexcept override {
        element_.forget(false);
        merged_.reset();
    }

private:
    Value& value_;
    saved_elements<Value, Archive, Steps...> element_;
    std::optional<Value> merged_; // during a merge
};

} // namespace handlepool::detail
