// SPDX-License-Identifier: MIT

// Which files are taken for those with a module's debug information.

#include <elf.h>
#include <gtest/gtest.h>
#include <src/core/posix/debug_file.hpp>
#include <sys/stat.h>
#include <tests/support/paths.hpp>
#include <tests/support/scratch_directory.hpp>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace handlepool::detail {
namespace {

namespace fs = std::filesystem;

std::string contents_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

class debug_file : public testing::Test {
protected:
    debug_file() {
        fs::create_directories(home);
        fs::copy_file(with_id + "_stripped.so", home / "rocket.so");
        sought.build_id = build_id_of(open_file(with_id + ".so"));
    }

    /// Whether what is sought is found there, if it is the only file with debug information.
    bool is_found_at(const fs::path& place) { return is_found_at(place, contents_of(with_id + ".debug")); }
    bool is_found_at(const fs::path& place, const std::string& contents) {
        fs::create_directories(place.parent_path());
        std::ofstream(place, std::ios::binary) << contents;
        fs::path path;
        const bool is_found = find_debug_file(sought, path, system).is_open();
        EXPECT_EQ(path, is_found ? place : fs::path());
        fs::remove(place);
        return is_found;
    }

    const std::string with_id = support::paths::named_module;
    const std::string without_id = support::paths::named_module_without_id;
    support::scratch_directory folder;
    const fs::path home = folder.path() / "opt" / "game";
    const fs::path system = folder.path() / "debug";
    sought_debug_file sought{home / "rocket.so", "", 0, {}};
};

TEST_F(debug_file, is_where_debuggers_look_for_it) {
    ASSERT_EQ(sought.build_id.size(), 20U);
    for (const std::string name : {"rocket.so.debug", "rocket.debug"}) {
        sought.link = name == "rocket.debug" ? name : "";
        EXPECT_TRUE(is_found_at(home / name));
        EXPECT_TRUE(is_found_at(home / ".debug" / name));
        EXPECT_TRUE(is_found_at(system / home.relative_path() / name));
        EXPECT_TRUE(is_found_at(system / "opt" / "game" / name));
        EXPECT_TRUE(is_found_at(system / "game" / name));
        EXPECT_TRUE(is_found_at(system / name));
        EXPECT_FALSE(is_found_at(system / "opt" / name));
    }
    EXPECT_FALSE(is_found_at(home / "rocket.so.debug")) << "a link has another name";
    sought.link.clear();
    EXPECT_TRUE(is_found_at(system / "game" / "rocket.so"));
}

TEST_F(debug_file, is_where_its_build_id_says) {
    std::string id;
    for (const unsigned char byte : sought.build_id) {
        constexpr const char* digits = "0123456789abcdef";
        id += {digits[byte / 16], digits[byte % 16]};
    }
    EXPECT_TRUE(is_found_at(system / ".build-id" / id.substr(0, 2) / (id.substr(2) + ".debug")));
    EXPECT_FALSE(is_found_at(system / ".build-id" / id.substr(0, 2) / id.substr(2)));
}

TEST_F(debug_file, is_never_the_module_itself) {
    sought.link = "rocket.so";
    fs::path path;
    EXPECT_FALSE(find_debug_file(sought, path, system).is_open());
    EXPECT_TRUE(is_found_at(home / ".debug" / "rocket.so"));
}

TEST_F(debug_file, has_the_modules_build_id) {
    const fs::path place = home / "rocket.so.debug";
    EXPECT_FALSE(is_found_at(place, contents_of(without_id + ".debug")));
    EXPECT_FALSE(is_found_at(place, ""));
    EXPECT_FALSE(is_found_at(place, "\177ELF"));
    ++sought.build_id.back();
    EXPECT_FALSE(is_found_at(place));
    sought.build_id.clear();
    EXPECT_FALSE(is_found_at(place)) << "nothing says that it belongs to this module";
}

TEST_F(debug_file, has_its_build_id_behind_other_notes) {
    std::vector<unsigned char> notes;
    const auto add = [&notes](std::uint32_t type, std::string name, std::string description) {
        const ElfW(Nhdr) note{.n_namesz = static_cast<ElfW(Word)>(name.size()),
                              .n_descsz = static_cast<ElfW(Word)>(description.size()),
                              .n_type = type};
        const auto* const bytes = reinterpret_cast<const unsigned char*>(&note);
        notes.insert(notes.end(), bytes, bytes + sizeof(note));
        for (std::string* const text : {&name, &description}) { // at places that four divides
            text->resize((text->size() + 3) / 4 * 4);
            notes.insert(notes.end(), text->begin(), text->end());
        }
    };
    add(NT_GNU_BUILD_ID, std::string("Other", 6), "nine byte");
    add(NT_GNU_ABI_TAG, std::string("GNU", 4), "seventeen bytes..");
    EXPECT_EQ(build_id_in(notes), std::vector<unsigned char>());
    add(NT_GNU_BUILD_ID, std::string("GNU", 4), "id");
    EXPECT_EQ(build_id_in(notes), (std::vector<unsigned char>{'i', 'd'}));
}

TEST_F(debug_file, has_the_checksum_of_the_link_to_it_where_the_module_has_no_build_id) {
    sought.build_id.clear();
    sought.link = "rocket.debug";
    sought.link_checksum = 0xcbf43926;
    const fs::path place = home / sought.link;
    EXPECT_TRUE(is_found_at(place, "123456789"));
    EXPECT_FALSE(is_found_at(place, "123456780"));
    EXPECT_FALSE(is_found_at(place));
    sought.link_checksum = 0x3286b991;
    EXPECT_TRUE(is_found_at(place, std::string(200'001, 'x')));
    EXPECT_FALSE(is_found_at(place, std::string(200'000, 'x') + 'y'));
    std::ofstream(place).flush();
    fs::resize_file(place, (std::uintmax_t{1} << 28) + 1);
    sought.link_checksum = 0x8e9b8bf4;
    fs::path path;
    EXPECT_FALSE(find_debug_file(sought, path, system).is_open()) << "it would take too long to read";
}

TEST_F(debug_file, is_nothing_but_a_regular_file) {
    const fs::path pipe = folder.path() / "pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_FALSE(open_file(pipe).is_open());
    EXPECT_FALSE(open_file("/dev/null").is_open());
    EXPECT_FALSE(open_file(home).is_open());
    EXPECT_TRUE(open_file(home / "rocket.so").is_open());
}

// Whatever a file says of itself, little of it is read, and all within it.
TEST_F(debug_file, may_be_any_file) {
    const std::string good = contents_of(with_id + ".debug");
    const fs::path place = home / "rocket.so.debug";
    ElfW(Ehdr) header{};
    std::memcpy(&header, good.data(), sizeof(header));
    const auto is_found_with = [&](auto change) {
        std::string changed = good;
        change(changed);
        return is_found_at(place, changed);
    };
    ASSERT_TRUE(is_found_with([](std::string&) {}));
    const auto is_found_with_header = [&](auto change) {
        return is_found_with([&](std::string& bytes) {
            ElfW(Ehdr) other = header;
            change(other);
            std::memcpy(bytes.data(), &other, sizeof(other));
        });
    };
    EXPECT_FALSE(is_found_with_header([](ElfW(Ehdr) & other) { other.e_shoff = ~std::uint64_t{0}; }));
    EXPECT_FALSE(is_found_with_header([](ElfW(Ehdr) & other) { other.e_shnum = 0xffff; }));
    EXPECT_FALSE(is_found_with_header([](ElfW(Ehdr) & other) { other.e_shentsize = 1; }));
    EXPECT_FALSE(is_found_with_header([](ElfW(Ehdr) & other) { other.e_ident[EI_CLASS] = 0; }));
    EXPECT_FALSE(is_found_with([&](std::string& bytes) {
        for (std::size_t i = 0; i != header.e_shnum; ++i) {
            ElfW(Shdr) section{};
            char* const at = bytes.data() + header.e_shoff + i * sizeof(section);
            std::memcpy(&section, at, sizeof(section));
            section.sh_size = ~std::uint64_t{0};
            section.sh_offset = header.e_shoff;
            std::memcpy(at, &section, sizeof(section));
        }
    }));
    std::mt19937 random(5);
    for (int i = 0; i != 300; ++i) {
        std::vector<unsigned char> notes(random() % 100);
        for (unsigned char& byte : notes) {
            byte = static_cast<unsigned char>(random() % 5 == 0 ? random() : random() % 5);
        }
        EXPECT_TRUE(build_id_in(notes).size() < notes.size() || notes.empty());
        std::string changed = good;
        changed.resize(i % 3 == 0 ? random() % good.size() : good.size());
        for (int change = 0; change != 30 && !changed.empty(); ++change) {
            changed[random() % changed.size()] = static_cast<char>(random());
        }
        is_found_at(place, changed);
    }
}

} // namespace
} // namespace handlepool::detail
