// SPDX-License-Identifier: MIT
#include "zeromq_socket.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/text/text.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace handlepool::detail {

namespace {

/// The system's errors, and some that only ZeroMQ has.
class zeromq_category final : public std::error_category {
public:
    const char* name() const noexcept override { return "zeromq"; }
    std::string message(int number) const override { return zmq_strerror(number); }
    std::error_condition default_error_condition(int number) const noexcept override {
        return number < ZMQ_HAUSNUMERO ? std::error_condition(number, std::generic_category())
                                       : std::error_condition(number, *this);
    }
};

[[noreturn]] void throw_zeromq_error(const zmq::error_t& error, const std::string& subject) {
    static const zeromq_category category;
    if (error.num() == ENOMEM) {
        throw_exception(std::bad_alloc());
    }
    throw_exception(std::system_error(error.num(), category, subject));
}

/// Calls again what a signal has ended.
template <class Call>
auto without_interruption(const Call& call) {
    for (;;) {
        try {
            return call();
        } catch (const zmq::error_t& error) {
            if (error.num() != EINTR) {
                throw_zeromq_error(error, "ZeroMQ");
            }
        }
    }
}

} // namespace

zmq::socket_t make_zeromq_socket(zmq::context_t& context, zmq::socket_type type,
                                 const zeromq_limits& limits) {
    try {
        zmq::socket_t made(context, type);
        made.set(zmq::sockopt::linger, 0);
        made.set(zmq::sockopt::sndhwm, limits.waiting);
        made.set(zmq::sockopt::rcvhwm, limits.waiting);
        made.set(zmq::sockopt::maxmsgsize,
                 static_cast<std::int64_t>(std::max(limits.largest, least_zeromq_limit)));
        made.set(zmq::sockopt::reconnect_ivl, 20);
        made.set(zmq::sockopt::reconnect_ivl_max, 1000);
        return made;
    } catch (const zmq::error_t& error) {
        throw_zeromq_error(error, "a socket of ZeroMQ can't be made");
    }
}

std::string bind_zeromq(zmq::socket_t& socket, const std::string& endpoint) {
    try {
        socket.bind(endpoint);
        return socket.get(zmq::sockopt::last_endpoint);
    } catch (const zmq::error_t& error) {
        throw_zeromq_error(error, printable(endpoint));
    }
}

void connect_zeromq(zmq::socket_t& socket, const std::string& endpoint) {
    try {
        socket.connect(endpoint);
    } catch (const zmq::error_t& error) {
        throw_zeromq_error(error, printable(endpoint));
    }
}

bool try_receive(zmq::socket_t& socket, zeromq_parts& parts) {
    parts.count = 0;
    zmq::message_t rest;
    for (bool has_more = true; has_more;) {
        zmq::message_t& part = parts.count < parts.first.size() ? parts.first[parts.count] : rest;
        const auto received =
            without_interruption([&] { return socket.recv(part, zmq::recv_flags::dontwait); });
        if (!received) {
            return false; // of the first part: the others come with it
        }
        ++parts.count;
        has_more = part.more();
    }
    return true;
}

bool try_send(zmq::socket_t& socket, zmq::message_t&& message, zmq::send_flags flags) {
    return without_interruption([&] { return socket.send(message, flags | zmq::send_flags::dontwait); })
        .has_value();
}

void wait_for_messages(std::initializer_list<zmq::socket_t*> sockets, zeromq_clock::time_point until) {
    std::array<zmq::pollitem_t, 3> items{};
    std::size_t count = 0;
    for (zmq::socket_t* const each : sockets) {
        items[count++] = {each->handle(), 0, ZMQ_POLLIN, 0};
    }
    // Rounded up, or the last millisecond would be a loop without a wait.
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - zeromq_clock::now()).count();
    const auto most = std::int64_t{std::numeric_limits<int>::max()};
    try {
        zmq::poll(items.data(), count,
                  std::chrono::milliseconds(std::clamp(std::int64_t{left}, std::int64_t{0}, most)));
    } catch (const zmq::error_t& error) {
        if (error.num() != EINTR) {
            throw_zeromq_error(error, "ZeroMQ");
        }
    }
}

zmq::message_t made_message(std::span<const std::byte> header, std::span<const std::byte> payload) {
    try {
        zmq::message_t made(header.size() + payload.size());
        std::ranges::copy(payload, std::ranges::copy(header, made.data<std::byte>()).out);
        return made;
    } catch (const zmq::error_t& error) {
        throw_zeromq_error(error, "ZeroMQ");
    }
}

void require_option(bool is_allowed, std::string_view name, std::int64_t value, std::string_view allowed) {
    if (!is_allowed) {
        throw_exception(std::invalid_argument(std::string(name) + " is " + std::to_string(value) + "; " +
                                              std::string(allowed) + " is allowed"));
    }
}

} // namespace handlepool::detail
