// SPDX-License-Identifier: MIT

// A snapshot that another build has written, on another processor: each compiler and each processor takes it
// up, and writes the same bytes of the same world. HANDLEPOOL_WRITE_SNAPSHOT=FILE writes those of this build
// there.

#include <handlepool/columns.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/snapshots/named_column.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/snapshots/snapshot_file.hpp>
#include <handlepool/stable_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/paths.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <istream>
#include <iterator>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::test {
namespace {

using testing::IsEmpty;

struct kept_grain {
    static constexpr std::string_view snapshot_layout = "id:u32 weight:f32";
    std::uint32_t id = 0;
    float weight = 0;
};
struct kept_name_archive {
    void save(std::ostream& out, const std::string& saved) const { out << saved; }
    std::string load(std::istream& in) const {
        std::string read{std::istreambuf_iterator<char>(in), {}};
        in.clear();
        return read;
    }
};

/// A world with everything that a snapshot has, and all handles that it has given out.
struct kept_world {
    using grain_pool = pool<kept_grain>;
    using name_pool = stable_pool<std::string>;
    using spot_pool = pool<columns<std::uint32_t, double>>;

    kept_world() {
        heap.attach(grains);
        family.attach(names);
        all.add("grains", grains);
        all.add("names", names, kept_name_archive());
        all.add("spots", spots, named_column("number"), named_column("height"));
        all.add("heap", heap);
        all.add("family", family);
        all.add("day", day);
    }

    /// The same calls, whoever makes them.
    void live() {
        for (std::uint32_t i = 0; i != 200; ++i) {
            grain_handles.push_back(grains.emplace(kept_grain{i, static_cast<float>(i) / 4}));
            name_handles.push_back(names.emplace("name " + std::to_string(i)));
            spot_handles.push_back(spots.emplace(i, i * 0.5));
            if (i % 5 == 0) {
                grains.erase(grain_handles[i / 2]);
                names.erase(name_handles[i / 3]);
                spots.erase(spot_handles[i / 4]);
            }
            if (i % 40 == 39) {
                grains.compact();
                names.compact();
                spots.compact();
            }
        }
        grain_handles.push_back(grains.reserve_handle());
        for (std::size_t i = 0; i < 200; i += 3) {
            heap.insert(grain_handles[i]);
            if (i != 0 && names.contains(name_handles[i]) && names.contains(name_handles[i / 2])) {
                family.set_parent(name_handles[i], name_handles[i / 2]);
            }
        }
        day = 12;
    }

    std::vector<std::byte> saved() {
        std::vector<std::byte> bytes;
        all.save(bytes);
        return bytes;
    }

    grain_pool grains{{.name = "grains", .capacity = 300, .pool_id = 1011}};
    name_pool names{{.name = "names", .capacity = 300, .pool_id = 1012}};
    spot_pool spots{{.name = "spots", .capacity = 300, .pool_id = 1013}};
    handle_set<kept_grain> heap;
    hierarchy<std::string> family;
    std::uint64_t day = 0;
    snapshot all;
    std::vector<grain_pool::handle_type> grain_handles;
    std::vector<name_pool::handle_type> name_handles;
    std::vector<spot_pool::handle_type> spot_handles;
};

std::vector<std::byte> kept_bytes() {
    return read_snapshot_file(std::filesystem::path(support::paths::sources) /
                              "tests/snapshots/files/world.snapshot");
}

// One test: a pool that is made in the same process again has later generations.
TEST(snapshot_of_other_builds, has_the_same_bytes_and_goes_on_here) {
    kept_world world;
    world.live();
    std::vector<bool> alive;
    for (std::size_t i = 0; i != 200; ++i) {
        alive.push_back(world.grains.contains(world.grain_handles[i]));
        alive.push_back(world.names.contains(world.name_handles[i]));
        alive.push_back(world.spots.contains(world.spot_handles[i]));
    }
    const std::size_t members = world.heap.size();
    const std::size_t nodes = world.family.size();
    const std::vector<std::byte> bytes = world.saved();
    if (const char* const file = std::getenv("HANDLEPOOL_WRITE_SNAPSHOT")) {
        write_snapshot_file(file, bytes);
    }
    EXPECT_EQ(bytes, kept_bytes());
    const auto next_grain = world.grains.emplace();
    const auto next_name = world.names.emplace();
    const auto next_spot = world.spots.emplace(1U, 1.0);
    world.grains.clear();
    world.names.clear();
    world.spots.clear();
    world.day = 0;

    EXPECT_THAT(world.all.load(kept_bytes()), IsEmpty());
    EXPECT_EQ(world.day, 12U);
    EXPECT_EQ(world.grains.state(world.grain_handles[200]), handle_state::reserved);
    for (std::size_t i = 0; i != 200; ++i) {
        const auto* const grain = world.grains.find(world.grain_handles[i]);
        ASSERT_EQ(grain != nullptr, alive[3 * i]) << i;
        if (grain != nullptr) {
            EXPECT_EQ(grain->id, i);
            EXPECT_EQ(grain->weight, static_cast<float>(i) / 4);
        }
        const auto* const name = world.names.find(world.name_handles[i]);
        ASSERT_EQ(name != nullptr, alive[3 * i + 1]) << i;
        if (name != nullptr) {
            EXPECT_EQ(*name, "name " + std::to_string(i));
        }
        const auto spot = world.spots.find(world.spot_handles[i]);
        ASSERT_EQ(static_cast<bool>(spot), alive[3 * i + 2]) << i;
        if (spot) {
            EXPECT_EQ(spot->get<std::uint32_t>(), i);
        }
    }
    EXPECT_EQ(world.heap.size(), members);
    EXPECT_EQ(world.family.size(), nodes);
    EXPECT_EQ(world.grains.emplace(), next_grain);
    EXPECT_EQ(world.names.emplace(), next_name);
    EXPECT_EQ(world.spots.emplace(1U, 1.0), next_spot);
}

} // namespace
} // namespace handlepool::test
