// SPDX-License-Identifier: MIT

// Texts that claim to be the JSON of a bag: they are refused, with a place inside them, or what they say is
// written and read again as it was.

#include "require.hpp"

#include <handlepool/property_json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace handlepool;
    using fuzz::require;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    key_table names;
    try {
        const property_bag bag = bag_from_json(text, "fuzz", &names);
        require(names.size() == bag.size(), "the table knows each path");
        for (const int indent : {-1, 0, 4}) {
            key_table others;
            const property_bag again = bag_from_json(to_json(bag, indent), "again", &others);
            require(again == bag, "what is written is read again");
            require(to_json(again, indent) == to_json(bag, indent), "and written alike");
        }
        require(property_bag::from_bytes(bag.bytes()) == bag, "the bag is sound");
    } catch (const invalid_property_json& error) {
        require(names.size() == 0, "the table knows nothing of what is refused");
        const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1;
        require(error.line() >= 1 && error.line() <= lines, "the line is in the text");
        require(error.column() >= 1 && error.column() <= text.size() + 1, "the column is in the text");
        require(std::string_view(error.what()).starts_with("fuzz:"), "the message says where");
    }
    return 0;
}
