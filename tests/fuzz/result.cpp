// SPDX-License-Identifier: MIT

// Texts that claim to be results of the harness: they are refused, or hold a document that is written and
// read again as it was.

#include "page/result_file.hpp"
#include "require.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <typeinfo>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace handlepool::stress;
    using handlepool::fuzz::require;
    page::result_file file;
    try {
        file = page::parse_result_file("fuzz", std::string_view(reinterpret_cast<const char*>(data), size));
    } catch (const std::runtime_error& error) {
        require(std::string_view(error.what()).starts_with("fuzz"), "the message names the file");
        return 0;
    }
    const auto written = to_json(file.document);
    const auto again = page::parse_result_file("again", written.dump());
    require(to_json(again.document) == written, "what is written is read again");
    return 0;
}
