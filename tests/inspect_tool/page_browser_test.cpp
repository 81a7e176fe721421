// SPDX-License-Identifier: MIT

// The page in a browser without a screen: what is on it, as wide as on a phone and on a desk, light and dark,
// and what comes of clicks and keys.

#include "wait_for_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/programs/started_program.hpp>
#include <tests/support/browser.hpp>
#include <tests/support/contrast_script.hpp>
#include <tests/support/paths.hpp>
#include <tests/support/scratch_directory.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using nlohmann::json;
using support::browser;
using support::colour_scheme;
using testing::HasSubstr;
using testing::MatchesRegex;

// Elements whose words have too little contrast, lie outside the screen, or are cut; and what has no name.
const std::string flaws = "(() => {" + std::string(support::contrast_script) + R"js(
  const backdrop = element => {
    for (let each = element; each; each = each.parentElement) {
      const colour = channels(getComputedStyle(each).backgroundColor);
      if (colour.length === 3) return colour;
    }
    return [255, 255, 255];
  };
  const is_seen = element => element.getClientRects().length > 0;
  const texts = [...document.querySelectorAll('body *')].filter(element => is_seen(element) && own_text(element));
  const colour = element => channels(element.ownerSVGElement ? getComputedStyle(element).fill : getComputedStyle(element).color);
  const words = element => element.tagName + ': ' + element.textContent.trim().slice(0, 40);
  const outside = element => {
    const box = element.getBoundingClientRect();
    return box.left < 0 || (box.right > innerWidth + .5 && !element.closest('.wide'));
  };
  const controls = [...document.querySelectorAll('button, input, select, canvas')].filter(is_seen);
  const is_named = control => control.labels?.length || control.textContent.trim() || control.ariaLabel;
  return [
    ...texts.filter(text => contrast(colour(text), backdrop(text)) < 4.5).map(text => 'faint ' + words(text)),
    ...texts.filter(outside).map(text => 'outside ' + words(text)),
    ...controls.filter(control => !is_named(control)).map(control => 'without a name ' + control.outerHTML.slice(0, 60)),
    ...(document.documentElement.scrollWidth > innerWidth ? ['wider than the screen'] : []),
  ];
})())js";

const std::string alive_rocks = "document.querySelector('#pools tbody tr:nth-child(3)').cells[1].textContent";

struct page_in_browser : testing::TestWithParam<std::tuple<int, colour_scheme>> {
    void SetUp() override {
        std::istringstream(wait_for_output(directory.path() / "example", "(0x.*)\n")[1]) >> kept >> lost;
        server.emplace(std::vector<std::string>{support::paths::inspect_program, std::to_string(example.id()),
                                                "--page", "--over", "0.1"},
                       directory.path() / "server");
        page.open(wait_for_output(directory.path() / "server", "(http://.*/) until")[1]);
        page.wait_for("document.querySelectorAll('#pools tbody tr').length === 4");
    }
    void TearDown() override {
        if (server) { // else it can't be asked
            EXPECT_EQ(page.complaints().empty() ? "" : page.complaints().front(), "");
        }
        EXPECT_EQ(page.value_of(flaws), json::array());
        if (const char* const folder = std::getenv("HANDLEPOOL_PICTURES")) { // to be looked at
            std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
            std::replace(name.begin(), name.end(), '/', '_');
            std::ofstream(std::filesystem::path(folder) / (name + ".png")) << page.picture();
        }
    }

    std::string text_of(const std::string& selector) {
        return page.value_of("document.querySelector('" + selector + "').innerText");
    }
    void wait_for_text(const std::string& selector, const std::string& expression) {
        page.wait_for("/" + expression + "/.test(document.querySelector('" + selector + "').innerText)");
    }
    void wait_until_changed(const std::string& expression) {
        page.wait_for(expression + " !== " + page.value_of(expression).dump());
    }
    void open_pool(const std::string& name) {
        page.value_of(
            "[...document.querySelectorAll('#pools button')].find(button => button.textContent === '" + name +
            "').id = 'wanted'");
        page.click("#wanted");
        wait_for_text("#pool-title", "^" + name + "$");
    }

    support::scratch_directory directory;
    support::started_program example{{support::paths::inspect_example, "busy"}, directory.path() / "example"};
    std::optional<support::started_program> server;
    browser page{std::get<0>(GetParam()), 900, std::get<1>(GetParam())};
    std::string kept;
    std::string lost;
};

TEST_P(page_in_browser, shows_who_erased_an_object) {
    page.press("/");
    for (const char each : lost) {
        page.press(std::string(1, each));
    }
    page.press("Enter");
    page.wait_for("document.querySelector('.life.ended')");
    EXPECT_THAT(
        text_of("#life-content"),
        MatchesRegex(
            "stations #1 generation 1: erased 1 frame ago by thread \"logic\" in game::explode\\(\\) at "
            "example.cpp:[0-9]+; created 6 frames ago by thread \"logic\" in game::found\\(\\) at "
            "example.cpp:[0-9]+"));
    EXPECT_EQ(text_of("#life-title"), "The life of " + lost);
    page.value_of("document.getElementById('handle').value = '" + kept + "'");
    page.click("#search button");
    page.wait_for("document.querySelector('.life.alive')");
    EXPECT_THAT(text_of("#life-content"), HasSubstr("bytes 07000000"));
    page.value_of("document.getElementById('handle').value = 'ship 12 lost its target " + lost + "!'");
    page.click("#search button");
    page.wait_for("document.querySelector('.life.ended')");
    EXPECT_EQ(text_of("#life-title"), "The life of " + lost);
    page.value_of("document.getElementById('handle').value = '<b>no</b>'");
    page.click("#search button");
    wait_for_text("#life-content", "is no handle");
    EXPECT_EQ(text_of("#life-content"),
              "“<b>no</b>” is no handle: a handle is a number of 64 bits, 4294968317 or 0x1000003fd.");
    page.value_of("document.getElementById('handle').value = '1'");
    page.click("#search button");
    wait_for_text("#life-content", "No pool here has the pool id of 1.");
    for (const auto& [handle, answer] : {std::pair{"0x0", "^0x0 is the null handle, which is of no pool.$"},
                                         {"18446744073709551616", "is no handle"}}) {
        page.value_of(std::string("document.getElementById('handle').value = '") + handle + "'");
        page.click("#search button");
        wait_for_text("#life-content", answer);
    }
}

TEST_P(page_in_browser, says_what_stands_out) {
    wait_for_text("#notices", "rocks: .* more each second");
    wait_for_text("#notices", "stations: a compaction by thread “frames” has waited .* for guards: thread "
                              "“render” has held a guard for .*, "
                              "made in game::draw.*example.cpp");
    // The notice leads to where they are created.
    page.value_of("[...document.querySelectorAll('#notices button')].find(button => "
                  "/^rocks/.test(button.textContent)).id = "
                  "'growth'");
    page.click("#growth");
    wait_for_text("#view-objects", "game::forget.. at example.cpp:[0-9]+");
    page.wait_for("/^[+]/.test(document.querySelector('#view-objects .more')?.textContent)");
    EXPECT_THAT(text_of("#view-objects tbody tr"), HasSubstr("game::forget() at example.cpp"));
    EXPECT_THAT(text_of("#pool-facts"), HasSubstr("game::rock, 4 bytes each; pool id 7"));
    EXPECT_EQ(page.value_of("document.getElementById('view-charts').getClientRects().length"), 0);
    // The oldest objects lead to their lives.
    page.click("#view-objects table:last-of-type button");
    page.wait_for("document.querySelector('.life')");
}

TEST_P(page_in_browser, draws_charts_and_goes_back_in_time) {
    open_pool("rocks");
    page.press("1");
    page.wait_for("document.querySelectorAll('#view-charts figure').length === 6");
    page.wait_for("Number(document.getElementById('moment').max) > 20");
    page.wait_for("document.querySelector('[data-chart=Alive] path').getTotalLength() > 200");
    const std::string later = page.value_of(alive_rocks);
    page.value_of("(() => { const moment = document.getElementById('moment'); moment.value = 2; "
                  "moment.dispatchEvent(new Event('input')); })()");
    page.wait_for("document.querySelector('#view-charts .cursor')");
    EXPECT_THAT(text_of("#moment-text"), MatchesRegex("[0-9.]+ s ago"));
    EXPECT_EQ(text_of("#moment-note"),
              "The charts and the table of pools are of that moment; all else is of now.");
    const std::string earlier = page.value_of(alive_rocks);
    EXPECT_NE(earlier, later);
    std::this_thread::sleep_for(std::chrono::seconds(1)); // it stays where it is
    EXPECT_EQ(page.value_of(alive_rocks), earlier);
    page.value_of("(() => { const moment = document.getElementById('moment'); moment.value = moment.max; "
                  "moment.dispatchEvent(new Event('input')); })()");
    wait_for_text("#moment-text", "^now$");
    page.value_of("(() => { const moment = document.getElementById('moment'); moment.value = 2; "
                  "moment.dispatchEvent(new Event('input')); })()");
    page.click("#to-now");
    wait_for_text("#moment-text", "^now$");
    page.wait_for("!document.querySelector('#view-charts .cursor')");
}

TEST_P(page_in_browser, changes_nothing_while_it_is_paused) {
    // The answers to what is named by `kept_back` are late.
    page.value_of(R"js((() => {
        const ask = fetch;
        window.asked = {state: 0, pool: 0, map: 0, life: 0};
        window.answered = {...asked};
        window.fetch = async (what, ...all) => {
            const kind = what.split('?')[0];
            ++asked[kind];
            const answer = await ask(what, ...all);
            if (kind === window.kept_back) await new Promise(done => window.let_go = done);
            if (kind === 'state') window.look = (await answer.clone().json()).look;
            ++answered[kind];
            return answer;
        };
    })())js");
    open_pool("rocks");
    struct shown_answer {
        std::string question;
        std::string view; // its key
        std::string shown;
    };
    for (const auto& [question, view, shown] : {shown_answer{"state", "1", "#pools"},
                                                {"pool", "2", "#view-objects"},
                                                {"life", "2", "#life-content"},
                                                {"map", "3", "#cell"}}) {
        page.value_of("document.activeElement.blur()"); // a button would take the key
        page.press(view);
        if (question == "life") {
            page.wait_for("document.querySelector('#view-objects table:last-of-type button')");
            page.click("#view-objects table:last-of-type button");
            page.value_of("document.activeElement.blur()");
        }
        // Once more after what was asked for by a key or button, which shows it in any case.
        const std::string asked = "asked." + question;
        const std::string answered = "answered." + question;
        page.wait_for(answered + " >= " + page.value_of(asked + " + 2").dump() + " && " + answered +
                      " === " + asked + " && (window.kept_back = '" + question + "')");
        page.wait_for("window.let_go");
        page.press(" ");
        wait_for_text("#connection", "^paused$");
        const std::string before = text_of(shown);
        page.value_of("(() => { kept_back = undefined; let_go(); let_go = undefined; })()");
        page.wait_for("answered.state >= " + page.value_of("asked.state + 1").dump());
        EXPECT_EQ(text_of(shown), before) << question;
        page.press(" ");
        wait_for_text("#connection", "live");
        wait_until_changed("document.querySelector('" + shown + "').innerText");
    }
    // The looks of meanwhile are shown afterwards, as many as the page keeps.
    page.wait_for("Number(document.getElementById('moment').max) + 1 === Math.min(look, 1200)");
}

TEST_P(page_in_browser, draws_the_store) {
    open_pool("rocks");
    page.press("3");
    wait_for_text("#cell",
                  "Cell 0: alive, 0x[0-9a-f]+, [0-9]+ frames old, created in game::split.. at example.cpp");
    const auto legend = [this](const std::string& way) {
        page.value_of("(() => { const way = document.getElementById('way'); way.value = '" + way +
                      "'; way.dispatchEvent(new Event('change')); })()");
        return text_of("#view-map .legend");
    };
    EXPECT_THAT(legend("age"), HasSubstr("frames"));
    EXPECT_THAT(legend("creator"), HasSubstr("game::forget() at example.cpp"));
    EXPECT_THAT(legend("state"), HasSubstr("newborn"));
    EXPECT_THAT(legend("written"), HasSubstr("as before"));
    // One object is written each frame: its cell, the first, is the only one of that colour. Of the smallest
    // cells, which they are when there are many, only this pixel lies within the frame.
    page.wait_for(
        "[...document.querySelector('canvas').getContext('2d').getImageData(1, 1, 1, 1).data].join() "
        "=== '224,130,20,255' && document.querySelector('#cell').textContent");
    page.value_of("document.querySelector('canvas').focus()");
    page.press("ArrowRight");
    wait_for_text("#cell", "^Cell 1: ");
    page.press("ArrowLeft");
    page.press("Enter");
    page.wait_for("document.querySelector('.life.alive')");
    EXPECT_THAT(text_of("#life-content"), HasSubstr("rocks #0 generation 1: alive"));
    // Whose pool says nothing of ages and places.
    open_pool("sparks");
    wait_for_text("#cell", "Cell 0: alive, 0x[0-9a-f]+$");
}

TEST_P(page_in_browser, compares_two_moments) {
    page.press("m");
    wait_for_text("#marks", "is kept; keep another one to compare");
    for (int looks = 0; looks != 3; ++looks) { // the first may be of a moment before
        wait_until_changed(alive_rocks);
    }
    page.click("#mark");
    page.wait_for("document.querySelectorAll('#comparison table').length === 2");
    EXPECT_THAT(text_of("#comparison table:first-of-type"), HasSubstr("stations"));
    page.wait_for("/game::forget.*example.cpp:[0-9]+\\s+(rocks\\s+)?[0-9.]+.*[+]/"
                  "s.test(document.getElementById('comparison').innerText)");
    page.value_of("(() => { const second = document.getElementById('second'); second.value = 0; "
                  "second.dispatchEvent(new Event('change')); })()");
    wait_for_text("#comparison", "No place has more or fewer living objects than before.");
}

TEST_P(page_in_browser, keeps_moments_by_name_when_it_is_loaded_again) {
    page.press("2");
    page.wait_for(
        "/game::found/.test(document.querySelector('#view-objects').innerText)"); // and what was seen first
    page.value_of("document.getElementById('mark-name').value = 'before the wave'");
    page.click("#mark");
    wait_for_text("#marks", "^before the wave is kept; keep another one to compare. Forget all$");
    page.reload();
    page.wait_for("document.querySelectorAll('#pools tbody tr').length === 4");
    wait_for_text("#marks", "^before the wave is kept; keep another one to compare. Forget all$");
    wait_for_text("#pool-title", "^stations$");
    EXPECT_EQ(page.value_of("document.getElementById('tab-objects').getAttribute('aria-selected')"), "true");
    page.value_of("document.getElementById('mark-name').value = 'after it'");
    page.value_of("document.getElementById('mark-name').focus()");
    page.press("Enter");
    wait_for_text("#comparison", "before the wave\\s+after it\\s+change");
    page.click("#forget");
    wait_for_text("#marks", "^$");
    wait_for_text("#comparison", "^$");
}

// What takes long is asked seldom: here the server's answers say so.
TEST_P(page_in_browser, reads_pools_so_seldom_that_it_costs_little) {
    page.value_of("(() => { const asked = window.asked = {pool: 0, state: 0}; const really = window.fetch; "
                  "window.fetch = async (what, ...more) => { const name = what.split('?')[0]; asked[name] = "
                  "(asked[name] ?? 0) + 1; "
                  "const answer = await really(what, ...more); if (name !== 'pool') return answer; "
                  "const told = {...await answer.json(), processor_seconds: 20}; "
                  "return {ok: true, json: async () => told}; }; })()");
    EXPECT_EQ(page.value_of("document.getElementById('reading').hidden"), true);
    wait_for_text("#notices", "the service: thread “network”"); // which moves all below it
    open_pool("rocks");
    page.press("2");
    wait_for_text("#reading-text",
                  "^Read [0-9]+ s ago; again in [0-9]+ s, so that it takes 2 % of a processor at the most.$");
    const int asked = page.value_of("window.asked.pool");
    page.wait_for("window.asked.state > 3");
    EXPECT_EQ(page.value_of("window.asked.pool"), asked);
    wait_for_text("#reading-text", "^Read [1-9]");
    page.value_of("document.getElementById('read-now').click()"); // it moves with the words before it
    page.wait_for("window.asked.pool === " + std::to_string(asked + 1));
    page.press("r");
    page.wait_for("window.asked.pool === " + std::to_string(asked + 2));
    page.press("1");
    page.wait_for("document.getElementById('reading').hidden");
}

TEST_P(page_in_browser, tells_who_holds_guards_of_a_service) {
    wait_for_text("#notices", "the service: thread “network” has held a guard for [0-9.]+ s, made in "
                              "game::serve.* at example.cpp:[0-9]+");
    wait_for_text("#pools tr[data-key^=service]", "^the service[–\\s]+guarded$");
}

TEST_P(page_in_browser, tells_ages_in_time_while_frames_end) {
    open_pool("rocks");
    page.press("2");
    wait_for_text("#view-objects", "the oldest [0-9.]+( k)? \\(about [0-9.]+ (ms|s)\\)\\.");
}

TEST_P(page_in_browser, is_used_by_keys) {
    open_pool("stations");
    page.value_of("document.activeElement.blur()");
    page.press("j");
    wait_for_text("#pool-title", "^sparks$");
    page.press("k");
    page.press("k");
    wait_for_text("#pool-title", "^rocks$");
    page.value_of("document.getElementById('tab-charts').focus()");
    page.press("ArrowRight");
    EXPECT_EQ(page.value_of("document.activeElement.id"), "tab-objects");
    EXPECT_EQ(page.value_of("document.activeElement.getAttribute('aria-selected')"), "true");
    wait_for_text("#view-objects", "created in");
    page.press("ArrowLeft");
    page.press("ArrowLeft");
    EXPECT_EQ(page.value_of("document.activeElement.id"), "tab-map");
}

TEST_P(page_in_browser, keeps_what_was_known_of_a_program_that_has_ended) {
    page.wait_for("Number(document.getElementById('moment').max) > 5");
    wait_for_text("#notices", "stations: a compaction by thread “frames” has waited");
    open_pool("stations");
    page.press("2");
    wait_for_text("#view-objects", "game::leak.. at example.cpp");
    page.value_of("document.activeElement.blur()"); // a button would take the key
    page.press(" ");
    wait_for_text("#connection", "^paused$");
    example.kill();
    wait_for_text("#connection", "^paused; the program has ended$");
    page.press(" ");
    wait_for_text("#connection", "has ended; this is what was known of it");
    EXPECT_THAT(text_of("#pools"), HasSubstr("waits for guards")); // as it was
    wait_for_text("#notices", "stations: a compaction by thread “frames” has waited");
    EXPECT_EQ(page.value_of("document.getElementById('mark').disabled"), true);
    wait_for_text("#reading-text", "^The program has ended; this was read [0-9]+ s ago.$");
    EXPECT_THAT(text_of("#view-objects"), HasSubstr("game::leak() at example.cpp")); // it can be read on
    page.press("3");
    wait_for_text("#cell", "^The program has ended: what is in the pool is not known.$");
    EXPECT_EQ(page.value_of("document.getElementById('reading').hidden"), true);
    page.press("2");
    wait_for_text("#reading-text", "^The program has ended; this was read [0-9]+ s ago.$");
    page.press("j");
    wait_for_text("#view-objects", "^The program has ended: what is in the pool is not known.$");
    page.press("k");
    wait_for_text("#pool-title", "^stations$");
    wait_for_text("#view-objects", "^The program has ended: what is in the pool is not known.$");
    EXPECT_EQ(page.value_of("document.getElementById('reading').hidden"), true);
    EXPECT_TRUE(page.complaints().empty());
    server.reset();
    wait_for_text("#connection", "handlepool-inspect does not answer");
}

INSTANTIATE_TEST_SUITE_P(screens, page_in_browser,
                         testing::Combine(testing::Values(390, 1280),
                                          testing::Values(colour_scheme::light, colour_scheme::dark)),
                         [](const auto& screen) {
                             return std::to_string(std::get<0>(screen.param)) +
                                    (std::get<1>(screen.param) == colour_scheme::dark ? "_dark" : "_light");
                         });

} // namespace
} // namespace handlepool::test
