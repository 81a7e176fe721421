// SPDX-License-Identifier: MIT
#include "page_server.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <fmt/format.h>

#include <csignal>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <utility>

namespace handlepool::inspect_tool {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::awaitable;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::uint32_t most_header_bytes = 8192;
constexpr std::size_t most_connections = 64;
constexpr std::chrono::seconds patience(5);

class page_server {
public:
    page_server(pool_watch& watch, recorded_past* past, const page_options& options)
        : watch_(watch), past_(past), options_(options), acceptor_(context_), room_(context_) {
        try {
            const tcp::endpoint here(asio::ip::address_v4::loopback(), options.port);
            acceptor_.open(here.protocol());
            acceptor_.set_option(tcp::acceptor::reuse_address(true));
            acceptor_.bind(here);
            acceptor_.listen();
        } catch (const boost::system::system_error& error) {
            throw std::runtime_error(fmt::format("can't listen on port {} of 127.0.0.1: {}", options.port,
                                                 error.code().message()));
        }
        address_ = {.port = acceptor_.local_endpoint().port(), .token = random_token()};
    }

    const page_address& address() const noexcept { return address_; }

    void run() {
        signals_.async_wait([this](error_code, int) { context_.stop(); });
        start(look());
        start(accept());
        context_.run();
    }

private:
    /// An exception that leaves a coroutine ends the server, and run() throws it.
    void start(awaitable<void> work) {
        asio::co_spawn(context_, std::move(work), [](std::exception_ptr failure) {
            if (failure) {
                std::rethrow_exception(failure);
            }
        });
    }

    awaitable<void> look() {
        asio::steady_timer timer(context_);
        while (!watch_.has_ended()) {
            timer.expires_after(std::chrono::duration_cast<asio::steady_timer::duration>(options_.interval));
            co_await timer.async_wait(asio::use_awaitable);
            watch_.look();
        }
        if (options_.ends_with_program) {
            context_.stop();
        }
    }

    awaitable<void> accept() {
        for (;;) {
            while (connections_ == most_connections) {
                error_code ended; // by serve(), as it makes room
                room_.expires_at(asio::steady_timer::time_point::max());
                co_await room_.async_wait(asio::redirect_error(asio::use_awaitable, ended));
            }
            error_code error; // the client has gone, or there are no descriptors: others may be served
            tcp::socket socket =
                co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, error));
            if (!error) {
                ++connections_;
                start(serve(beast::tcp_stream(std::move(socket))));
            } else {
                asio::steady_timer pause(context_, std::chrono::milliseconds(50));
                co_await pause.async_wait(asio::use_awaitable);
            }
        }
    }

    awaitable<void> serve(beast::tcp_stream stream) {
        try {
            beast::flat_buffer buffer(most_header_bytes * 2);
            bool goes_on = true;
            while (goes_on) {
                page_response response = co_await answer_next(stream, buffer);
                goes_on = response.keep_alive();
                stream.expires_after(patience);
                co_await http::async_write(stream, response, asio::use_awaitable);
            }
        } catch (
            const std::exception&) { // it has gone, or is too slow; or memory is short, and it may ask again
        }
        --connections_;
        room_.cancel();
    }

    /// Throws system_error when the client has gone.
    awaitable<page_response> answer_next(beast::tcp_stream& stream, beast::flat_buffer& buffer) {
        http::request_parser<http::empty_body> parser;
        parser.header_limit(most_header_bytes);
        error_code error;
        stream.expires_after(patience);
        co_await http::async_read(stream, buffer, parser, asio::redirect_error(asio::use_awaitable, error));
        if (!error) {
            page_response response = answer(parser.get(), address_, watch_, past_);
            response.keep_alive(parser.get().keep_alive() && response.result() == http::status::ok);
            co_return response;
        }
        if (error == http::error::end_of_stream ||
            error.category() != error_code(http::error::bad_method).category()) {
            throw boost::system::system_error(error);
        }
        page_response response =
            error == http::error::header_limit || error == http::error::buffer_overflow
                ? refusal(http::status::request_header_fields_too_large, "a request has 8 KiB at the most")
                : refusal(http::status::bad_request, "this is no request without a body: " + error.message());
        response.keep_alive(false);
        co_return response;
    }

    pool_watch& watch_;
    recorded_past* const past_; // null if nothing is recorded
    const page_options options_;
    asio::io_context context_{1};
    asio::signal_set signals_{context_, SIGINT, SIGTERM}; // from here on they wait for run()
    tcp::acceptor acceptor_;
    asio::steady_timer room_; // ended when there is one more connection to have
    std::size_t connections_ = 0;
    page_address address_;
};

} // namespace

void serve_page(pool_watch& watch, recorded_past* past, const page_options& options,
                const std::function<void(const page_address&)>& when_ready) {
    page_server server(watch, past, options);
    watch.look();
    when_ready(server.address());
    server.run();
}

} // namespace handlepool::inspect_tool
