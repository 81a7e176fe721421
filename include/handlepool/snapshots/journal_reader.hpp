// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/snapshots/invalid_journal.hpp>
#include <handlepool/snapshots/journal.hpp>
#include <handlepool/snapshots/journal_storage.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

namespace handlepool {

namespace detail {
class journal_scan;
}

/// Reads a journal, entry by entry, also while a writer appends to it.
///
///     handlepool::journal_reader journal("100.journal");
///     while (journal.next()) {
///         for (const handlepool::journal_part& part : journal.parts()) {
///             ...
///         }
///     }
///
/// It has the memory of the largest entry, however large the file is; none is needed for what a file only
/// claims to have. One thread at a time uses it.
class HANDLEPOOL_EXPORT journal_reader {
public:
    /// Reads the header. Throws invalid_journal, std::system_error, which names the file, and std::bad_alloc.
    explicit journal_reader(const std::filesystem::path& file);
    /// The same in any storage; `name` is for messages.
    journal_reader(std::unique_ptr<journal_storage> storage, std::string_view name);

    /// Takes the journal over; the other one can only be assigned to and destroyed.
    journal_reader(journal_reader&& other) noexcept;
    /// The same.
    journal_reader& operator=(journal_reader&& other) noexcept;
    /// Closes the file.
    ~journal_reader();

    /// Goes to the next entry, and returns whether it is there whole. If it isn't, tail() says what is there
    /// instead, and a later call tries again. Linear in its bytes. Throws invalid_journal if there is none
    /// and whole entries follow: then the journal is damaged, or its end is to be cut off; std::system_error
    /// and std::bad_alloc. Then it can be called again.
    bool next();

    /// What the journal goes on from.
    const journal_origin& origin() const noexcept;
    /// The frame of the entry; before the first one, that of the origin.
    std::uint64_t frame() const noexcept;
    /// The parts of the entry. They are valid until the next call of next().
    std::span<const journal_part> parts() const noexcept;
    /// Where the entry ends: so many bytes were read and found right.
    std::uint64_t offset() const noexcept;
    /// What is behind the last entry, if next() has found none.
    const journal_tail& tail() const noexcept;

private:
    std::unique_ptr<detail::journal_scan> scan_;
};

} // namespace handlepool
