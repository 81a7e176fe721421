// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/containers/sparse_set.hpp>
#include <handlepool/detail/saved_containers/container_contents.hpp>
#include <handlepool/detail/saved_containers/saved_container.hpp>
#include <handlepool/detail/saved_containers/saved_members.hpp>
#include <handlepool/detail/snapshots/saved_elements.hpp>
#include <handlepool/detail/snapshots/saved_type.hpp>
#include <handlepool/detail/snapshots/snapshot_entry.hpp>
#include <handlepool/detail/time/record_bytes.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// What a container without values has in their place.
struct no_values {};

/// A container in a snapshot, whose `Values` are saved_elements, or no_values. What is read becomes a
/// container of its own, with which the other one exchanges contents.
template <class Container, class Values>
class saved_container_entry final : public snapshot_entry {
    using contents = container_contents<Container>;
    using handle_type = typename Container::handle_type;
    using layout = typename handle_type::layout;

public:
    /// The values are made from the last arguments.
    template <class... Args>
    saved_container_entry(std::string name, Container& container, Args... of_values)
        : snapshot_entry(block_kind::container, std::move(name)),
          container_(container),
          values_(std::move(of_values)...) {}

    void save(snapshot_writer& to) override {
        const Container& saved = container_;
        contents_.prepare(saved);
        if constexpr (has_values) {
            values_.prepare(saved.handles().size(), values_of(saved));
        }
        saved_container described = form;
        described.option = contents::option(saved);
        described.members = static_cast<std::uint32_t>(saved.handles().size());
        described.pool_id = saved.handles().empty() ? 0 : saved.handles().front().pool_id();
        if constexpr (requires { contents::refused(saved); }) {
            described.refused = static_cast<std::uint32_t>(contents::refused(saved).size());
        }
        to.begin_block(kind(), version, name(),
                       saved_container::bytes + saved.handles().size() * saved_handle_bytes +
                           bytes_of_values() + contents_.bytes());
        write(to, described);
        write_handles(to, saved.handles());
        if constexpr (has_values) {
            values_.write(to, {}, values_of(saved));
        }
        contents_.write(to, saved);
        to.end_block();
    }

    void read(block_reader& from) override {
        saved_container there = read_saved_container(from, form);
        Container& made = read_.emplace(contents::make(there.option));
        members_at_.emplace(from);
        read_members(from, there, contents::members(made));
        if constexpr (has_values) {
            const elements_header values = read_elements_header(from);
            from.require_that(values.name.empty(), bytes_of(values),
                              values_.names().all() + " are a column, which only pools have");
            values_.read(from, values, there.members);
            there.value_bytes = static_cast<std::size_t>(values.bytes);
        }
        contents::read(from, there, values_, made);
        from.require_end();
    }
    void require_fit(std::span<const future_objects* const> pools) override {
        auto& link = contents::link(container_);
        if (!link.pool_id()) {
            return;
        }
        const future_objects* const pool =
            find_pool(pools, {.widths = widths_of_layout<layout>(), .id = *link.pool_id()});
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
        if constexpr (has_values) {
            values_.forget(false);
        }
        read_.reset();
    }

private:
    static constexpr bool has_values = !std::is_void_v<typename contents::value_type>;

    // What every such container has.
    static constexpr saved_container form{.form = contents::form, .widths = widths_of_layout<layout>()};

    static auto values_of(const Container& container) noexcept {
        return [&container](auto visit) {
            for (std::size_t i = 0; i != container.handles().size(); ++i) {
                visit(&contents::value_at(container, i), std::size_t{1});
            }
        };
    }
    std::uint64_t bytes_of_values() const noexcept {
        if constexpr (has_values) {
            return values_.bytes({});
        } else {
            return 0;
        }
    }

    Container& container_;
    Values values_;
    contents contents_;
    std::optional<Container> read_; // during a load
    std::optional<block_reader> members_at_;
    std::vector<handle_type> merged_; // members, during a merge
    bool with_its_pool_ = false;      // in the snapshot
};

/// A container without values.
template <class Container>
    requires(std::is_void_v<typename container_contents<Container>::value_type>)
std::unique_ptr<snapshot_entry> make_container_entry(std::string name, Container& container) {
    return std::make_unique<saved_container_entry<Container, no_values>>(std::move(name), container);
}
/// One whose values consist of bytes, or are written and read by an archive; `steps` make them of older ones.
template <class Container, class Archive = no_archive, class... Steps>
    requires(!std::is_void_v<typename container_contents<Container>::value_type>)
std::unique_ptr<snapshot_entry> make_container_entry(std::string name, Container& container,
                                                     Archive archive = {}, Steps... steps) {
    using contents = container_contents<Container>;
    using value = typename contents::value_type;
    static_assert(!std::is_same_v<Archive, no_archive> || std::is_trivially_copyable_v<value>,
                  "values and keys that don't consist of bytes are added with an archive: see snapshot");
    using values = saved_elements<value, Archive, Steps...>;
    return std::make_unique<saved_container_entry<Container, values>>(
        std::move(name), container, object_type<value>(), contents::value_names(), std::move(archive),
        std::tuple<Steps...>(std::move(steps)...));
}

} // namespace handlepool::detail
