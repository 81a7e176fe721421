// SPDX-License-Identifier: MIT
#include "depots.hpp"
#include "system_calls.hpp"

#include <handlepool/detail/recorder/caller.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace handlepool::detail {

namespace {

// For an actor that got no number; as a number it is 0.
constexpr std::uint32_t no_room = 1U << (64 - site_bits);

std::uint32_t own_actor() noexcept {
    if (own_words.actor == 0) {
        const std::uint32_t number = number_of_actor({});
        own_words.actor = number != 0 ? number : no_room;
    }
    return own_words.actor;
}

/// Of the calls from the one at `innermost` on.
std::uint64_t site_of_stack(const void* frame, std::uint64_t innermost, std::uint32_t callers) noexcept {
    word_depot::value_type stack{};
    const std::size_t most = std::min<std::size_t>(std::size_t{1} + callers, stack.size());
    const auto address = static_cast<std::uintptr_t>(native_code::address_of(innermost));
    if (find_callers(frame, address, std::span(stack).first(most)) > 1) {
        if (const std::uint64_t site = site_of_value(stack); site != 0) {
            return site;
        }
    }
    return innermost;
}

/// The frame of the function that uses this.
HANDLEPOOL_ALWAYS_INLINE inline const void* own_frame() noexcept {
#if defined(_MSC_VER) && !defined(__clang__)
    return _AddressOfReturnAddress();
#else
    return __builtin_frame_address(0);
#endif
}

} // namespace

caller find_caller(std::uint64_t site, std::uint32_t stack) noexcept {
    std::uint64_t found = own_words.site;
    if (found == 0) {
        const std::uint64_t here = site != 0 ? site : return_site();
        found = stack == 0 ? here : site_of_stack(own_frame(), here, stack);
    }
    const std::uint32_t actor = own_words.actor;
    return caller{found | std::uint64_t{actor != 0 ? actor : own_actor()}
                              << site_bits}; // no_room is shifted out
}

caller caller_at(std::uint64_t site) noexcept {
    const std::uint64_t found = own_words.site != 0 ? own_words.site : site;
    return caller{found | std::uint64_t{own_actor()} << site_bits};
}

bool caller_scope::is_for_all() noexcept {
    return own_words.site_is_for_all;
}
caller_scope::scoped caller_scope::replace(scoped inner) noexcept {
    return {.site = std::exchange(own_words.site, inner.site),
            .is_for_all = std::exchange(own_words.site_is_for_all, inner.is_for_all)};
}

std::uint64_t exchange_site(std::uint64_t site) noexcept {
    constexpr std::uint64_t is_not_for_all = std::uint64_t{1} << site_bits;
    const std::uint64_t before =
        own_words.site | (own_words.site == 0 || own_words.site_is_for_all ? 0 : is_not_for_all);
    own_words.site = site & site_mask;
    own_words.site_is_for_all = own_words.site != 0 && (site & is_not_for_all) == 0;
    return before;
}

actor_scope::actor_scope(std::uint32_t actor) noexcept : outer_(std::exchange(own_words.actor, actor)) {}
actor_scope::~actor_scope() {
    own_words.actor = outer_;
}

} // namespace handlepool::detail
