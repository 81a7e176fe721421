// SPDX-License-Identifier: MIT
#pragma once

#include "pool_watch.hpp"
#include "recorded_past.hpp"

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include <cstdint>
#include <string>

namespace handlepool::inspect_tool {

using page_request = boost::beast::http::request<boost::beast::http::empty_body>;
using page_response = boost::beast::http::response<boost::beast::http::string_body>;

/// The address at which the page is served. Only who knows the token gets anything: other users of the
/// machine, and pages of others in the same browser, don't.
struct page_address {
    std::uint16_t port = 0;
    std::string token;

    /// "/3f0c.../"
    std::string root() const { return "/" + token + "/"; }
    /// "http://127.0.0.1:8080/3f0c.../"
    std::string url() const;
};

/// 128 random bits from the system, in hexadecimal.
std::string random_token();

/// What the page's server answers. The page and its parts are files of the tool; all else is asked of the
/// watch, by GET alone, and changes nothing:
///
///     state?since=LOOK   pool?key=KEY&most=N   map?key=KEY&first=CELL&most=N   life?handle=HANDLE
///     changes?from=FRAME&to=FRAME&most=N
///
/// The last one is there if the world is recorded.
/// Refused: what does not have the token, another name of this machine (else a page of others could reach it
/// under a name of its own), and requests that come from pages of others.
page_response answer(const page_request& request, const page_address& address, const pool_watch& watch,
                     recorded_past* past = nullptr);

/// The answer to what is no request, and to what is larger than one may be.
page_response refusal(boost::beast::http::status status, const std::string& reason);

} // namespace handlepool::inspect_tool
