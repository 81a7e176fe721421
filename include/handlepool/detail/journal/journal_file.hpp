// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/snapshots/journal_storage.hpp>

#include <filesystem>
#include <memory>

namespace handlepool::detail {

enum class journal_file_use { create, append, read };

/// A journal's file. One that is created has a name beside the file's until it is published, and is gone
/// again if it never is. publish() fails if there is a file of the name when it looks, or if the one beside
/// it is another's; between its steps a lock keeps other journals away, and nothing other programs. Only one
/// user that is not a reader at a time. Throws std::system_error, which names the file, and std::bad_alloc.
HANDLEPOOL_EXPORT std::unique_ptr<journal_storage> open_journal_file(const std::filesystem::path& file,
                                                                     journal_file_use use);

} // namespace handlepool::detail
