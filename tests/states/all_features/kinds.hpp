// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/columns.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/snapshots/named_column.hpp>
#include <handlepool/snapshots/world_hash.hpp>
#include <handlepool/stable_pool.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>

#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <new>
#include <ostream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>

/// The pools of the game, what their objects are, and how each kind of pool is told of them.
namespace handlepool::test {

/// What there is to know of an object: which one it is, for ever, and what has become of it.
struct content {
    std::uint64_t id = 0;
    std::uint64_t value = 0;

    friend auto operator<=>(const content&, const content&) = default;
};

/// Of this content no object can be made.
inline constexpr content unmakeable{~std::uint64_t{0}, 0};

struct construction_refused : std::runtime_error {
    construction_refused() : std::runtime_error("of this content no object can be made") {}
};

/// Objects that are counted, and know whether they are alive.
class creature {
public:
    static inline std::int64_t alive = 0;

    creature() noexcept : creature(content{}, 0) {}
    creature(const content& what) : creature(checked(what), 0) {}
    creature(const creature& other) noexcept : creature(other.what(), 0) {}
    creature& operator=(const creature& other) noexcept {
        what_ = other.what();
        return write();
    }
    creature& operator=(const content& what) {
        what_ = checked(what);
        return write();
    }
    ~creature() {
        expect_alive();
        seal_ = 0;
        --alive;
    }
    /// For recycling pools.
    void clear() noexcept { *this = content{}; }

    const content& what() const noexcept {
        expect_alive();
        return what_;
    }
    void set_value(std::uint64_t value) noexcept {
        expect_alive();
        what_.value = value;
    }

    template <class Hash>
    friend void for_each_hashed(const creature& each, Hash& hash) {
        hash(each.what_.id);
        hash(each.what_.value);
    }

private:
    creature(const content& what, int) noexcept : what_(what) {
        write();
        ++alive;
    }
    static const content& checked(const content& what) {
        if (what == unmakeable) {
            throw construction_refused();
        }
        return what;
    }
    /// Its own address, so that a copy of its bytes is none of it.
    std::uint64_t sealed() const noexcept { return reinterpret_cast<std::uintptr_t>(this) ^ 0x5ea1ed; }
    creature& write() noexcept {
        seal_ = sealed();
        return *this;
    }
    void expect_alive() const noexcept {
        EXPECT_EQ(seal_, sealed()) << "an object was used or ended that is not alive";
    }

    content what_;
    std::uint64_t seal_ = 0;
};

/// Each merge makes other objects of what it reads.
struct creature_archive {
    static inline std::uint64_t added_to_ids = 0;

    void save(std::ostream& out, const creature& saved) const {
        out << saved.what().id << ' ' << saved.what().value << ' ';
    }
    creature load(std::istream& in) const {
        content read;
        in >> read.id >> read.value;
        read.id += added_to_ids;
        return read;
    }
};

/// The columns of its pool that are marked by themselves; 0 if there are none.
template <class Kind>
inline constexpr std::size_t column_count = 0;
template <class Kind>
    requires(Kind::column_count != 0)
inline constexpr std::size_t column_count<Kind> = Kind::column_count;

template <class Pool>
inline constexpr bool is_dense = requires(const Pool& pool) { pool.handle_at(0); };

/// What the kinds have in common.
struct any_kind {
    static pool_options options() {
        return {.name = "creatures",
                .capacity = 240,
                .reuse_delay = 3,
                .slot_limit = 60'000,
                .remember_frames = true,
                .record_lives = 2,
                .pool_id = 77};
    }
    static constexpr bool keeps_order = false;
    static constexpr bool can_merge = true;
};

/// Pools of `creature`.
template <class Traits, bool KeepsOrder = false>
struct creatures : any_kind {
    using pool_type = pool<creature, Traits>;
    static constexpr bool keeps_order = KeepsOrder;
    static constexpr bool recycles = std::is_same_v<typename Traits::placement, recycling_placement>;

    static std::unique_ptr<pool_type> make() {
        pool_options with = options();
        with.keep_order = KeepsOrder;
        return std::make_unique<pool_type>(with);
    }
    /// Calls `create(arguments...)` with those of which an object of this content is made.
    template <class Create>
    static auto from(const content& what, Create create) {
        return create(what);
    }
    /// By emplace_with(); `told(handle)` returns the content.
    template <class Pool, class Told>
    static auto try_make_with(Pool& pool, Told told) {
        if constexpr (recycles) {
            return pool.try_emplace_with([&](auto handle, creature& made) { made = told(handle); });
        } else {
            return pool.try_emplace_with([&](auto handle) { return creature(told(handle)); });
        }
    }
    /// By emplace_n(); `next()` returns each content. Returns whether it was done.
    template <class Pool, class Out, class Next>
    static bool try_make_many(Pool& pool, std::size_t count, Out out, Next next) {
        return bool(pool.try_emplace_n(count, out, [&](std::size_t) { return creature(next()); }));
    }

    static const content& read(const creature& object) { return object.what(); }
    template <class Pointer>
    static void write(Pointer object, std::uint64_t value) {
        object->set_value(value);
    }
    static const void* address(const creature* object) { return object; }

    template <class To, class Added>
    static void add_to(To& to, Added& added) {
        to.add("pool", added, creature_archive());
    }
};

/// Rows, of which each column has a part of the value, so that it can be edited and marked alone.
struct rows : any_kind {
    using pool_type = pool<columns<creature, std::uint64_t>>;
    static constexpr std::size_t column_count = 2;

    static std::unique_ptr<pool_type> make() { return std::make_unique<pool_type>(options()); }
    template <class Create>
    static auto from(const content& what, Create create) {
        return create(in_creature(what), in_number(what));
    }
    template <class Pool, class Told>
    static auto try_make_with(Pool& pool, Told told) {
        return pool.try_emplace_with([&](auto handle) {
            const content what = told(handle);
            return std::tuple(in_creature(what), in_number(what));
        });
    }
    template <class Pool, class Out, class Next>
    static bool try_make_many(Pool& pool, std::size_t count, Out out, Next next) {
        return bool(pool.try_emplace_n(count, out, [&](std::size_t) {
            const content what = next();
            return std::tuple(in_creature(what), in_number(what));
        }));
    }

    template <class Row>
    static content read(const Row& object) {
        const content& what = object.template get<0>().what();
        return {what.id, what.value + object.template get<1>() * values_of_creature};
    }
    template <class Pointer>
    static void write(Pointer object, std::uint64_t value) {
        object->template get<0>().set_value(value % values_of_creature);
        object->template get<1>() = value / values_of_creature;
    }
    /// Writes one column, which `element` points to. Returns what the value of the object is then.
    static std::uint64_t write_element(creature* element, std::uint64_t before, std::uint64_t random) {
        element->set_value(random % values_of_creature);
        return before - before % values_of_creature + random % values_of_creature;
    }
    static std::uint64_t write_element(std::uint64_t* element, std::uint64_t before, std::uint64_t random) {
        *element = random / values_of_creature;
        return random - random % values_of_creature + before % values_of_creature;
    }
    template <class Pointer>
    static const void* address(Pointer object) {
        return object ? &object->template get<0>() : nullptr;
    }

    template <class To, class Added>
    static void add_to(To& to, Added& added) {
        to.add("pool", added, named_column("creature", creature_archive()), named_column("number"));
    }

private:
    static constexpr std::uint64_t values_of_creature = 1000;
    static content in_creature(const content& what) { return {what.id, what.value % values_of_creature}; }
    static std::uint64_t in_number(const content& what) { return what.value / values_of_creature; }
};

/// Objects that consist of bytes, of a type that the pool learns of at run time.
struct raw_objects : any_kind {
    using pool_type = raw_pool<>;
    static constexpr bool can_merge = false; // nobody sees the handles in such objects

    static std::unique_ptr<pool_type> make() {
        return std::make_unique<pool_type>(options(),
                                           raw_type{.size = sizeof(content), .alignment = alignof(content)});
    }
    template <class Create>
    static auto from(const content& what, Create create) {
        return create([what](void* memory) { construct(memory, what); });
    }
    template <class Pool, class Told>
    static auto try_make_with(Pool& pool, Told told) {
        return pool.try_emplace_with([&](void* memory, auto handle) { construct(memory, told(handle)); });
    }
    template <class Pool, class Out, class Next>
    static bool try_make_many(Pool& pool, std::size_t count, Out out, Next next) {
        for (std::size_t i = 0; i != count; ++i) { // there is no emplace_n()
            const content what = next();
            const auto made = pool.try_emplace([&](void* memory) { construct(memory, what); });
            if (!made) {
                return false;
            }
            *out++ = made;
        }
        return true;
    }

    static const content& read(const void* object) { return *static_cast<const content*>(object); }
    static void write(void* object, std::uint64_t value) { static_cast<content*>(object)->value = value; }
    static const void* address(const void* object) { return object; }

    template <class To, class Added>
    static void add_to(To& to, Added& added) {
        to.add("pool", added);
    }

private:
    static void construct(void* memory, const content& what) {
        if (what == unmakeable) {
            throw construction_refused();
        }
        ::new (memory) content(what);
    }
};

/// With bits of the program in each handle.
using layout_with_user = handle_layout<24, 20, 10, 10>;
using tiny_traits = with_layout<layout_with_user, with_policy<support::tiny_policy<2>>>;
using stable_traits = with_placement<stable_placement, with_layout<layout_with_user>>;
using all_kinds = testing::Types<creatures<default_traits>, creatures<default_traits, true>,
                                 creatures<tiny_traits>, creatures<stable_traits>,
                                 creatures<with_placement<recycling_placement>>, rows, raw_objects>;

/// Their names, in that order.
struct kind_names {
    template <class Kind>
    static std::string GetName(int number) {
        constexpr const char* names[] = {"dense", "keep_order", "tiny", "stable", "recycling", "rows", "raw"};
        return names[number];
    }
};

} // namespace handlepool::test
