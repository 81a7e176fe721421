// SPDX-License-Identifier: MIT
#include "recorder.hpp"

namespace handlepool::stress {

record_result record(const record_options&) {
    throw record_error("recording is not in this build: it needs Linux and zstd");
}

record_result recover(const std::filesystem::path&, const record_options&) {
    throw record_error("recording is not in this build: it needs Linux and zstd");
}

std::filesystem::path find_record_library() {
    throw record_error("the recording library is not in this build: it needs Linux and zstd");
}

} // namespace handlepool::stress
