// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/hashes/hashed_containers.hpp>
#include <handlepool/detail/hashes/hashed_part.hpp>
#include <handlepool/detail/hashes/hashed_pool.hpp>
#include <handlepool/detail/hashes/hashed_value.hpp>
#include <handlepool/detail/hashes/object_hash.hpp>
#include <handlepool/time/change_log.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool {

/// A number that tells whether two worlds are the same: machines that play one game, a replay and what it was
/// recorded of, a frame and the same frame once more. It costs what has changed since the last frame, as the
/// change_logs of the pools tell it.
///
/// ```
///   world_hash ──┬── pool "ships" ── 64 positions ── object      where they differ, step by step
///                ├── handle_set "burning"
///                └── value "score"
/// ```
///
///     handlepool::world_hash hash;
///     hash.add("ships", log_of_ships);            // a change_log
///     hash.add("burning", burning);               // a handle_set, a hierarchy, a property_store ...
///     hash.add("score", score);
///     ...
///     ships.compact();
///     send(frame, hash.update());
///
/// Of a pool each object of the store counts: its position, its handle and its content. So does the order in
/// which things happened, as far as anything of it is left: in handles, positions, the order of members. What
/// nobody can see before it is used doesn't: which handles come next, which ones are reserved, and objects
/// that are not in the store yet. As handles count, the pools of both worlds have the same id, which the
/// program chooses (pool_options::pool_id), and none of them had objects before that the other had not: two
/// worlds of one process differ, unless the one is a snapshot of the other that was loaded after it.
///
/// Content is told apart bit by bit. Of numbers, enumerations, handles and types without padding it is the
/// bytes; of strings and vectors the elements. Of another type a function beside it names the members that
/// count, and leaves out those that don't:
///
///     struct ship { float x; bool burning; texture* skin; };
///     template <class Hash>
///     void for_each_hashed(const ship& each, Hash& hash) { hash(each.x); hash(each.burning); }
///
/// A type with padding or with numbers with a point inside is refused without such a function, when it is
/// compiled: nobody knows what lies between its members. A struct that has a pointer, and no padding, looks
/// like one of numbers, and needs one all the same; so does one with a member that has such a function, which
/// is not looked for otherwise. The function of a base class counts for a class that is derived from it, and
/// names the members of the base alone. For types of other libraries, add() takes a function: of an optional
/// it hashes whether there is a value, and the value; of a map the size, and each element.
///
/// Hashes are the same on each machine where the members have the same bytes. They are no protection against
/// who wants them to be the same. A pool that ends keeps its last hash.
///
/// What is added must exist as long as the hash is used. One thread at a time, between two compactions; not
/// while a pool's exclusive access lasts, which is a frame that has not ended.
class HANDLEPOOL_EXPORT world_hash {
public:
    /// What `hash` is in the functions of the program.
    using hash_type = detail::object_hash;

    /// A part, and its own number.
    struct part {
        std::string_view name; ///< as it was added
        std::uint64_t value;   ///< after the last update()

        /// Compare as a whole.
        friend bool operator==(const part&, const part&) = default;
    };

    /// Of nothing.
    world_hash();
    ~world_hash();
    world_hash(const world_hash&) = delete;
    world_hash& operator=(const world_hash&) = delete;

    // ---- Parts

    /// Adds a pool under a name, by a change_log of it, which must know of all changes: what is not marked is
    /// not seen. Rows are hashed column by column, objects of a raw_pool by their bytes. Throws
    /// std::invalid_argument for a name that was added before, is empty, has more than 255 bytes or control
    /// characters, and std::bad_alloc; then nothing has changed, as with the others.
    template <class Pool>
    void add(std::string_view name, const change_log<Pool>& log) {
        add(name, log, detail::members_beside_type());
    }
    /// The same; `members(object, hash)` calls `hash(member)` for what counts of an object, which is a row in
    /// a pool of columns, and a pointer in a raw_pool.
    template <class Pool, class Members>
    void add(std::string_view name, const change_log<Pool>& log, Members members) {
        using element = typename Pool::handle_type::element_type;
        std::size_t size = 0;
        if constexpr (std::is_void_v<element>) {
            size = log.pool().object_type_description().size;
        }
        own(std::make_unique<detail::hashed_pool<change_log<Pool>, element, Members>>(
            checked_name(name), log, size, std::move(members)));
    }

    /// Adds a container of handles, a property_store, or a value of the program, which is hashed as a whole:
    /// linear in it, each time.
    template <class Value>
    void add(std::string_view name, const Value& value) {
        static_assert(!requires { value.stats(); }, "of a pool, a change_log is added");
        add_value(name, value, detail::members_beside_type());
    }
    /// The same; `members(value, hash)` calls `hash(member)` for what counts.
    template <class Value, std::invocable<const Value&, hash_type&> Members>
    void add(std::string_view name, const Value& value, Members members) {
        add_value(name, value, std::move(members));
    }
    template <class Value, class... Members>
    void add(std::string_view name, const Value&& value, Members... members) = delete; // it ends before

    // ---- The hash

    /// Looks at what has changed since the last call, and returns the number for all of it. For pools it is
    /// that of their last frame: nothing may be edited between its end and this call. Linear in what has
    /// changed, and for the first time, or if a log does not go back as far, in the objects; linear in the
    /// parts that are no pools. Throws std::bad_alloc, and what the program's functions throw; then value()
    /// is what it was, of the parts some may be new, and the next call goes on.
    std::uint64_t update();

    /// What the last update() has returned; 0 before.
    std::uint64_t value() const noexcept { return value_; }

    // ---- Where two differ

    /// The parts in the order in which they were added. Linear in them. Throws std::bad_alloc.
    std::vector<part> parts() const;

    /// Of a pool a number for each 64 positions of its store, up to the last object: those of two worlds that
    /// differ have an object in which they differ; one that only one of them has is as if it were 0. Linear
    /// in the positions. Throws std::invalid_argument if no pool has that name, here and below, and
    /// std::bad_alloc.
    std::vector<std::uint64_t> blocks(std::string_view pool) const;

    /// A number for each of the 64 positions from 64 * `block` on, 0 where there is no object; fewer for the
    /// last block. change_log::told_at() has the handle. Throws std::out_of_range, too, for a block that is
    /// not there.
    std::span<const std::uint64_t> objects(std::string_view pool, std::size_t block) const;

private:
    template <class Value, class Members>
    void add_value(std::string_view name, const Value& value, Members members) {
        own(std::make_unique<detail::hashed_value<Value, Members>>(checked_name(name), value,
                                                                   std::move(members)));
    }

    std::string checked_name(std::string_view name) const;
    void own(std::unique_ptr<detail::hashed_part> added);
    std::span<const std::uint64_t> objects_of(std::string_view pool) const;

    std::vector<std::unique_ptr<detail::hashed_part>> parts_;
    std::uint64_t value_ = 0;
};

} // namespace handlepool
