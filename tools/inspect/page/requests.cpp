// SPDX-License-Identifier: MIT
#include "requests.hpp"

#include "assets.hpp"

#include <handlepool/detail/text/text.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <exception>
#include <limits>
#include <optional>
#include <random>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::inspect_tool {

namespace {

namespace http = boost::beast::http;

constexpr std::size_t most_rows = 1'000;
constexpr std::size_t most_cells = 16'384;

/// A request that can't be answered, and why.
struct bad_request : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// "key=3&most=10". Values are numbers, so nothing is escaped.
class parameters {
public:
    explicit parameters(std::string_view query) {
        while (!query.empty()) {
            const std::string_view one = query.substr(0, query.find('&'));
            query.remove_prefix(std::min(query.size(), one.size() + 1));
            const std::size_t middle = std::min(one.find('='), one.size());
            const std::string_view value = one.substr(std::min(one.size(), middle + 1));
            given_.emplace_back(one.substr(0, middle), number_in(one.substr(0, middle), value));
        }
    }

    std::uint64_t number(std::string_view name, std::optional<std::uint64_t> otherwise = std::nullopt,
                         std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const {
        const auto found =
            std::ranges::find(given_, name, &std::pair<std::string_view, std::uint64_t>::first);
        if (found != given_.end()) {
            return std::min(found->second, most);
        }
        if (!otherwise) {
            throw bad_request(fmt::format("the parameter '{}' is missing", name));
        }
        return *otherwise;
    }

private:
    static std::uint64_t number_in(std::string_view name, std::string_view text) {
        const bool is_hexadecimal = text.starts_with("0x");
        std::uint64_t value = 0;
        const char* const last = text.data() + text.size();
        const auto [end, error] =
            std::from_chars(text.data() + (is_hexadecimal ? 2 : 0), last, value, is_hexadecimal ? 16 : 10);
        if (error != std::errc() || end != last) {
            throw bad_request(
                fmt::format("a parameter of {} characters is no number of 64 bits", name.size()));
        }
        return value;
    }

    std::vector<std::pair<std::string_view, std::uint64_t>> given_;
};

/// Takes as long whatever the difference is.
bool is_same(std::string_view given, std::string_view secret) {
    unsigned difference = given.size() == secret.size() ? 0 : 1;
    for (std::size_t i = 0; i != std::min(given.size(), secret.size()); ++i) {
        difference |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(secret[i]);
    }
    return difference == 0;
}

bool is_this_machine(std::string_view host, std::uint16_t port) {
    constexpr std::uint16_t usual_port = 80; // which browsers leave out
    const std::string_view name = host.substr(0, host.find(':'));
    const bool has_port = host.size() != name.size();
    return (name == "127.0.0.1" || name == "localhost") &&
           (has_port ? host.substr(name.size()) == fmt::format(":{}", port) : port == usual_port);
}

/// Whether a browser says that no page of others has sent it. What is no browser says nothing.
bool is_from_this_page(const page_request& request, std::uint16_t port) {
    if (request.count(http::field::origin) > 1 || request.count("Sec-Fetch-Site") > 1) {
        return false;
    }
    const std::string_view origin = request[http::field::origin];
    constexpr std::string_view scheme = "http://";
    const bool is_own_origin =
        origin.empty() || (origin.starts_with(scheme) && is_this_machine(origin.substr(scheme.size()), port));
    const std::string_view site = request["Sec-Fetch-Site"];
    return is_own_origin && (site.empty() || site == "same-origin" || site == "none");
}

page_response with_headers(http::status status, std::string_view type, std::string content) {
    page_response response(status, 11);
    response.set(http::field::content_type, type);
    response.set(http::field::cache_control, "no-store");
    response.set(
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    response.set("X-Content-Type-Options", "nosniff");
    response.set("Referrer-Policy", "no-referrer");
    response.set("Cross-Origin-Resource-Policy", "same-origin");
    response.body() = std::move(content);
    response.prepare_payload();
    return response;
}

/// Trouble with files is none of the living pools'.
nlohmann::ordered_json recorded_frames(recorded_past* past) {
    try {
        return past != nullptr ? past->frames() : nlohmann::ordered_json(nullptr);
    } catch (const std::exception& error) {
        return {{"error", detail::printable(error.what())}};
    }
}

nlohmann::ordered_json data_for(std::string_view name, const parameters& given, const pool_watch& watch,
                                recorded_past* past) {
    if (name == "state") {
        nlohmann::ordered_json state = watch.state_since(given.number("since", 0));
        state["recorded"] = recorded_frames(past);
        return state;
    }
    if (name == "pool") {
        const std::uint64_t most = given.number("most", 10, most_rows);
        return watch.details(given.number("key"),
                             {.objects = static_cast<std::size_t>(most),
                              .places = static_cast<std::size_t>(given.number("places", most, most_rows))});
    }
    if (name == "map") {
        return watch.map(given.number("key"), given.number("first", 0),
                         given.number("most", most_cells, most_cells));
    }
    if (name == "life") {
        return watch.life(given.number("handle"));
    }
    if (name == "changes" && past != nullptr) {
        return past->changes(given.number("from"), given.number("to"),
                             static_cast<std::size_t>(given.number("most", 20, most_rows)));
    }
    if (name == "lives" && past != nullptr) {
        return past->lives(given.number("frame"),
                           static_cast<std::size_t>(given.number("most", 20, most_rows)));
    }
    throw not_found("there is nothing of this name");
}

page_response answer_to_known(std::string_view path, const pool_watch& watch, recorded_past* past) {
    const std::string_view name = path.substr(0, path.find('?'));
    const std::string_view query = path.substr(std::min(path.size(), name.size() + 1));
    for (const asset& each : assets()) {
        if (each.name == (name.empty() ? "page.html" : name)) {
            return with_headers(http::status::ok, each.type, std::string(each.content));
        }
    }
    try {
        return with_headers(http::status::ok, "application/json",
                            data_for(name, parameters(query), watch, past).dump());
    } catch (const bad_request& error) {
        return refusal(http::status::bad_request, error.what());
    } catch (const not_found& error) {
        return refusal(http::status::not_found, error.what());
    } catch (const std::exception& error) {
        return refusal(http::status::internal_server_error, error.what());
    }
}

} // namespace

std::string page_address::url() const {
    return fmt::format("http://127.0.0.1:{}{}", port, root());
}

std::string random_token() {
    std::random_device random;
    std::string token;
    for (int i = 0; i != 4; ++i) {
        token += fmt::format("{:08x}", random());
    }
    return token;
}

page_response refusal(http::status status, const std::string& reason) {
    return with_headers(status, "application/json",
                        nlohmann::ordered_json{{"error", detail::printable(reason)}}.dump());
}

page_response answer(const page_request& request, const page_address& address, const pool_watch& watch,
                     recorded_past* past) {
    if (request.count(http::field::host) != 1 || !is_this_machine(request[http::field::host], address.port)) {
        return refusal(http::status::misdirected_request, fmt::format("this is 127.0.0.1:{}", address.port));
    }
    if (!is_from_this_page(request, address.port)) {
        return refusal(http::status::forbidden, "pages of others get nothing");
    }
    if (request.method() != http::verb::get) {
        page_response response = refusal(http::status::method_not_allowed, "only GET is answered");
        response.set(http::field::allow, "GET");
        return response;
    }
    const std::string root = address.root();
    const std::string_view target = request.target();
    if (target.size() < root.size() || !is_same(target.substr(0, root.size()), root)) {
        return refusal(http::status::not_found, "open the address that handlepool-inspect has printed");
    }
    return answer_to_known(target.substr(root.size()), watch, past);
}

} // namespace handlepool::inspect_tool
