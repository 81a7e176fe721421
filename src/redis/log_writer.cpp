// SPDX-License-Identifier: MIT
#include "log_writer.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/text/text.hpp>

#include <algorithm>
#include <utility>

namespace handlepool::detail {

namespace {

constexpr std::size_t stored_piece_bytes = std::size_t{1} << 20;

constexpr auto shortest_pause = std::chrono::milliseconds(20); // after an error, before the next piece
constexpr auto longest_pause = std::chrono::seconds(1);

std::string_view text_in(const std::vector<std::byte>& bytes, std::size_t from, std::size_t size) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()) + from, size};
}

} // namespace

log_writer::log_writer(redis_address address, std::string_view name, const redis_lease& lease,
                       const redis_publisher_options& options, delta_queue& queue)
    : log_(std::move(address), name),
      lease_(lease),
      options_(options),
      queue_(queue),
      renewal_(clock::now()) {}

void log_writer::begin(std::unique_ptr<published_world> world) {
    world_ = std::move(world);
    if (lease_.frame) {
        end_ = world_->position();
        if (lease_.snapshot_layout == world_->layout()) { // else deltas don't lead on from that snapshot
            snapshot_frame_ = lease_.snapshot_frame;
        }
    }
}

log_writer::clock::time_point log_writer::step() {
    if (world_ != nullptr && queue_.bytes() > options_.most_waiting_bytes) {
        forget_what_waits();
    }
    const published_delta* const delta = world_ != nullptr && end_ ? queue_.front() : nullptr;
    if (delta != nullptr) {
        append(*delta);
    }
    if ((upload_ || is_snapshot_due()) && clock::now() >= upload_from_) {
        upload_or_put_off();
    } else if (delta == nullptr && clock::now() >= renewal_) {
        accept(log_.renew(lease_));
    }
    return upload_ || is_snapshot_due() ? std::min(upload_from_, renewal_) : renewal_;
}

void log_writer::release() {
    const log_answer answer = log_.release(lease_);
    if (answer.type != log_answer::kind::released) { // else it was done, and the answer lost
        accept(answer);
    }
}

void log_writer::begin_again() noexcept {
    end_.reset();
    upload_.reset();
}

void log_writer::forget_what_waits() {
    // First: what throws below leaves the world behind another frame than the log.
    if (end_) {
        begin_again();
    } // else a snapshot is on its way: one that is late is better than none
    while (const published_delta* const delta = queue_.front()) {
        if (world_->position().frame != delta->frame) {
            world_->apply(*delta);
        }
        queue_.pop();
    }
}

void log_writer::append(const published_delta& delta) {
    if (world_->position().frame != delta.frame) { // it was not sent before
        world_->apply(delta);
    }
    const bool is_done =
        accept(log_.append(lease_, *end_, world_->position(), text_in(delta.bytes, 0, delta.bytes.size())));
    queue_.pop();
    if (is_done) {
        end_ = world_->position();
    } else {
        begin_again();
    }
}

bool log_writer::is_snapshot_due() const noexcept {
    if (world_ == nullptr || (end_ && *end_ != world_->position())) {
        return false;
    }
    return !end_ || !snapshot_frame_ || end_->frame - *snapshot_frame_ >= options_.snapshot_every;
}

void log_writer::begin_upload() {
    accept(log_.renew(lease_)); // to save takes its time
    std::vector<std::byte> bytes = world_->save();
    stored_snapshot stored{.key = log_.new_snapshot_key(world_->position().frame),
                           .bytes = bytes.size(),
                           .position = world_->position(),
                           .layout = world_->layout()};
    upload_ = upload{.stored = std::move(stored), .bytes = std::move(bytes)};
}

void log_writer::go_on_with_upload() {
    upload& current = *upload_;
    if (current.sent < current.bytes.size()) {
        const std::size_t size = std::min(stored_piece_bytes, current.bytes.size() - current.sent);
        if (accept(log_.store(lease_, current.stored.key, current.sent,
                              text_in(current.bytes, current.sent, size)))) {
            current.sent += size;
        } else {
            upload_.reset(); // the server has lost the pieces before
        }
        return;
    }
    const log_answer answer = log_.publish(lease_, current.stored, end_);
    if (!accept(answer)) {
        if (answer.type == log_answer::kind::lost) {
            upload_.reset();
        } else {
            begin_again();
        }
        return;
    }
    snapshot_frame_ = current.stored.position.frame;
    if (!end_ && current.stored.position == world_->position()) { // no frame was forgotten meanwhile
        end_ = current.stored.position;
    }
    upload_.reset();
}

void log_writer::upload_or_put_off() {
    try {
        if (upload_) {
            go_on_with_upload();
        } else {
            begin_upload();
        }
    } catch (const redis_error& error) {
        upload_problem_ = error.what();
        pause_ = std::clamp<clock::duration>(pause_ * 2, shortest_pause, longest_pause);
        upload_from_ = clock::now() + pause_;
        throw;
    }
    if (!upload_) {
        upload_problem_.clear();
        pause_ = {};
    }
}

bool log_writer::accept(const log_answer& answer) {
    if (answer.type == log_answer::kind::fenced || answer.type == log_answer::kind::released) {
        throw_exception(lease_lost(
            "the lease " + lease_.id + " is over; " +
            (answer.text.empty() ? "nobody has one now" : "the one of now is " + printable(answer.text))));
    }
    renewal_ = clock::now() + std::max(lease_.time_to_live / 3, std::chrono::milliseconds(1));
    return answer.type == log_answer::kind::done;
}

} // namespace handlepool::detail
