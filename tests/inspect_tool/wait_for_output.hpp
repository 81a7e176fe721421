// SPDX-License-Identifier: MIT
#pragma once

#include <support/files/read_file.hpp>

#include <chrono>
#include <filesystem>
#include <regex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace handlepool::test {

/// Returns when an expression is found in a file to which a program prints: the match, and its parts. Throws
/// std::runtime_error if that takes more than a minute.
inline std::vector<std::string> wait_for_output(const std::filesystem::path& file, const char* expression) {
    std::string text;
    for (int i = 0; i != 6000; ++i) {
        text = support::read_file(file.string());
        std::smatch found;
        if (std::regex_search(text, found, std::regex(expression))) {
            return {found.begin(), found.end()};
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    throw std::runtime_error("there is no " + std::string(expression) + " in " + text);
}

} // namespace handlepool::test
