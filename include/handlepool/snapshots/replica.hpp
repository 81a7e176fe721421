// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/deltas/replicated_entry.hpp>
#include <handlepool/detail/deltas/replicated_pool.hpp>
#include <handlepool/detail/pool/pool_access.hpp>
#include <handlepool/detail/saved_containers/container_contents.hpp>
#include <handlepool/detail/saved_containers/hierarchy_contents.hpp>
#include <handlepool/detail/saved_containers/index_contents.hpp>
#include <handlepool/detail/saved_containers/saved_container_entry.hpp>
#include <handlepool/detail/saved_containers/saved_store_entry.hpp>
#include <handlepool/detail/snapshots/archive_stream.hpp>
#include <handlepool/detail/snapshots/saved_elements.hpp>
#include <handlepool/detail/snapshots/saved_objects.hpp>
#include <handlepool/detail/snapshots/saved_value_entry.hpp>
#include <handlepool/detail/snapshots/snapshot_entry.hpp>
#include <handlepool/pool_base.hpp>
#include <handlepool/row.hpp>
#include <handlepool/snapshots/frame_gap.hpp>
#include <handlepool/snapshots/invalid_snapshot.hpp>
#include <handlepool/snapshots/snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool {

/// Pools, containers and values that are what those of another program are, frame by frame: a follower, or a
/// standby that goes on when the other program is no more.
///
/// ```
///   origin    save() ─▶ snapshot    append(1) ─▶ delta    append(2) ─▶ delta   ✝
///                          │                      │                     │
///   replica              load()                apply()               apply()   take_over() ─▶ emplace ...
///                          └── find, iteration ───┴───── of frame 1 ────┴──── of frame 2
/// ```
///
///     handlepool::replica world;
///     world.add("ships", ships);
///     world.add("burning", burning);               // a handle_set, which may be attached to the ships
///     world.load(snapshot, 0);
///     world.apply(delta);
///     ships.find(handle_from_origin);
///     world.take_over();
///
/// After load() and each apply(), handles of the origin are valid here if they were valid there when that
/// frame ended, and name the same object; objects of a dense pool stand in the same order, those of a stable
/// pool at the same places. Containers that are keyed by handles, and stores of properties, have the members
/// that they have there, in the same order, with their values, keys, bags and relations. Between two calls
/// all of these are read as ever, by any threads, and objects may be changed: what is written here stays
/// until the origin edits that object, and in a container until the next delta. Until take_over() nobody else
/// creates, erases, reserves, revokes, sorts, restores or resets in a pool. Hooks should not either: no delta
/// undoes what they do. As far as the numbers of objects and slots and what the delta names tell, apply()
/// refuses to go on where somebody did; in a checked build it looks at all slots.
///
/// After take_over() they are ordinary pools and containers. The next handles are those that the origin would
/// have given, for the same calls by as many threads, as after the load of a snapshot.
///
/// Hooks of on_destroy() are called for what is gone, and those of on_birth() for what has come, as in a
/// load; an object that was edited or has moved neither ends nor begins. The former find containers as they
/// were, but for members that have ended before; the latter find them as they are now. An attached container
/// that the delta doesn't have follows its pool as ever. A change_log tells of all, for one delta in up to
/// three frames.
///
/// What is added must exist as long as the replica is used. One thread at a time uses it; nobody else uses
/// its pools while load() and apply() run, as with a snapshot.
class HANDLEPOOL_EXPORT replica {
public:
    /// Of nothing.
    replica();
    ~replica();
    replica(const replica&) = delete;
    replica& operator=(const replica&) = delete;

    /// Adds what the origin has in its snapshots and deltas under this name: a pool of objects or rows, or a
    /// value, with an archive, steps of upgrades and named columns as in snapshot::add(), which throws the
    /// same. They are copied. Throws std::logic_error after load(). Then nothing has changed, here and below.
    template <class T, class Traits, detail::upgrade_step_like... Steps>
    void add(std::string_view name, pool_base<T, Traits>& pool, Steps... steps) {
        own(follow<detail::saved_objects<T, detail::no_archive, Steps...>>(name, pool, detail::no_archive(),
                                                                           std::tuple<Steps...>(steps...)),
            [&] { whole_.add(name, pool, std::move(steps)...); });
    }
    template <class T, class Traits, detail::archive_of<T> Archive, detail::upgrade_step_like... Steps>
    void add(std::string_view name, pool_base<T, Traits>& pool, Archive archive, Steps... steps) {
        own(follow<detail::saved_objects<T, Archive, Steps...>>(name, pool, archive,
                                                                std::tuple<Steps...>(steps...)),
            [&] { whole_.add(name, pool, std::move(archive), std::move(steps)...); });
    }
    template <class... Cs, class Traits, class... Columns>
        requires(sizeof...(Cs) == sizeof...(Columns) && (detail::is_column_schema<Columns> && ...))
    void add(std::string_view name, pool_base<columns<Cs...>, Traits>& pool, Columns... named) {
        own(follow<detail::saved_rows<columns<Cs...>, Columns...>>(name, pool, named...),
            [&] { whole_.add(name, pool, std::move(named)...); });
    }
    template <class Value, detail::upgrade_step_like... Steps>
        requires(std::is_trivially_copyable_v<Value>)
    void add(std::string_view name, Value& value, Steps... steps) {
        own_whole(value_entry(name, value, detail::no_archive(), std::tuple<Steps...>(steps...)),
                  [&] { whole_.add(name, value, std::move(steps)...); });
    }
    template <class Value, detail::archive_of<Value> Archive, detail::upgrade_step_like... Steps>
        requires(!detail::savable_container<Value>)
    void add(std::string_view name, Value& value, Archive archive, Steps... steps) {
        own_whole(value_entry(name, value, archive, std::tuple<Steps...>(steps...)),
                  [&] { whole_.add(name, value, std::move(archive), std::move(steps)...); });
    }

    /// Adds a handle_set, a handle_map, a handle_index or a hierarchy, which each delta has as a whole: see
    /// snapshot::add(). While it is attached to a pool, each member that it gets must be an object of that
    /// pool, as the delta leaves it: one that the origin has kept after a revoke, for example, is refused.
    /// The delta alone says which objects end with their parents, and which ones get keys.
    template <detail::savable_container Container>
    void add(std::string_view name, Container& container) {
        own_whole(detail::make_container_entry(std::string(name), container),
                  [&] { whole_.add(name, container); });
    }
    template <detail::savable_container Container, detail::upgrade_step_like Step,
              detail::upgrade_step_like... Steps>
    void add(std::string_view name, Container& container, Step first, Steps... rest) {
        own_whole(
            detail::make_container_entry(std::string(name), container, detail::no_archive(), first, rest...),
            [&] { whole_.add(name, container, std::move(first), std::move(rest)...); });
    }
    template <detail::savable_container Container,
              detail::archive_of<typename detail::container_contents<Container>::value_type> Archive,
              detail::upgrade_step_like... Steps>
    void add(std::string_view name, Container& container, Archive archive, Steps... steps) {
        own_whole(detail::make_container_entry(std::string(name), container, archive, steps...),
                  [&] { whole_.add(name, container, std::move(archive), std::move(steps)...); });
    }

    /// Adds a property_store in the same way; property_store.hpp has been included.
    template <class T, class Layout>
    void add(std::string_view name, property_store<T, Layout>& store, names_in_file paths = names_in_file()) {
        own_whole(std::make_unique<detail::saved_store_entry<property_store<T, Layout>>>(std::string(name),
                                                                                         store, paths),
                  [&] { whole_.add(name, store, paths); });
    }

    /// Makes all that was added what it was when the origin saved this snapshot, at the end of this frame,
    /// and returns the names that were passed over. May be called again: when deltas are missing, for
    /// example. See snapshot::load(), which throws the same; then it must be called again before apply().
    const std::vector<std::string>& load(std::span<const std::byte> snapshot, std::uint64_t frame,
                                         std::string_view origin = "in memory");

    /// What the origin has and nobody has added here, by the snapshot that was loaded last: names, and
    /// `pool.column` for columns. If it is not empty, perhaps something was forgotten.
    const std::vector<std::string>& passed_over() const noexcept { return passed_over_; }

    /// Goes on to the frame of a delta. What it has under other names than those that were added is passed
    /// over; what it doesn't name stays as it is.
    ///
    /// Linear in the delta, and in what its containers had before. Where slots were taken or freed, also in
    /// the slots that wait in the freelist; where objects of a stable pool were born, in its groups of
    /// places; where objects of a pool that keeps its order are gone, in the objects behind them; where the
    /// pool was reset, in the pool. Throws frame_gap if the delta follows another frame than this one;
    /// invalid_snapshot for bytes that are no delta, or one that contradicts what there is, with `origin` in
    /// the message, such as the name of a stream; std::logic_error without a load(), after take_over(), and
    /// when others have changed a pool; compaction_conflict like snapshot::load(), std::bad_alloc, and what
    /// archives and upgrades throw that is no std::exception. Then nothing has changed, but that a store may
    /// have learnt names; and but where hooks of on_destroy() create or erase, or there is no memory for the
    /// objects of a pool that was reset: frame() tells, which is nothing then, and a snapshot must be loaded.
    void apply(std::span<const std::byte> delta, std::string_view origin = "in memory");

    /// From here on all is the program's own, and apply() refuses, until a snapshot is loaded again. Whatever
    /// was applied stays.
    void take_over() noexcept;

    /// The frame that it has reached; nothing without a load(), and after take_over().
    std::optional<std::uint64_t> frame() const noexcept { return frame_; }

private:
    class step;

    template <class Objects, class T, class Traits, class... Schema>
    static std::unique_ptr<detail::replicated_entry> follow(std::string_view name, pool_base<T, Traits>& pool,
                                                            Schema... schema) {
        auto& core = detail::pool_access::pool_of(pool);
        return make_pool<Objects>(name, core, std::move(schema)...);
    }
    template <class Objects, class T, class Config, class... Schema>
    static std::unique_ptr<detail::replicated_entry>
    make_pool(std::string_view name, detail::pool_impl<T, Config>& core, Schema... schema) {
        return std::make_unique<detail::replicated_pool<T, Config, Objects>>(std::string(name), core,
                                                                             std::move(schema)...);
    }
    template <class Value, class Archive, class... Steps>
    static std::unique_ptr<detail::snapshot_entry> value_entry(std::string_view name, Value& value,
                                                               Archive archive, std::tuple<Steps...> steps) {
        return std::make_unique<detail::saved_value_entry<Value, Archive, Steps...>>(
            std::string(name), value, std::move(archive), std::move(steps));
    }
    template <class Add>
    void own_whole(std::unique_ptr<detail::snapshot_entry> entry, Add add_to_whole) {
        own(std::make_unique<detail::replicated_whole>(std::move(entry)), add_to_whole);
    }
    /// `add_to_whole` refuses names that can't be.
    template <class Add>
    void own(std::unique_ptr<detail::replicated_entry> part, Add add_to_whole) {
        require_begin(part->name());
        parts_.reserve(parts_.size() + 1);
        add_to_whole();
        parts_.push_back(std::move(part));
    }
    void require_begin(std::string_view name) const;

    snapshot whole_;
    std::vector<std::unique_ptr<detail::replicated_entry>> parts_;
    std::optional<std::uint64_t> frame_;
    std::vector<std::string> passed_over_;
    bool has_begun_ = false;
};

} // namespace handlepool
