// SPDX-License-Identifier: MIT
#include "types.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

namespace handlepool::c {

namespace {

std::size_t given_or(std::size_t given, std::size_t otherwise) noexcept {
    return given != 0 ? given : otherwise;
}

} // namespace

pool_options options_of(const handlepool_description& description) {
    pool_options options;
    options.name = description.name;
    options.capacity = description.capacity;
    options.reuse_delay = description.reuse_delay == HANDLEPOOL_NO_DELAY
                              ? 0
                              : given_or(description.reuse_delay, pool_options::automatic);
    options.slot_limit = given_or(description.slot_limit, pool_options::automatic);
    options.removal_queue_size = given_or(description.removal_queue_size, pool_options::automatic);
    options.max_threads = given_or(description.max_threads, options.max_threads);
    options.record_lives = description.record_lives;
    options.record_stack = description.record_stack;
    options.remember_frames = description.remember_frames;
    options.keep_order = description.keep_order;
    return options;
}

raw_type type_of(const handlepool_description& description) noexcept {
    // C has no noexcept; the header says the same in words.
    return {.size = description.size,
            .alignment = given_or(description.alignment, alignof(std::max_align_t)),
            .relocate = reinterpret_cast<decltype(raw_type::relocate)>(description.relocate),
            .destroy = reinterpret_cast<decltype(raw_type::destroy)>(description.destroy),
            .context = description.user};
}

char* copy_of(const std::string& text) {
    char* const copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (copy == nullptr) {
        throw std::bad_alloc();
    }
    std::memcpy(copy, text.c_str(), text.size() + 1);
    return copy;
}

} // namespace handlepool::c
