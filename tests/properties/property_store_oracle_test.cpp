// SPDX-License-Identifier: MIT

// Random operations on a store, beside a std::map of bags and a pool whose objects come and go. After each
// step the store has the bags that the map has, and nothing else.

#include <handlepool/pool.hpp>
#include <handlepool/property_store.hpp>

#include <gtest/gtest.h>
#include <tests/support/random.hpp>

#include <cstddef>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

using object_pool = pool<int>;
using object_handle = object_pool::handle_type;

class store_and_model {
public:
    store_and_model() { store_.attach(pool_); }

    void step() {
        switch (random_.below(24)) {
        case 0:
            create();
            break;
        case 1:
            pool_.erase(some_object()); // the bag stays until the compaction
            break;
        case 2:
            compact();
            break;
        case 3:
            if (random_.one_in(5)) {
                store_.shrink_to_fit();
            }
            break;
        case 4:
            if (random_.one_in(20)) {
                store_.clear();
                model_.clear();
            }
            break;
        case 5:
            save_and_read();
            break;
        case 6: {
            const object_handle object = some_object();
            EXPECT_EQ(store_.erase(object), model_.erase(object) == 1);
            break;
        }
        case 7:
            assign_or_merge();
            break;
        case 8:
        case 9:
        case 10:
        case 11:
            erase_property();
            break;
        default:
            set_property();
        }
        check();
    }

private:
    void create() {
        if (const object_handle made = pool_.try_emplace(1)) {
            objects_.push_back(made);
        }
    }

    void compact() {
        pool_.compact();
        std::erase_if(model_, [&](const auto& each) { return !pool_.contains(each.first); });
    }

    /// Also one that was erased.
    object_handle some_object() {
        if (objects_.empty()) {
            create();
        }
        return objects_[random_.below(objects_.size())];
    }

    property_path some_path() { return property_path(std::to_string(random_.below(20))); }

    void set_property() {
        const object_handle object = some_object();
        const property_path path = some_path();
        const std::string text(random_.below(random_.one_in(20) ? 3000 : 30), 'x');
        const bool number = random_.one_in(2);
        const bool set = number ? store_.set(object, path, text.size()) : store_.set(object, path, text);
        EXPECT_EQ(set, pool_.contains(object));
        if (set && number) {
            model_[object].set(path, text.size());
        } else if (set) {
            model_[object].set(path, text);
        }
    }

    void erase_property() {
        const object_handle object = some_object();
        const property_path path = some_path();
        const auto known = model_.find(object);
        EXPECT_EQ(store_.erase_property(object, path), known != model_.end() && known->second.erase(path));
    }

    void assign_or_merge() {
        const object_handle from = some_object();
        const object_handle to = some_object();
        const bool merge = random_.one_in(2);
        const bool changed =
            merge ? store_.merge(to, store_.view(from)) : store_.assign(to, store_.view(from));
        EXPECT_EQ(changed, pool_.contains(to));
        if (changed) {
            const property_bag other = model_.contains(from) ? model_[from] : property_bag();
            if (merge) {
                model_[to].merge(other);
            } else {
                model_[to] = other;
            }
        }
    }

    void save_and_read() {
        std::ostringstream file;
        store_.write(file);
        const std::string bytes = file.str();
        std::size_t living = 0;
        for (const auto& [object, bag] : model_) {
            living += pool_.contains(object) ? 1 : 0;
        }
        EXPECT_EQ(store_.read(std::as_bytes(std::span(bytes))), living);
        std::erase_if(model_, [&](const auto& each) { return !pool_.contains(each.first); });
    }

    void check() {
        std::size_t seen = 0;
        store_.for_each([&](object_handle object, property_view bag) {
            ++seen;
            const auto known = model_.find(object);
            ASSERT_NE(known, model_.end());
            ASSERT_EQ(bag, known->second);
            ASSERT_EQ(property_bag::from_bytes(bag.bytes()), known->second);
        });
        ASSERT_EQ(seen, model_.size());
        ASSERT_EQ(store_.size(), model_.size());
        for (const auto& [object, bag] : model_) {
            ASSERT_EQ(store_.view(object), bag);
        }
    }

    random_source random_;
    object_pool pool_{{.name = "objects", .capacity = 60, .reuse_delay = 0}};
    std::vector<object_handle> objects_; // all that ever were
    property_store<int> store_;
    std::map<object_handle, property_bag> model_;
};

TEST(property_store_oracle_test, a_store_does_what_a_map_of_bags_does) {
    store_and_model both;
    for (int i = 0; i != 8'000 && !testing::Test::HasFailure(); ++i) {
        both.step();
    }
}

} // namespace
} // namespace handlepool::test
