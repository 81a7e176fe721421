// SPDX-License-Identifier: MIT
#include "whole_writes.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/journal/journal_file.hpp>
#include <handlepool/detail/journal/journal_scan.hpp>
#include <handlepool/detail/text/text.hpp>
#include <handlepool/snapshots/journal_writer.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace handlepool {

namespace {

/// Goes to the entry of that frame.
void find_frame(detail::journal_scan& scan, std::uint64_t frame) {
    if (frame < scan.origin().frame) {
        scan.refuse(24, "the journal goes on from frame " + std::to_string(scan.origin().frame) +
                            ", and has none up to frame " + std::to_string(frame));
    }
    while (scan.frame() != frame) {
        if (!scan.next()) {
            const std::string wanted = "frame " + std::to_string(frame) + " is not there";
            if (scan.tail().bytes != 0) {
                scan.refuse_tail(wanted);
            }
            scan.refuse(scan.offset(),
                        "the journal ends with frame " + std::to_string(scan.frame()) + ", and " + wanted);
        }
    }
}

} // namespace

void cut_journal(const std::filesystem::path& file, std::uint64_t frame) {
    detail::journal_scan scan(detail::open_journal_file(file, detail::journal_file_use::append),
                              file.string());
    find_frame(scan, frame);
    const std::uint64_t end = scan.offset();
    const auto storage = std::move(scan).release();
    if (const std::error_code error = detail::cut_off(*storage, end)) {
        scan.throw_error(error);
    }
}

void cut_journal(const std::filesystem::path& file, std::uint64_t frame, const std::filesystem::path& to) {
    detail::journal_scan scan(detail::open_journal_file(file, detail::journal_file_use::read), file.string());
    find_frame(scan, frame);
    const auto storage = detail::open_journal_file(to, detail::journal_file_use::create);
    std::error_code error;
    storage->truncate(0, error);
    for (std::uint64_t at = 0; !error && at != scan.offset();) {
        constexpr std::uint64_t most = 1 << 18;
        const auto bytes = scan.bytes(at, static_cast<std::size_t>((std::min)(most, scan.offset() - at)));
        if (bytes.empty()) {
            scan.throw_error(std::make_error_code(std::errc::io_error)); // somebody has cut it off meanwhile
        }
        error = detail::write_all(*storage, at, bytes);
        at += bytes.size();
    }
    if (!error) {
        error = detail::wait_for_disk(*storage);
    }
    if (!error) {
        storage->publish(error);
    }
    if (error) {
        detail::throw_exception(
            std::system_error(error, "journal '" + detail::printable(to.string()) + "' can't be made"));
    }
}

} // namespace handlepool
