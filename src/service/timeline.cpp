// SPDX-License-Identifier: MIT
#include "../shared/files.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/text/text.hpp>
#include <handlepool/detail/threads/thread_index.hpp>
#include <handlepool/timeline.hpp>

#include <fmt/format.h>

#include <ostream>
#include <system_error>
#include <utility>

namespace handlepool {

namespace {

// Named tracks come after all threads'.
constexpr std::uint32_t first_named_track = 1'000'000;

} // namespace

/// Adds what `make()` returns, or drops it when there is no room for it, or no memory.
template <class Make>
void timeline::add(Make make) noexcept {
    const std::scoped_lock lock(mutex_);
    if (events_.size() >= most_events_) {
        ++dropped_;
        return;
    }
    // std::bad_alloc, or whatever the program's own operator new throws
    if (detail::capture_exception([&] { events_.push_back(make()); })) {
        ++dropped_;
    }
}

void timeline::drop() noexcept {
    const std::scoped_lock lock(mutex_);
    ++dropped_;
}

/// Called under the lock.
std::uint32_t timeline::named_track(std::string_view name) {
    if (const auto known = named_tracks_.find(name); known != named_tracks_.end()) {
        return known->second;
    }
    const auto next = first_named_track + static_cast<std::uint32_t>(named_tracks_.size());
    return named_tracks_.try_emplace(std::string(name), next).first->second;
}

void timeline::add_span(joined_name name, clock::time_point begin, clock::time_point end,
                        std::string_view track) noexcept {
    const std::uint32_t own_track = detail::this_thread::index();
    add([&] {
        event made{.name = {}, .track = own_track, .begin = begin, .end = end, .counters = {}};
        made.name.reserve(name.first.size() + name.second.size());
        made.name.append(name.first).append(name.second);
        if (!track.empty()) {
            made.track = named_track(track);
        }
        return made;
    });
}

void timeline::add_counters(std::string_view name, std::span<const counter> values) noexcept {
    if (values.empty()) {
        return;
    }
    const clock::time_point now = clock::now();
    add([&] {
        return event{.name = std::string(name),
                     .track = 0,
                     .begin = now,
                     .end = now,
                     .counters = {values.begin(), values.end()}};
    });
}

void timeline::name_thread(std::string_view name) {
    const std::uint32_t index = detail::this_thread::index();
    const std::scoped_lock lock(mutex_);
    thread_names_[index] = name;
}

std::size_t timeline::size() const {
    const std::scoped_lock lock(mutex_);
    return events_.size();
}

std::size_t timeline::dropped() const {
    const std::scoped_lock lock(mutex_);
    return dropped_;
}

void timeline::write(std::ostream& out) const {
    const std::scoped_lock lock(mutex_);
    std::map<std::uint32_t, std::string> tracks = thread_names_;
    for (const event& each : events_) {
        tracks.try_emplace(each.track, fmt::format("thread {}", each.track));
    }
    for (const auto& [name, number] : named_tracks_) {
        tracks[number] = name;
    }
    // Microseconds, as the format has them.
    const auto microseconds = [](clock::duration time) {
        return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count()) / 1000;
    };

    out << fmt::format(
        "{{\"displayTimeUnit\": \"ms\", \"otherData\": {{\"dropped\": {}}}, \"traceEvents\": [\n", dropped_);
    out << R"({"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "handlepool"}})";
    for (const auto& [number, name] : tracks) {
        out << fmt::format(",\n{{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 1, \"tid\": {}, "
                           "\"args\": {{\"name\": {}}}}}",
                           number, detail::json_string(name));
    }
    for (const event& each : events_) {
        const double begin = microseconds(each.begin - start_);
        if (each.counters.empty()) {
            out << fmt::format(
                ",\n{{\"name\": {}, \"ph\": \"X\", \"ts\": {:.3f}, \"dur\": {:.3f}, \"pid\": 1, "
                "\"tid\": {}}}",
                detail::json_string(each.name), begin, microseconds(each.end - each.begin), each.track);
            continue;
        }
        out << fmt::format(",\n{{\"name\": {}, \"ph\": \"C\", \"ts\": {:.3f}, \"pid\": 1, \"args\": {{",
                           detail::json_string(each.name), begin);
        std::string_view separator;
        for (const auto& [name, value] : each.counters) {
            out << separator << fmt::format("{}: {}", detail::json_string(name), value);
            separator = ", ";
        }
        out << "}}";
    }
    out << "\n]}\n";
}

void timeline::save(const std::filesystem::path& file) const {
    throw_file_error(try_save(file), file);
}

std::error_code timeline::try_save(const std::filesystem::path& file) const {
    return write_file(file, [this](std::ostream& out) { write(out); });
}

timeline_span::timeline_span(timeline& records, std::string_view name) noexcept : records_(records) {
    if (detail::capture_exception([&] { name_.emplace(name); })) {
        records_.drop();
    }
}

timeline_span::~timeline_span() {
    if (name_) {
        const timeline::clock::time_point end = timeline::clock::now();
        const std::uint32_t track = detail::this_thread::index();
        records_.add([&] {
            return timeline::event{
                .name = std::move(*name_), .track = track, .begin = begin_, .end = end, .counters = {}};
        });
    }
}

} // namespace handlepool
