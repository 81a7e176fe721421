// SPDX-License-Identifier: MIT
#pragma once

#include "testimony.hpp"

#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/io.hpp>
#include <boost/process/pipe.hpp>
#include <examples/require.hpp>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kills {

/// What was heard.
struct heard_message {
    message said;
    std::vector<birth> born;
    std::vector<std::uint64_t> ended;
};

/// A process that says what it does, until it is killed.
class spoken_process {
public:
    spoken_process(const std::string& program, const std::vector<std::string>& arguments)
        : process_(boost::process::exe = program, boost::process::args = arguments,
                   boost::process::std_in<boost::process::null, boost::process::std_out> pipe_) {}
    spoken_process(const spoken_process&) = delete;
    spoken_process& operator=(const spoken_process&) = delete;
    ~spoken_process() {
        if (process_.valid() && !was_killed_) {
            ::kill(process_.id(), SIGKILL);
            process_.wait();
        }
    }

    /// The next message; waits for it. Nothing when the process has ended and all whole ones were heard.
    std::optional<heard_message> hear() {
        message said;
        if (!has(sizeof said)) {
            return std::nullopt;
        }
        std::memcpy(&said, bytes_.data(), sizeof said);
        if (!has(said.bytes())) {
            return std::nullopt;
        }
        heard_message heard{said, std::vector<birth>(static_cast<std::size_t>(said.born)),
                            std::vector<std::uint64_t>(static_cast<std::size_t>(said.ended))};
        const std::byte* from = bytes_.data() + sizeof said;
        const auto take = [&from](void* to, std::size_t size) {
            if (size != 0) {
                std::memcpy(to, from, size);
                from += size;
            }
        };
        take(heard.born.data(), heard.born.size() * sizeof(birth));
        take(heard.ended.data(), heard.ended.size() * sizeof(std::uint64_t));
        bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(said.bytes()));
        return heard;
    }

    /// What it has said can still be heard. Throws std::logic_error if it had ended by itself.
    void kill() {
        ::kill(process_.id(), SIGKILL);
        process_.wait();
        was_killed_ = true;
        const int status = process_.native_exit_code();
        examples::require(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
                          "the process ended by itself, with status {:x}", status);
    }

private:
    bool has(std::size_t size) {
        std::array<char, 65536> buffer;
        while (bytes_.size() < size) {
            const int got = pipe_.read(buffer.data(), static_cast<int>(buffer.size()));
            if (got <= 0) {
                return false;
            }
            const auto* const from = reinterpret_cast<const std::byte*>(buffer.data());
            bytes_.insert(bytes_.end(), from, from + got);
        }
        return true;
    }

    boost::process::pipe pipe_;
    boost::process::child process_;
    bool was_killed_ = false;
    std::vector<std::byte> bytes_; // that were not heard yet
};

} // namespace kills
