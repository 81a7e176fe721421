// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/recorder/caller.hpp>

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool {

/// Where a pool was called from, as it was recorded: an address of code, a stack of them, or a place that the
/// program has named by scoped_site. A plain value.
class call_site {
public:
    /// Not known.
    constexpr call_site() noexcept = default;
    constexpr explicit call_site(std::uint64_t value) noexcept : value_(value) {}
    /// A place of that name, of a script, say: "spawn.lua:12". Any bytes, cut to what fits into 120 of them;
    /// not known if the name is empty, or a million different ones are kept, for the rest of the program. Any
    /// thread; lock-free, some hundred nanoseconds.
    HANDLEPOOL_EXPORT static call_site named(std::string_view name) noexcept;

    constexpr explicit operator bool() const noexcept { return value_ != 0; }  ///< is it known?
    constexpr std::uint64_t value() const noexcept { return value_; }          ///< 0: not known
    friend constexpr bool operator==(call_site, call_site) noexcept = default; ///< the same place or stack?

    /// The addresses behind the calls, the innermost first; empty for a place that the program has named. An
    /// instruction of the call itself is the one before.
    /// Any thread; linear in the stack. Throws std::bad_alloc.
    HANDLEPOOL_EXPORT std::vector<std::uintptr_t> addresses() const;

    /// "explode() at ship.cpp:88", and for a stack the others behind it, each after " < ". On Linux the
    /// addresses are looked up in the debug information, if the program or a file beside it has some and
    /// elfutils' libdw is installed; else as name_by_tables() does; see name_sites_by(). Empty when not
    /// known. Any thread; takes a lock, at first perhaps some hundred milliseconds. Throws std::bad_alloc.
    HANDLEPOOL_EXPORT std::string name() const;

private:
    std::uint64_t value_ = 0;
};

/// Names the code before an address, which lies behind a call; an empty text when it can't. May throw
/// std::bad_alloc.
using site_namer = std::string (*)(std::uintptr_t address);

/// The code before an address as the tables know it that each program has: "explode() (game+0x1234)" for a
/// function that is exported, and else "game+0x1234". `addr2line -Cfipe game 0x1234` names both, where there
/// is debug information. Any thread. Throws std::bad_alloc.
HANDLEPOOL_EXPORT std::string name_by_tables(std::uintptr_t address);

/// From here on call_site::name(), and so all messages, ask `namer` in place of the debug information, and
/// the tables where it returns nothing: name_by_tables has them ask the tables alone. Null: the debug
/// information again. Returns the previous one. Any thread, at any time; wait-free.
HANDLEPOOL_EXPORT site_namer name_sites_by(site_namer namer) noexcept;

/// While it lives, all that its thread does with pools that record lives is called from this place: for
/// functions that stand between a pool and those who are of interest, and for scripts.
///
///     void destroy(handle<ship> which, std::source_location where = std::source_location::current()) {
///         const handlepool::scoped_site here(where);
///         ships.erase(which);
///     }
///
/// An inner one stands before an outer one.
class HANDLEPOOL_EXPORT scoped_site {
public:
#ifdef __cpp_lib_source_location // clang 14 has none
    /// The place in C++. Throws std::bad_alloc.
    explicit scoped_site(const std::source_location& where = std::source_location::current());
#endif
    /// A place by its own name; see call_site::named().
    explicit scoped_site(std::string_view name) noexcept;
    /// A place that is known already; if none is, this changes nothing. Some nanoseconds.
    explicit scoped_site(call_site where) noexcept;

private:
    detail::caller_scope scope_;
};

/// While it lives, its thread works at this task, as records say then beside the thread's name. In jobs of a
/// job system, whose threads all have similar names. Names are cut to what fits into 88 bytes, and those of
/// threads into 31; there is room for 65,535 different pairs of a thread's name and a task's.
/// Lock-free; some hundred nanoseconds.
class HANDLEPOOL_EXPORT scoped_task {
public:
    explicit scoped_task(std::string_view name) noexcept; ///< Any bytes; empty for none.

private:
    detail::actor_scope scope_;
};

} // namespace handlepool
