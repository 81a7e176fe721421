#include <handlepool/thread_index.hpp>
#include <handlepool/timeline.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <fstream>
#include <ostream>
#include <system_error>

namespace handlepool {

namespace {

// Named tracks stand behind all threads'.
constexpr std::uint32_t first_named_track = 1'000'000;

std::string json_string(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace

void timeline::add(event added) {
    const std::scoped_lock lock(mutex_);
    if (events_.size() >= most_events_) {
        ++dropped_;
        return;
    }
    events_.push_back(std::move(added));
}

void timeline::add_span(std::string_view name, clock::time_point begin, clock::time_point end,
                        std::string_view track) {
    std::uint32_t number = this_thread::index();
    if (!track.empty()) {
        const std::scoped_lock lock(mutex_);
        const auto next = first_named_track + static_cast<std::uint32_t>(named_tracks_.size());
        number = named_tracks_.try_emplace(std::string(track), next).first->second;
    }
    add({.name = std::string(name), .track = number, .begin = begin, .end = end, .counters = {}});
}

void timeline::add_counters(std::string_view name,
                            std::vector<std::pair<std::string, std::uint64_t>> values) {
    if (values.empty()) {
        return;
    }
    const clock::time_point now = clock::now();
    add({.name = std::string(name), .track = 0, .begin = now, .end = now, .counters = std::move(values)});
}

void timeline::name_thread(std::string_view name) {
    const std::uint32_t index = this_thread::index();
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
                           number, json_string(name));
    }
    for (const event& each : events_) {
        const double begin = microseconds(each.begin - start_);
        if (each.counters.empty()) {
            out << fmt::format(
                ",\n{{\"name\": {}, \"ph\": \"X\", \"ts\": {:.3f}, \"dur\": {:.3f}, \"pid\": 1, "
                "\"tid\": {}}}",
                json_string(each.name), begin, microseconds(each.end - each.begin), each.track);
            continue;
        }
        out << fmt::format(",\n{{\"name\": {}, \"ph\": \"C\", \"ts\": {:.3f}, \"pid\": 1, \"args\": {{",
                           json_string(each.name), begin);
        std::string_view separator;
        for (const auto& [name, value] : each.counters) {
            out << separator << fmt::format("{}: {}", json_string(name), value);
            separator = ", ";
        }
        out << "}}";
    }
    out << "\n]}\n";
}

void timeline::save(const std::filesystem::path& file) const {
    // A regular file comes whole or not at all; a pipe or a device is written to as it is.
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(file, error);
    const bool whole = !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
    const std::filesystem::path unfinished = whole ? file.string() + ".part" : file.string();
    error.clear();
    errno = 0;
    std::ofstream out(unfinished, std::ios::binary | std::ios::trunc);
    if (out) {
        write(out);
        out.close();
    }
    if (!out) {
        error.assign(errno == 0 ? EIO : errno, std::generic_category());
    } else if (whole) {
        std::filesystem::rename(unfinished, file, error);
    }
    if (error) {
        if (whole) {
            std::error_code ignored;
            std::filesystem::remove(unfinished, ignored);
        }
        throw std::system_error(error, file.string());
    }
}

} // namespace handlepool
