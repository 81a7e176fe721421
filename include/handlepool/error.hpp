// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/text/message.hpp>

#include <cstddef>
#include <new>
#include <stdexcept>
#include <string_view>

/// The exceptions of the library. Those that are thrown when memory is short carry their text in a fixed
/// buffer.
namespace handlepool {

/// Every place of the pool is taken. Places come back with the next compaction after an erase.
class HANDLEPOOL_EXPORT pool_exhausted : public std::bad_alloc {
public:
    /// For the pool of this name. Needs no memory.
    pool_exhausted(std::string_view pool, std::size_t capacity) noexcept;

    /// Names the pool and the limit that it has reached.
    const char* what() const noexcept override { return message_.c_str(); }

protected:
    /// With the message of a derived class.
    explicit pool_exhausted(detail::fixed_message message) noexcept : message_(message) {}

private:
    detail::fixed_message message_;
};

/// All slots of the pool are retired, except for those that the reuse delay holds back: it has made as many
/// objects as its handles can distinguish.
class HANDLEPOOL_EXPORT pool_used_up : public pool_exhausted {
public:
    /// For the pool of this name. Needs no memory.
    pool_used_up(std::string_view pool, std::size_t slot_limit) noexcept;
};

/// A spawner of the pool has created as many objects as its share allows. What a pool has room for is dealt
/// out when its spawners are made, so that none depends on what the others do.
class HANDLEPOOL_EXPORT spawner_exhausted : public pool_exhausted {
public:
    /// For the pool of this name, and the spawner of this number. Needs no memory.
    spawner_exhausted(std::string_view pool, std::size_t spawner) noexcept;
};

/// Address space could not be reserved, or an access to it could not be set up.
class HANDLEPOOL_EXPORT reservation_failed : public std::bad_alloc {
public:
    /// `error_number` is the system's, from `errno`. Needs no memory.
    reservation_failed(std::string_view what_for, std::size_t bytes, int error_number) noexcept;

    /// Says what the space was for, how many bytes were asked for, and why that failed.
    const char* what() const noexcept override { return message_.c_str(); }

private:
    detail::fixed_message message_;
};

/// More threads of the process use pools at the same time than the option `max_threads` of this pool or
/// service allows.
class HANDLEPOOL_EXPORT too_many_threads : public std::runtime_error {
public:
    /// `owner` begins the message: "pool 'ships'", for example. Throws std::bad_alloc.
    too_many_threads(std::string_view owner, std::size_t max_threads);
};

/// The pool or service was made by a module of the process with its own copy of the library, which numbers
/// threads in its own way.
class HANDLEPOOL_EXPORT foreign_module : public std::runtime_error {
public:
    /// `owner` begins the message: "pool 'ships'", for example. Throws std::bad_alloc.
    explicit foreign_module(std::string_view owner);
};

/// `at` was given a handle that names no living object of the pool.
class HANDLEPOOL_EXPORT stale_handle : public std::out_of_range {
public:
    using std::out_of_range::out_of_range;
};

/// `fulfill` was given a handle that is not reserved: it has its object already, or another thread makes it,
/// or it was cancelled, or it was never reserved in this pool.
class HANDLEPOOL_EXPORT not_reserved : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

/// An object can't become the child of itself, or of an object that is below it.
class HANDLEPOOL_EXPORT hierarchy_cycle : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

/// A compaction, or what excludes compactions, was asked for where it can't run: another one is running, or
/// the calling thread holds it off by a guard. Or an access guard was asked for in the thread that is
/// compacting.
class HANDLEPOOL_EXPORT compaction_conflict : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

/// An object was to be created without a spawner in a pool that has some, spawners were asked for while
/// others live, or one was used after its end.
class HANDLEPOOL_EXPORT spawner_conflict : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

} // namespace handlepool
