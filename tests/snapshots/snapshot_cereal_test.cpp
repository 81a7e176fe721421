// SPDX-License-Identifier: MIT

// Objects that the archives of the library cereal write, binary, portable and as JSON, as they are.

#include <handlepool/columns.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/stable_pool.hpp>

#include <cereal/archives/binary.hpp>
#include <cereal/archives/json.hpp>
#include <cereal/archives/portable_binary.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/memory.hpp>
#include <cereal/types/polymorphic.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/snapshots/made_snapshot.hpp>
#include <tests/support/message_of.hpp>

#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <memory>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::test {

// Not in an anonymous namespace: cereal knows polymorphic types by their names.

class cereal_weapon {
public:
    virtual ~cereal_weapon() = default;
    virtual int damage() const = 0;
};
class cereal_cannon final : public cereal_weapon {
public:
    int damage() const override { return caliber * 10; }
    template <class Archive>
    void serialize(Archive& archive) {
        archive(CEREAL_NVP(caliber));
    }
    int caliber = 0;
};
class cereal_ram final : public cereal_weapon {
public:
    int damage() const override { return 7; }
    template <class Archive>
    void serialize(Archive&) {}
};

struct cereal_ship {
    std::string name;
    std::vector<int> cargo;
    std::map<std::string, double> prices;
    std::unique_ptr<cereal_weapon> weapon;

    template <class Archive>
    void serialize(Archive& archive) {
        archive(CEREAL_NVP(name), CEREAL_NVP(cargo), CEREAL_NVP(prices), CEREAL_NVP(weapon));
    }
};

} // namespace handlepool::test

CEREAL_REGISTER_TYPE(handlepool::test::cereal_cannon)
CEREAL_REGISTER_TYPE(handlepool::test::cereal_ram)
CEREAL_REGISTER_POLYMORPHIC_RELATION(handlepool::test::cereal_weapon, handlepool::test::cereal_cannon)
CEREAL_REGISTER_POLYMORPHIC_RELATION(handlepool::test::cereal_weapon, handlepool::test::cereal_ram)

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What a program writes once to save its objects by cereal.
template <class Object, class Output, class Input>
struct cereal_adapter {
    void save(std::ostream& out, const Object& saved) const {
        Output archive(out); // that of JSON writes its end when it is destroyed
        archive(saved);
    }
    Object load(std::istream& in) const {
        Input archive(in);
        Object read;
        archive(read);
        in.clear(); // that of JSON has looked beyond the end, and throws what is wrong
        return read;
    }
};

/// One without a default: cereal makes it where it reads a pointer to it.
class cereal_flag {
public:
    explicit cereal_flag(std::string text) : text_(std::move(text)) {}
    const std::string& text() const { return text_; }

    template <class Archive>
    void save(Archive& archive) const {
        archive(cereal::make_nvp("text", text_));
    }
    template <class Archive>
    static void load_and_construct(Archive& archive, cereal::construct<cereal_flag>& construct) {
        std::string text;
        archive(cereal::make_nvp("text", text));
        construct(std::move(text));
    }

private:
    std::string text_;
};
template <class Output, class Input>
struct cereal_flag_adapter {
    void save(std::ostream& out, const cereal_flag& saved) const {
        Output archive(out);
        const std::unique_ptr<const cereal_flag, void (*)(const cereal_flag*)> borrowed(
            &saved, [](const cereal_flag*) {});
        archive(borrowed);
    }
    cereal_flag load(std::istream& in) const {
        Input archive(in);
        std::unique_ptr<cereal_flag> read;
        archive(read);
        in.clear();
        return std::move(*read);
    }
};

struct binary_archives {
    using output = cereal::BinaryOutputArchive;
    using input = cereal::BinaryInputArchive;
};
struct portable_archives {
    using output = cereal::PortableBinaryOutputArchive;
    using input = cereal::PortableBinaryInputArchive;
};
struct json_archives {
    using output = cereal::JSONOutputArchive;
    using input = cereal::JSONInputArchive;
};

template <class Archives>
class snapshot_cereal : public testing::Test {
protected:
    using output = typename Archives::output;
    using input = typename Archives::input;
    using ship_adapter = cereal_adapter<cereal_ship, output, input>;
    using flag_adapter = cereal_flag_adapter<output, input>;

    static cereal_ship argo() {
        auto cannon = std::make_unique<cereal_cannon>();
        cannon->caliber = 12;
        return {"Argo", {1, 2, 3}, {{"wine", 1.5}, {"oil", 2.25}}, std::move(cannon)};
    }
    static cereal_ship titan() {
        return {"a ship with a name that no small string holds", {}, {}, std::make_unique<cereal_ram>()};
    }
    static void expect_argo(const cereal_ship& ship) {
        EXPECT_EQ(ship.name, "Argo");
        EXPECT_THAT(ship.cargo, ElementsAre(1, 2, 3));
        EXPECT_EQ(ship.prices, (std::map<std::string, double>{{"wine", 1.5}, {"oil", 2.25}}));
        ASSERT_NE(ship.weapon, nullptr);
        EXPECT_EQ(ship.weapon->damage(), 120);
    }
    static void expect_titan(const cereal_ship& ship) {
        EXPECT_EQ(ship.name, titan().name);
        EXPECT_TRUE(ship.cargo.empty());
        ASSERT_NE(ship.weapon, nullptr);
        EXPECT_EQ(ship.weapon->damage(), 7);
    }
};

using all_archives = testing::Types<binary_archives, portable_archives, json_archives>;
TYPED_TEST_SUITE(snapshot_cereal, all_archives);

TYPED_TEST(snapshot_cereal, saves_objects_values_and_columns) {
    pool<cereal_ship> ships({.name = "ships", .capacity = 100, .pool_id = 941});
    pool<columns<cereal_ship, int>> rows({.name = "rows", .capacity = 100, .pool_id = 942});
    cereal_ship flagship = this->argo();
    snapshot all;
    all.add("ships", ships, typename TestFixture::ship_adapter());
    all.add("rows", rows, named_column("ship", typename TestFixture::ship_adapter()), named_column("port"));
    all.add("flagship", flagship, typename TestFixture::ship_adapter());
    const auto first = ships.emplace(this->argo());
    const auto second = ships.emplace(this->titan());
    const auto row = rows.emplace(this->titan(), 3);
    ships.emplace(cereal_ship{"of no weapon", {}, {}, nullptr});
    snapshot_bytes bytes;
    all.save(bytes);
    ships.clear();
    rows.clear();
    flagship = this->titan();
    EXPECT_THAT(all.load(bytes), testing::IsEmpty());
    ASSERT_EQ(ships.size(), 3U);
    this->expect_argo(*ships.find(first));
    this->expect_titan(*ships.find(second));
    this->expect_titan(rows.find(row)->template get<cereal_ship>());
    EXPECT_EQ(rows.find(row)->template get<int>(), 3);
    this->expect_argo(flagship);
}

TYPED_TEST(snapshot_cereal, makes_objects_that_have_no_default) {
    stable_pool<cereal_flag> flags({.name = "flags", .capacity = 100, .pool_id = 943});
    snapshot all;
    all.add("flags", flags, typename TestFixture::flag_adapter());
    const auto red = flags.emplace("red");
    const auto blue = flags.emplace("blue and as long as no small string is");
    snapshot_bytes bytes;
    all.save(bytes);
    flags.clear();
    all.load(bytes);
    EXPECT_EQ(flags.find(red)->text(), "red");
    EXPECT_EQ(flags.find(blue)->text(), "blue and as long as no small string is");
}

/// The last object is cut off after each of its bytes, in a snapshot that is right: nothing has changed when
/// cereal throws, whatever it has made by then.
TYPED_TEST(snapshot_cereal, archives_that_throw_change_nothing) {
    using adapter = typename TestFixture::ship_adapter;
    pool<cereal_ship> ships({.name = "ships", .capacity = 100, .pool_id = 941});
    snapshot all;
    all.add("ships", ships, adapter());
    ships.emplace(this->argo());
    const auto here = ships.emplace(this->titan());
    snapshot_bytes good;
    all.save(good);
    const detail::snapshot_blocks blocks(good, "good");
    const detail::snapshot_block block = blocks.all()[0];
    const auto bytes_of_ship = [](const cereal_ship& ship) {
        std::ostringstream out;
        adapter().save(out, ship);
        return std::move(out).str().size();
    };
    const std::size_t first = bytes_of_ship(this->argo());
    const std::size_t second = bytes_of_ship(this->titan());
    const std::size_t elements_at = block.payload.size() - first - second - 2 * sizeof(std::uint64_t);
    for (std::size_t left = 0; left != second; ++left) {
        snapshot_bytes payload(block.payload.begin(), block.payload.end());
        payload.resize(payload.size() - (second - left));
        put(payload, elements_at + 8, std::uint64_t{left});
        put(payload, elements_at - 16, std::uint64_t{16 + first + left}); // what the header announces
        snapshot_bytes cut;
        detail::snapshot_writer to(cut);
        to.begin_block(block.kind, block.version, block.name, payload.size());
        to.bytes(payload.data(), payload.size());
        to.end_block();
        to.finish();
        const std::string refusal = message_of<invalid_snapshot>([&] { all.load(cut, "game"); });
        ASSERT_THAT(refusal, testing::StartsWith("snapshot 'game', byte " +
                                                 std::to_string(block.offset + elements_at + 16 + first) +
                                                 ", block 'ships': object 1 can't be read: "));
        ASSERT_EQ(ships.size(), 2U);
        this->expect_titan(*ships.find(here));
    }
    all.load(good);
    this->expect_titan(*ships.find(here));
}

/// An archive that throws while it writes leaves no snapshot.
struct throwing_ship {
    std::string name;
    template <class Archive>
    void save(Archive& archive) const {
        archive(CEREAL_NVP(name));
        if (name == "the Dutchman") {
            throw std::runtime_error("nobody can write this down");
        }
    }
    template <class Archive>
    void load(Archive& archive) {
        archive(CEREAL_NVP(name));
        if (name == "Flying") {
            throw std::runtime_error("nobody has seen it");
        }
    }
};
TYPED_TEST(snapshot_cereal, functions_of_objects_may_throw) {
    using adapter = cereal_adapter<throwing_ship, typename TestFixture::output, typename TestFixture::input>;
    pool<throwing_ship> ships({.name = "ships", .capacity = 100, .pool_id = 941});
    snapshot all;
    all.add("ships", ships, adapter());
    ships.emplace(throwing_ship{"Argo"});
    const auto flying = ships.emplace(throwing_ship{"Flying"});
    snapshot_bytes bytes;
    all.save(bytes);
    EXPECT_THAT(message_of<invalid_snapshot>([&] { all.load(bytes, "game"); }),
                testing::EndsWith(", block 'ships': object 1 can't be read: nobody has seen it"));
    EXPECT_EQ(ships.find(flying)->name, "Flying");
    ships.find(flying)->name = "the Dutchman";
    snapshot_bytes other = {std::byte{1}};
    EXPECT_EQ(message_of<std::runtime_error>([&] { all.save(other); }), "nobody can write this down");
    EXPECT_THAT(other, IsEmpty());
    EXPECT_EQ(ships.size(), 2U);
}

// Each object is a document of its own, which is whole.
TEST(snapshot_cereal_json, is_text) {
    pool<cereal_ship> ships({.name = "ships", .capacity = 100, .pool_id = 941});
    snapshot all;
    all.add("ships", ships,
            cereal_adapter<cereal_ship, cereal::JSONOutputArchive, cereal::JSONInputArchive>());
    ships.emplace(cereal_ship{"Argo", {1}, {}, nullptr});
    ships.emplace(cereal_ship{"Titan", {}, {}, nullptr});
    snapshot_bytes bytes;
    all.save(bytes);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto document = [](const char* name, const char* cargo) {
        return std::string("{\n    \"value0\": {\n        \"name\": \"") + name +
               "\",\n        \"cargo\": [" + cargo +
               "],\n        \"prices\": [],\n        \"weapon\": {\n            \"polymorphic_id\": 0\n      "
               "  }\n    }\n}";
    };
    EXPECT_THAT(text, HasSubstr(document("Argo", "\n            1\n        ") + document("Titan", "")));
}

} // namespace
} // namespace handlepool::test
