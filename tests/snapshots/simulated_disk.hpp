// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/snapshots/journal_storage.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace handlepool::test {

/// A disk with one file, and the system's memory before it, both of which do all that is allowed to them: a
/// write is one of several sectors, of which the disk has any when the system crashes before a sync.
class simulated_disk {
public:
    using bytes = std::vector<std::byte>;

    explicit simulated_disk(std::uint64_t seed) : random_(seed) {}

    /// The file, for one who reads or writes.
    std::unique_ptr<journal_storage> open() { return std::make_unique<storage>(*this); }

    /// The process ends in the middle of such a later change or sync: what comes after has no effect.
    void end_process_after(std::uint64_t changes) { left_ = changes; }
    bool has_ended() const { return ended_; }
    /// Writes are interrupted, are short, and find no room, one in so many each; 0: none.
    void fail_writes_one_in(std::uint64_t count) { failures_ = count; }
    /// The next sync fails: nobody knows what the disk has, and the system believes that it has all.
    void fail_next_sync() { sync_fails_ = true; }

    /// Another process begins, on the same system.
    void begin_process() {
        ended_ = false;
        left_.reset();
        failures_ = 0;
        sync_fails_ = false;
    }
    /// The system ends, and begins: the file is what the disk has.
    void crash() {
        lose_some();
        file_ = disk_;
        is_named_ = disk_is_named_;
        begin_process();
    }

    bool is_named() const { return is_named_; }
    /// What the file is to all processes.
    const bytes& file() const { return file_; }
    /// Changes a bit of it, on the disk too, or changes it back.
    void flip(std::size_t byte, unsigned bit) {
        file_[byte] ^= std::byte{1} << bit;
        if (byte < disk_.size()) {
            disk_[byte] ^= std::byte{1} << bit;
        }
    }
    /// All that was given to write at once, from its begin.
    const std::vector<bytes>& given() const { return given_; }

private:
    static constexpr std::size_t sector = 16;

    /// A sector that was written, or the size that the file was cut to.
    struct change {
        std::uint64_t offset;
        std::optional<bytes> written;
    };

    class storage final : public journal_storage {
    public:
        explicit storage(simulated_disk& disk) : disk_(disk) {}

        std::uint64_t size(std::error_code& error) noexcept override {
            error.clear();
            return disk_.file_.size();
        }
        std::size_t read(std::uint64_t offset, std::span<std::byte> out,
                         std::error_code& error) noexcept override {
            error.clear();
            if (offset >= disk_.file_.size()) {
                return 0;
            }
            if (disk_.one_in(8)) {
                error = std::make_error_code(std::errc::interrupted);
                return 0;
            }
            std::size_t count = (std::min)(out.size(), disk_.file_.size() - static_cast<std::size_t>(offset));
            if (disk_.one_in(4)) {
                count = 1 + disk_.below(count); // short
            }
            std::copy_n(disk_.file_.begin() + static_cast<std::ptrdiff_t>(offset), count, out.begin());
            return count;
        }
        std::size_t write(std::uint64_t offset, std::span<const std::byte> given,
                          std::error_code& error) noexcept override {
            return disk_.write(offset, given, error);
        }
        void truncate(std::uint64_t size, std::error_code& error) noexcept override {
            if (disk_.may_change(error)) {
                disk_.file_.resize(static_cast<std::size_t>(size));
                disk_.pending_.push_back({size, std::nullopt});
            }
        }
        void sync(std::error_code& error) noexcept override {
            if (!disk_.may_change(error)) {
                return;
            }
            if (std::exchange(disk_.sync_fails_, false)) {
                disk_.lose_some();
                error = std::make_error_code(std::errc::io_error);
                return;
            }
            for (const change& each : disk_.pending_) {
                apply(disk_.disk_, each);
            }
            disk_.pending_.clear();
        }
        void publish(std::error_code& error) noexcept override {
            if (disk_.may_change(error)) {
                disk_.is_named_ = disk_.disk_is_named_ = true; // and waits for it
            } else if (disk_.one_in(2)) {
                disk_.is_named_ = disk_.disk_is_named_ = true;
            }
        }

    private:
        simulated_disk& disk_;
    };

    std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_() % end); }
    bool one_in(std::size_t count) { return below(count) == 0; }

    bool may_change(std::error_code& error) {
        error.clear();
        if (left_ && !ended_ && (*left_)-- == 0) {
            ended_ = true;
        }
        if (ended_) {
            error = std::make_error_code(std::errc::no_such_device);
        }
        return !ended_;
    }

    std::size_t write(std::uint64_t offset, std::span<const std::byte> given, std::error_code& error) {
        constexpr std::string_view mark = "hp frame";
        if (given.size() > mark.size() &&
            std::ranges::equal(given.first(mark.size()), std::as_bytes(std::span(mark)))) {
            given_.emplace_back(given.begin(), given.end());
        }
        const bool had_ended = ended_;
        std::size_t count = given.size();
        if (!may_change(error)) {
            if (!had_ended) { // in the middle of it
                put(offset, given.first(below(count + 1)));
            }
            return 0;
        }
        if (failures_ != 0 && one_in(failures_)) {
            switch (below(3)) {
            case 0:
                error = std::make_error_code(std::errc::interrupted);
                return 0;
            case 1:
                error = std::make_error_code(std::errc::no_space_on_device);
                return 0;
            default:
                count = 1 + below(count); // short
            }
        }
        put(offset, given.first(count));
        return count;
    }

    void put(std::uint64_t offset, std::span<const std::byte> written) {
        while (!written.empty()) {
            const std::size_t size =
                (std::min)(written.size(), sector - static_cast<std::size_t>(offset % sector));
            pending_.push_back(
                {offset, bytes(written.begin(), written.begin() + static_cast<std::ptrdiff_t>(size))});
            apply(file_, pending_.back());
            offset += size;
            written = written.subspan(size);
        }
    }

    static void apply(bytes& to, const change& what) {
        const auto offset = static_cast<std::size_t>(what.offset);
        if (!what.written) {
            to.resize(offset);
            return;
        }
        to.resize((std::max)(to.size(), offset + what.written->size())); // a hole has zeros
        std::ranges::copy(*what.written, to.begin() + static_cast<std::ptrdiff_t>(offset));
    }

    /// The disk gets all up to some change, or any of them, and never the others.
    void lose_some() {
        const bool in_order = one_in(2);
        const std::size_t kept = below(pending_.size() + 1);
        const std::size_t chance = 1 + below(4);
        for (std::size_t i = 0; i != pending_.size(); ++i) {
            if (in_order ? i < kept : !one_in(1 + chance)) {
                apply(disk_, pending_[i]);
            }
        }
        pending_.clear();
    }

    std::mt19937_64 random_;
    bytes file_;
    bytes disk_;
    std::vector<change> pending_; // since the last sync
    std::vector<bytes> given_;
    std::optional<std::uint64_t> left_;
    std::uint64_t failures_ = 0;
    bool ended_ = false;
    bool sync_fails_ = false;
    bool is_named_ = false;
    bool disk_is_named_ = false;
};

} // namespace handlepool::test
