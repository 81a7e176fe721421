// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/containers/pool_subscription.hpp>
#include <handlepool/detail/properties/bag_file.hpp>
#include <handlepool/detail/properties/bag_store.hpp>
#include <handlepool/detail/properties/entry_of.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/key_table.hpp>
#include <handlepool/memory_use.hpp>
#include <handlepool/property_bag.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace handlepool {

namespace detail {

/// What a store has, for snapshots.
template <class Store>
class store_contents;

} // namespace detail

/// The options of a property_store. Both are address space only, which is reserved at once.
struct property_store_options {
    /// Objects can have a bag whose slot is below this; a pool's `slot_limit` is enough. 8 bytes each.
    std::size_t slot_limit = std::size_t{1} << 24;
    /// For all bags, up to 32 GiB.
    std::size_t bytes = std::size_t{16} << 30;
};

/// Whether the file of a property_store contains the names of paths.
enum class names_in_file {
    left_out, ///< only programs that know the paths can read the values
    included  ///< those that the store's table of names knows
};

/// The property bags of a pool's objects, by their handles: one for each object that has properties, of any
/// number of objects, in memory that the store reserves once. A bag takes the next of 24, 32, 48, 64, 96 ...
/// 65,536 bytes that has room for it, and 8 for its slot. It grows and shrinks from one size to the next
/// without a call of the system's allocator; what it leaves is for other bags of that size.
///
///     handlepool::property_store<ship> details;
///     details.attach(ships);       // compactions end the bags of those they destroy
///     details.set(ship, "crew"_key / "captain", "Ahab");
///     float crew = details.view(ship).value_or("crew"_key / "size", 0.0F);
///
/// Of the handles that a slot has had, only the latest that was given properties has a bag. User bits of
/// handles are ignored. All bags are of objects of one pool: the one that the store is attached to, or that
/// of the bags that there are. The handles that a handle_set refuses can't have a bag. A store that has
/// lost all its bags may be used for another pool, but only while no other thread uses it.
///
/// Threads: different bags are independent. Any number of threads may read a bag at the same time, or one may
/// change it: as with the objects themselves, and different objects have different slots while they live. The
/// pool's compactions change the bags of those that they destroy, so keep
/// a bag alive the way you keep its object alive, by an access_guard or the order of the frame. Functions
/// under "All bags: reading" may run concurrently with other reads; those under "All bags: changing" need
/// exclusive access to the store.
/// @tparam T object type, or void for handles of raw pools; columns<...> for those of rows
template <class T, class Layout = default_layout>
class property_store {
public:
    /// Types of the owners of the bags, and of their number.
    using handle_type = handle<T, Layout>;
    using size_type = std::size_t;

    /// A store without bags. Throws reservation_failed and std::bad_alloc.
    explicit property_store(const property_store_options& options = {})
        : bags_(std::make_unique<detail::bag_store>(
              static_cast<std::size_t>(detail::least<std::uint64_t>(options.slot_limit, Layout::slot_count)),
              options.bytes)) {}

    /// A store with the same bags, options and table of names that is not attached to a pool. Reserves as
    /// much address space as the other. Throws reservation_failed, property_store_full and std::bad_alloc.
    property_store(const property_store& other) : bags_(nullptr) { assign(other); }
    /// Takes over bags and attachment. A moved-from store can only be destroyed and assigned to.
    property_store(property_store&& other) noexcept : bags_(nullptr) { swap(other); }
    /// Copies or moves like the constructors; the former attachment ends. Throws what the copy constructor
    /// throws; then nothing has changed.
    property_store& operator=(property_store other) noexcept {
        swap(other);
        return *this;
    }
    /// Detaches, and ends all bags.
    ~property_store() = default;

    /// Exchanges bags and attachments. Constant.
    void swap(property_store& other) noexcept {
        bags_.swap(other.bags_);
        std::swap(link_, other.link_);
        link_.follow(*this);
        other.link_.follow(other);
    }
    friend void swap(property_store& one, property_store& other) noexcept { one.swap(other); }

    /// Exchanges bags, options and tables of names, but each store keeps its own attachment. While it has
    /// one, the bags that it gets must be those of living objects of that pool. Constant.
    void swap_contents(property_store& other) noexcept { bags_.swap(other.bags_); }
    /// Gets the bags of the other store, byte by byte, its options and its table of names, in the memory that
    /// it has where that suffices: only a store with other options reserves address space. The attachment
    /// stays; while there is one, the bags must be those of living objects of that pool. Linear in the bags
    /// and the slots of both. Throws reservation_failed and std::bad_alloc; then nothing has changed; and
    /// property_store_full, then the store is empty.
    void assign(const property_store& other) {
        const detail::bag_store& theirs = *other.bags_;
        if (bags_ == nullptr || bags_->slot_limit() != theirs.slot_limit() ||
            bags_->bytes() != theirs.bytes()) {
            bags_ = std::make_unique<detail::bag_store>(theirs.slot_limit(), theirs.bytes());
        }
        bags_->assign(theirs);
    }

    // ---- One object's bag

    /// The object's properties; none if it has no bag. Valid until the bag changes. Constant.
    property_view view(handle_type handle) const noexcept { return bags_->find(owner_of(handle)); }

    /// Returns whether the object has a bag, which may be without properties. Constant.
    bool contains(handle_type handle) const noexcept { return bags_->has(owner_of(handle)); }

    /// Sets a value like property_bag::set(); an object that has no bag gets one, and the bag of an earlier
    /// object of its slot ends. Returns false, and changes nothing, if the handle is stale itself: a later
    /// object of its slot has a bag, or the store is attached to a pool in which the object is dead. Linear
    /// in the bag. Throws bag_too_large, and path_collision where a table is attached; property_store_full,
    /// std::bad_alloc; std::length_error for a slot beyond the option `slot_limit`; std::invalid_argument for
    /// a null handle, any other that never names an object, one of another pool, and one that is reserved in
    /// the pool that the store is attached to. Then no bag has changed; but the table may know the path.
    template <property_value Value>
    bool set(handle_type handle, property_path path, const Value& value) {
        return may_have_bag(handle) && bags_->set(owner_of(handle), path, detail::entry_of(path, value));
    }
    bool set(handle_type handle, property_path path, std::initializer_list<float> value) {
        return set(handle, path, std::span(value.begin(), value.size()));
    }

    /// Like set(), but returns false instead of throwing, except for std::invalid_argument, and
    /// std::bad_alloc where a table is attached.
    template <property_value Value>
    bool try_set(handle_type handle, property_path path, const Value& value) {
        std::string error;
        return may_have_bag(handle) && bags_->put(owner_of(handle), path, detail::entry_of(path, value),
                                                  error) == detail::bag_store::outcome::done;
    }

    /// Replaces the object's properties by these, which may be of this store. Returns false like set(), and
    /// throws what that throws. Linear in both bags.
    bool assign(handle_type handle, property_view properties) {
        return may_have_bag(handle) && bags_->assign(owner_of(handle), properties);
    }

    /// Merges like property_bag::merge(). Returns false like set(), and throws what that throws. Linear in
    /// both bags.
    bool merge(handle_type handle, property_view later, removals how = removals::apply) {
        return may_have_bag(handle) && bags_->merge(owner_of(handle), later, how);
    }

    /// Erases a property. Returns whether there was one. A bag that fits into half of its memory or less
    /// moves to the smallest block that has room for it. Linear in the bag.
    bool erase_property(handle_type handle, property_hash path) noexcept {
        return bags_->erase(owner_of(handle), path);
    }

    /// Ends the bag. Returns whether there was one. Constant.
    bool erase(handle_type handle) noexcept { return bags_->erase(owner_of(handle)); }

    // ---- All bags: reading

    /// The number of bags; approximate while other threads make and end some. Linear in the
    /// processors of the machine.
    size_type size() const noexcept { return bags_->size(); }
    bool empty() const noexcept { return size() == 0; }

    /// Calls `visit(handle, property_view)` for each bag, in the order of the slots. It may change bags, but
    /// a view is valid only until its bag changes. Linear in the slots, up to the highest one that has had a
    /// bag.
    template <class Visit>
    void for_each(Visit visit) const {
        for (std::size_t slot = 0; slot < bags_->slots_end(); ++slot) {
            if (bags_->tag_of(slot) != 0) {
                visit(handle_of(slot), bags_->bag_in(slot));
            }
        }
    }

    /// Memory of the store: address space, and what the system has backed of it. Asks the system; linear in
    /// the address space. Any thread, at any time.
    memory_use memory() const noexcept { return bags_->memory(); }

    // ---- All bags: changing

    /// Ends all bags, and gives their memory back to the system. Linear in the memory.
    void clear() noexcept { bags_->clear(); }

    /// Ends the bags for which `predicate(handle, property_view)` is true. Returns how many it ended.
    /// Costs what for_each() costs. What the predicate throws passes through; the bags that it was not asked
    /// about stay.
    template <class Predicate>
    friend std::size_t erase_if(property_store& store, Predicate predicate) {
        std::size_t erased = 0;
        store.for_each([&](handle_type each, property_view properties) {
            erased += predicate(each, properties) && store.erase(each) ? 1U : 0U;
        });
        return erased;
    }

    /// Moves all bags together, in the order of their slots and without what they don't use, and gives the
    /// rest of the memory back to the system; old and new memory exist at the same time. Linear in the bags.
    /// Throws property_store_full, reservation_failed and std::bad_alloc; then nothing has changed.
    void shrink_to_fit() { bags_->shrink_to_fit(); }

    // ---- Names

    /// Sets the table of names of all bags, like property_bag::set_names().
    void set_names(key_table& names) noexcept { bags_->set_names(&names); }
    /// The table that names the paths; null if there is none.
    key_table* names() const noexcept { return bags_->names(); }

    // ---- Following a pool

    /// Attaches the store to a pool: the bags of objects that the pool destroys, by a compaction or
    /// otherwise, end in constant time each. Also prunes the store now. Replaces an earlier attachment. The
    /// store and the pool may be destroyed in either order. Subject to the same rules as on_destroy() of the
    /// pool, and linear in the slots. Throws std::invalid_argument if there are bags of another pool, or of
    /// reserved handles, and what on_destroy() throws; then nothing has changed.
    template <class Pool>
        requires std::same_as<typename Pool::handle_type, handle_type>
    void attach(Pool& pool) {
        for_each([&](handle_type each, property_view) { link_.require_attachable(pool, each); });
        link_.attach(pool, *this);
        prune(pool);
    }
    /// Ends the attachment: bags stay until they are erased. The table of names stays, too.
    void detach() noexcept { link_.detach(); }
    /// Returns whether it is attached to a pool that still exists.
    bool attached() const noexcept { return link_.attached(); }

    /// Ends the bags of objects that are stale in the pool, and returns how many it ended. Linear in the
    /// slots.
    template <class Pool>
        requires std::same_as<typename Pool::handle_type, handle_type>
    std::size_t prune(const Pool& pool) noexcept {
        return erase_if(*this, [&pool](handle_type each, property_view) {
            return pool.state(each) == handle_state::stale;
        });
    }

    // ---- Files

    /// Writes all bags with their handles, and a checksum; and, if they are `included`, the names of paths,
    /// each once. Linear. Throws std::bad_alloc. Errors of writing are in the state of the stream.
    void write(std::ostream& out, names_in_file paths = names_in_file::left_out) const {
        const key_table no_names;
        detail::bag_file_writer file(out, layout_word, size(),
                                     paths == names_in_file::left_out ? nullptr
                                     : names() != nullptr             ? names()
                                                                      : &no_names);
        for_each([&file](handle_type each, property_view properties) { file.add(each.value(), properties); });
        file.end();
    }

    /// Writes like write(), into a file, which is replaced as a whole or not at all. Throws
    /// std::system_error, which names the file, and std::bad_alloc.
    void save(const std::filesystem::path& file, names_in_file paths = names_in_file::left_out) const {
        detail::raise_file_error(try_save(file, paths), file);
    }
    /// Like save(), but returns the error instead of throwing std::system_error.
    std::error_code try_save(const std::filesystem::path& file,
                             names_in_file paths = names_in_file::left_out) const {
        return detail::write_bag_file(file, [this, paths](std::ostream& out) { write(out, paths); });
    }

    /// Replaces all bags by those that write() has written, at any address, and returns how many there are.
    /// The store leaves out bags of objects that are dead in the pool that it is attached to. Its table of
    /// names, if it has one, learns the names that are in the file.
    ///
    /// Handles of another run of a program name other objects, or none: `owner_now(handle)` returns the
    /// handle of the object that gets the bag now, or the null handle to leave it out. By default handles are
    /// as they were.
    ///
    /// Throws invalid_bag unless these are the bytes of a store with handles of the same layout; `where`
    /// begins the message. What assign throws, path_collision if the table knows another path of the hash of
    /// one that is named in the file, and std::invalid_argument if two bags are for objects of one slot. Then
    /// nothing has changed. Linear.
    template <class OwnerNow = detail::same_owner>
    size_type read(std::span<const std::byte> bytes, std::string_view where = "store",
                   OwnerNow owner_now = {}) {
        detail::bag_file_reader file(bytes, layout_word);
        const std::optional<size_type> count = take_bags(file, owner_now);
        file.raise_flaw(where);
        return *count;
    }
    /// Like read(), but returns nothing instead of throwing invalid_bag, and puts the message into `error`.
    template <class OwnerNow = detail::same_owner>
    std::optional<size_type> try_read(std::span<const std::byte> bytes, std::string& error,
                                      std::string_view where = "store", OwnerNow owner_now = {}) {
        detail::bag_file_reader file(bytes, layout_word);
        const std::optional<size_type> count = take_bags(file, owner_now);
        if (!count) {
            error = file.flaw_text(where);
        }
        return count;
    }

    /// Reads a file like read(). Throws std::system_error, which names the file, and what read() throws.
    template <class OwnerNow = detail::same_owner>
    size_type load(const std::filesystem::path& file, OwnerNow owner_now = {}) {
        const std::string bytes = detail::bag_file_bytes(file);
        return read(std::as_bytes(std::span(bytes)), file.string(), std::move(owner_now));
    }
    /// Like load(), but returns nothing instead of throwing std::system_error and invalid_bag, and puts the
    /// message into `error`.
    template <class OwnerNow = detail::same_owner>
    std::optional<size_type> try_load(const std::filesystem::path& file, std::string& error,
                                      OwnerNow owner_now = {}) {
        const std::optional<std::string> bytes = detail::try_bag_file_bytes(file, error);
        return bytes ? try_read(std::as_bytes(std::span(*bytes)), error, file.string(), std::move(owner_now))
                     : std::nullopt;
    }

private:
    friend class detail::pool_subscription<property_store>;
    friend class detail::store_contents<property_store>;

    static constexpr const char* name = "property_store";
    /// Identifies the layout of the handles in a file.
    static constexpr std::uint32_t layout_word = Layout::index_bits | Layout::generation_bits << 8 |
                                                 Layout::pool_id_bits << 16 | Layout::user_bits << 24;

    explicit property_store(std::unique_ptr<detail::bag_store> bags) noexcept : bags_(std::move(bags)) {}

    /// The owner that a handle names; none for bits that are no handle.
    static detail::bag_owner owner_of(handle_type handle) noexcept {
        if (!Layout::fits(handle.value())) {
            return {};
        }
        return {.slot = handle.index(), .tag = handle.tag(), .pool_id = handle.pool_id()};
    }
    handle_type handle_of(std::size_t slot) const noexcept {
        return handle_type::from_value(Layout::value_of(slot, bags_->tag_of(slot)));
    }

    /// Returns whether any object of the handle's slot has a bag.
    bool has_slot_of(handle_type handle) const noexcept {
        return handle.index() < bags_->slots_end() && bags_->tag_of(handle.index()) != 0;
    }

    /// Returns whether the object can have a bag. Throws std::invalid_argument for a handle that is refused.
    bool may_have_bag(handle_type handle) {
        bags_->leave_other_pool(handle.pool_id());
        return link_.admits(handle, bags_->pool_id());
    }

    HANDLEPOOL_ALWAYS_INLINE void prefetch(handle_type handle) const noexcept {
        bags_->prefetch(handle.index());
    }

    template <class Pool>
    void forget(handle_type handle, const Pool&) noexcept {
        bags_->forget(owner_of(handle));
    }

    /// Replaces all bags by those of the file. Returns nothing, and changes nothing, if the file has a flaw.
    template <class OwnerNow>
    std::optional<size_type> take_bags(detail::bag_file_reader& file, OwnerNow& owner_now) {
        property_store loaded(std::make_unique<detail::bag_store>(bags_->slot_limit(), bags_->bytes()));
        loaded.bags_->set_names(bags_->names());
        std::optional<std::uint32_t> file_pool;
        size_type count = 0;
        while (file.next()) {
            const auto value = static_cast<typename Layout::value_type>(file.handle());
            const auto before = handle_type::from_value(value);
            if (value != file.handle() || !Layout::fits(value) || before != before.without_user() ||
                !Layout::can_be_alive(before.tag()) ||
                before.pool_id() != file_pool.value_or(before.pool_id())) {
                file.refuse_handle();
                return std::nullopt;
            }
            file_pool = before.pool_id();
            const handle_type now = owner_now(before);
            if (!now) {
                continue;
            }
            if (link_.admits(now, loaded.bags_->pool_id())) {
                if (loaded.has_slot_of(now) || !loaded.assign(now, file.bag())) {
                    detail::throw_exception(std::invalid_argument(
                        "property_store: two of the bags that are read have the slot of " +
                        detail::name_of_handle(now.index(), now.generation())));
                }
                ++count;
            }
        }
        if (file.has_flaw()) {
            return std::nullopt;
        }
        if (names() != nullptr) {
            names()->add(file.names());
        }
        bags_.swap(loaded.bags_);
        return count;
    }

    std::unique_ptr<detail::bag_store> bags_;
    detail::pool_subscription<property_store> link_; // its hooks end first
};

} // namespace handlepool
