// SPDX-License-Identifier: MIT

// Random operations on bags, each beside a std::map. After each of them:
//   - the bag has what the map has, by look-up and by iteration, and nothing else;
//   - its bytes are a sound image, whose copy is an equal bag;
//   - it is not larger than half as much again as it ever needed.

#include <handlepool/property_bag.hpp>

#include <gtest/gtest.h>
#include <tests/support/random.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace handlepool::test {
namespace {

struct removal {
    friend bool operator==(removal, removal) = default;
};
using value = std::variant<bool, float, std::string, std::vector<float>, removal>;
using model = std::map<property_hash, value>;

class bag_and_model {
public:
    explicit bag_and_model(random_source& random) : random_(random) {}

    void step() {
        const property_path path = random_path();
        switch (random_.below(20)) {
        case 0:
            bag_.shrink_to_fit();
            most_ = bag_.capacity();
            break;
        case 1:
            bag_.reserve(random_.below(500));
            most_ = std::max(most_, bag_.capacity());
            break;
        case 2:
            bag_ = property_bag(std::as_const(bag_));
            break;
        case 3:
            bag_ = property_bag::from_bytes(bag_.bytes());
            break;
        case 4:
            if (random_.one_in(10)) {
                bag_.clear();
                model_.clear();
            }
            break;
        case 5:
            set_from_itself(path);
            break;
        case 6:
        case 7:
        case 8:
        case 9:
            EXPECT_EQ(bag_.erase(path), model_.erase(path) == 1);
            break;
        default:
            set(path, random_value());
        }
        check();
    }

    void merge(bag_and_model& later, removals how) {
        bag_.merge(later.bag_, how);
        for (const auto& [path, one] : later.model_) {
            model_[path] = one;
        }
        if (how == removals::apply) {
            std::erase_if(model_,
                          [](const auto& each) { return std::holds_alternative<removal>(each.second); });
        }
        most_ = std::max(most_, bag_.capacity());
        check();
        later.check();
    }

    const property_bag& bag() const { return bag_; }

private:
    property_path random_path() {
        const property_path group("group " + std::to_string(random_.below(4)));
        return random_.one_in(3) ? group : group / std::to_string(random_.below(8));
    }

    value random_value() {
        switch (random_.below(5)) {
        case 0:
            return random_.one_in(2);
        case 1:
            return static_cast<float>(random_.below(1000));
        case 2:
            return std::string(random_.below(random_.one_in(10) ? 500 : 20),
                               static_cast<char>('a' + random_.below(26)));
        case 3:
            return std::vector<float>(random_.below(6), static_cast<float>(random_.below(100)));
        default:
            return removal();
        }
    }

    void set(property_path path, const value& one) {
        std::visit(
            [&]<class Value>(const Value& each) {
                if constexpr (std::is_same_v<Value, removal>) {
                    bag_.set_removed(path);
                } else {
                    bag_.set(path, each);
                }
            },
            one);
        model_[path] = one;
    }

    /// A part of a string that the bag has.
    void set_from_itself(property_path path) {
        for (const property one : bag_) {
            if (const auto text = one.get<std::string_view>()) {
                const std::string_view part = text->substr(random_.below(text->size() + 1));
                model_[path] = std::string(part);
                bag_.set(path, part);
                return;
            }
        }
    }

    static value value_of(const property& one) {
        switch (one.kind()) {
        case property_kind::boolean:
            return *one.get<bool>();
        case property_kind::number:
            return *one.get<float>();
        case property_kind::string:
            return std::string(*one.get<std::string_view>());
        case property_kind::numbers: {
            const auto numbers = *one.get<std::span<const float>>();
            return std::vector<float>(numbers.begin(), numbers.end());
        }
        default:
            return removal();
        }
    }

    void check() {
        model seen;
        for (const property one : bag_) {
            EXPECT_TRUE(seen.emplace(one.hash(), value_of(one)).second);
        }
        ASSERT_EQ(seen, model_);
        for (const auto& [path, one] : model_) {
            if (const auto* const text = std::get_if<std::string>(&one)) {
                ASSERT_EQ(bag_.get<std::string_view>(path), *text);
            }
        }
        ASSERT_EQ(bag_.size(), model_.size());
        ASSERT_EQ(property_bag::from_bytes(bag_.bytes()), bag_);
        const std::size_t needed = property_bag(std::as_const(bag_)).capacity();
        most_ = std::max(most_, needed + needed / 2 + 4);
        ASSERT_LE(bag_.capacity(), most_);
    }

    random_source& random_;
    property_bag bag_;
    model model_;
    std::size_t most_ = 8;
};

TEST(property_bag_oracle_test, a_bag_does_what_a_map_does) {
    random_source random;
    for (int round = 0; round != 20; ++round) {
        bag_and_model both(random);
        for (int i = 0; i != 500 && !testing::Test::HasFailure(); ++i) {
            both.step();
        }
    }
}

TEST(property_bag_oracle_test, bags_merge_as_maps_do) {
    random_source random(2);
    for (int round = 0; round != 300 && !testing::Test::HasFailure(); ++round) {
        bag_and_model one(random);
        bag_and_model other(random);
        for (int i = 0; i != 20; ++i) {
            one.step();
            other.step();
        }
        one.merge(other, random.one_in(2) ? removals::apply : removals::keep);
        one.step();
    }
}

} // namespace
} // namespace handlepool::test
