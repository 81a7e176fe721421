#pragma once

#include <nlohmann/json_fwd.hpp>

#include <fstream>
#include <string>
#include <string_view>

namespace handlepool::stress {

// A file for a result. It is opened before the work starts, so that a wrong name costs no run; a file that
// was there is replaced only by a whole one. What is no regular file, as /dev/stdout, is written to as it is.
class output_file {
public:
    // Throws std::runtime_error, which names the option that the path was given by, if the file can't be
    // written.
    output_file(std::string option, std::string path);
    ~output_file(); // removes what is not whole

    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;

    // Writes the file and gives it its name. Once only. Throws std::runtime_error if that fails.
    void write(std::string_view text);
    void write_json(const nlohmann::json& json);

private:
    bool is_replaced() const { return partial_ != path_; }
    [[noreturn]] void fail(int error) const;

    std::string option_;
    std::string path_;
    std::string partial_; // where the result is written: path_ itself if that is no regular file
    std::ofstream stream_;
};

} // namespace handlepool::stress
