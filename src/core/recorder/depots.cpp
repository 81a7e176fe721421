// SPDX-License-Identifier: MIT
#include "depots.hpp"

#include "../process/at_fork.hpp"
#include "names_mutex.hpp"
#include "system_calls.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/recorder/caller.hpp>
#include <handlepool/detail/text/text.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

namespace handlepool::detail {

// Never destroyed: threads that end later may still use pools. Inline: see listed_sites.
HANDLEPOOL_EXPORT inline constinit std::atomic<word_depot*> all_sites{nullptr};
HANDLEPOOL_EXPORT inline constinit std::atomic<word_depot*> all_actors{nullptr};
/// Whether fork waits for names_mutex.
HANDLEPOOL_EXPORT inline constinit std::atomic<bool> forks_wait{false};

// Takes no lock: while a module is loaded, this one's thread has the loader's, for which another thread may
// be waiting with a lock of ours.
void have_forks_wait_for_names() noexcept {
    if (!forks_wait.exchange(true, std::memory_order::relaxed)) {
        at_fork([] { names_mutex.lock(); }, [] { names_mutex.unlock(); });
    }
}

namespace {

// A value is addresses, or a text: the first word of a text has its highest bit set, which no address has.
constexpr std::uint64_t is_text = std::uint64_t{1} << 63;
using chars = std::array<char, most_place_bytes>;
// Of an actor's, in which the thread's name comes first.
constexpr std::size_t thread_chars = 32;

constexpr std::uint32_t most_sites = 1U << 20;
constexpr std::uint32_t most_actors = (1U << (64 - site_bits)) - 1;

/// The depot, made if it is not there yet. Throws reservation_failed.
word_depot& depot_in(std::atomic<word_depot*>& made, const char* what_for, std::uint32_t most,
                     listed_depot& listed) {
    // acquire: pairs with the release below
    if (word_depot* const found = made.load(std::memory_order::acquire)) {
        return *found;
    }
    const std::scoped_lock lock(names_mutex);
    word_depot* found = made.load(std::memory_order::relaxed);
    if (found == nullptr) {
        found = new word_depot(allocation_label(what_for), most);
        listed = {.entries = found->entries(), .entry_size = word_depot::entry_size()};
        made.store(found, std::memory_order::release);
    }
    return *found;
}

word_depot& sites() {
    return depot_in(all_sites, "call sites", most_sites, listed_sites);
}
word_depot& actors() {
    return depot_in(all_actors, "names of threads and tasks", most_actors, listed_actors);
}

word_depot::value_type value_of(const chars& text) noexcept {
    word_depot::value_type value{};
    value.front() = is_text;
    std::copy_n(text.data(), text.size(), reinterpret_cast<char*>(&value[1]));
    return value;
}

std::string text_in(const word_depot::value_type& value, std::size_t first, std::size_t most) {
    if ((value.front() & is_text) == 0) {
        return {};
    }
    const char* const text = reinterpret_cast<const char*>(&value[1]) + first;
    return {text, std::find(text, text + most, '\0')};
}

const word_depot::value_type* value_of_site(std::uint64_t site) {
    return (site & is_depot_entry) == 0 ? nullptr : sites().find(static_cast<std::uint32_t>(site));
}

} // namespace

void make_depots() {
    static_cast<void>(sites());
    static_cast<void>(actors());
}

std::uint64_t site_of_value(const word_depot::value_type& value) noexcept {
    std::uint64_t number = 0; // as it stays if there is no memory for the depot
    capture_exception([&] { number = sites().number_of(value); });
    return number == 0 ? 0 : number | is_depot_entry;
}

std::uint64_t site_of_place(std::string_view name) noexcept {
    chars text{};
    copy_printable(name, text);
    return name.empty() ? 0 : site_of_value(value_of(text));
}

std::span<const std::uint64_t> addresses_of(std::uint64_t site) noexcept {
    const word_depot::value_type* const value = value_of_site(site);
    if (value == nullptr || (value->front() & is_text) != 0) {
        return {};
    }
    return std::span(*value).first(
        static_cast<std::size_t>(std::ranges::find(*value, std::uint64_t{0}) - value->begin()));
}
std::string place_of(std::uint64_t site) {
    const word_depot::value_type* const value = value_of_site(site);
    return value != nullptr ? text_in(*value, 0, std::tuple_size_v<chars>) : std::string();
}

std::uint32_t number_of_actor(std::string_view task) noexcept {
    chars text{};
    copy_thread_name(std::span(text).first(thread_chars));
    copy_printable(task, std::span(text).subspan(thread_chars));
    std::uint32_t number = 0; // as it stays if there is no memory for the depot
    capture_exception([&] { number = actors().number_of(value_of(text)); });
    return number;
}
std::string thread_of(std::uint32_t actor) {
    const word_depot::value_type* const value = actors().find(actor);
    return value != nullptr ? thread_in(*value) : std::string();
}
std::string task_of(std::uint32_t actor) {
    const word_depot::value_type* const value = actors().find(actor);
    return value != nullptr ? task_in(*value) : std::string();
}
std::string thread_in(const word_depot::value_type& actor) {
    return text_in(actor, 0, thread_chars);
}
std::string task_in(const word_depot::value_type& actor) {
    return text_in(actor, thread_chars, std::tuple_size_v<chars> - thread_chars);
}

} // namespace handlepool::detail
