// SPDX-License-Identifier: MIT

// Opens a page in a browser without a screen, as wide as on a phone, a tablet and a desk, light and dark, and
// measures what is there.

#include "page_sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <support/programs/run_program.hpp>
#include <tests/support/browser.hpp>
#include <tests/support/contrast_script.hpp>
#include <tests/support/scratch_directory.hpp>

#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::stress {
namespace {

using support::colour_scheme;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Measures page.html in three frames, and leaves the result in its own document.
const std::string measuring_page = R"html(<!DOCTYPE html>
<meta charset="utf-8">
<iframe src="page.html" style="border: 0; width: 390px; height: 844px"></iframe>
<iframe src="page.html" style="border: 0; width: 768px; height: 1024px"></iframe>
<iframe src="page.html" style="border: 0; width: 1280px; height: 900px"></iframe>
<pre id="measured"></pre>
<script>)html" + std::string(support::contrast_script) +
                                   R"html(
const measure = frame => {
  const view = frame.contentWindow, page = frame.contentDocument;
  const all = (selector, root = page) => [...root.querySelectorAll(selector)];
  const backdrop = element => {
    for (let each = element; each; each = each.parentElement) {
      const colour = channels(view.getComputedStyle(each).backgroundColor);
      if (colour.length === 3) return colour;
    }
  };
  const text_contrast = element => {
    const style = view.getComputedStyle(element);
    return contrast(channels(element.ownerSVGElement ? style.fill : style.color), backdrop(element));
  };
  const figures = all('figure[data-chart]').map(figure => {
    const svg = figure.querySelector('svg[role=img]'), frame = svg.getBoundingClientRect();
    const texts = all('text', svg).map(text => ({words: text.textContent, box: text.getBoundingClientRect()}));
    const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
    const inside = ({left, right, top, bottom}) => left >= frame.left - 1 && right <= frame.right + 1 &&
                                                   top >= frame.top - 1 && bottom <= frame.bottom + 1;
    const overlaps = texts.flatMap((one, i) => texts.slice(i + 1)
        .filter(other => !apart(one.box, other.box)).map(other => one.words + ' / ' + other.words));
    const line_of = box => svg.querySelector('.line.' + box.value);
    const is_seen = box => view.getComputedStyle(line_of(box)).visibility === 'visible';
    const is_struck = box => view.getComputedStyle(box.parentElement).textDecorationLine === 'line-through';
    const is_shown = box => is_seen(box) && !is_struck(box), is_hidden = box => !is_seen(box) && is_struck(box);
    const hides = box => { box.click(); const hidden = is_hidden(box); box.click(); return hidden; };
    const boxes = all('input', figure);
    const shapes = all('path.line, path.area, path.band, rect.bar', svg).map(shape => shape.getBoundingClientRect());
    return {
      chart: figure.dataset.chart, width: frame.width, height: frame.height,
      shapes: shapes.filter(box => box.width + box.height > 0).length,
      empty_shapes: shapes.filter(box => box.width + box.height === 0).length,
      caption: figure.querySelector('figcaption').innerText.trim().length,
      boxes: boxes.length, curves: all('.line', svg).length,
      stuck: boxes.filter(box => !is_shown(box) || !hides(box) || !is_shown(box)).map(box => box.value),
      tips: all('.tip, .bar', svg).filter(shape => shape.querySelector('title')?.textContent.includes(' to ')).length,
      overlaps, outside: texts.filter(text => !inside(text.box)).map(text => text.words),
      letters: Math.min(...all('text', svg).map(text => parseFloat(view.getComputedStyle(text).fontSize)))
               * frame.width / svg.viewBox.baseVal.width,
      line_contrast: Math.min(...all('.line, .bar', svg).map(shape => {
        const style = view.getComputedStyle(shape);
        return contrast(channels(style.stroke === 'none' ? style.fill : style.stroke), backdrop(svg));
      })),
    };
  });
  // Without scrolling. The names of columns are at the top, or with each value.
  const is_shown = cell => !cell.closest('thead') || view.getComputedStyle(cell.closest('thead')).clipPath === 'none';
  const cells = all('.wide td, .wide th').filter(is_shown);
  const has_head = table => is_shown(table.querySelector('thead th'));
  const in_sight = cell => {
    const box = cell.getBoundingClientRect(), place = cell.closest('.wide').getBoundingClientRect();
    return box.width > 0 && box.left >= place.left && box.right <= place.right && cell.scrollWidth <= cell.clientWidth;
  };
  const is_named = cell => has_head(cell.closest('table')) ||
                           view.getComputedStyle(cell, '::before').content.replace(/["' ]/g, '').length > 3;
  const texts = all('body *').filter(element => own_text(element) && !element.closest('title, desc, .unseen'));
  return {
    inner_width: view.innerWidth, scroll_width: page.documentElement.scrollWidth, figures,
    background: luminance(channels(view.getComputedStyle(page.body).backgroundColor)),
    faint: texts.filter(text => text_contrast(text) < 4.5).map(text => text.textContent.slice(0, 40)),
    cells: cells.length, cut: cells.filter(cell => !in_sight(cell)).map(cell => cell.textContent.slice(0, 40)),
    unnamed: all('.overview td:not(:nth-child(2))').filter(cell => !is_named(cell)).length,
    scripts: page.scripts.length, title: page.title,
    requests: view.performance.getEntriesByType('resource').length,
    headings: all('h3').map(heading => heading.innerText),
  };
};

addEventListener('load', () => {
  const measured = [...document.querySelectorAll('iframe')].map(measure);
  document.getElementById('measured').textContent = JSON.stringify(measured).replace(/[<&>]/g, '?');
});
</script>
)html";

// What the measuring page has found, first for the phone, last for the desk.
nlohmann::json measured_in_browser(const std::string& page, colour_scheme scheme) {
    const support::scratch_directory scratch;
    std::ofstream(scratch.path() / "page.html") << page;
    std::ofstream(scratch.path() / "measure.html") << measuring_page;
    const support::run_result run = support::run_program(
        {"timeout", "--kill-after=5", "60", support::browser_program(), "--headless", "--hide-scrollbars",
         "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--allow-file-access-from-files",
         "--user-data-dir=" + (scratch.path() / "profile").string(),
         "--blink-settings=preferredColorScheme=" + std::to_string(static_cast<int>(scheme)),
         "--enable-logging=stderr", "--dump-dom", "file://" + (scratch.path() / "measure.html").string()});
    constexpr std::string_view before = "<pre id=\"measured\">";
    const std::size_t begin = run.output.find(before);
    const std::size_t end = run.output.find("</pre>", begin);
    if (run.status != 0 || begin == std::string::npos || end == begin + before.size()) {
        throw std::runtime_error("the browser ended with " + std::to_string(run.status) + ": " + run.errors);
    }
    EXPECT_THAT(run.errors, Not(HasSubstr("Content Security Policy")));
    EXPECT_THAT(run.errors, Not(HasSubstr("CONSOLE")));
    return nlohmann::json::parse(run.output.substr(begin + before.size(), end - begin - before.size()));
}

// Names without a place to break, huge numbers, long messages, and what a page must not take for its own.
std::string hard_page() {
    const std::string endless(120, 'w');
    nlohmann::json failed = sample_result("<script>document.title = 'taken over'</script>" + endless);
    failed["parameters"]["trace"] = "/" + endless + "/" + endless;
    failed["facts"][endless] = endless;
    failed["violations"] = 18'446'744'073'709'551'615U;
    failed["violation_messages"] = {endless + endless + "\n  " + endless, "<img src=x onerror=alert(1)>"};
    failed["operations"] = failed["stale_lookups"] = 18'446'744'073'709'551'615U;
    failed["summary"] = endless;
    nlohmann::json document = sample_document({sample_result("overlap"), failed});
    document["command_line"] = "handlepool-stress run " + endless;
    document["machine"]["system"] = endless;
    return page_of({document, sample_replay()});
}

// The extremes of each curve: labels must have room there too.
std::string narrow_page() {
    nlohmann::json sample = sample_result("narrow");
    sample["timeline"] = {{"seconds", {0.1, 0.2}}, {"operations", {1, 2}}, {"alive", {0, 1}}};
    sample["compaction_by_frame"] = {{"frame", {0}}, {"microseconds", {12}}};
    sample["compaction_microseconds"] = {{"median", 10}, {"p99", 10}, {"worst", 12}};
    sample["reuse_distances"] = {{"upper", {64, 128}}, {"counts", {0, 1}}};
    sample["latencies_nanoseconds"] = {{"find", {{"upper", {20, 40}}, {"counts", {0, 1}}}}};
    nlohmann::json wide = sample_result("wide");
    wide["timeline"] = {{"seconds", {1e-3, 9e5}}};
    for (const char* key : {"operations", "alive"}) {
        wide["timeline"][key] = {1, 9'000'000'000'000'000'000U};
    }
    wide["reuse_distances"] = {{"upper", {1, 1e15}}, {"counts", {1, 9'000'000'000'000'000'000U}}};
    wide["reuse_delay"] = 999'999'999'999'999U;
    wide["latencies_nanoseconds"] = {
        {"find", {{"upper", {1, 1e12, 1e15}}, {"counts", {999'999'999'999U, 1, 1}}}}};
    return page_of({sample_document({sample, wide})});
}

class page_in_browser : public testing::TestWithParam<colour_scheme> {};

void check_figure(const nlohmann::json& figure) {
    SCOPED_TRACE(figure["chart"].get<std::string>());
    EXPECT_GT(figure["width"], 300);
    EXPECT_GT(figure["height"], 150);
    EXPECT_GT(figure["shapes"], 0);
    EXPECT_EQ(figure["empty_shapes"], 0);
    EXPECT_GT(figure["caption"], 0);
    EXPECT_THAT(figure["overlaps"], IsEmpty());
    EXPECT_THAT(figure["outside"], IsEmpty());
    EXPECT_THAT(figure["stuck"], IsEmpty());
    if (figure["chart"] == "latency") {
        EXPECT_EQ(figure["boxes"], figure["curves"]);
    } else {
        EXPECT_GT(figure["tips"], 0);
    }
    EXPECT_GE(figure["letters"], 10.5); // CSS pixels
    EXPECT_GE(figure["line_contrast"], 3);
}

void check_view(const nlohmann::json& view, std::size_t charts_of_each_kind, colour_scheme scheme) {
    SCOPED_TRACE(view["inner_width"].dump() + " pixels wide");
    EXPECT_LE(view["scroll_width"], view["inner_width"]);
    std::map<std::string, std::size_t> charts;
    for (const nlohmann::json& figure : view["figures"]) {
        ++charts[figure["chart"]];
        check_figure(figure);
    }
    for (const char* const chart : {"throughput", "alive", "latency", "compaction", "reuse"}) {
        EXPECT_EQ(charts[chart], charts_of_each_kind) << chart;
    }
    EXPECT_EQ(charts.size(), 5);
    EXPECT_GT(view["cells"], 30);
    EXPECT_THAT(view["cut"], IsEmpty());
    EXPECT_EQ(view["unnamed"], 0);
    EXPECT_THAT(view["faint"], IsEmpty());
    EXPECT_EQ(view["background"] < 0.2, scheme == colour_scheme::dark);
    EXPECT_EQ(view["scripts"], 0);
    EXPECT_EQ(view["requests"], 0);
    EXPECT_THAT(view["title"].get<std::string>(), HasSubstr("handlepool-stress"));
}

TEST_P(page_in_browser, charts_are_there_and_fit) {
    const nlohmann::json views = measured_in_browser(hard_page(), GetParam());
    ASSERT_EQ(views.size(), 3);
    EXPECT_EQ(views[0]["inner_width"], 390);
    EXPECT_EQ(views[1]["inner_width"], 768);
    EXPECT_EQ(views[2]["inner_width"], 1280);
    for (const nlohmann::json& view : views) {
        check_view(view, 2, GetParam());
        EXPECT_EQ(view["headings"].size(), 3);
    }
}

TEST_P(page_in_browser, curves_of_extreme_ranges_fit) {
    for (const nlohmann::json& view : measured_in_browser(narrow_page(), GetParam())) {
        check_view(view, 2, GetParam());
    }
}

INSTANTIATE_TEST_SUITE_P(schemes, page_in_browser, testing::Values(colour_scheme::light, colour_scheme::dark),
                         [](const auto& scheme) {
                             return scheme.param == colour_scheme::dark ? "dark" : "light";
                         });

} // namespace
} // namespace handlepool::stress
