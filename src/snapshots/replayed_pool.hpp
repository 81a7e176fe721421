// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/deltas/pool_image.hpp>
#include <handlepool/detail/snapshots/saved_type.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::detail {

/// A pool of a snapshot, whose objects are bytes of which nothing is known.
class replayed_pool {
public:
    /// Throws invalid_snapshot and std::bad_alloc; here and below.
    explicit replayed_pool(block_reader& from);

    /// Then nothing has changed.
    void apply(block_reader& from);
    /// Takes back what the last apply() did. Once.
    void undo() noexcept;

    /// What a delta has to fit, as a text of lines: of which kind the pool is, and of which types. Throws
    /// std::bad_alloc.
    std::string layout() const;

    /// Throws std::bad_alloc.
    void write(snapshot_writer& to, std::uint32_t version, std::string_view name) const;

private:
    using content = std::vector<std::byte>;

    /// The objects, or a column of them.
    struct column {
        elements_header header; // but for its texts
        std::string name;
        std::string layout;
        std::vector<content> contents;

        /// Of objects that are bytes and have none, there is nothing to keep.
        bool has_contents() const noexcept {
            return header.type.encoding == element_encoding::archive || header.type.size != 0;
        }
    };

    static std::vector<column> read_columns(block_reader& from, std::size_t count);
    /// The same columns as those that there are, for a delta. Throws invalid_snapshot.
    std::vector<column> read_same_columns(block_reader& from, std::size_t count) const;
    /// Exchanges the contents of the last delta for those that were there.
    void exchange() noexcept;
    void resize(std::size_t slots);

    pool_image image_;
    std::vector<column> columns_; // with contents by slots
    pool_delta delta_;            // the last one,
    std::vector<column> other_;   // and what undo() puts back
    std::size_t slots_before_ = 0;
};

} // namespace handlepool::detail
