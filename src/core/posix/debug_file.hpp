// SPDX-License-Identifier: MIT
#pragma once

#if defined(__linux__)

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// The file with a module's debug information, by what the module says of it.
struct sought_debug_file {
    std::filesystem::path module;
    std::string link; // its name; may be empty
    std::uint32_t link_checksum = 0;
    std::vector<unsigned char> build_id; // may be empty
};

/// A file that is open; none if negative.
class open_file {
public:
    open_file() = default;
    /// Only a regular file: what else may have that name could wait for ever, or do something.
    explicit open_file(const std::filesystem::path& path) {
        std::error_code error;
        if (std::filesystem::is_regular_file(path, error)) {
            number_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        }
    }
    ~open_file() {
        if (is_open()) {
            ::close(number_);
        }
    }
    open_file(open_file&& other) noexcept : number_(other.release()) {}
    open_file& operator=(open_file&&) = delete;

    bool is_open() const noexcept { return number_ >= 0; }
    int release() noexcept { return std::exchange(number_, -1); }

    std::uint64_t size() const noexcept {
        struct stat status{};
        return fstat(number_, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
    }
    /// Fills `to`; returns false if the file ends before.
    bool read(std::uint64_t offset, std::span<std::byte> to) const noexcept {
        return read_some(offset, to) == to.size();
    }
    /// Returns how many bytes there are.
    std::size_t read_some(std::uint64_t offset, std::span<std::byte> to) const noexcept {
        const ssize_t count = pread(number_, to.data(), to.size(), static_cast<off_t>(offset));
        return static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    }

private:
    int number_ = -1;
};

/// The build id among the notes of an ELF file; empty without one.
inline std::vector<unsigned char> build_id_in(std::span<const unsigned char> notes) {
    constexpr std::string_view owner("GNU", 4);
    const auto padded = [](std::size_t size) { return (size + 3) / 4 * 4; };
    ElfW(Nhdr) note{};
    while (notes.size() >= sizeof(note)) {
        std::memcpy(&note, notes.data(), sizeof(note));
        notes = notes.subspan(sizeof(note));
        if (note.n_namesz > notes.size() || padded(note.n_namesz) > notes.size()) {
            break;
        }
        const std::string_view name(reinterpret_cast<const char*>(notes.data()), note.n_namesz);
        notes = notes.subspan(padded(note.n_namesz));
        if (note.n_descsz > notes.size()) {
            break;
        }
        if (note.n_type == NT_GNU_BUILD_ID && name == owner) {
            return {notes.begin(), notes.begin() + note.n_descsz};
        }
        notes = notes.subspan(std::min(padded(note.n_descsz), notes.size()));
    }
    return {};
}

/// The build id of an ELF file for this system; empty without one. Reads little, whatever the file says.
inline std::vector<unsigned char> build_id_of(const open_file& file) {
    constexpr ElfW(Xword) most_bytes = 4096; // of a section with notes
    constexpr unsigned char own_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
    ElfW(Ehdr) header{};
    if (!file.read(0, std::as_writable_bytes(std::span(&header, 1))) ||
        std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != own_class ||
        header.e_shentsize != sizeof(ElfW(Shdr))) {
        return {};
    }
    std::vector<ElfW(Shdr)> sections(header.e_shnum);
    if (!file.read(header.e_shoff, std::as_writable_bytes(std::span(sections)))) {
        return {};
    }
    for (const ElfW(Shdr) & each : sections) {
        if (each.sh_type != SHT_NOTE) {
            continue;
        }
        std::array<unsigned char, most_bytes> notes;
        const std::size_t size = std::min<std::size_t>(each.sh_size, notes.size());
        if (!file.read(each.sh_offset, std::as_writable_bytes(std::span(notes).first(size)))) {
            continue;
        }
        if (auto id = build_id_in(std::span(notes).first(size)); !id.empty()) {
            return id;
        }
    }
    return {};
}

/// The checksum of a file that a link to it has; nothing of a file that would take long to read.
inline std::optional<std::uint32_t> checksum_of(const open_file& file) {
    constexpr std::uint64_t most_bytes = std::uint64_t{1} << 28;
    static constexpr auto of_bytes = [] {
        std::array<std::uint32_t, 256> table{};
        for (std::uint32_t byte = 0; byte != table.size(); ++byte) {
            table[byte] = byte;
            for (int bit = 0; bit != 8; ++bit) {
                table[byte] = table[byte] >> 1 ^ (table[byte] % 2 != 0 ? 0xedb88320U : 0U);
            }
        }
        return table;
    }();
    const std::uint64_t size = file.size();
    if (size > most_bytes) {
        return std::nullopt;
    }
    std::vector<std::byte> bytes(std::size_t{1} << 16);
    std::uint32_t sum = ~std::uint32_t{0};
    for (std::uint64_t offset = 0; offset < size;) {
        const std::size_t count = file.read_some(offset, bytes);
        if (count == 0) {
            return std::nullopt;
        }
        for (std::size_t i = 0; i != count; ++i) {
            sum = sum >> 8 ^ of_bytes[(sum ^ static_cast<std::uint32_t>(bytes[i])) % 256];
        }
        offset += count;
    }
    return ~sum;
}

/// Whether a file is of the same build as the module.
inline bool belongs_to(const open_file& file, const sought_debug_file& sought) {
    if (!sought.build_id.empty()) {
        return build_id_of(file) == sought.build_id;
    }
    return !sought.link.empty() && checksum_of(file) == sought.link_checksum;
}

/// Where debuggers look for the file, in their order.
inline std::vector<std::filesystem::path> places_of(const sought_debug_file& sought,
                                                    const std::filesystem::path& debug_folder) {
    std::vector<std::filesystem::path> places;
    if (sought.build_id.size() > 1) {
        constexpr std::string_view digits = "0123456789abcdef";
        std::string id;
        for (const unsigned char byte : sought.build_id) {
            id.append({digits[byte / 16], digits[byte % 16]});
        }
        places.push_back(debug_folder / ".build-id" / id.substr(0, 2) / (id.substr(2) + ".debug"));
    }
    const std::string name = sought.module.filename().string();
    const std::filesystem::path link = std::filesystem::path(sought.link).filename();
    const std::vector<std::filesystem::path> names =
        link.empty() ? std::vector<std::filesystem::path>{name + ".debug", name} : std::vector{link};
    const std::filesystem::path folder = sought.module.parent_path();
    for (const std::filesystem::path& each : names) {
        places.push_back(folder / each);
        places.push_back(folder / ".debug" / each);
        // What was packed elsewhere may lack the first folders.
        std::string rest = folder.relative_path().string();
        while (!rest.empty()) {
            places.push_back(debug_folder / rest / each);
            rest.erase(0, std::min(rest.find('/'), rest.size() - 1) + 1);
        }
        places.push_back(debug_folder / each);
    }
    return places;
}

/// Looks for the file, in no other place than in folders of this machine. `found` becomes its path.
inline open_file find_debug_file(const sought_debug_file& sought, std::filesystem::path& found,
                                 const std::filesystem::path& debug_folder = "/usr/lib/debug") {
    for (std::filesystem::path& each : places_of(sought, debug_folder)) {
        std::error_code error;
        if (std::filesystem::equivalent(each, sought.module, error)) {
            continue; // a link may have the module's own name
        }
        open_file file(each);
        if (file.is_open() && belongs_to(file, sought)) {
            found = std::move(each);
            return file;
        }
    }
    return {};
}

} // namespace handlepool::detail

#endif
