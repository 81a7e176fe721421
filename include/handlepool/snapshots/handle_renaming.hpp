// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/time/record_bytes.hpp>
#include <handlepool/handle.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool {

/// Which handles the objects of a snapshot have got in the pools that they were merged into: what
/// snapshot::merge() returns. User bits of handles stay what they are.
class handle_renaming {
public:
    /// The handle that an object of the snapshot has now; null for a handle that was none of its objects.
    /// Constant, but for a look at each of the pools.
    template <class T, class Layout>
    handle<T, Layout> find(handle<T, Layout> before) const noexcept {
        const pool_names* const names = names_of(before);
        return names == nullptr ? handle<T, Layout>() : names->template find<T>(before);
    }

    /// Returns whether the snapshot has the pool that this is a handle of, whether or not its object lived.
    template <class T, class Layout>
    bool has_pool_of(handle<T, Layout> before) const noexcept {
        return names_of(before) != nullptr;
    }

    /// Calls `visit(before, now)` for each object that came into this pool, in the order of the snapshot.
    template <class Pool, class Visit>
    void for_each(const Pool& pool, Visit visit) const {
        using handle_type = typename Pool::handle_type;
        using value_type = typename handle_type::value_type;
        for (const pool_names& each : pools_) {
            if (each.id_now == pool.id() &&
                each.widths == detail::widths_of_layout<typename handle_type::layout>()) {
                for (const auto& [before, now] : each.handles) {
                    visit(handle_type::from_value(static_cast<value_type>(before)),
                          handle_type::from_value(static_cast<value_type>(now)));
                }
            }
        }
    }

    /// The number of objects, in all pools.
    std::size_t size() const noexcept {
        std::size_t sum = 0;
        for (const pool_names& each : pools_) {
            sum += each.handles.size();
        }
        return sum;
    }

    /// The names in the snapshot that were not added, and those that were added and are not in it: both were
    /// passed over.
    const std::vector<std::string>& passed_over() const noexcept { return passed_over_; }

    /// What merging fills in.
    /// @{
    /// A pool of the snapshot, with room for its objects. Throws std::bad_alloc.
    void add_pool(std::uint32_t widths, std::uint32_t id, std::uint32_t id_now, std::size_t objects,
                  std::size_t slot_count) {
        pool_names names{.widths = widths, .id = id, .id_now = id_now};
        names.handles.reserve(objects);
        names.number_at.resize(slot_count);
        pools_.push_back(std::move(names));
    }
    /// An object of the pool that was added last.
    void add(std::uint64_t slot, std::uint64_t before, std::uint64_t now) noexcept {
        pools_.back().handles.emplace_back(before, now);
        pools_.back().number_at[slot] = static_cast<std::uint32_t>(pools_.back().handles.size());
    }
    void pass_over(std::string_view name) { passed_over_.emplace_back(name); }
    /// @}

private:
    struct pool_names {
        template <class T, class Layout>
        handle<T, Layout> find(handle<T, Layout> before) const noexcept {
            const std::uint64_t slot = before.index();
            const std::uint32_t number =
                slot < number_at.size() ? number_at[static_cast<std::size_t>(slot)] : 0;
            if (number == 0 || handles[number - 1].first != before.without_user().value()) {
                return {};
            }
            const auto now = static_cast<typename Layout::value_type>(handles[number - 1].second);
            return handle<T, Layout>::from_value(Layout::with_user(now, Layout::user_of(before.value())));
        }

        std::uint32_t widths = 0;
        std::uint32_t id = 0;
        std::uint32_t id_now = 0;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> handles{};
        std::vector<std::uint32_t> number_at{}; // by slots; 1 more than that in `handles`
    };

    template <class T, class Layout>
    const pool_names* names_of(handle<T, Layout> before) const noexcept {
        if (before && Layout::fits(before.value())) {
            for (const pool_names& each : pools_) {
                if (each.id == before.pool_id() && each.widths == detail::widths_of_layout<Layout>()) {
                    return &each;
                }
            }
        }
        return nullptr;
    }

    std::vector<pool_names> pools_;
    std::vector<std::string> passed_over_;
};

/// What becomes of handles in merged objects whose pool is not in the snapshot.
enum class outside_handles {
    become_null, ///< in another process, they could name anything
    stay,        ///< the snapshot was made in this process, or by one with the same handles
};

/// How a snapshot is merged.
struct merge_options {
    /// What becomes of handles to outside.
    outside_handles outside = outside_handles::become_null;
    /// Whether values of the snapshot replace those that were added.
    bool values = false;
};

/// Maps the handles of a snapshot to those that its objects have got: what a program's
/// `for_each_handle(object, map)` calls with each handle in an object.
class handle_mapper {
public:
    /// The renaming outlives the mapper.
    handle_mapper(const handle_renaming& renaming, outside_handles outside) noexcept
        : renaming_(renaming), outside_(outside) {}

    /// Replaces a handle by that which its object has now; by null if its pool is in the snapshot, and the
    /// object isn't. Else it does what merge_options say.
    template <class T, class Layout>
    void operator()(handle<T, Layout>& mapped) const noexcept {
        if (renaming_.has_pool_of(mapped) || outside_ == outside_handles::become_null) {
            mapped = renaming_.find(mapped);
        }
    }

    /// The same, as a function of a handle; but null for one of a pool outside of the snapshot.
    template <class T, class Layout>
    handle<T, Layout> find(handle<T, Layout> before) const noexcept {
        return renaming_.find(before);
    }

private:
    const handle_renaming& renaming_;
    outside_handles outside_;
};

namespace detail {

/// Maps the handles in an object, which may be one itself. One without `for_each_handle()` has none.
template <class Object>
void map_handles(Object& object, const handle_mapper& map) {
    if constexpr (requires { map(object); }) {
        map(object);
    } else if constexpr (requires { for_each_handle(object, map); }) {
        for_each_handle(object, map);
    }
}

} // namespace detail
} // namespace handlepool
