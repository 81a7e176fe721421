// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/saved_containers/saved_container.hpp>
#include <handlepool/detail/saved_containers/saved_members.hpp>
#include <handlepool/detail/snapshots/archive_stream.hpp>
#include <handlepool/detail/snapshots/snapshot_entry.hpp>
#include <handlepool/detail/time/record_bytes.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Not property_store.hpp: who adds a store has it, and others need no part of its component.
namespace handlepool {

enum class names_in_file;
template <class T, class Layout>
class property_store;

namespace detail {

template <class Store>
class store_contents;

} // namespace detail
} // namespace handlepool

namespace handlepool::detail {

template <class T, class Layout>
class store_contents<property_store<T, Layout>> {
public:
    using store_type = property_store<T, Layout>;

    static const auto& link(const store_type& store) noexcept { return store.link_; }

    /// An empty store of the same limits. Throws std::bad_alloc.
    static store_type make_like(const store_type& store) {
        using bags = typename decltype(store.bags_)::element_type;
        return store_type(std::make_unique<bags>(store.bags_->slot_limit(), store.bags_->bytes()));
    }
};

/// A store of properties in a snapshot: the file that it writes itself.
template <class Store>
class saved_store_entry final : public snapshot_entry {
    using contents = store_contents<Store>;
    using names_type = std::remove_pointer_t<decltype(std::declval<const Store&>().names())>;
    using handle_type = typename Store::handle_type;
    using layout = typename handle_type::layout;

public:
    saved_store_entry(std::string name, Store& store, names_in_file paths)
        : snapshot_entry(block_kind::container, std::move(name)), store_(store), paths_(paths) {}

    void save(snapshot_writer& to) override {
        std::ostringstream out = archive_output();
        store_.write(out, paths_);
        const std::string file = std::move(out).str();
        to.begin_block(kind(), version, name(), 2 * sizeof(std::uint32_t) + file.size());
        write_form(to, container_form::store, widths_of_layout<layout>());
        to.bytes(file.data(), file.size());
        to.end_block();
    }

    void read(block_reader& from) override {
        read_form(from, container_form::store, widths_of_layout<layout>());
        file_at_.emplace(from);
        const std::span<const std::byte> file = from.bytes(from.left());
        Store& made = read_.emplace(contents::make_like(store_));
        if (store_.names() != nullptr) {
            names_.emplace();
            names_->add(*store_.names());
            made.set_names(*names_);
        }
        std::string problem;
        if (!made.try_read(file, problem, "the store")) {
            from.refuse(file.size(), problem);
        }
    }
    void require_fit(std::span<const future_objects* const> pools) override {
        const auto& link = contents::link(store_);
        if (!link.pool_id()) {
            return;
        }
        const future_objects* const pool =
            find_pool(pools, {.widths = widths_of_layout<layout>(), .id = *link.pool_id()});
        with_its_pool_ = pool != nullptr;
        std::size_t number = 0;
        read_->for_each([&](handle_type each, const auto&) {
            if (const std::string problem = problem_of_life(link, pool, each); !problem.empty()) {
                file_at_->refuse(0,
                                 problem_of_member("bag", number, each.index(), each.generation(), problem));
            }
            ++number;
        });
    }
    /// A table knows more names then, which changes nothing of what it knew.
    void lock() override {
        if (names_) {
            store_.names()->add(*names_);
        }
    }
    void apply() noexcept override {
        if (names_) {
            read_->set_names(*store_.names());
        }
        store_.swap_contents(*read_);
        if (!with_its_pool_) { // hooks may have ended some since
            erase_if(store_,
                     [this](handle_type each, const auto&) { return contents::link(store_).is_dead(each); });
        }
    }
    void merge(const handle_mapper& map) override {
        lock();
        read_->for_each([&](handle_type each, const auto& bag) {
            if (const handle_type now = map.find(each)) {
                merged_.push_back(now);
                store_.assign(now, bag);
            }
        });
    }
    void undo_merge() noexcept override {
        for (const handle_type each : merged_) {
            store_.erase(each);
        }
    }
    void unlock(bool) noexcept override {
        merged_ = {};
        with_its_pool_ = false;
        read_.reset();
        names_.reset();
        file_at_.reset();
    }

private:
    Store& store_;
    names_in_file paths_;
    std::optional<names_type> names_; // during a load: those of the store and of the file
    std::optional<Store> read_;
    std::optional<block_reader> file_at_;
    std::vector<handle_type> merged_; // whose bags, during a merge
    bool with_its_pool_ = false;      // in the snapshot
};

} // namespace handlepool::detail
