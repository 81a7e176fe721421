// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/containers/sparse_set.hpp>
#include <handlepool/detail/saved_containers/container_contents.hpp>
#include <handlepool/detail/saved_containers/saved_container.hpp>
#include <handlepool/detail/saved_containers/saved_members.hpp>
#include <handlepool/detail/saved_containers/saved_values.hpp>
#include <handlepool/detail/snapshots/snapshot_entry.hpp>
#include <handlepool/detail/time/record_bytes.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// A container in a snapshot, whose values are written and read by `Values`. What is read becomes a container
/// of its own, with which the other one exchanges contents.
template <class Container, class Values>
class saved_container_entry final : public snapshot_entry {
    using contents = container_contents<Container>;
    using handle_type = typename Container::handle_type;
    using layout = typename handle_type::layout;

public:
    saved_container_entry(std::string name, Container& container, Values values)
        : snapshot_entry(block_kind::container, std::move(name)),
          container_(container),
          values_(std::move(values)) {}

    void save(snapshot_writer& to) override {
        const Container& saved = container_;
        contents_.prepare(saved);
        if constexpr (has_values) {
            values_.prepare(saved.handles().size(), value_of(saved));
        }
        saved_container described = description();
        described.option = contents::option(saved);
        described.members = static_cast<std::uint32_t>(saved.handles().size());
        described.pool_id = saved.handles().empty() ? 0 : saved.handles().front().pool_id();
        if constexpr (requires { contents::refused(saved); }) {
            described.refused = static_cast<std::uint32_t>(contents::refused(saved).size());
        }
        to.begin_block(kind(), version, name(),
                       saved_container::bytes + saved.handles().size() * saved_handle_bytes +
                           values_.bytes() + contents_.bytes());
        write(to, described);
        write_handles(to, saved.handles());
        if constexpr (has_values) {
            values_.write(to, value_of(saved));
        }
        contents_.write(to, saved);
        to.end_block();
    }

    void read(block_reader& from) override {
        const saved_container there = read_saved_container(from, description());
        Container& made = read_.emplace(contents::make(there.option));
        members_at_.emplace(from);
        read_members(from, there, contents::members(made));
        contents::read(from, there, values_, made);
        from.require_end();
    }
    void require_fit(std::span<const future_objects* const> pools) override {
        auto& link = contents::link(container_);
        if (!link.pool_id()) {
            return;
        }
        const future_objects* const pool = find_pool(pools, *link.pool_id());
        with_its_pool_ = pool != nullptr;
        for (std::size_t i = 0; i != read_->handles().size(); ++i) {
            const handle_type each = read_->handles()[i];
            members_at_->bytes(saved_handle_bytes);
            if (const std::string problem = problem_of_life(link, pool, each); !problem.empty()) {
                members_at_->refuse(saved_handle_bytes,
                                    problem_of_member("member", i, each.index(), each.generation(), problem));
            }
        }
        link.spare_others(with_its_pool_); // those of that pool which end are known
    }
    void apply() noexcept override {
        auto& link = contents::link(container_);
        container_.swap_contents(*read_);
        // Births that are told say nothing new: what it has is all that it had.
        link.ignore_births(with_its_pool_);
        if (!with_its_pool_) { // hooks may have ended some since
            erase_members_if(container_,
                             [&](std::size_t i) { return link.is_dead(container_.handles()[i]); });
        }
    }
    void merge(const handle_mapper& map) override {
        for (const handle_type each : read_->handles()) {
            if (const handle_type now = map.find(each)) {
                merged_.push_back(now);
            }
        }
        contents_.merge(*read_, map, container_);
    }
    void undo_merge() noexcept override {
        while (!merged_.empty()) { // the last ones first, so that the others stay where they were
            container_.erase(merged_.back());
            merged_.pop_back();
        }
    }
    void unlock(bool) noexcept override {
        merged_ = {};
        contents::link(container_).ignore_births(false);
        contents::link(container_).spare_others(false);
        with_its_pool_ = false;
        members_at_.reset();
        read_.reset();
    }

private:
    static constexpr bool has_values = !std::is_void_v<typename contents::value_type>;

    static auto value_of(const Container& container) noexcept {
        return [&container](std::size_t i) -> const auto& { return contents::value_at(container, i); };
    }

    /// What every such container has.
    saved_container description() const noexcept {
        return {.form = contents::form, .widths = widths_of_layout<layout>(), .type = values_.type()};
    }

    Container& container_;
    Values values_;
    contents contents_;
    std::optional<Container> read_; // during a load
    std::optional<block_reader> members_at_;
    std::vector<handle_type> merged_; // members, during a merge
    bool with_its_pool_ = false;      // in the snapshot
};

/// A container whose values, if it has any, consist of bytes.
template <class Container>
std::unique_ptr<snapshot_entry> make_container_entry(std::string name, Container& container) {
    using value = typename container_contents<Container>::value_type;
    using values = std::conditional_t<std::is_void_v<value>, no_values, byte_values<value>>;
    return std::make_unique<saved_container_entry<Container, values>>(std::move(name), container, values());
}
/// One whose values are written and read by an archive.
template <class Container, class Archive>
std::unique_ptr<snapshot_entry> make_container_entry(std::string name, Container& container,
                                                     Archive archive) {
    using values = archived_values<typename container_contents<Container>::value_type, Archive>;
    return std::make_unique<saved_container_entry<Container, values>>(std::move(name), container,
                                                                      values(std::move(archive)));
}

} // namespace handlepool::detail
