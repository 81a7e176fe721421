// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace handlepool::support {

/// A file for a result. Whether it can be written is tried before the work starts, so that a wrong name costs
/// no run; a file that was there, or where a link leads, is replaced only by a whole one, which has its
/// permissions. A run that is interrupted leaves nothing behind. What is no regular file, as /dev/stdout, is
/// written to as it is.
///
/// All throw std::system_error, which names the option that the path was given by, if the file can't be
/// written.
class output_file {
public:
    /// Without an option, messages begin with the path.
    output_file(std::string_view option, const std::filesystem::path& path);
    ~output_file(); ///< removes what is not whole

    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;

    /// Writes all of it, under another name, and gives it its own name. Of several files, each may be written
    /// before the first is named. Once only.
    void prepare(std::string_view bytes);
    void prepare_json(const nlohmann::json& json);
    void commit();

    /// Both.
    void write(std::string_view bytes);
    void write_json(const nlohmann::json& json);

private:
    struct closer {
        void operator()(std::FILE* file) const noexcept { std::fclose(file); }
    };

    bool is_replaced() const { return partial_ != target_; }
    void open();
    [[noreturn]] void fail(int error) const;

    std::string option_;
    std::filesystem::path path_;
    std::filesystem::path target_;  // behind links
    std::filesystem::path partial_; // where the result is written: target_ itself if that is no regular file
    std::unique_ptr<std::FILE, closer> file_;
};

} // namespace handlepool::support
