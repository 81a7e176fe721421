#pragma once

#include <handlepool/detail/config.hpp>
#include <handlepool/detail/message.hpp>

#include <cstddef>
#include <new>
#include <stdexcept>
#include <string_view>

/// The exceptions of the library. What runs when memory is short carries its text in a fixed buffer.
namespace handlepool {

/// Every place of the pool is taken. Places come back with the next compaction after an erase.
class HANDLEPOOL_EXPORT pool_exhausted : public std::bad_alloc {
public:
    pool_exhausted(std::string_view pool, std::size_t capacity) noexcept;

    const char* what() const noexcept override { return message_.c_str(); }

protected:
    explicit pool_exhausted(detail::fixed_message message) noexcept : message_(message) {}

private:
    detail::fixed_message message_;
};

/// All slots of the pool are retired, but for those that the reuse delay holds back: it has made all the
/// objects that its handles can tell apart.
class HANDLEPOOL_EXPORT pool_used_up : public pool_exhausted {
public:
    pool_used_up(std::string_view pool, std::size_t slot_limit) noexcept;
};

/// Address space could not be reserved, or an access to it could not be set up.
class HANDLEPOOL_EXPORT reservation_failed : public std::bad_alloc {
public:
    reservation_failed(std::string_view what_for, std::size_t bytes, int error_number) noexcept;

    const char* what() const noexcept override { return message_.c_str(); }

private:
    detail::fixed_message message_;
};

/// More threads of the process use pools at the same time than this pool's option `max_threads` allows.
class HANDLEPOOL_EXPORT too_many_threads : public std::runtime_error {
public:
    /// `owner` is "pool 'ships'", say.
    too_many_threads(std::string_view owner, std::size_t max_threads);
};

/// The object was made by a module of the process that has a copy of the library of its own, which numbers
/// threads in its own way.
class HANDLEPOOL_EXPORT foreign_module : public std::runtime_error {
public:
    /// `owner` is "pool 'ships'", say.
    explicit foreign_module(std::string_view owner);
};

/// `at` was given a handle that names no living object of the pool.
class HANDLEPOOL_EXPORT stale_handle : public std::out_of_range {
public:
    using std::out_of_range::out_of_range;
};

/// A compaction, reset or shrink was asked for where it can't run: another one is running, or the calling
/// thread itself holds it off.
class HANDLEPOOL_EXPORT compaction_conflict : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

} // namespace handlepool
