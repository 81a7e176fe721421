// SPDX-License-Identifier: MIT

// Bytes as a sequence of operations on two bags, each beside a std::map.

#include "require.hpp"

#include <handlepool/property_bag.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace handlepool::fuzz {
namespace {

// A value as text, with its kind as the first character.
using model = std::map<property_hash, std::string>;

struct bag_and_model {
    property_bag bag;
    model expected;
};

std::string text_of(const property& one) {
    const auto kind = static_cast<char>(one.kind());
    switch (one.kind()) {
    case property_kind::boolean:
        return {kind, *one.get<bool>() ? '1' : '0'};
    case property_kind::number:
        return kind + std::to_string(*one.get<float>());
    case property_kind::string:
        return kind + std::string(*one.get<std::string_view>());
    case property_kind::numbers: {
        const auto bytes = std::as_bytes(*one.get<std::span<const float>>());
        return kind + std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    case property_kind::removed:
    case property_kind::none:
        break;
    }
    return {kind};
}

model model_of(property_view bag) {
    model all;
    for (const property one : bag) {
        all.emplace(one.hash(), text_of(one));
    }
    return all;
}

/// Bytes as a stream of numbers, which ends with zeros.
class input {
public:
    explicit input(std::span<const std::uint8_t> bytes) : left_(bytes) {}

    bool ended() const { return left_.empty(); }
    std::size_t below(std::size_t end) {
        if (left_.empty()) {
            return 0;
        }
        const std::size_t byte = left_.front();
        left_ = left_.subspan(1);
        return end <= 256 ? byte % end : (byte * 257 + below(256)) % end;
    }

private:
    std::span<const std::uint8_t> left_;
};

constexpr std::size_t most_bytes = 65'536;

/// Sets a value, if the bag says that it has room, which it must say truly.
template <class Value>
void set(bag_and_model& both, property_path path, const Value& value, std::string as_text) {
    if (both.bag.try_set(path, value)) {
        both.expected[path] = std::move(as_text);
        return;
    }
    property_bag rest = both.bag;
    rest.erase(path);
    const std::size_t content = as_text.size() - 1;
    require(rest.capacity() + 9 + content + 6 > most_bytes, "a value is refused only where it has no room");
}

void step(input& in, bag_and_model& both, bag_and_model& other) {
    static const std::array<float, 20'000> numbers{};
    const property_path path(std::string(1, static_cast<char>(in.below(40))));
    switch (in.below(12)) {
    case 0: {
        const bool value = in.below(2) != 0;
        return set(both, path, value, {static_cast<char>(property_kind::boolean), value ? '1' : '0'});
    }
    case 1: {
        const auto value = static_cast<float>(in.below(256));
        return set(both, path, value, static_cast<char>(property_kind::number) + std::to_string(value));
    }
    case 2: {
        const std::string value(in.below(60), static_cast<char>(in.below(256)));
        return set(both, path, value, static_cast<char>(property_kind::string) + value);
    }
    case 3: {
        const std::string value(in.below(in.below(16) == 0 ? 70'000 : 400), 'x');
        return set(both, path, value, static_cast<char>(property_kind::string) + value);
    }
    case 4: {
        const auto value = std::span(numbers).first(in.below(in.below(16) == 0 ? numbers.size() : 20));
        return set(both, path, value,
                   static_cast<char>(property_kind::numbers) + std::string(value.size_bytes(), '\0'));
    }
    case 5: {
        // A part of its own.
        const property_path from(std::string(1, static_cast<char>(in.below(40))));
        const auto text = both.bag.get<std::string_view>(from);
        if (text) {
            const std::size_t first = in.below(text->size() + 1);
            const std::string_view part = text->substr(first, in.below(text->size() + 1));
            return set(both, path, part, static_cast<char>(property_kind::string) + std::string(part));
        }
        return;
    }
    case 6:
        try {
            both.bag.set_removed(path);
            both.expected[path] = {static_cast<char>(property_kind::removed)};
        } catch (const bag_too_large&) {
        }
        return;
    case 7:
        return require(both.bag.erase(path) == (both.expected.erase(path) == 1), "erase says what it did");
    case 8:
        return both.bag.shrink_to_fit();
    case 9:
        both.bag.clear();
        return both.expected.clear();
    case 10: {
        const removals how = in.below(2) == 0 ? removals::apply : removals::keep;
        try {
            both.bag.merge(other.bag, how);
        } catch (const bag_too_large&) {
            return;
        }
        for (const auto& [each, text] : other.expected) {
            both.expected[each] = text;
        }
        if (how == removals::apply) {
            std::erase_if(both.expected, [](const auto& each) {
                return each.second.front() == static_cast<char>(property_kind::removed);
            });
        }
        return;
    }
    default:
        return std::swap(both, other);
    }
}

} // namespace
} // namespace handlepool::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace handlepool::fuzz;
    input in({data, size});
    bag_and_model one;
    bag_and_model other;
    for (int steps = 0; !in.ended() && steps != 300; ++steps) {
        step(in, one, other);
        if (one.bag.capacity() > 4096 && steps % 16 != 0) {
            continue; // looking at large ones each time would take most of the time
        }
        require(handlepool::property_bag::from_bytes(one.bag.bytes()) == one.bag, "a bag is sound");
        require(model_of(one.bag) == one.expected, "a bag has what a map has");
    }
    require(model_of(one.bag) == one.expected, "at the end too");
    require(model_of(other.bag) == other.expected, "and so has the other bag");
    return 0;
}
