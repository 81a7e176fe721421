// SPDX-License-Identifier: MIT
#include "followed_origin.hpp"
#include "zeromq_message.hpp"
#include "zeromq_socket.hpp"

#include <handlepool/snapshots/invalid_snapshot.hpp>
#include <handlepool/snapshots/replica.hpp>
#include <handlepool/zeromq/zeromq_follower.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace handlepool {

using detail::zeromq_clock;
using detail::zeromq_kind;

// It listens, and gives the deltas that fit. What does not fit makes it ask for a snapshot, with sockets that
// are new: so nothing old waits in them. It asks when it has heard something by the new socket, which then
// has all that comes after the snapshot.
class zeromq_follower::impl {
public:
    impl(zeromq_endpoints endpoints, const zeromq_follower_options& options)
        : endpoints_(std::move(endpoints)), options_(checked(options)) {
        listen();
        problem_ = "nothing was heard of " + endpoints_.deltas + " yet";
    }

    std::optional<frame_message> next(std::chrono::milliseconds timeout) {
        const auto end = zeromq_clock::now() + std::min<std::chrono::milliseconds>(timeout, most_time);
        for (int received = 0;;) {
            std::optional<frame_message> given;
            const bool has_received = is_asking_ ? receive_answer(given) : receive_news(given);
            if (given) {
                frame_ = given->frame;
                return given;
            }
            const auto now = zeromq_clock::now();
            // All that is there, also if there is no time to wait: but not all that will ever be.
            if (has_received && (now < end || ++received < options_.waiting_deltas)) {
                continue;
            }
            if (!has_received && now >= patient_until_) {
                lose_patience();
            }
            if (now >= end) {
                return std::nullopt;
            }
            detail::wait_for_messages({is_asking_ ? &answers_ : &news_}, std::min(end, patient_until_));
        }
    }

    bool follow(replica& world, std::chrono::milliseconds timeout) {
        const auto end = zeromq_clock::now() + std::min<std::chrono::milliseconds>(timeout, most_time);
        for (;;) {
            const auto message = next(std::chrono::ceil<std::chrono::milliseconds>(
                std::max(end - zeromq_clock::now(), zeromq_clock::duration::zero())));
            if (!message) {
                return false;
            }
            try {
                receive(world, *message, message->is_snapshot ? endpoints_.snapshots : endpoints_.deltas);
                return true;
            } catch (const invalid_snapshot& error) {
                ask_for_all(error.what());
                if (message->is_snapshot) {
                    throw;
                }
            } catch (...) {
                ask_for_all("a message was received, and could not be used");
                throw;
            }
        }
    }

    std::optional<std::uint64_t> frame() const noexcept { return frame_; }
    const std::string& problem() const noexcept { return problem_; }
    std::uint64_t malformed_messages() const noexcept { return malformed_; }

private:
    static constexpr std::chrono::hours most_time = std::chrono::hours(24 * 365);
    static constexpr int most_doublings = 6;
    static constexpr std::chrono::milliseconds least_pause = std::chrono::milliseconds(10);
    static constexpr std::chrono::milliseconds most_pause = std::chrono::milliseconds(1000);

    static zeromq_follower_options checked(const zeromq_follower_options& options) {
        constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max() -
                                                       std::int64_t{detail::zeromq_header_size});
        const auto require_size = [](std::size_t size, std::string_view name) {
            detail::require_option(size >= 1 && size <= most, name, static_cast<std::int64_t>(size),
                                   "1 to " + std::to_string(most));
        };
        require_size(options.max_snapshot_bytes, "zeromq_follower_options::max_snapshot_bytes");
        require_size(options.max_delta_bytes, "zeromq_follower_options::max_delta_bytes");
        detail::require_option(options.waiting_deltas >= 1, "zeromq_follower_options::waiting_deltas",
                               options.waiting_deltas, "1 or more");
        detail::require_option(options.patience.count() >= 1 && options.patience <= std::chrono::hours(24),
                               "zeromq_follower_options::patience", options.patience.count(),
                               "1 to 86400000 milliseconds");
        return options;
    }

    void listen() {
        answers_.close();
        news_ =
            detail::make_zeromq_socket(context_, zmq::socket_type::sub,
                                       {.waiting = options_.waiting_deltas,
                                        .largest = options_.max_delta_bytes + detail::zeromq_header_size});
        news_.set(zmq::sockopt::subscribe, "");
        detail::connect_zeromq(news_, endpoints_.deltas);
        is_asking_ = false;
        patient_until_ = zeromq_clock::now() + options_.patience;
    }

    /// Not at once again and again, whatever a publisher sends.
    void ask() {
        const auto now = zeromq_clock::now();
        if (now < asks_from_) {
            return;
        }
        pause_ = now - asks_from_ > options_.patience ? std::chrono::milliseconds(0)
                                                      : std::clamp(2 * pause_, least_pause, most_pause);
        asks_from_ = now + pause_;
        answers_ = detail::make_zeromq_socket(
            context_, zmq::socket_type::dealer,
            {.waiting = 1, .largest = options_.max_snapshot_bytes + detail::zeromq_header_size});
        detail::connect_zeromq(answers_, endpoints_.snapshots);
        detail::try_send(answers_, detail::made_message(detail::bytes_of({.kind = zeromq_kind::request})));
        is_asking_ = true;
        patience_ = options_.patience * (1 << std::min(unanswered_, most_doublings));
        patient_until_ = now + patience_;
    }

    void ask_for_all(std::string problem) {
        problem_ = std::move(problem);
        origin_.forget();
        listen();
    }

    void lose_patience() {
        if (is_asking_) {
            ++unanswered_;
            ask_for_all(endpoints_.snapshots + " has not answered for " + std::to_string(patience_.count()) +
                        " ms; a snapshot may have " + std::to_string(options_.max_snapshot_bytes) + " bytes");
            return;
        }
        problem_ = "nothing was heard of " + endpoints_.deltas + " for " +
                   std::to_string(options_.patience.count()) + " ms; a delta may have " +
                   std::to_string(options_.max_delta_bytes) + " bytes";
        listen(); // where it was; perhaps nothing is missing
    }

    /// What is no message of these kinds is counted.
    std::optional<detail::zeromq_message> read(const detail::zeromq_parts& parts,
                                               std::initializer_list<zeromq_kind> kinds,
                                               const std::string& endpoint) {
        std::string problem = "it has " + std::to_string(parts.count) + " parts; 1 is expected";
        if (parts.count == 1) {
            if (auto message =
                    detail::read_zeromq_message(detail::bytes_of(parts.first[0]), kinds, problem)) {
                return message;
            }
        }
        ++malformed_;
        problem_ = "a message of " + endpoint + " is none: " + problem;
        return std::nullopt;
    }

    /// Here and below: returns whether something has come, and sets `given` to what it brings.
    bool receive_answer(std::optional<frame_message>& given) {
        detail::zeromq_parts parts;
        if (!detail::try_receive(answers_, parts)) {
            return false;
        }
        if (const auto message = read(parts, {zeromq_kind::snapshot}, endpoints_.snapshots)) {
            origin_.begin(message->header);
            given = given_of(*message);
            answers_.close();
            is_asking_ = false;
            unanswered_ = 0;
            problem_.clear();
            patient_until_ = zeromq_clock::now() + options_.patience;
        } // else the true answer may still come, or patience ends
        return true;
    }

    bool receive_news(std::optional<frame_message>& given) {
        detail::zeromq_parts parts;
        if (!detail::try_receive(news_, parts)) {
            return false;
        }
        patient_until_ = zeromq_clock::now() + options_.patience;
        const auto message = read(parts, {zeromq_kind::delta, zeromq_kind::position}, endpoints_.deltas);
        if (!message) {
            return true;
        }
        if (!origin_.is_known()) {
            ask();
            return true;
        }
        std::string problem;
        switch (origin_.hear(*message, problem)) {
        case detail::zeromq_news::next:
            given = given_of(*message);
            problem_.clear();
            break;
        case detail::zeromq_news::old:
            problem_.clear();
            break;
        case detail::zeromq_news::loss:
            ask_for_all(std::move(problem));
            break;
        }
        return true;
    }

    static frame_message given_of(const detail::zeromq_message& message) {
        return {.is_snapshot = message.header.kind == zeromq_kind::snapshot,
                .frame = message.header.frame,
                .bytes = std::vector<std::byte>(message.payload.begin(), message.payload.end())};
    }

    const zeromq_endpoints endpoints_;
    const zeromq_follower_options options_;
    std::optional<std::uint64_t> frame_;
    std::string problem_;
    std::uint64_t malformed_ = 0;

    detail::followed_origin origin_;
    bool is_asking_ = false; // else it listens
    int unanswered_ = 0;
    std::chrono::milliseconds patience_{};
    zeromq_clock::time_point patient_until_;
    std::chrono::milliseconds pause_{};
    zeromq_clock::time_point asks_from_;

    zmq::context_t context_;
    zmq::socket_t news_;
    zmq::socket_t answers_;
};

zeromq_follower::zeromq_follower(const zeromq_endpoints& endpoints, const zeromq_follower_options& options)
    : impl_(std::make_unique<impl>(endpoints, options)) {}

zeromq_follower::~zeromq_follower() = default;

std::optional<frame_message> zeromq_follower::next(std::chrono::milliseconds timeout) {
    return impl_->next(timeout);
}

bool zeromq_follower::follow(replica& world, std::chrono::milliseconds timeout) {
    return impl_->follow(world, timeout);
}

std::optional<std::uint64_t> zeromq_follower::frame() const noexcept {
    return impl_->frame();
}

const std::string& zeromq_follower::problem() const noexcept {
    return impl_->problem();
}

std::uint64_t zeromq_follower::malformed_messages() const noexcept {
    return impl_->malformed_messages();
}

} // namespace handlepool
