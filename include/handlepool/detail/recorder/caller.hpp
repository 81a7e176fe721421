// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <atomic>
#include <cstdint>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

namespace handlepool::detail {

/// Who called a pool, and from where, in one word: in its lower 48 bits the *site*, which is the address
/// behind the call as native_code has it, or the number of an entry of the word_depot; above them the number
/// of the thread's name and task. Zero when nobody records that.
enum class caller : std::uint64_t { unknown = 0 };

inline constexpr unsigned site_bits = 48;
inline constexpr std::uint64_t site_mask = (std::uint64_t{1} << site_bits) - 1;
/// Set where the site is an entry's number, and not an address of code.
inline constexpr std::uint64_t is_depot_entry = std::uint64_t{1} << (site_bits - 1);

/// Addresses of code as sites, without the bits by which some processors sign them.
template <unsigned AddressBits, unsigned AlignmentBits>
struct code_addresses {
    static_assert(AddressBits - AlignmentBits < site_bits);

    static constexpr unsigned alignment_bits = AlignmentBits;
    static constexpr std::uint64_t mask = (std::uint64_t{1} << AddressBits) - 1;

    static constexpr std::uint64_t site_of(std::uint64_t address) noexcept {
        return (address & mask) >> AlignmentBits;
    }
    static constexpr std::uint64_t address_of(std::uint64_t site) noexcept { return site << AlignmentBits; }
};
#if defined(__aarch64__) || defined(_M_ARM64)
// Programs have all of 48 bits there, and instructions have four bytes.
using native_code = code_addresses<48, 2>;
#else
using native_code = code_addresses<47, 0>;
#endif

constexpr std::uint64_t site_of(caller who) noexcept {
    return static_cast<std::uint64_t>(who) & site_mask;
}
constexpr std::uint32_t actor_of(caller who) noexcept {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(who) >> site_bits);
}

/// What a thread knows of itself.
struct caller_words {
    std::uint64_t site = 0;       ///< within a caller_scope
    std::uint32_t actor = 0;      ///< zero until it is asked for
    bool site_is_for_all = false; ///< of all within that scope
};
HANDLEPOOL_EXPORT inline constinit thread_local caller_words own_words{};

/// The rest of this_caller(), for a site in its caller; 0 for the one behind this call.
HANDLEPOOL_EXPORT HANDLEPOOL_NOINLINE caller find_caller(std::uint64_t site, std::uint32_t stack) noexcept;

/// The function that calls this, at the call: so all between a user's call and this one must be inlined. With
/// `stack` as many of its callers, as far as the program keeps frame pointers. Within a caller_scope what
/// that says instead.
/// Wait-free, but for a thread's first call, which takes a lock and asks for the thread's name, and for a
/// stack that no thread has had before, which is lock-free.
HANDLEPOOL_ALWAYS_INLINE inline caller this_caller(std::uint32_t stack) noexcept {
    std::uint64_t address = 0;
#if defined(__GNUC__) && defined(__x86_64__)
    asm volatile("lea 0(%%rip), %0"
                 : "=r"(address)); // behind this instruction, as one behind a call would be
#elif defined(__GNUC__) && defined(__aarch64__)
    asm volatile("adr %0, .+4" : "=r"(address));
#endif
    const std::uint64_t site = native_code::site_of(address);
    if (site != 0 && stack == 0 && own_words.site == 0 && own_words.actor != 0) [[likely]] {
        return caller{site | std::uint64_t{own_words.actor} << site_bits};
    }
    return find_caller(site, stack);
}

/// The site behind the call of the function that uses this, which must not be inlined itself.
HANDLEPOOL_ALWAYS_INLINE inline std::uint64_t return_site() noexcept {
#if defined(_MSC_VER) && !defined(__clang__)
    return native_code::site_of(reinterpret_cast<std::uintptr_t>(_ReturnAddress()));
#else
    return native_code::site_of(reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
#endif
}

/// Like this_caller(), for a site that the caller knows.
HANDLEPOOL_EXPORT caller caller_at(std::uint64_t site) noexcept;

/// Whether there has been a pool that records lives: else nobody asks who calls.
HANDLEPOOL_EXPORT inline constinit std::atomic<bool> has_recorders{false};

/// While it lives, what its thread does is called from one site. For functions of the library that call those
/// of a pool out of line: they give their return_site().
class HANDLEPOOL_EXPORT caller_scope {
public:
    /// A site, unless an outer scope is for all within it.
    static caller_scope within(std::uint64_t site) noexcept {
        return caller_scope(has_recorders.load(std::memory_order::relaxed) && !is_for_all() ? site : 0,
                            false);
    }
    /// The same for all within it: for functions that call others which have such scopes.
    static caller_scope for_all_within(std::uint64_t site) noexcept {
        return caller_scope(has_recorders.load(std::memory_order::relaxed) && !is_for_all() ? site : 0, true);
    }
    /// A site that somebody has named, which stands before an outer one, for all within it; none for 0.
    explicit caller_scope(std::uint64_t site) noexcept : caller_scope(site, true) {}
    ~caller_scope() {
        if (is_on_) {
            replace(outer_);
        }
    }

    caller_scope(const caller_scope&) = delete;
    caller_scope& operator=(const caller_scope&) = delete;

private:
    struct scoped {
        std::uint64_t site = 0;
        bool is_for_all = false;
    };

    caller_scope(std::uint64_t site, bool is_for_all) noexcept
        : is_on_(site != 0), outer_(is_on_ ? replace({site & site_mask, is_for_all}) : scoped()) {}

    static bool is_for_all() noexcept;
    /// Returns the former one.
    static scoped replace(scoped inner) noexcept;

    bool is_on_;
    scoped outer_;
};

/// For languages without destructors: from here on, what the calling thread does is called from this site,
/// for all within it, or from none for 0. Returns the former one, in a form that is taken, too.
HANDLEPOOL_EXPORT std::uint64_t exchange_site(std::uint64_t site) noexcept;

/// While it lives, its thread's actor is this one. Zero takes the thread's name anew.
class HANDLEPOOL_EXPORT actor_scope {
public:
    explicit actor_scope(std::uint32_t actor) noexcept;
    ~actor_scope();

    actor_scope(const actor_scope&) = delete;
    actor_scope& operator=(const actor_scope&) = delete;

private:
    std::uint32_t outer_;
};

} // namespace handlepool::detail
