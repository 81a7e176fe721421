#include "json_file.hpp"

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

[[noreturn]] void fail(const std::string& path, int error) {
    throw std::runtime_error(
        fmt::format("--json: {} cannot be written: {}", path, std::generic_category().message(error)));
}

std::string partial_of(const std::string& path) {
    std::error_code ignored; // a file that can't be looked at can't be opened either
    const std::filesystem::file_status status = std::filesystem::status(path, ignored);
    const bool replaceable = !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
    return replaceable ? fmt::format("{}.{}.tmp", path, ::getpid()) : path;
}

} // namespace

json_file::json_file(std::string path)
    : path_(std::move(path)), partial_(partial_of(path_)), stream_(partial_) {
    if (!stream_) {
        fail(path_, errno);
    }
}

json_file::~json_file() {
    std::error_code ignored; // it is there only when the run or the writing failed
    if (is_replaced()) {
        std::filesystem::remove(partial_, ignored);
    }
}

void json_file::write(const nlohmann::json& json) {
    // Names of files and programs need not be UTF-8.
    stream_ << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    stream_.close();
    if (!stream_) {
        fail(path_, errno);
    }
    if (is_replaced()) {
        std::error_code error;
        std::filesystem::rename(partial_, path_, error);
        if (error) {
            fail(path_, error.value());
        }
    }
}

} // namespace handlepool::stress
