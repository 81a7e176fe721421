// SPDX-License-Identifier: MIT

// Bytes that claim to be the file of a store: they are refused, or each operation works on the bags.

#include "require.hpp"

#include <handlepool/property_store.hpp>

#include <boost/crc.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::fuzz {
namespace {

using namespace handlepool::property_literals;

using store = property_store<int>;
using object = store::handle_type;

constexpr property_store_options small{.slot_limit = 4096, .bytes = std::size_t{1} << 20};

/// Nothing if it has a flaw, or a slot beyond those of the store, or too many bags.
std::optional<std::size_t> read(store& into, std::span<const std::byte> bytes) {
    std::string error;
    try {
        const std::optional<std::size_t> count = into.try_read(bytes, error);
        require(count.has_value() == error.empty(), "what is refused has a reason");
        return count;
    } catch (const std::length_error&) {
    } catch (const property_store_full&) {
    }
    return std::nullopt;
}

std::string bytes_of(const store& bags, names_in_file names = names_in_file::left_out) {
    std::ostringstream out;
    bags.write(out, names);
    return out.str();
}

void use(store& bags) {
    std::vector<object> owners;
    bags.for_each([&](object each, property_view bag) {
        owners.push_back(each);
        require(property_bag::from_bytes(bag.bytes()) == bags.view(each), "each bag is sound");
    });
    require(owners.size() == bags.size(), "each is seen");
    const std::string before = bytes_of(bags);
    bags.shrink_to_fit();
    require(bytes_of(bags) == before, "shrinking changes no value");
    for (const object each : owners) {
        if (bags.try_set(each, "a key"_key, std::string(each.index() % 90, 'x'))) {
            require(bags.view(each).get<std::string_view>("a key"_key).has_value(), "what was set is there");
            require(bags.erase_property(each, "a key"_key), "and can be erased");
        }
        require(bags.erase(each) && !bags.contains(each), "what was erased is gone");
    }
    require(bags.empty(), "all are");
}

} // namespace
} // namespace handlepool::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace handlepool;
    using fuzz::require;
    {
        fuzz::store bags(fuzz::small);
        fuzz::read(bags, std::as_bytes(std::span(data, size)));
    }
    // With the right checksum, which can't be guessed.
    boost::crc_32_type checksum;
    checksum.process_bytes(data, size);
    const std::uint32_t value = checksum.checksum();
    std::string with(reinterpret_cast<const char*>(data), size);
    with.append(reinterpret_cast<const char*>(&value), sizeof value);
    key_table names;
    fuzz::store bags(fuzz::small);
    bags.set_names(names);
    if (fuzz::read(bags, std::as_bytes(std::span(with)))) {
        const bool has_names = with[8] == 2;
        require(has_names || names.size() == 0, "what is not in the file is not known");
        require(fuzz::bytes_of(bags, has_names ? names_in_file::included : names_in_file::left_out) == with,
                "there is one way to write what was read");
        bags.for_each([](fuzz::object, property_view bag) {
            require(describe(bag).empty() == bag.empty(), "each can be described");
        });
        fuzz::use(bags);
    }
    return 0;
}
