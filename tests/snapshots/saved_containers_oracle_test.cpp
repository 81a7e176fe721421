// SPDX-License-Identifier: MIT

// Random changes of a pool of each kind and of all containers that are attached to it, a snapshot, and the
// same changes in the world that goes on and in one that was loaded: both have the same members in the same
// order, and so do their futures.

#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/property_store.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/stable_pool.hpp>

#include <gtest/gtest.h>
#include <tests/support/random.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <iterator>
#include <memory>
#include <ostream>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

struct cargo_box {
    std::uint32_t id = 0;
};
struct text_of_box_archive {
    void save(std::ostream& out, const std::string& saved) const { out << saved; }
    std::string load(std::istream& in) const {
        return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    }
};
struct three_hashes {
    std::size_t operator()(std::uint32_t key) const noexcept { return key % 3; }
};
struct box_blocks : default_policy {
    static constexpr std::size_t claim_size = 4;
    static constexpr std::size_t nursery_chunk = 4;
    static constexpr std::size_t freelist_block = 8;
};
constexpr property_path mass("mass");

/// A pool and what is attached to it: the same seed makes the same changes.
template <class Pool, unsigned Id>
class world_of_boxes {
public:
    using pool_type = Pool;
    using handle_type = typename Pool::handle_type;
    using layout = typename handle_type::layout;

    world_of_boxes() {
        set_.attach(pool_);
        values_.attach(pool_);
        words_.attach(pool_);
        kinds_.attach(pool_, [](const cargo_box& each) { return each.id % 7; });
        names_.attach(pool_, [](const cargo_box& each) { return std::to_string(each.id % 50); });
        tree_.attach(pool_);
        bags_.attach(pool_);
        all_.add("names", names_, text_of_box_archive()); // before its pool
        all_.add("boxes", pool_);
        all_.add("set", set_);
        all_.add("values", values_);
        all_.add("words", words_, text_of_box_archive());
        all_.add("kinds", kinds_);
        all_.add("tree", tree_);
        all_.add("bags", bags_);
        all_.add("loose", loose_);
        all_.add("ever", ever_, handles_archive());
        all_.add("next id", next_id_);
    }

    void play(std::uint64_t seed, int calls) {
        std::mt19937_64 engine(seed);
        const auto below = [&engine](std::uint64_t end) { return engine() % end; };
        for (int i = 0; i != calls; ++i) {
            const std::uint64_t kind = ever_.empty() ? 0 : below(40);
            if (kind < 8) {
                if (const handle_type made = pool_.try_emplace(next_id_++)) {
                    ever_.push_back(made);
                }
            } else if (kind < 12) {
                pool_.erase(any(below));
            } else if (kind < 15) {
                set_.insert(any(below));
                loose_.insert(any(below));
            } else if (kind < 17) {
                set_.erase(any(below));
            } else if (kind < 20) {
                values_.insert_or_assign(any(below), below(1000));
                words_.try_emplace(any(below), std::to_string(below(1'000'000)));
            } else if (kind < 22) {
                values_.erase(any(below));
                words_.erase(any(below));
            } else if (kind < 24) {
                kinds_.rekey(any(below), static_cast<std::uint32_t>(below(7)));
                names_.rekey(any(below), std::to_string(below(50)));
            } else if (kind < 25) {
                kinds_.erase(any(below));
            } else if (kind < 32) {
                const handle_type child = any(below);
                const handle_type parent = any(below);
                if (pool_.contains(child) && pool_.contains(parent)) {
                    tree_.try_set_parent(child, parent);
                }
            } else if (kind < 33) {
                tree_.clear_parent(any(below));
                tree_.erase(any(below));
            } else if (kind < 36) {
                bags_.set(any(below), mass, static_cast<float>(below(100)));
            } else if (kind < 37 && below(20) == 0) {
                pool_.clear();
            } else if (kind < 38 && below(20) == 0) {
                set_.clear();
                tree_.clear();
            } else {
                pool_.compact();
            }
        }
    }

    std::vector<std::byte> saved() {
        std::vector<std::byte> bytes;
        all_.save(bytes);
        return bytes;
    }
    void load(std::span<const std::byte> bytes) { EXPECT_EQ(all_.load(bytes), std::vector<std::string>()); }

    /// All that there is, in order.
    std::string text() const {
        std::ostringstream out;
        out << "set";
        put(out, set_.handles());
        out << "\nloose";
        put(out, loose_.handles());
        out << "\nvalues";
        values_.for_each([&out](handle_type each, std::uint64_t value) { put(out, each) << ' ' << value; });
        out << "\nwords";
        words_.for_each(
            [&out](handle_type each, const std::string& value) { put(out, each) << ' ' << value; });
        out << "\nkinds";
        put(out, kinds_.handles());
        for (std::uint32_t key = 0; key != 7; ++key) {
            out << ", " << key;
            for (const handle_type each : kinds_.find_all(key)) {
                put(out, each);
            }
        }
        out << "\nnames";
        for (const handle_type each : names_.handles()) {
            put(out, each) << ' ' << *names_.key_of(each);
            EXPECT_EQ(names_.find(*names_.key_of(each)), each);
        }
        out << " refused";
        put(out, names_.refused());
        out << "\nroots";
        put(out, tree_.roots());
        for (const handle_type each : tree_.handles()) {
            put(out << ", ", each) << " has";
            put(out, tree_.children(each));
            for (const handle_type child : tree_.children(each)) {
                EXPECT_EQ(tree_.parent(child), each);
                EXPECT_EQ(tree_.children(each)[tree_.place(child).value()], child);
            }
        }
        out << "\nbags";
        bags_.for_each([&out](handle_type each, property_view bag) {
            put(out, each) << ' ' << bag.template get<float>(mass).value_or(-1);
        });
        return out.str();
    }

private:
    struct handles_archive {
        void save(std::ostream& out, const std::vector<handle_type>& saved) const {
            for (const handle_type each : saved) {
                out << each.value() << ' ';
            }
        }
        std::vector<handle_type> load(std::istream& in) const {
            std::vector<handle_type> read;
            for (typename handle_type::value_type value{}; in >> value;) {
                read.push_back(handle_type::from_value(value));
            }
            in.clear();
            return read;
        }
    };

    static std::ostream& put(std::ostream& out, handle_type handle) {
        return out << ' ' << handle.index() << '.' << handle.generation();
    }
    static void put(std::ostream& out, std::span<const handle_type> handles) {
        for (const handle_type each : handles) {
            put(out, each);
        }
    }
    template <class Below>
    handle_type any(Below& below) const {
        return ever_[ever_.size() - 1 - below((std::min<std::uint64_t>)(ever_.size(), 80))];
    }

    pool_type pool_{{.name = "boxes", .capacity = 200, .slot_limit = 20'000, .pool_id = Id}};
    handle_set<cargo_box, layout> set_;
    handle_set<cargo_box, layout> loose_;
    handle_map<cargo_box, std::uint64_t, layout> values_;
    handle_map<cargo_box, std::string, layout> words_;
    handle_index<cargo_box, std::uint32_t, layout, three_hashes> kinds_{duplicate_keys::allow};
    handle_index<cargo_box, std::string, layout> names_;
    hierarchy<cargo_box, layout> tree_;
    property_store<cargo_box, layout> bags_;
    std::vector<handle_type> ever_;
    std::uint32_t next_id_ = 1;
    snapshot all_;
};

template <class World>
class saved_containers_oracle : public testing::Test {};
using box_worlds =
    testing::Types<world_of_boxes<pool<cargo_box>, 921>,
                   world_of_boxes<pool<cargo_box, with_policy<box_blocks, with_layout<script_layout>>>, 322>,
                   world_of_boxes<stable_pool<cargo_box>, 923>,
                   world_of_boxes<stable_pool<cargo_box, with_policy<box_blocks>>, 924>>;
TYPED_TEST_SUITE(saved_containers_oracle, box_worlds);

TYPED_TEST(saved_containers_oracle, a_world_goes_on_from_its_snapshot_as_it_would_have) {
    random_source random;
    auto world = std::make_unique<TypeParam>();
    for (int round = 0; round != 40; ++round) {
        world->play(random.bits(), 300);
        const std::vector<std::byte> bytes = world->saved();
        const std::string before = world->text();
        const std::uint64_t future = random.bits();
        world->play(future, 200);
        const std::string after = world->text();
        if (random.one_in(2)) {
            world.reset();
            world = std::make_unique<TypeParam>();
        }
        world->load(bytes);
        ASSERT_EQ(world->text(), before);
        world->play(future, 200);
        ASSERT_EQ(world->text(), after);
    }
}

TEST(saved_containers_of_many, have_what_they_had) {
    pool<cargo_box> boxes({.name = "boxes", .capacity = 50'000, .pool_id = 925});
    handle_set<cargo_box> set;
    hierarchy<cargo_box> chain;
    handle_index<cargo_box, std::uint32_t> index;
    set.attach(boxes);
    chain.attach(boxes);
    index.attach(boxes, [](const cargo_box& each) { return each.id; });
    handle<cargo_box> above;
    for (std::uint32_t i = 0; i != 50'000; ++i) {
        const auto made = boxes.emplace(cargo_box{i});
        set.insert(made);
        if (above) {
            chain.set_parent(made, above); // one below the other
        }
        above = made;
    }
    boxes.compact();
    snapshot all;
    all.add("boxes", boxes);
    all.add("set", set);
    all.add("chain", chain);
    all.add("index", index);
    std::vector<std::byte> bytes;
    all.save(bytes);
    const std::vector<handle<cargo_box>> members(set.begin(), set.end());
    boxes.clear();
    boxes.compact();
    EXPECT_TRUE(set.empty());
    all.load(bytes);
    EXPECT_EQ(std::vector<handle<cargo_box>>(set.begin(), set.end()), members);
    EXPECT_EQ(chain.depth(above), 49'999U);
    EXPECT_EQ(index.find(49'999), above);
    EXPECT_TRUE(index.refused().empty());
}

} // namespace
} // namespace handlepool::test
