// SPDX-License-Identifier: MIT
#include "output_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <src/shared/behind_links.hpp>
#include <support/programs/system.hpp>

#include <cerrno>
#include <system_error>

namespace handlepool::support {

namespace {

bool is_replaceable(const std::filesystem::path& path) {
    std::error_code ignored; // a file that can't be looked at can't be opened either
    const std::filesystem::file_status status = std::filesystem::status(path, ignored);
    return !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
}

std::filesystem::path partial_of(const std::filesystem::path& target) {
    return fmt::format("{}.{}.tmp", target.string(), process_id());
}

} // namespace

output_file::output_file(std::string_view option, const std::filesystem::path& path)
    : option_(option), path_(path), target_(path), partial_(path) {
    if (is_replaceable(path)) { // /dev/stdout may lead to what is no path
        target_ = behind_links(path);
        partial_ = partial_of(target_);
    }
    open();
    if (is_replaced()) {
        file_.reset();
        std::filesystem::remove(partial_);
    }
}

output_file::~output_file() {
    std::error_code ignored; // it is there only when the run or the writing failed
    if (is_replaced()) {
        std::filesystem::remove(partial_, ignored);
    }
}

void output_file::open() {
    file_.reset(open_to_write(partial_));
    if (!file_) {
        fail(errno);
    }
}

void output_file::write_json(const nlohmann::json& json) {
    prepare_json(json);
    commit();
}

void output_file::write(std::string_view bytes) {
    prepare(bytes);
    commit();
}

void output_file::prepare_json(const nlohmann::json& json) {
    // Names of files and programs need not be UTF-8.
    prepare(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void output_file::prepare(std::string_view bytes) {
    if (is_replaced()) {
        open();
    }
    // Synchronized, so that a crash of the system can't leave an empty file under the final name.
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size() ||
        std::fflush(file_.get()) != 0 || (is_replaced() && !write_through(file_.get())) ||
        std::fclose(file_.release()) != 0) {
        fail(errno);
    }
}

void output_file::commit() {
    if (is_replaced()) {
        std::error_code error;
        const std::filesystem::file_status former = std::filesystem::status(target_, error);
        if (std::filesystem::exists(former)) {
            std::filesystem::permissions(partial_, former.permissions(), error);
        } else {
            error.clear();
        }
        if (!error) {
            std::filesystem::rename(partial_, target_, error);
        }
        if (error) {
            fail(error.value());
        }
    }
}

void output_file::fail(int error) const {
    throw std::system_error(
        error, std::generic_category(),
        fmt::format("{}{}{} cannot be written", option_, option_.empty() ? "" : ": ", path_.string()));
}

} // namespace handlepool::support
