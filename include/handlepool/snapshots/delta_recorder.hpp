// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/call_site.hpp>
#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/deltas/recorded_entry.hpp>
#include <handlepool/detail/deltas/recorded_lives.hpp>
#include <handlepool/detail/deltas/recorded_pool.hpp>
#include <handlepool/detail/pool/pool_access.hpp>
#include <handlepool/detail/saved_containers/container_contents.hpp>
#include <handlepool/detail/saved_containers/hierarchy_contents.hpp>
#include <handlepool/detail/saved_containers/index_contents.hpp>
#include <handlepool/detail/saved_containers/saved_container_entry.hpp>
#include <handlepool/detail/saved_containers/saved_store_entry.hpp>
#include <handlepool/detail/snapshots/archive_stream.hpp>
#include <handlepool/detail/snapshots/saved_objects.hpp>
#include <handlepool/detail/snapshots/saved_value_entry.hpp>
#include <handlepool/detail/snapshots/snapshot_entry.hpp>
#include <handlepool/time/change_log.hpp>

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

/// What each frame changed, as bytes: a snapshot and these deltas are the world at any frame since, and what
/// a journal and followers in other processes are told.
///
/// ```
///   frame        0                     1               2                3
///   snapshot     save()                                                 save() would give
///   delta        begin(0)              append(1, d1)   append(2, d2)    append(3, d3)
///                  └─────────────── replay ──▶ d1 ─────▶ d2 ───────────▶ d3 ──▶ the same bytes
/// ```
///
///     handlepool::change_log log(ships);
///     handlepool::delta_recorder changes;
///     changes.add("ships", log);
///     changes.add("score", score);
///     game.save(bytes);                            // a snapshot, of the same names
///     changes.begin(0);
///     ...
///     changes.append(1, delta);                    // instead of ships.compact()
///
/// Pools, containers, names and archives are those of the snapshot; a delta has all of a pool that a snapshot
/// has, as far as it differs from the delta before, and each container, store and value as a whole. A
/// container that is in the snapshot and attached to a pool is added here, too: otherwise it has the members
/// of the snapshot after a replay, which a load refuses if one of them has ended. Of an object that was born,
/// or marked as edited, it has the contents, and of any other one that has changed, what is to be done with
/// the one that the receiver has. So edits are marked, as in all that reads a change_log: of an object that
/// was changed without a mark, a receiver knows the contents of before.
///
/// Nobody uses the pools between a save() and the begin() of the same frame; nor while begin() and append()
/// run, as with a snapshot. Each of these compacts the pools until
/// nothing waits in any of them, so that all is of one moment. After frames that the log keeps no more, and
/// after restores by a capture_ring and loads, a delta is as large as what differs; but when the log has lost
/// frames, it has the contents of all objects.
///
/// What is added must exist as long as the recorder is used. One thread at a time uses it.
class HANDLEPOOL_EXPORT delta_recorder {
public:
    /// Of nothing.
    delta_recorder();
    ~delta_recorder();
    delta_recorder(const delta_recorder&) = delete;
    delta_recorder& operator=(const delta_recorder&) = delete;

    /// Adds the pool of a log under a name, as snapshot::add() does. Throws what that throws, also for the
    /// name `frames`, under which a delta has its number; std::logic_error after begin(); and
    /// reservation_failed. Then nothing has changed, as with the others.
    template <class Pool>
    void add(std::string_view name, change_log<Pool>& log) {
        using object_type = typename Pool::handle_type::element_type;
        auto& core = detail::pool_access::pool_of(log.pool());
        if constexpr (!std::is_void_v<object_type>) {
            static_assert(std::is_trivially_copyable_v<object_type>,
                          "objects that don't consist of bytes are added with an archive: see snapshot");
        }
        require_bytes(core.type().consists_of_bytes(), name);
        add_pool<detail::saved_objects<object_type, detail::no_archive>>(
            name, log, core, detail::no_archive(), std::tuple<>());
    }
    template <class Pool, detail::archive_of<typename Pool::handle_type::element_type> Archive>
    void add(std::string_view name, change_log<Pool>& log, Archive archive) {
        using object_type = typename Pool::handle_type::element_type;
        add_pool<detail::saved_objects<object_type, Archive>>(
            name, log, detail::pool_access::pool_of(log.pool()), std::move(archive), std::tuple<>());
    }

    /// Adds the pool of rows of a log, by a named_column() for each column, as a snapshot does.
    template <class Pool, class... Columns>
        requires(sizeof...(Columns) != 0 && (detail::is_column_schema<Columns> && ...))
    void add(std::string_view name, change_log<Pool>& log, Columns... named) {
        using row_type = typename Pool::handle_type::element_type;
        add_pool<detail::saved_rows<row_type, Columns...>>(
            name, log, detail::pool_access::pool_of(log.pool()), std::move(named)...);
    }

    /// Adds a container that is keyed by handles, which each delta has as a whole: see snapshot::add().
    template <detail::savable_container Container>
    void add(std::string_view name, Container& container) {
        own_whole(detail::make_container_entry(checked_name(name), container));
    }
    template <detail::savable_container Container,
              detail::archive_of<typename detail::container_contents<Container>::value_type> Archive>
    void add(std::string_view name, Container& container, Archive archive) {
        own_whole(detail::make_container_entry(checked_name(name), container, std::move(archive)));
    }

    /// Adds a property_store in the same way; property_store.hpp has been included.
    template <class T, class Layout>
    void add(std::string_view name, property_store<T, Layout>& store, names_in_file paths = names_in_file()) {
        own_whole(std::make_unique<detail::saved_store_entry<property_store<T, Layout>>>(checked_name(name),
                                                                                         store, paths));
    }

    /// Adds a value, which each delta has as a whole.
    template <class Value>
        requires(std::is_trivially_copyable_v<Value>)
    void add(std::string_view name, Value& value) {
        add_value(name, value, detail::no_archive());
    }
    template <class Value, detail::archive_of<Value> Archive>
        requires(!detail::savable_container<Value>)
    void add(std::string_view name, Value& value, Archive archive) {
        add_value(name, value, std::move(archive));
    }

    /// Adds the lives of a pool that records them (pool_options::record_lives): each delta tells whose have
    /// begun and ended, how, by which threads and tasks, and from where; the first one also of those that
    /// lived when begin() was called. It is no part of the world: a replay and a replica pass over it, and
    /// read_lives() reads it. A place is named when a delta first tells of it: by `namer`, or if that is null
    /// as call_site::name() does, which may take long. If the pool itself is not added, it is not compacted:
    /// a delta tells what compactions of the program have found. It costs a hook for each object that comes
    /// and ends. Throws std::invalid_argument for a pool that records no lives, and what add() and
    /// on_destroy() of the pool throw.
    template <class Pool>
    void add_lives(std::string_view name, Pool& pool, site_namer namer = name_by_tables) {
        static_assert(!detail::is_view(static_cast<const Pool*>(nullptr)),
                      "lives are those of the pool: a view of it ends before");
        own_lives(name, detail::pool_access::pool_of(pool), namer);
    }

    /// What there is now is what the next delta differs from, and has this number. Each pool is compacted.
    /// After a load, the next delta is also one of those who have the bytes that were loaded. Linear in the
    /// pools. Throws compaction_conflict like snapshot::save(), and std::bad_alloc; then
    /// begin() must be called again.
    void begin(std::uint64_t frame);

    /// Appends to `out` what differs from the frame before, which gets a larger number than that. Each pool
    /// is compacted. Linear in what has changed since then, in threads, in reserved handles, and in members
    /// of containers; where the pool was reset, restored or loaded, also in its slots. Throws
    /// std::logic_error without a begin(); std::invalid_argument for a number that is not larger;
    /// compaction_conflict like snapshot::save(), std::bad_alloc, and what archives throw. Then `out` is as
    /// it was, and the next delta has all.
    void append(std::uint64_t frame, std::vector<std::byte>& out);

    /// The number of the last frame that was told; nothing before begin().
    std::optional<std::uint64_t> frame() const noexcept { return frame_; }

private:
    template <class Objects, class Log, class T, class Config, class... Schema>
    void add_pool(std::string_view name, Log& log, detail::pool_impl<T, Config>& core, Schema&&... schema) {
        own(std::make_unique<detail::recorded_pool<Log, T, Config, Objects>>(
            checked_name(name), log, core, std::forward<Schema>(schema)...));
    }

    template <class Value, class Archive>
    void add_value(std::string_view name, Value& value, Archive archive) {
        own_whole(std::make_unique<detail::saved_value_entry<Value, Archive>>(
            checked_name(name), value, std::move(archive), std::tuple<>()));
    }

    template <class T, class Config>
    void own_lives(std::string_view name, detail::pool_impl<T, Config>& core, site_namer namer) {
        require_lives(detail::pool_cut<T, Config>::parts_of(core).lives.is_on(), name, core.name());
        own(std::make_unique<detail::recorded_lives<T, Config>>(checked_name(name), core, namer));
    }

    void own_whole(std::unique_ptr<detail::snapshot_entry> entry) {
        own(std::make_unique<detail::recorded_whole>(std::move(entry)));
    }

    static void require_bytes(bool consists_of_bytes, std::string_view name);
    static void require_lives(bool records_lives, std::string_view name, std::string_view pool);
    std::string checked_name(std::string_view name) const;
    void own(std::unique_ptr<detail::recorded_entry> entry);

    std::vector<std::unique_ptr<detail::recorded_entry>> entries_;
    std::optional<std::uint64_t> frame_;
};

} // namespace handlepool
