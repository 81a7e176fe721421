// SPDX-License-Identifier: MIT
#include "html.hpp"
#include "parts.hpp"
#include "results/numbers.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <optional>

namespace handlepool::stress::page {

namespace {

// Figures as a grid of pairs; those that are unknown are left out.
class pairs {
public:
    void add(std::string_view name, std::string_view value, std::string_view note = {}) {
        text_ += fmt::format("<div><dt>{}</dt><dd>{}", escaped(name), escaped(value));
        if (!note.empty()) {
            text_ += fmt::format(" <small>{}</small>", escaped(note));
        }
        text_ += "</dd></div>\n";
    }
    void add(std::string_view name, const std::optional<std::uint64_t>& value, std::string_view note = {}) {
        if (value) {
            add(name, grouped(*value), note);
        }
    }

    std::string html() const {
        return text_.empty() ? "" : fmt::format("<dl class=\"pairs\">\n{}</dl>\n", text_);
    }

private:
    std::string text_{};
};

std::string checked_note(const result& shown) {
    if (shown.sampled.value_or(1) <= 1) {
        return "against the history";
    }
    return fmt::format("against the history, of one handle in {}", grouped(*shown.sampled));
}

void add_work(const result& shown, pairs& to) {
    if (shown.seconds) {
        to.add("time", duration_text(*shown.seconds),
               shown.threads ? plural(*shown.threads, "thread", "threads") : "");
    }
    to.add("frames", shown.frames);
    to.add("operations", shown.operations,
           shown.operations_per_second
               ? fmt::format("{} a second", short_number(*shown.operations_per_second))
               : "");
    if (shown.operations_checked.value_or(0) != 0) { // a replay has no history
        to.add("operations checked", shown.operations_checked, checked_note(shown));
    }
    to.add("created", shown.created,
           shown.destroyed ? fmt::format("{} destroyed", grouped(*shown.destroyed)) : "");
    to.add("alive at the end", shown.alive_final,
           shown.alive_peak ? fmt::format("{} at the peak", grouped(*shown.alive_peak)) : "");
}

void add_checks(const result& shown, pairs& to) {
    to.add("live look-ups", shown.live_lookups,
           shown.content_mismatches
               ? fmt::format("{} with a wrong content", grouped(*shown.content_mismatches))
               : "");
    to.add("stale look-ups", shown.stale_lookups);
    to.add("wrongly accepted", shown.stale_accepted,
           shown.stale_accepted_bound_95 ? fmt::format("below {} of all stale ones, with 95 % confidence",
                                                       small_part_text(*shown.stale_accepted_bound_95))
                                         : "");
    to.add("explained", shown.stale_explained, "by who erased the object, and from where");
    to.add("forged look-ups", shown.forged_lookups);
    to.add("smallest reuse distance", shown.smallest_reuse_distance,
           shown.reuse_delay ? fmt::format("asked for: {}", grouped(*shown.reuse_delay)) : "");
    if (shown.compaction_microseconds) {
        to.add("compaction, median", microseconds_text(shown.compaction_microseconds->median),
               fmt::format("99 %: {}; worst: {}", microseconds_text(shown.compaction_microseconds->p99),
                           microseconds_text(shown.compaction_microseconds->worst)));
    }
    if (shown.bytes_resident) {
        to.add("memory resident", mebibytes_text(*shown.bytes_resident));
    }
}

std::string parameters(const result& shown) {
    std::string text;
    for (const auto& [name, value] : shown.parameters) {
        text += fmt::format("<li>{} <b>{}</b></li>\n", escaped(name), escaped(value));
    }
    return text.empty() ? text
                        : fmt::format("<ul class=\"parameters\" aria-label=\"parameters\">\n{}</ul>\n", text);
}

std::string facts(const result& shown) {
    std::string text;
    for (const auto& [name, value] : shown.facts) {
        text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(name), escaped(value));
    }
    return text.empty() ? text
                        : fmt::format("<div class=\"card facts\"><h4>What it tells besides</h4>\n"
                                      "<dl>\n{}</dl></div>\n",
                                      text);
}

std::string violations(const result& shown) {
    if (shown.passed()) {
        return {};
    }
    std::string text;
    for (const std::string& message : shown.violation_messages) {
        // Of a newline right after the tag the browser would take one away.
        text += fmt::format("<pre>\n{}</pre>\n", escaped(message));
    }
    const std::size_t told = shown.violation_messages.size();
    if (told != 0 && shown.violations > told) {
        text += fmt::format("<p>and {} more</p>\n", grouped(shown.violations - told));
    }
    if (shown.again) {
        text += fmt::format("<p>To run it again: <code>{}</code></p>\n", escaped(*shown.again));
    }
    return fmt::format("<div class=\"violations\"><h4>{}</h4>\n{}</div>\n",
                       plural(shown.violations, "violation", "violations"), text);
}

} // namespace

std::string verdict_badge(std::uint64_t violations) {
    if (violations == 0) {
        return "<span class=\"badge good\">✓ passed</span>";
    }
    return fmt::format("<span class=\"badge bad\">✗ {}</span>",
                       plural(violations, "violation", "violations"));
}

std::string result_section(const result& shown, std::string_view id) {
    pairs figures;
    add_work(shown, figures);
    add_checks(shown, figures);
    const std::string cards = throughput_figure(shown, id) + alive_figure(shown, id) +
                              compaction_figure(shown, id) + latency_figure(shown, id) +
                              reuse_figure(shown, id) + facts(shown);
    std::string text = fmt::format("<section class=\"result\" id=\"{0}\" aria-labelledby=\"{0}-h\">\n"
                                   "<h3 id=\"{0}-h\"><a href=\"#{0}\">{1}</a> {2}</h3>\n",
                                   id, escaped(shown.title()), verdict_badge(shown.violations));
    if (shown.summary) {
        text += fmt::format("<p class=\"summary\">{}</p>\n", escaped(*shown.summary));
    }
    text += parameters(shown);
    text += violations(shown);
    text += figures.html();
    if (!cards.empty()) {
        text += fmt::format("<div class=\"cards\">\n{}</div>\n", cards);
    }
    text += "</section>\n";
    return text;
}

} // namespace handlepool::stress::page
