#pragma once

#include <nlohmann/json_fwd.hpp>

#include <fstream>
#include <string>

namespace handlepool::stress {

// A file for JSON results. It is opened before the work starts, so that a wrong name costs no run; a file
// that was there is replaced only by a whole one. What is no regular file, as /dev/stdout, is written to as
// it is.
class json_file {
public:
    // Throws std::runtime_error if the file can't be written.
    explicit json_file(std::string path);
    ~json_file(); // removes what is not whole

    json_file(const json_file&) = delete;
    json_file& operator=(const json_file&) = delete;

    // Writes `json` and gives the file its name. Once only. Throws std::runtime_error if that fails.
    void write(const nlohmann::json& json);

private:
    bool is_replaced() const { return partial_ != path_; }

    std::string path_;
    std::string partial_; // where the result is written: path_ itself if that is no regular file
    std::ofstream stream_;
};

} // namespace handlepool::stress
