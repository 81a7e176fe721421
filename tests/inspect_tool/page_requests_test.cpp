// SPDX-License-Identifier: MIT

// What the page's server answers, and what it refuses; of pools of this process.

#include <handlepool/pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <tools/inspect/page/requests.hpp>
#include <unistd.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::inspect_tool {
namespace {

namespace http = boost::beast::http;
using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

struct ship {
    int hull = 0;
};

struct page_requests : testing::Test {
    page_request request(const std::string& target, http::verb verb = http::verb::get) const {
        page_request made(verb, target, 11);
        made.set(http::field::host, "127.0.0.1:8080");
        return made;
    }
    page_response get(const std::string& what) const { return send(request(address.root() + what)); }
    page_response send(const page_request& request) const { return answer(request, address, watch); }
    json data(const std::string& what) const {
        const page_response response = get(what);
        EXPECT_EQ(response.result_int(), 200U) << response.body();
        EXPECT_EQ(response[http::field::content_type], "application/json");
        return json::parse(response.body());
    }
    std::string error(const std::string& what, unsigned status) const {
        const page_response response = get(what);
        EXPECT_EQ(response.result_int(), status);
        return json::parse(response.body())["error"];
    }

    std::optional<pool<ship>> ships{
        std::in_place, pool_options{.name = "ships", .capacity = 100, .record_lives = 2, .pool_id = 330}};
    pool_watch watch{inspected_program::in_process(getpid())};
    page_address address{.port = 8080, .token = random_token()};
};

TEST_F(page_requests, have_a_token_that_nobody_guesses) {
    EXPECT_THAT(address.token, testing::MatchesRegex("[0-9a-f]{32}"));
    EXPECT_NE(random_token(), random_token());
    EXPECT_EQ(address.url(), "http://127.0.0.1:8080/" + address.token + "/");
    const std::string others[] = {"/",
                                  "",
                                  "*",
                                  "//",
                                  "/page.html",
                                  "/state",
                                  "/" + address.token,
                                  "/" + address.token.substr(1) + "/",
                                  "/" + random_token() + "/",
                                  "/x" + address.token + "/",
                                  "/" + address.token.substr(0, 31) + "g/",
                                  "/" + address.token.substr(0, 16) + "/",
                                  "http://127.0.0.1:8080" + address.root()};
    for (const std::string& each : others) {
        const page_response response = send(request(each));
        EXPECT_EQ(response.result_int(), 404U) << each;
        EXPECT_EQ(response.body(), R"({"error":"open the address that handlepool-inspect has printed"})");
    }
}

TEST_F(page_requests, are_of_this_page_only) {
    for (const char* const host :
         {"", "evil.example:8080", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:80800", "localhost"}) {
        page_request one = request(address.root());
        one.set(http::field::host, host);
        EXPECT_EQ(send(one).result_int(), 421U) << host;
        EXPECT_EQ(send(one).body(), R"({"error":"this is 127.0.0.1:8080"})");
    }
    const std::pair<const char*, const char*> refused[] = {
        {"Origin", "http://evil.example"},    {"Origin", "null"},
        {"Origin", "https://127.0.0.1:8080"}, {"Origin", "http://127.0.0.1:8081"},
        {"Sec-Fetch-Site", "cross-site"},     {"Sec-Fetch-Site", "same-site"}};
    for (const auto& [field, value] : refused) {
        page_request one = request(address.root());
        one.set(field, value);
        EXPECT_EQ(send(one).result_int(), 403U) << field << value;
        EXPECT_EQ(send(one).body(), R"({"error":"pages of others get nothing"})");
    }
    for (const http::field twice :
         {http::field::host, http::field::origin}) { // of which one may be looked at
        page_request one = request(address.root());
        one.insert(twice, twice == http::field::host ? "127.0.0.1:8080" : "");
        one.insert(twice, "http://evil.example");
        EXPECT_NE(send(one).result_int(), 200U) << twice;
    }
    const std::pair<const char*, const char*> allowed[] = {{"Origin", "http://127.0.0.1:8080"},
                                                           {"Origin", "http://localhost:8080"},
                                                           {"Host", "localhost:8080"},
                                                           {"Sec-Fetch-Site", "same-origin"},
                                                           {"Sec-Fetch-Site", "none"}};
    for (const auto& [field, value] : allowed) {
        page_request one = request(address.root());
        one.set(field, value);
        EXPECT_EQ(send(one).result_int(), 200U) << field << value;
    }
}

TEST_F(page_requests, of_the_usual_port_may_leave_it_out) {
    const auto status_for = [this](const char* host) {
        page_request one = request(address.root());
        one.set(http::field::host, host);
        one.set(http::field::origin, std::string("http://") + host);
        return send(one).result_int();
    };
    EXPECT_EQ(status_for("127.0.0.1"), 421U);
    EXPECT_EQ(status_for("127.0.0.1:8080"), 200U);
    address.port = 80;
    EXPECT_EQ(status_for("127.0.0.1"), 200U);
    EXPECT_EQ(status_for("localhost"), 200U);
    EXPECT_EQ(status_for("localhost:80"), 200U);
    EXPECT_EQ(status_for("localhost:8080"), 421U);
    EXPECT_EQ(status_for("localhost:"), 421U);
    EXPECT_EQ(status_for("other"), 421U);
}

TEST_F(page_requests, only_read) {
    for (const http::verb verb : {http::verb::post, http::verb::put, http::verb::delete_, http::verb::head,
                                  http::verb::options, http::verb::trace, http::verb::connect}) {
        const page_response response = send(request(address.root(), verb));
        EXPECT_EQ(response.result_int(), 405U);
        EXPECT_EQ(response[http::field::allow], "GET");
        EXPECT_EQ(response.body(), R"({"error":"only GET is answered"})");
    }
}

TEST_F(page_requests, get_the_files_of_the_page) {
    const std::pair<const char*, const char*> files[] = {{"", "text/html; charset=utf-8"},
                                                         {"page.html", "text/html; charset=utf-8"},
                                                         {"page.css", "text/css; charset=utf-8"},
                                                         {"main.js", "text/javascript; charset=utf-8"}};
    for (const auto& [name, type] : files) {
        const page_response response = get(name);
        EXPECT_EQ(response.result_int(), 200U) << name;
        EXPECT_EQ(response[http::field::content_type], type);
        EXPECT_GT(response.body().size(), 1000U);
        EXPECT_EQ(response[http::field::content_length], std::to_string(response.body().size()));
        EXPECT_THAT(std::string(response["Content-Security-Policy"]),
                    StartsWith("default-src 'none'; script-src 'self';"));
        EXPECT_EQ(response[http::field::cache_control], "no-store");
    }
    EXPECT_THAT(get("").body(), StartsWith("<!DOCTYPE html>"));
    EXPECT_EQ(error("../page.html", 404), "there is nothing of this name");
    EXPECT_EQ(error("page.html%00", 404), "there is nothing of this name");
}

TEST_F(page_requests, get_the_state_since_a_look) {
    EXPECT_EQ(data("state")["looks"], json::array());
    const auto first = ships->emplace();
    ships->emplace();
    watch.look();
    ships->erase(first);
    ships->compact();
    watch.look();
    const json state = data("state");
    EXPECT_EQ(state["process"], getpid());
    EXPECT_EQ(state["has_ended"], false);
    EXPECT_EQ(state["look"], 2);
    EXPECT_EQ(state["columns"], json::parse(R"(["key", "alive", "created", "erased", "frames", "newborn",
        "waiting_removals", "compaction_nanoseconds", "bytes_resident", "timed_compactions", "phase_nanoseconds"])"));
    EXPECT_EQ(state["phases"], json::parse(R"(["collect removals", "destroy", "sweep", "collect newborns",
        "place newborns", "fill holes", "report births", "give back"])"));
    ASSERT_EQ(state["pools"].size(), 1U);
    const json pool = state["pools"][0];
    EXPECT_EQ(pool["name"], "ships");
    EXPECT_EQ(pool["key"], 1);
    EXPECT_EQ(pool["is_alive"], true);
    EXPECT_EQ(pool["knows_places"], true);
    EXPECT_EQ(pool["alive"], 1);
    ASSERT_EQ(state["looks"].size(), 2U);
    const auto numbers = [&](int look) {
        json row = state["looks"][static_cast<std::size_t>(look)]["numbers"][0];
        EXPECT_GT(row[8], 0);
        for (const std::size_t each : {10U, 8U, 7U}) { // nanoseconds, and memory
            row.erase(each);
        }
        return row;
    };
    EXPECT_EQ(numbers(0), json::parse("[1, 2, 2, 0, 0, 2, 0, 0]"));
    EXPECT_EQ(numbers(1), json::parse("[1, 1, 2, 1, 1, 0, 0, 1]"));
    const json phases = state["looks"][1]["numbers"][0][10];
    EXPECT_EQ(state["looks"][0]["numbers"][0][10], json::parse("[0, 0, 0, 0, 0, 0, 0, 0]"));
    std::uint64_t sum = 0;
    for (const json& each : phases) {
        sum += each.get<std::uint64_t>();
    }
    EXPECT_GT(sum, 0);
    EXPECT_LE(sum, state["looks"][1]["numbers"][0][7].get<std::uint64_t>()); // the whole compaction
    EXPECT_EQ(phases[6], 0);                                                 // there are no hooks
    EXPECT_EQ(state["looks"][0]["seconds"], 0.0);
    EXPECT_GT(state["looks"][1]["seconds"], 0.0);
    EXPECT_EQ(data("state?since=1")["looks"], json::array({state["looks"][1]}));
    EXPECT_EQ(data("state?since=2")["looks"], json::array());
    EXPECT_EQ(data("state?since=18446744073709551615")["looks"], json::array());
}

TEST_F(page_requests, know_pools_that_have_ended) {
    ships->emplace();
    watch.look();
    ships.reset();
    watch.look();
    json state = data("state");
    ASSERT_EQ(state["pools"].size(), 1U);
    EXPECT_EQ(state["pools"][0]["is_alive"], false);
    EXPECT_EQ(state["looks"][1]["numbers"], json::array());
    EXPECT_EQ(error("pool?key=1", 404), "pool 'ships' has ended");
    EXPECT_EQ(error("map?key=1", 404), "pool 'ships' has ended");
    EXPECT_EQ(data("life?handle=0x52800000001"), json::array());
    // One that is made in its place is another one.
    ships.emplace(pool_options{.name = "ships", .capacity = 100, .record_lives = 2, .pool_id = 330});
    watch.look();
    state = data("state");
    ASSERT_EQ(state["pools"].size(), 2U);
    EXPECT_EQ(state["pools"][1]["key"], 2);
    EXPECT_EQ(state["pools"][1]["is_alive"], true);
}

TEST_F(page_requests, keep_as_many_looks_and_pools_as_fit) {
    for (int i = 0; i != 150; ++i) {
        ships.reset();
        ships.emplace(pool_options{.name = "ships", .capacity = 100, .pool_id = 330});
        ships->emplace(); // so that the next one has fewer objects
        watch.look();
    }
    EXPECT_EQ(data("state")["pools"].size(), 101U); // the last ones that have ended, and the one that lives
    EXPECT_EQ(data("state")["pools"][100]["key"], 150);
    for (int i = 0; i != 1200; ++i) {
        watch.look();
    }
    const json state = data("state");
    EXPECT_EQ(state["look"], 1350);
    EXPECT_EQ(state["looks"].size(), 1200U);
    EXPECT_EQ(state["pools"][100]["key"], 150); // still the same
    EXPECT_EQ(state["looks"][1199]["numbers"][0][0], 150);
    EXPECT_EQ(data("state?since=100")["looks"].size(), 1200U);
    EXPECT_EQ(data("state?since=1000")["looks"].size(), 350U);
}

TEST_F(page_requests, get_details_and_a_map_and_lives) {
    const auto gone = ships->emplace();
    ships->erase(gone);
    const auto here = ships->emplace(ship{0x1234});
    ships->compact();
    watch.look();
    const json details = data("pool?key=1&most=5");
    EXPECT_EQ(details["alive"], 1);
    EXPECT_EQ(details["places"].size(), 1U);
    EXPECT_THAT(details["places"][0]["place"].get<std::string>(),
                testing::AnyOf(HasSubstr("get_details_and_a_map_and_lives"),
                               HasSubstr("page_requests_test.cpp:"), HasSubstr("+0x"))); // without -g
    EXPECT_EQ(details["oldest"].size(), 1U);
    EXPECT_EQ(data("map?key=1")["states"], "a");
    EXPECT_EQ(data("map?key=1&first=1&most=10")["states"], "");
    const json lives = data("life?handle=" + std::to_string(here.value()));
    ASSERT_EQ(lives.size(), 1U);
    EXPECT_EQ(lives[0]["pool"], "ships");
    EXPECT_EQ(lives[0]["alive"], true);
    EXPECT_EQ(lives[0]["bytes"], "34120000");
    EXPECT_THAT(lives[0]["text"].get<std::string>(),
                testing::MatchesRegex("ships #1 generation [0-9]+: alive; created 1 frame ago .*"));
    EXPECT_EQ(data("life?handle=" + std::to_string(gone.value()))[0]["alive"], false);
    EXPECT_EQ(data("life?handle=0x1"), json::array()); // of another pool id
}

TEST_F(page_requests, that_are_wrong_are_told_why) {
    watch.look();
    EXPECT_EQ(error("pool", 400), "the parameter 'key' is missing");
    EXPECT_EQ(error("life?key=1", 400), "the parameter 'handle' is missing");
    EXPECT_EQ(error("pool?key=7", 404), "there is no pool with the key 7");
    EXPECT_EQ(error("nothing", 404), "there is nothing of this name");
    for (const char* const value :
         {"", "x", "-1", "0x", "1.5", "18446744073709551616", "0x10000000000000000", "1%20", "+1"}) {
        EXPECT_EQ(error(std::string("pool?key=") + value, 400),
                  "a parameter of 3 characters is no number of 64 bits")
            << value;
    }
    EXPECT_EQ(error("state?&&", 400), "a parameter of 0 characters is no number of 64 bits");
    EXPECT_EQ(get("state?=1&other=2").result_int(), 200U); // what nobody asks for is passed over
}

TEST_F(page_requests, of_any_characters_are_answered) {
    watch.look();
    std::mt19937 random(11);
    const std::string pieces[] = {"state", "pool",   "map",   "life", "?",    "&",     "=",
                                  "key",   "handle", "first", "most", "1",    "0x1f",  "..",
                                  "/",     "%",      "page",  ".js",  "\xff", "since", "99999999999999999999",
                                  "-1",    "#",      ";",     "'",    "<",    "main"};
    std::map<unsigned, int> answers;
    for (int i = 0; i != 20'000; ++i) {
        std::string what;
        for (auto count = random() % 9; count != 0; --count) {
            what += pieces[random() % std::size(pieces)];
        }
        const page_response response = get(what);
        ++answers[response.result_int()];
        if (response.result_int() != 200) {
            EXPECT_EQ(json::parse(response.body()).size(), 1U) << what;
        }
    }
    EXPECT_EQ(answers.size(), 3U);
    EXPECT_GT(answers[200], 100);
    EXPECT_GT(answers[400], 100);
    EXPECT_GT(answers[404], 100);
}

} // namespace
} // namespace handlepool::inspect_tool
