// SPDX-License-Identifier: MIT

// Bytes that claim to be a bag: they are refused, or each operation works on them.

#include "require.hpp"

#include <handlepool/property_bag.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::fuzz {
namespace {

using namespace handlepool::property_literals;

void read_all(property_view bag) {
    std::size_t count = 0;
    for (const property one : bag) {
        require(bag.kind(one.hash()) == one.kind() && one.kind() != property_kind::none, "each key is found");
        require(bag.get<float>(one.hash()).has_value() == (one.kind() == property_kind::number),
                "as its kind");
        if (const auto text = one.get<std::string_view>()) {
            static_cast<void>(std::string(*text)); // reads it all, as does the next
        }
        if (const auto numbers = one.get<std::span<const float>>()) {
            static_cast<void>(std::vector<float>(numbers->begin(), numbers->end()));
        }
        ++count;
    }
    require(count == bag.size(), "each is seen");
    require(describe(bag).empty() == bag.empty(), "all are described");
}

void expect_sound(const property_bag& bag) {
    read_all(bag);
    require(property_bag::from_bytes(bag.bytes()) == bag, "what was made of a bag is one");
}

void change(property_bag bag) {
    const property_bag before = bag;
    require(before == bag && before.capacity() <= bag.capacity(), "copies are equal");
    while (!bag.empty()) { // in turn bigger and smaller
        const property_hash first = (*bag.begin()).hash();
        const bool set = bag.try_set("a key"_key, std::string(bag.size() % 90, 'x'));
        require(!set || bag.get<std::string_view>("a key"_key).has_value(), "what was set is there");
        require(bag.erase(first) && !bag.contains(first), "what was erased is not");
        if (bag.size() < 20 || bag.size() % 64 == 0) {
            expect_sound(bag);
        }
        if (bag.size() == 1 && bag.contains("a key"_key)) {
            break;
        }
    }
    property_bag merged = bag;
    bool fits = true;
    try {
        merged.merge(diff(bag, before));
    } catch (const bag_too_large&) {
        fits = false;
    }
    if (fits) {
        expect_sound(merged);
        for (const property one : before) {
            require(merged.kind(one.hash()) ==
                        (one.kind() == property_kind::removed ? property_kind::none : one.kind()),
                    "a difference makes one of the other");
        }
    }
    merged.merge(merged);
    merged.shrink_to_fit();
    expect_sound(merged);
}

} // namespace
} // namespace handlepool::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace handlepool;
    using fuzz::require;
    const auto bytes = std::as_bytes(std::span(data, size));
    std::string error;
    const std::optional<property_bag> bag = property_bag::try_from_bytes(bytes, error);
    require(bag.has_value() == error.empty(), "what is refused has a reason");
    // Where they are, too: just as many bytes, aligned.
    const std::unique_ptr<std::byte[]> copy(new std::byte[size]);
    if (size != 0) {
        std::memcpy(copy.get(), data, size);
    }
    const auto view = property_view::try_from_bytes({copy.get(), size}, error);
    require(view.has_value() == bag.has_value(), "a view takes what a bag takes");
    if (bag) {
        require(*view == *bag, "and reads the same");
        fuzz::read_all(*view);
        fuzz::expect_sound(*bag);
        fuzz::change(*bag);
    }
    return 0;
}
