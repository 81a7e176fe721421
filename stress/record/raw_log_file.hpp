#pragma once

#include "../trace.hpp"
#include "raw_log.hpp"
#include "recorder.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace handlepool::stress {

// A raw log that is being made: a file beside the output, in which the whole of a small recording has room.
// It stays if the recorder is killed, or if it is told to keep it.
class new_raw_log {
public:
    // Throws record_error if there is no room for it.
    new_raw_log(const std::filesystem::path& output, const std::vector<std::string>& command,
                std::uint64_t capacity);
    new_raw_log(const new_raw_log&) = delete;
    new_raw_log& operator=(const new_raw_log&) = delete;
    ~new_raw_log();

    int descriptor() const noexcept { return descriptor_; }
    const std::string& path() const noexcept { return path_; }

    // Gives back what is there to make room for the trace.
    void give_spares_back() noexcept;
    void keep() noexcept { is_kept_ = true; }

private:
    void write(const void* bytes, std::size_t count, std::uint64_t offset);

    std::string output_;
    std::string path_;
    int descriptor_;
    std::uint64_t without_spares_{};
    bool is_kept_ = false;
};

// What a raw log says.
struct raw_recording {
    trace recorded{};
    bool had_room = true;                     // up to the limit, or to the program's end
    std::optional<std::string> replaced_by{}; // the program that took the place of the recorded one
};

// The trace of the log `descriptor`, which messages call `name`. `end_ns` is when the program ended, if that
// was seen. Throws record_error if it is no log, is damaged, or nothing was recorded.
raw_recording read_raw_log(int descriptor, const std::string& name, std::optional<std::uint64_t> end_ns,
                           const record_options& options);

} // namespace handlepool::stress
