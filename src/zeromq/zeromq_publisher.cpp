// SPDX-License-Identifier: MIT
#include "zeromq_message.hpp"
#include "zeromq_socket.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/followers/delta_queue.hpp>
#include <handlepool/detail/followers/frame_position.hpp>
#include <handlepool/detail/followers/published_world.hpp>
#include <handlepool/zeromq/zeromq_publisher.hpp>

#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace handlepool {

using detail::zeromq_clock;
using detail::zeromq_kind;

class zeromq_publisher::impl {
public:
    impl(zeromq_endpoints endpoints, const zeromq_publisher_options& options)
        : endpoints_(std::move(endpoints)),
          options_(checked(options)),
          bell_(detail::make_zeromq_socket(context_, zmq::socket_type::pair, {})),
          heard_bell_(detail::make_zeromq_socket(context_, zmq::socket_type::pair, {})),
          news_(detail::make_zeromq_socket(context_, zmq::socket_type::xpub,
                                           {.waiting = options.waiting_deltas})),
          answers_(detail::make_zeromq_socket(context_, zmq::socket_type::router,
                                              {.waiting = most_waiting_answers})) {
        news_.set(zmq::sockopt::xpub_verbose, true); // each follower is heard, not only the first
        news_.set(zmq::sockopt::linger, static_cast<int>(options.linger.count()));
        detail::bind_zeromq(heard_bell_, "inproc://bell");
        detail::connect_zeromq(bell_, "inproc://bell");
        endpoints_.deltas = detail::bind_zeromq(news_, endpoints_.deltas);
        endpoints_.snapshots = detail::bind_zeromq(answers_, endpoints_.snapshots);
        thread_ = std::thread([this] { run(); });
    }
    ~impl() {
        {
            const std::lock_guard lock(mutex_);
            is_stopped_ = true;
        }
        ring();
        thread_.join();
    }
    impl(const impl&) = delete;
    impl& operator=(const impl&) = delete;

    void begin(std::uint64_t frame, std::span<const std::byte> snapshot) {
        auto next = std::make_shared<published_history>(
            snapshot, detail::frame_position{.frame = frame, .history = detail::new_history()});
        {
            const std::lock_guard lock(mutex_);
            wanted_ = next;
        }
        appended_ = std::move(next);
        frame_ = frame;
        ring();
    }

    void append(std::span<const std::byte> bytes) {
        if (!appended_) {
            detail::throw_exception(std::logic_error("zeromq_publisher: append() before begin()"));
        }
        {
            const std::lock_guard lock(appended_->mutex);
            if (appended_->error) {
                std::rethrow_exception(appended_->error);
            }
        }
        detail::published_delta delta = detail::read_published_delta(bytes);
        if (delta.before != *frame_) {
            detail::throw_exception(frame_gap("zeromq_publisher: the delta leads from frame " +
                                                  std::to_string(delta.before) + " to frame " +
                                                  std::to_string(delta.frame) + "; one from frame " +
                                                  std::to_string(*frame_) + " is expected",
                                              *frame_, delta.before));
        }
        const std::uint64_t next = delta.frame;
        if (!appended_->deltas.try_push(std::move(delta), options_.most_waiting_bytes)) {
            detail::throw_exception(publisher_behind(
                "zeromq_publisher: the delta of frame " + std::to_string(next) + " has " +
                std::to_string(bytes.size()) + " bytes, and with those that wait there would be more than " +
                std::to_string(options_.most_waiting_bytes)));
        }
        frame_ = next;
        ring();
    }

    std::optional<std::uint64_t> frame() const noexcept { return frame_; }
    const zeromq_endpoints& endpoints() const noexcept { return endpoints_; }
    std::uint64_t malformed_messages() const noexcept {
        return malformed_.load(std::memory_order_relaxed); // a number by itself
    }

private:
    /// What follows from one begin().
    struct published_history {
        published_history(std::span<const std::byte> snapshot, detail::frame_position begin)
            : origin(begin.history), world(snapshot, begin) {}

        const std::uint64_t origin;
        detail::delta_queue deltas;
        detail::published_world world; // of the publisher's thread
        std::mutex mutex;
        std::exception_ptr error; // what has ended it, or null; under the mutex
    };

    static detail::zeromq_header header_of(zeromq_kind kind, const published_history& history,
                                           detail::frame_position position) {
        return {.kind = kind,
                .origin = history.origin,
                .before = position.frame,
                .frame = position.frame,
                .history = position.history};
    }

    static constexpr int most_waiting_answers = 2; // for each follower, who asks for one at a time
    static constexpr int most_events = 100;        // at a time, so that deltas don't wait for them
    static constexpr auto time_to_try_again = std::chrono::milliseconds(20);

    static zeromq_publisher_options checked(const zeromq_publisher_options& options) {
        detail::require_option(options.heartbeat.count() >= 1, "zeromq_publisher_options::heartbeat",
                               options.heartbeat.count(), "1 millisecond or more");
        detail::require_option(options.waiting_deltas >= 1, "zeromq_publisher_options::waiting_deltas",
                               options.waiting_deltas, "1 or more");
        detail::require_option(options.linger.count() >= 0 && options.linger <= std::chrono::hours(24),
                               "zeromq_publisher_options::linger", options.linger.count(),
                               "0 to 86400000 milliseconds");
        return options;
    }

    /// Wakes the thread. This end of the pair is that of the one who calls begin() and append(). Any number
    /// of rings may wait: ZeroMQ hears late that they were taken, and would drop one that nobody has to wait
    /// for.
    void ring() { detail::try_send(bell_, zmq::message_t()); }

    // What follows is of the thread.

    void run() {
        while (update()) {
            try {
                serve();
            } catch (const std::bad_alloc&) {
                // Once more, later: followers know a delta that comes again, and who has asked asks again.
                if (is_stopped()) {
                    end(std::current_exception());
                }
                std::this_thread::sleep_for(time_to_try_again);
            } catch (...) {
                end(std::current_exception());
            }
        }
    }

    void serve() {
        const bool has_published = publish();
        const bool has_answered = answer(); // one, and then the next delta
        welcome();
        if (zeromq_clock::now() >= heartbeat_at_) {
            tell_position();
        }
        if (!has_published && !has_answered) {
            detail::wait_for_messages({&heard_bell_, &news_, &answers_}, heartbeat_at_);
        }
    }

    /// Takes over what begin() and the destructor want. Returns whether there is more to do.
    bool update() {
        detail::zeromq_parts parts;
        while (detail::try_receive(heard_bell_, parts)) { // before the look at what it tells of
        }
        std::shared_ptr<published_history> before; // ends behind the lock
        const std::lock_guard lock(mutex_);
        if (history_ != wanted_) {
            before = std::exchange(history_, wanted_);
            has_ended_ = false;
            snapshot_.rebuild();
            heartbeat_at_ = zeromq_clock::now();
        }
        return !is_stopped_ || (is_live() && history_->deltas.front() != nullptr);
    }

    bool is_stopped() {
        const std::lock_guard lock(mutex_);
        return is_stopped_;
    }
    bool is_live() const noexcept { return history_ && !has_ended_; }

    /// Sends the oldest delta, and then goes on to its frame. Returns whether there was one.
    bool publish() {
        const detail::published_delta* const delta = is_live() ? history_->deltas.front() : nullptr;
        if (delta == nullptr) {
            return false;
        }
        detail::zeromq_header header =
            header_of(zeromq_kind::delta, *history_, history_->world.after(*delta));
        header.before = delta->before;
        detail::try_send(news_, detail::made_message(detail::bytes_of(header), delta->bytes));
        history_->world.apply(*delta);
        history_->deltas.pop();
        snapshot_.rebuild();
        heartbeat_at_ = zeromq_clock::now() + options_.heartbeat;
        return true;
    }

    /// Answers a request. Returns whether there was something.
    bool answer() {
        detail::zeromq_parts request;
        if (!detail::try_receive(answers_, request)) {
            return false;
        }
        std::string problem;
        if (request.count != 2 || !detail::read_zeromq_message(detail::bytes_of(request.first[1]),
                                                               {zeromq_kind::request}, problem)) {
            malformed_.fetch_add(1, std::memory_order_relaxed); // a number by itself
            return true;
        }
        if (!is_live()) {
            return true;
        }
        if (snapshot_.size() == 0) { // of this frame nobody has asked before
            snapshot_ = detail::made_message(
                detail::bytes_of(header_of(zeromq_kind::snapshot, *history_, history_->world.position())),
                history_->world.save());
        }
        zmq::message_t shared;
        shared.copy(snapshot_);
        // Whom it can't be sent to now is not waited for: who needs it asks again.
        if (detail::try_send(answers_, std::move(request.first[0]), zmq::send_flags::sndmore)) {
            detail::try_send(answers_, std::move(shared));
        }
        return true;
    }

    /// Tells new followers the position: what they hear afterwards is all that follows.
    void welcome() {
        detail::zeromq_parts event;
        for (int i = 0; i != most_events && detail::try_receive(news_, event); ++i) {
            const auto bytes = detail::bytes_of(event.first[0]);
            if (!bytes.empty() && bytes[0] == std::byte{1}) {
                heartbeat_at_ = zeromq_clock::now();
            }
        }
    }

    void tell_position() {
        if (is_live()) {
            detail::try_send(news_, detail::made_message(detail::bytes_of(header_of(
                                        zeromq_kind::position, *history_, history_->world.position()))));
        }
        heartbeat_at_ = zeromq_clock::now() + options_.heartbeat;
    }

    /// Followers hear no more of this history; the next append() tells why.
    void end(std::exception_ptr error) {
        if (!is_live()) {
            return;
        }
        has_ended_ = true;
        const std::lock_guard lock(history_->mutex);
        history_->error = std::move(error);
    }

    zeromq_endpoints endpoints_;
    const zeromq_publisher_options options_;
    std::atomic<std::uint64_t> malformed_ = 0;

    // Of the one who calls begin() and append().
    std::shared_ptr<published_history> appended_;
    std::optional<std::uint64_t> frame_;

    std::mutex mutex_;
    std::shared_ptr<published_history> wanted_; // under the mutex, as is the next
    bool is_stopped_ = false;

    // Of the thread.
    std::shared_ptr<published_history> history_;
    bool has_ended_ = false;
    zmq::message_t snapshot_; // of this position, or empty
    zeromq_clock::time_point heartbeat_at_ = zeromq_clock::now();

    zmq::context_t context_;
    zmq::socket_t bell_;
    zmq::socket_t heard_bell_;
    zmq::socket_t news_;
    zmq::socket_t answers_;
    std::thread thread_;
};

zeromq_publisher::zeromq_publisher(const zeromq_endpoints& endpoints, const zeromq_publisher_options& options)
    : impl_(std::make_unique<impl>(endpoints, options)) {}

zeromq_publisher::~zeromq_publisher() = default;

void zeromq_publisher::begin(std::uint64_t frame, std::span<const std::byte> snapshot) {
    impl_->begin(frame, snapshot);
}

void zeromq_publisher::append(std::span<const std::byte> delta) {
    impl_->append(delta);
}

std::optional<std::uint64_t> zeromq_publisher::frame() const noexcept {
    return impl_->frame();
}

const zeromq_endpoints& zeromq_publisher::endpoints() const noexcept {
    return impl_->endpoints();
}

std::uint64_t zeromq_publisher::malformed_messages() const noexcept {
    return impl_->malformed_messages();
}

} // namespace handlepool
