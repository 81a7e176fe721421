// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/pool/pool_access.hpp>
#include <handlepool/detail/saved_containers/container_contents.hpp>
#include <handlepool/detail/saved_containers/hierarchy_contents.hpp>
#include <handlepool/detail/saved_containers/index_contents.hpp>
#include <handlepool/detail/saved_containers/saved_container_entry.hpp>
#include <handlepool/detail/saved_containers/saved_store_entry.hpp>
#include <handlepool/detail/snapshots/archive_stream.hpp>
#include <handlepool/detail/snapshots/saved_elements.hpp>
#include <handlepool/detail/snapshots/saved_objects.hpp>
#include <handlepool/detail/snapshots/saved_pool_entry.hpp>
#include <handlepool/detail/snapshots/saved_type.hpp>
#include <handlepool/detail/snapshots/saved_value_entry.hpp>
#include <handlepool/detail/snapshots/snapshot_entry.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/pool_base.hpp>
#include <handlepool/row.hpp>
#include <handlepool/snapshots/captured_snapshot.hpp>
#include <handlepool/snapshots/handle_renaming.hpp>
#include <handlepool/snapshots/invalid_snapshot.hpp>
#include <handlepool/snapshots/named_column.hpp>
#include <handlepool/snapshots/upgrade.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool {

/// Pools and other state of a program as bytes, from which another process goes on: save games, servers that
/// start again, copies of a world.
///
/// ```
///   pool "ships" ────┐  save()                           load()  ┌────▶ pool "ships"
///   pool "rocks" ────┼────────▶ bytes, a file ... ───────────────┼────▶ pool "rocks"
///   value "score" ───┘          another build, another day       └────▶ value "score"
/// ```
///
///     handlepool::snapshot game;
///     game.add("ships", ships);
///     game.add("score", score);
///     std::vector<std::byte> bytes;
///     game.save(bytes);
///     ...
///     game.load(bytes);           // here, or in another process that has made and added the same
///
/// After a load each handle that was valid is valid, and names the same object; those that were reserved are
/// reserved, and each other one is stale. The next handles are those that would have come, for the same calls
/// by as many threads, of which the first one that used the pool is the same; but compactions with a budget,
/// and exclusive access, can give slots back in another order than they would have there, and a pool that a
/// capture_ring has taken back with `undone_stay_stale` goes on above the handles that were undone. Objects
/// of a dense pool stand in the same order, those of a stable pool at the same places, though not at the same
/// addresses; the next ones may get other places than they would have got, so loops may visit these in
/// another order. A sort that had begun begins anew.
///
/// Containers that are keyed by handles, and stores of properties, get the members that they had, in the same
/// order, with their values, keys, bags and relations, and what their constructors were told; they stay
/// attached as they are. While they are, each member that they get must be an object of that pool, as it was
/// saved if it is in the snapshot, too, else as it is: bytes with another one are refused. A store may have
/// learnt names from bytes that are refused.
///
/// The pool that is loaded has the id that the saved one had (pool_options::pool_id), the same layout of
/// handles, placement and type of objects, and room for as many; its capacity and all else may be others.
/// What it had is erased first, as anybody would erase it: hooks of on_destroy() are called for it, and those
/// of on_birth() for what was loaded, all when every pool of the snapshot is there. Containers that are
/// attached to the pool lose their members, unless they are loaded, too; these have what they get when hooks
/// of on_birth() are called, of which an index among them ignores its own. A change_log tells of both;
/// captures of a capture_ring stay, and can be restored, unless only one of both pools has been reset() since
/// its first object: then that is a reset for the ring, too. Handles that were given out since the save can
/// name other objects later, also of the next pool with this id.
///
/// Objects are saved as their bytes, if they are trivially copyable, or by functions of the program:
///
///     struct ship_archive {
///         void save(std::ostream& out, const ship& saved) const;
///         ship load(std::istream& in) const;
///     };
///     game.add("ships", ships, ship_archive());
///
/// Each load() gets a stream of the bytes that save() has written for that object. One that returns with a
/// stream that has failed, as after a read that went on to the end, has found too few bytes: it writes and
/// reads a count, or calls `in.clear()`.
///
/// The rows of a `pool<columns<...>>` are saved column by column, each under a name: see named_column.
/// Columns that the bytes don't have are value-initialized, and those that the pool doesn't have are passed
/// over.
///
/// Objects, columns and values are known by the version of their type, its size, its alignment and its
/// layout; those that an archive writes, by the version alone. Others are refused, unless there is an
/// upgrade. The version is a member `static constexpr std::uint32_t snapshot_version`, or 0. The layout is
/// what a member `static constexpr std::string_view snapshot_layout` says, such as "x:f32 y:f32", of up to
/// 255 bytes without control characters; numbers have one by themselves. Bytes are those of the processor;
/// all else is the same on each.
///
/// What is added must exist as long as the snapshot is used. One thread at a time uses it; nobody else uses
/// its pools meanwhile, as in a capture_ring.
class HANDLEPOOL_EXPORT snapshot {
public:
    /// Of nothing.
    snapshot();
    ~snapshot();
    snapshot(const snapshot&) = delete;
    snapshot& operator=(const snapshot&) = delete;

    /// Adds a pool under a name. Its objects consist of bytes, or are written and read by an archive; `steps`
    /// make them of older ones (see upgrade). Throws std::invalid_argument for a name that was added before,
    /// is empty, has more than 255 bytes or control characters, and for a raw_pool of a type with functions;
    /// std::bad_alloc, and what copying the archive throws. Then nothing has changed, as with the others.
    template <class T, class Traits, detail::upgrade_step_like... Steps>
    void add(std::string_view name, pool_base<T, Traits>& pool, Steps... steps) {
        auto& core = detail::pool_access::pool_of(pool);
        if constexpr (!std::is_void_v<T>) {
            static_assert(std::is_trivially_copyable_v<T>,
                          "objects that don't consist of bytes are added with an archive, and rows with a "
                          "named_column for each column: see snapshot");
        }
        require_bytes(core.type().consists_of_bytes(), name);
        add_pool<detail::saved_objects<T, detail::no_archive, Steps...>>(
            name, core, detail::no_archive(), std::tuple<Steps...>(std::move(steps)...));
    }
    template <class T, class Traits, detail::archive_of<T> Archive, detail::upgrade_step_like... Steps>
    void add(std::string_view name, pool_base<T, Traits>& pool, Archive archive, Steps... steps) {
        add_pool<detail::saved_objects<T, Archive, Steps...>>(name, detail::pool_access::pool_of(pool),
                                                              std::move(archive),
                                                              std::tuple<Steps...>(std::move(steps)...));
    }

    /// Adds a pool of rows: each column by itself, as its named_column() says, of which there is one for
    /// each, in their order. Throws std::invalid_argument for names of columns, too, of which no two are the
    /// same.
    template <class... Cs, class Traits, class... Columns>
        requires(sizeof...(Cs) == sizeof...(Columns) && (detail::is_column_schema<Columns> && ...))
    void add(std::string_view name, pool_base<columns<Cs...>, Traits>& pool, Columns... named) {
        const std::string_view names[] = {named.name...};
        require_columns(names, name);
        add_pool<detail::saved_rows<columns<Cs...>, Columns...>>(name, detail::pool_access::pool_of(pool),
                                                                 std::move(named)...);
    }

    /// Adds a handle_set, a handle_map, a handle_index or a hierarchy. Values of a map and keys of an index
    /// consist of bytes, or are written and read by an archive; `steps` make them of older ones.
    template <detail::savable_container Container>
    void add(std::string_view name, Container& container) {
        own(detail::make_container_entry(checked_name(name), container));
    }
    template <detail::savable_container Container, detail::upgrade_step_like Step,
              detail::upgrade_step_like... Steps>
    void add(std::string_view name, Container& container, Step step, Steps... steps) {
        own(detail::make_container_entry(checked_name(name), container, detail::no_archive(), std::move(step),
                                         std::move(steps)...));
    }
    template <detail::savable_container Container,
              detail::archive_of<typename detail::container_contents<Container>::value_type> Archive,
              detail::upgrade_step_like... Steps>
    void add(std::string_view name, Container& container, Archive archive, Steps... steps) {
        own(detail::make_container_entry(checked_name(name), container, std::move(archive),
                                         std::move(steps)...));
    }

    /// Adds a property_store; property_store.hpp has been included. `paths` says whether the names that its
    /// table knows are saved, too; none are by default.
    template <class T, class Layout>
    void add(std::string_view name, property_store<T, Layout>& store, names_in_file paths = names_in_file()) {
        own(std::make_unique<detail::saved_store_entry<property_store<T, Layout>>>(checked_name(name), store,
                                                                                   paths));
    }

    /// Adds a value, which consists of bytes, or is written and read by an archive.
    template <class Value, detail::upgrade_step_like... Steps>
        requires(std::is_trivially_copyable_v<Value>)
    void add(std::string_view name, Value& value, Steps... steps) {
        add_value(name, value, detail::no_archive(), std::move(steps)...);
    }
    template <class Value, detail::archive_of<Value> Archive, detail::upgrade_step_like... Steps>
        requires(!detail::savable_container<Value>)
    void add(std::string_view name, Value& value, Archive archive, Steps... steps) {
        add_value(name, value, std::move(archive), std::move(steps)...);
    }

    /// Writes what was added, as it is now, in place of the bytes that `out` has. Writing over these is
    /// faster than appending, so keep them for the next call. Each pool is compacted, which ends a frame of
    /// it, until nothing waits in any of them. Linear in objects and slots. Throws compaction_conflict like
    /// pool::compact(), and also if hooks keep creating or erasing; std::bad_alloc, and what archives throw.
    /// Then `out` is empty.
    void save(std::vector<std::byte>& out);

    /// Keeps what was added, as it is now, for another thread that makes the bytes of it while this one goes
    /// on: takes as long as a copy of the objects. Like save() otherwise; archives are called now. What is
    /// kept lies in `memory`, such as the bytes of an earlier snapshot, where that suffices.
    captured_snapshot capture(std::vector<std::byte> memory = {});

    /// Makes all that was added what it was when these bytes were saved. Returns the names in them that were
    /// not added, and are passed over: those of blocks, and `pool.column` for columns. Linear in the bytes,
    /// and in what the pools have. Throws invalid_snapshot for bytes that are not those of a save(), or of
    /// other types, pools or layouts, with `origin` in the message, such as the name of a file;
    /// compaction_conflict, std::bad_alloc, and what archives and upgrades throw that is no std::exception.
    /// Nothing has changed then, unless hooks of on_destroy() create objects again and again, or there is no
    /// memory for objects that the pools have room for: then some pools may be empty, and the call may be
    /// repeated. The bytes stay what they are until it returns.
    std::vector<std::string> load(std::span<const std::byte> bytes, std::string_view origin = "in memory");

    /// Adds the objects of a snapshot to the pools, as new ones: a prefab, a scene, a part of a world that is
    /// streamed in. Returns which handles they have got. The pools may have any ids and placements, and have
    /// the same layout of handles; objects, containers and stores are added like by calls of fulfill(),
    /// insert() and the like, so nothing that lives is changed, and hooks tell of births at the next
    /// compaction. Names that are only here or only in the bytes are passed over.
    ///
    /// Handles inside of objects, values of maps and keys are mapped by functions of the program that are
    /// found beside their types, and see each handle, whatever pool it is of:
    ///
    ///     struct ship { handle<port> home; handle<ship> target; };
    ///     template <class Map>
    ///     void for_each_handle(ship& each, Map& map) { map(each.home); map(each.target); }
    ///
    /// A handle of a pool in the snapshot whose object is not in it becomes null, as do reserved handles,
    /// which are not merged; what becomes of those of other pools, and of those that are passed over, the
    /// options say. Of containers, members of pools in the snapshot are added; those of an index whose key
    /// another object has, where that is refused, get none. Values are left out unless the options ask for
    /// them.
    ///
    /// Other threads may use the pools meanwhile, but not the containers. Linear in the bytes. Throws
    /// invalid_snapshot like load(), also for objects of raw pools, in which nobody sees handles, and for
    /// such as can't be moved; pool_exhausted, pool_used_up, std::bad_alloc, and what archives,
    /// for_each_handle() and insertions throw. Then the objects that were made are erased again, all that was
    /// added is gone, and the values are as they were; containers that are not attached may have lost stale
    /// members, and stores have learnt names.
    handle_renaming merge(std::span<const std::byte> bytes, std::string_view origin = "in memory",
                          const merge_options& options = {});

private:
    template <class Objects, class T, class Config, class... Schema>
    void add_pool(std::string_view name, detail::pool_impl<T, Config>& core, Schema&&... schema) {
        own(std::make_unique<detail::saved_pool_entry<T, Config, Objects>>(checked_name(name), core,
                                                                           std::move(schema)...));
    }
    template <class Value, class Archive, class... Steps>
    void add_value(std::string_view name, Value& value, Archive archive, Steps... steps) {
        own(std::make_unique<detail::saved_value_entry<Value, Archive, Steps...>>(
            checked_name(name), value, std::move(archive), std::tuple<Steps...>(std::move(steps)...)));
    }

    friend class replica;

    /// The same of bytes whose container was read.
    std::vector<std::string> load(const detail::snapshot_blocks& blocks);

    static void require_bytes(bool consists_of_bytes, std::string_view name);
    static void require_columns(std::span<const std::string_view> columns, std::string_view name);
    bool has(std::string_view name) const noexcept;
    std::string checked_name(std::string_view name) const;
    void own(std::unique_ptr<detail::snapshot_entry> entry);

    std::vector<std::unique_ptr<detail::snapshot_entry>> entries_;
};

} // namespace handlepool
