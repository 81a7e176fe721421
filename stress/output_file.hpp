#pragma once

#include <nlohmann/json_fwd.hpp>

#include <fstream>
#include <string>
#include <string_view>

namespace handlepool::stress {

// A file for a result. Whether it can be written is tried before the work starts, so that a wrong name costs
// no run; a file that was there is replaced only by a whole one. A run that is interrupted leaves nothing
// behind. What is no regular file, as /dev/stdout, is written to as it is.
class output_file {
public:
    // Throws std::runtime_error, which names the option that the path was given by, if the file can't be
    // written.
    output_file(std::string option, std::string path);
    ~output_file(); // removes what is not whole

    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;

    // Writes all of it, under another name, and gives it its own name. Of several files, each may be written
    // before the first is named. Once only. Throw std::runtime_error if that fails.
    void prepare(std::string_view text);
    void prepare_json(const nlohmann::json& json);
    void commit();

    // Both.
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
