// SPDX-License-Identifier: MIT
#include <handlepool/detail/journal/journal_file.hpp>
#include <handlepool/detail/journal/journal_scan.hpp>
#include <handlepool/snapshots/journal_reader.hpp>

#include <utility>

namespace handlepool {

journal_reader::journal_reader(const std::filesystem::path& file)
    : journal_reader(detail::open_journal_file(file, detail::journal_file_use::read), file.string()) {}

journal_reader::journal_reader(std::unique_ptr<journal_storage> storage, std::string_view name)
    : scan_(std::make_unique<detail::journal_scan>(std::move(storage), name)) {}

journal_reader::journal_reader(journal_reader&& other) noexcept = default;
journal_reader& journal_reader::operator=(journal_reader&& other) noexcept = default;
journal_reader::~journal_reader() = default;

bool journal_reader::next() {
    if (scan_->next()) {
        return true;
    }
    if (const journal_tail& tail = scan_->tail(); tail.whole_entries != 0) {
        scan_->refuse_tail(tail.was_synced ? "the disk had this one"
                                           : "nothing says that the disk had this one");
    }
    return false;
}

const journal_origin& journal_reader::origin() const noexcept {
    return scan_->origin();
}

std::uint64_t journal_reader::frame() const noexcept {
    return scan_->frame();
}

std::span<const journal_part> journal_reader::parts() const noexcept {
    return scan_->parts();
}

std::uint64_t journal_reader::offset() const noexcept {
    return scan_->offset();
}

const journal_tail& journal_reader::tail() const noexcept {
    return scan_->tail();
}

} // namespace handlepool
