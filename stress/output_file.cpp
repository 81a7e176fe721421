#include "output_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace handlepool::stress {

namespace {

std::string partial_of(const std::string& path) {
    std::error_code ignored; // a file that can't be looked at can't be opened either
    const std::filesystem::file_status status = std::filesystem::status(path, ignored);
    const bool replaceable = !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
    return replaceable ? fmt::format("{}.{}.tmp", path, ::getpid()) : path;
}

} // namespace

output_file::output_file(std::string option, std::string path)
    : option_(std::move(option)), path_(std::move(path)), partial_(partial_of(path_)), stream_(partial_) {
    if (!stream_) {
        fail(errno);
    }
    if (is_replaced()) {
        stream_.close();
        std::filesystem::remove(partial_);
    }
}

output_file::~output_file() {
    std::error_code ignored; // it is there only when the run or the writing failed
    if (is_replaced()) {
        std::filesystem::remove(partial_, ignored);
    }
}

void output_file::write_json(const nlohmann::json& json) {
    prepare_json(json);
    commit();
}

void output_file::write(std::string_view text) {
    prepare(text);
    commit();
}

void output_file::prepare_json(const nlohmann::json& json) {
    // Names of files and programs need not be UTF-8.
    prepare(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void output_file::prepare(std::string_view text) {
    if (is_replaced()) {
        stream_.open(partial_);
    }
    stream_ << text;
    stream_.close();
    if (!stream_) {
        fail(errno);
    }
}

void output_file::commit() {
    if (is_replaced()) {
        std::error_code error;
        std::filesystem::rename(partial_, path_, error);
        if (error) {
            fail(error.value());
        }
    }
}

void output_file::fail(int error) const {
    throw std::runtime_error(
        fmt::format("{}: {} cannot be written: {}", option_, path_, std::generic_category().message(error)));
}

} // namespace handlepool::stress
