// SPDX-License-Identifier: MIT
#include "redis_connection.hpp"

#include "../shared/time_after.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/text/text.hpp>

#include <hiredis/hiredis.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

namespace handlepool::detail {

namespace {

// The answers to our commands are far from both.
constexpr std::size_t most_elements = 64;   // of all lists in an answer
constexpr std::size_t most_overhead = 4096; // of an answer, beside the values in it

/// The place of an element, which its list has made; a new object for what is in no list.
redis_reply* place_of(const redisReadTask* task) noexcept {
    if (task->parent == nullptr) {
        return new (std::nothrow) redis_reply;
    }
    return &static_cast<redis_reply*>(task->parent->obj)->list[static_cast<std::size_t>(task->idx)];
}

// What the reader calls for what it has read. Null is an error; an exception must not pass it.
void* make_text(const redisReadTask* task, char* text, std::size_t size) noexcept {
    redis_reply* const made = place_of(task);
    if (made == nullptr) {
        return nullptr;
    }
    try {
        made->text.assign(text, size);
    } catch (const std::bad_alloc&) {
        if (task->parent == nullptr) {
            delete made;
        }
        return nullptr;
    }
    made->type = task->type == REDIS_REPLY_ERROR ? redis_reply::kind::error : redis_reply::kind::text;
    return made;
}
template <class Count> // the versions of hiredis differ in it
void* make_list(const redisReadTask* task, Count count) noexcept {
    std::size_t& left = *static_cast<std::size_t*>(task->privdata);
    if (count < Count{} || static_cast<std::size_t>(count) > left) {
        return nullptr;
    }
    left -= static_cast<std::size_t>(count);
    redis_reply* const made = place_of(task);
    if (made == nullptr) {
        return nullptr;
    }
    try {
        made->list.resize(static_cast<std::size_t>(count));
    } catch (const std::bad_alloc&) {
        if (task->parent == nullptr) {
            delete made;
        }
        return nullptr;
    }
    made->type = redis_reply::kind::list;
    return made;
}
void* make_number(const redisReadTask* task, long long value) noexcept {
    redis_reply* const made = place_of(task);
    if (made != nullptr) {
        made->type = redis_reply::kind::number;
        made->number = value;
    }
    return made;
}
void* make_none(const redisReadTask* task) noexcept {
    return place_of(task);
}
void end_reply(void* reply) noexcept {
    delete static_cast<redis_reply*>(reply);
}

/// The versions of hiredis from 1.0 on know more types, of which Redis sends none to who has not asked for
/// them.
template <class Functions>
void refuse_other_types(Functions& functions) noexcept {
    if constexpr (requires { functions.createDouble; }) {
        functions.createDouble = [](const redisReadTask*, double, char*, std::size_t) noexcept -> void* {
            return nullptr;
        };
        functions.createBool = [](const redisReadTask*, int) noexcept -> void* { return nullptr; };
    }
}

redisReader* make_reader() {
    static redisReplyObjectFunctions functions = [] {
        redisReplyObjectFunctions made{};
        made.createString = make_text;
        made.createArray = make_list;
        made.createInteger = make_number;
        made.createNil = make_none;
        made.freeObject = end_reply;
        refuse_other_types(made);
        return made;
    }();
    return redisReaderCreateWithFunctions(&functions);
}

timeval time_of(std::chrono::milliseconds time) noexcept {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
    timeval result{};
    result.tv_sec = static_cast<decltype(result.tv_sec)>(seconds.count());
    result.tv_usec = static_cast<decltype(result.tv_usec)>((time - seconds).count() * 1000);
    return result;
}

std::string name_of(const redis_address& address) {
    if (!address.path.empty()) {
        return "redis at " + printable(address.path);
    }
    return "redis at " + printable(address.host) + ":" + std::to_string(address.port);
}

std::string text_of_error(int error) {
    return error == EAGAIN || error == EWOULDBLOCK ? "no answer in time"
                                                   : std::generic_category().message(error);
}

} // namespace

redis_connection::redis_connection(const redis_address& address)
    : name_(name_of(address)),
      timeout_(address.timeout),
      context_(address.path.empty()
                   ? redisConnectWithTimeout(address.host.c_str(), address.port, time_of(timeout_))
                   : redisConnectUnixWithTimeout(address.path.c_str(), time_of(timeout_)),
               redisFree),
      reader_(make_reader(), redisReaderFree) {
    if (context_ == nullptr || reader_ == nullptr) {
        throw_exception(std::bad_alloc());
    }
    if (context_->err != 0) {
        refuse(context_->errstr);
    }
    const timeval time = time_of(timeout_);
    if (setsockopt(context_->fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time) != 0) {
        refuse(text_of_error(errno));
    }
    if (!address.user.empty()) {
        call(std::array<std::string_view, 3>{"AUTH", address.user, address.password}, 0);
    } else if (!address.password.empty()) {
        call(std::array<std::string_view, 2>{"AUTH", address.password}, 0);
    }
}

redis_reply redis_connection::call(std::span<const std::string_view> command, std::size_t most_bytes,
                                   std::chrono::milliseconds later) {
    const timeval time = time_of(timeout_ + later);
    if (setsockopt(context_->fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) != 0) {
        refuse(text_of_error(errno));
    }
    std::vector<const char*> words;
    std::vector<std::size_t> sizes;
    for (const std::string_view word : command) {
        words.push_back(word.data());
        sizes.push_back(word.size());
    }
    char* formatted = nullptr;
    const int size =
        redisFormatCommandArgv(&formatted, static_cast<int>(words.size()), words.data(), sizes.data());
    if (size < 0) {
        throw_exception(std::bad_alloc());
    }
    const std::unique_ptr<char, void (*)(char*)> owner(formatted, redisFreeCommand);
    send({formatted, static_cast<std::size_t>(size)});
    redis_reply reply = receive(most_bytes, timeout_ + later);
    if (reply.type == redis_reply::kind::error) {
        refuse(printable(reply.text));
    }
    return reply;
}

void redis_connection::send(std::string_view bytes) {
    auto until = time_after(timeout_);
    while (!bytes.empty()) {
        // No signal for a server that is gone: it would end the program.
        const ssize_t sent = ::send(context_->fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0) {
            require_patience(until);
        } else {
            bytes.remove_prefix(static_cast<std::size_t>(sent));
            until = time_after(timeout_);
        }
    }
}

redis_reply redis_connection::receive(std::size_t most_bytes, std::chrono::milliseconds timeout) {
    auto until = time_after(timeout);
    std::array<char, std::size_t{64} << 10> piece;
    std::size_t received = 0;
    std::size_t left = most_elements;
    reader_->privdata = &left;
    for (;;) {
        void* read = nullptr;
        if (redisReaderGetReply(reader_.get(), &read) != REDIS_OK) {
            refuse(std::string("an answer that can't be: ") + reader_->errstr);
        }
        if (read != nullptr) {
            const std::unique_ptr<redis_reply> owner(static_cast<redis_reply*>(read));
            return std::move(*owner);
        }
        if (received > most_overhead && received - most_overhead > most_bytes) {
            refuse("an answer of more than " + std::to_string(most_bytes) + " bytes");
        }
        const ssize_t size = ::recv(context_->fd, piece.data(), piece.size(), 0);
        if (size == 0) {
            refuse("the server has closed the connection");
        }
        if (size < 0) {
            require_patience(until);
        } else {
            if (redisReaderFeed(reader_.get(), piece.data(), static_cast<std::size_t>(size)) != REDIS_OK) {
                throw_exception(std::bad_alloc());
            }
            received += static_cast<std::size_t>(size);
            until = time_after(timeout);
        }
    }
}

void redis_connection::require_patience(std::chrono::steady_clock::time_point until) const {
    const int error = errno;
    if (error != EINTR) {
        refuse(text_of_error(error));
    }
    // Each call waits for the whole time: signals that come often enough would make it last for ever.
    if (std::chrono::steady_clock::now() >= until) {
        refuse(text_of_error(EAGAIN));
    }
}

void redis_connection::refuse(std::string_view problem) const {
    std::string message = name_ + ": ";
    message += problem;
    throw_exception(redis_error(message));
}

} // namespace handlepool::detail
