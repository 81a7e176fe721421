// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/properties/bag_buffer.hpp>
#include <handlepool/key_table.hpp>
#include <handlepool/property_view.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

// The file of a property_store:
//
//     header | handle, bag | handle, bag | ... | names | checksum
//
// The header has 24 bytes: the 8 of "hp bags\n", the format and what distinguishes the handles in 4 each, and
// the number of bags in 8. A handle has 8 bytes, and a bag as many as its own header says: nothing in it is
// unused. The slots of the handles ascend. The checksum is the CRC-32 of all before it. All is in the byte
// order of the machine, which the header tells.
//
// Names are there in format 2, and not in format 1: how many there are, and for each the number of its keys,
// and of each key the bytes, and how many these are before them. All numbers have 4 bytes. A name is that of
// a path which a bag has; and they ascend by the hashes of the paths.
namespace handlepool::detail {

/// Writes such a file to a stream. Whether all was written, the stream knows.
class HANDLEPOOL_EXPORT bag_file_writer {
public:
    /// Writes the names, too, that `names` knows of the paths in the bags; none if it is null.
    bag_file_writer(std::ostream& out, std::uint32_t layout, std::uint64_t bags, const key_table* names);
    ~bag_file_writer();
    bag_file_writer(const bag_file_writer&) = delete;
    bag_file_writer& operator=(const bag_file_writer&) = delete;

    /// These throw std::bad_alloc.
    void add(std::uint64_t handle, property_view bag);
    void end();

private:
    struct state;
    std::unique_ptr<state> state_;
};

/// Reads such a file that is in memory, and refuses whatever bag_file_writer would not have written.
class HANDLEPOOL_EXPORT bag_file_reader {
public:
    /// Checks the header and the checksum.
    bag_file_reader(std::span<const std::byte> bytes, std::uint32_t layout);

    /// Goes to the next bag, or the first one. False at the end, and where there is a flaw. Throws
    /// std::bad_alloc.
    bool next();
    std::uint64_t handle() const noexcept { return handle_; }
    property_view bag() const noexcept;

    /// The names in the file; all of them at its end.
    const key_table& names() const noexcept { return names_; }

    /// Refuses the present handle: no object has it.
    void refuse_handle() noexcept;

    bool has_flaw() const noexcept { return flaw_.has_value(); }
    /// The text of invalid_bag.
    std::string flaw_text(std::string_view where) const;
    /// Throws invalid_bag if there is a flaw.
    void raise_flaw(std::string_view where) const;

private:
    bool refuse(std::size_t offset, std::string_view problem) noexcept;
    bool read_names();
    std::optional<property_hash> read_name();
    std::optional<std::uint32_t> read_number() noexcept;

    std::uint32_t layout_;
    std::span<const std::byte> bytes_; // without the checksum
    std::size_t offset_ = 0;           // of what comes next
    std::size_t handle_offset_ = 0;
    std::uint64_t bags_left_ = 0;
    std::uint64_t handle_ = 0;
    std::vector<std::uint32_t> bag_; // a copy, which is aligned
    bool has_names_ = false;
    std::vector<property_hash> paths_; // of the bags before, if there are names
    key_table names_;
    std::optional<bag_flaw> flaw_;
};

/// Leaves the owners of bags as they were.
struct same_owner {
    template <class Handle>
    Handle operator()(Handle handle) const noexcept {
        return handle;
    }
};

/// Writes a file by `write`, whole or not at all. Returns the error, if there was one.
HANDLEPOOL_EXPORT std::error_code write_bag_file(const std::filesystem::path& file,
                                                 const std::function<void(std::ostream&)>& write);
/// The bytes of a file. Throws std::system_error, which names it.
HANDLEPOOL_EXPORT std::string bag_file_bytes(const std::filesystem::path& file);
/// Like bag_file_bytes(), but puts the message into `error` instead of throwing it.
HANDLEPOOL_EXPORT std::optional<std::string> try_bag_file_bytes(const std::filesystem::path& file,
                                                                std::string& error);
/// Throws std::system_error, which names the file, if there is an error.
HANDLEPOOL_EXPORT void raise_file_error(std::error_code error, const std::filesystem::path& file);

} // namespace handlepool::detail
