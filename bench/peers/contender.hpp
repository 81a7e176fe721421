// SPDX-License-Identifier: MIT
#pragma once

#include <bench/tools/object.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

/// The public comparison: containers of others that keep objects and give out something to find them by
/// again.
namespace handlepool_bench::peers {

/// The 64 bytes of `object`, aligned as their words are: for containers in which an aligned object would take
/// 128 bytes.
struct unaligned_object {
    explicit unaligned_object(std::uint64_t seed)
        : words{seed, seed + 1, seed + 2, seed + 3, seed + 4, seed + 5, seed + 6, seed + 7} {}

    std::array<std::uint64_t, 8> words;
};

static_assert(sizeof(unaligned_object) == 64);

constexpr unsigned any_number = std::numeric_limits<unsigned>::max();

/// Reads an object; what find and for_each are called with.
struct reader {
    template <class Object>
    void operator()(const Object& object) {
        first_word = object.words[0];
    }

    std::uint64_t first_word = 0;
};

/// A container as the workloads see it. It is made for a number of objects that will be alive, and a number
/// of threads; these have the numbers from 0 on, and tell theirs.
///
/// - create(thread, seed) returns the handle of a new object;
/// - erase(thread, handle) returns whether the object was alive, as far as the container can tell;
/// - find(handle, visit) calls visit(object), protected as the container does it, or returns false;
/// - for_each(visit) visits all living objects, while nothing else happens;
/// - end_frame() is what the container does once a frame, while nothing else happens;
/// - size() counts the objects, while nothing else happens.
template <class Contender>
concept contender = std::constructible_from<Contender, std::size_t, unsigned> &&
                    std::copyable<typename Contender::handle_type> &&
                    requires(Contender& one, unsigned thread, std::uint64_t seed,
                             typename Contender::handle_type handle, reader visit) {
                        { Contender::name } -> std::convertible_to<std::string_view>;
                        /// Threads that it can be used by.
                        { Contender::fewest_threads } -> std::convertible_to<unsigned>;
                        { Contender::most_threads } -> std::convertible_to<unsigned>;
                        /// Does it notice that a handle's object was erased?
                        { Contender::checks_handles } -> std::convertible_to<bool>;
                        { one.create(thread, seed) } -> std::same_as<typename Contender::handle_type>;
                        { one.erase(thread, handle) } -> std::same_as<bool>;
                        { one.find(handle, visit) } -> std::same_as<bool>;
                        one.for_each(visit);
                        one.end_frame();
                        { one.size() } -> std::same_as<std::size_t>;
                    };

template <class... Contenders>
struct contender_list {};

} // namespace handlepool_bench::peers
