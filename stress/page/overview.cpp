// SPDX-License-Identifier: MIT
#include "html.hpp"
#include "parts.hpp"
#include "results/numbers.hpp"
#include "watched/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

namespace handlepool::stress::page {

namespace {

// ---- Totals

struct sums {
    std::size_t results = 0;
    std::size_t failed = 0;
    double seconds = 0;
    findings all{};

    void add(const result& each) {
        ++results;
        failed += each.passed() ? 0 : 1;
        seconds += each.seconds.value_or(0);
        all += {.operations = each.operations.value_or(0),
                .checked = each.operations_checked.value_or(0),
                .stale_lookups = each.stale_lookups.value_or(0),
                .stale_accepted = each.stale_accepted.value_or(0),
                .violations = each.violations};
    }
};

std::string verdict(const sums& sum, const std::string& failures) {
    if (sum.failed == 0) {
        return fmt::format("<p class=\"verdict good\"><strong>✓ {}</strong></p>\n",
                           sum.results == 1
                               ? "Passed: no wrong answer"
                               : fmt::format("All {} results passed: no wrong answer", grouped(sum.results)));
    }
    return fmt::format("<p class=\"verdict bad\"><strong>✗ {} in {} of {}</strong> <span>{}</span></p>\n",
                       plural_sum(sum.all.violations, "violation", "violations"), grouped(sum.failed),
                       plural(sum.results, "result", "results"), failures);
}

std::string tile(std::string_view name, std::uint64_t value, std::string_view note, bool bad = false) {
    return fmt::format("<div{}><dt>{}</dt><dd>{}</dd><dd class=\"note\">{}</dd></div>\n",
                       bad ? " class=\"bad\"" : "", name, grouped_sum(value), note);
}

std::string accepted_note(const findings& all) {
    const std::optional<double> bound = all.accepted_bound_95();
    return bound ? fmt::format("below {} of all tries, with 95 % confidence", small_part_text(*bound)) : "";
}

// ---- Provenance

// ISO 8601 to a text that breaks at spaces; what is none is left alone.
std::string date_text(const std::string& started) {
    if (started.size() != 20 || started[10] != 'T' || started.back() != 'Z') {
        return escaped(started);
    }
    return fmt::format("<time datetime=\"{0}\">{1} {2} UTC</time>", escaped(started),
                       escaped(started.substr(0, 10)), escaped(started.substr(11, 8)));
}

// ---- The table

// The operations that have a column: those that were measured somewhere.
std::vector<std::string_view> measured_operations(std::span<const result_file> files) {
    std::vector<std::string_view> measured;
    for (const std::string_view operation : {"emplace", "erase", "find", "contains"}) {
        const auto measures = [&](const result& each) {
            return each.latencies_nanoseconds.contains(operation);
        };
        const bool somewhere = std::ranges::any_of(files, [&](const result_file& file) {
            return std::ranges::any_of(file.document.scenarios, measures);
        });
        if (somewhere) {
            measured.push_back(operation);
        }
    }
    return measured;
}

std::string table_head(std::span<const std::string_view> operations) {
    std::string text = "<thead><tr>";
    for (const std::string_view name :
         {"result", "verdict", "operations", "a second", "stale look-ups", "wrongly accepted"}) {
        text += fmt::format("<th scope=\"col\" rowspan=\"2\">{}</th>", name);
    }
    text += fmt::format("<th scope=\"colgroup\" colspan=\"{}\" class=\"group\">longest</th></tr>\n<tr>",
                        operations.size() + 1);
    for (const std::string_view operation : operations) {
        text += fmt::format("<th scope=\"col\">{}</th>", operation);
    }
    text += "<th scope=\"col\">compaction</th></tr></thead>\n";
    return text;
}

std::string table_row(const result& shown, const std::string& id,
                      std::span<const std::string_view> operations) {
    std::string row = fmt::format("<tr><th scope=\"row\"><a href=\"#{}\">{}</a></th><td>{}</td>", id,
                                  escaped(shown.title()), verdict_badge(shown.violations));
    // Where the table is too wide, each value stands below the name of its column.
    const auto add = [&row](std::string_view column, const auto& number, const auto& format,
                            bool is_bad = false) {
        row += fmt::format("<td data-column=\"{}\"{}>{}</td>", column, is_bad ? " class=\"bad\"" : "",
                           number ? format(*number) : "–");
    };
    add("operations", shown.operations, grouped);
    add("a second", shown.operations_per_second, short_number);
    add("stale look-ups", shown.stale_lookups, grouped);
    add("wrongly accepted", shown.stale_accepted, grouped, shown.stale_accepted.value_or(0) != 0);
    for (const std::string_view operation : operations) {
        const auto measured = shown.latencies_nanoseconds.find(operation);
        add(fmt::format("longest {}", operation),
            measured == shown.latencies_nanoseconds.end() ? std::nullopt : measured->second.worst,
            nanoseconds_text);
    }
    add("longest compaction", shown.compaction_microseconds,
        [](const compaction_figures& times) { return microseconds_text(times.worst); });
    row += "</tr>\n";
    return row;
}

} // namespace

std::string anchor(std::size_t file, std::size_t position) {
    return fmt::format("r{}-{}", file + 1, position + 1);
}

std::string verdict_and_totals(std::span<const result_file> files) {
    sums sum;
    std::string failures;
    for (std::size_t i = 0; i < files.size(); ++i) {
        for (std::size_t j = 0; j < files[i].document.scenarios.size(); ++j) {
            const result& each = files[i].document.scenarios[j];
            sum.add(each);
            if (!each.passed()) {
                failures += fmt::format("{}<a href=\"#{}\">{}</a>", failures.empty() ? "" : ", ",
                                        anchor(i, j), escaped(each.title()));
            }
        }
    }
    const findings& all = sum.all;
    std::string text = verdict(sum, failures);
    text += "<dl class=\"tiles\">\n";
    text += tile("operations", all.operations, fmt::format("in {}", duration_text(sum.seconds)));
    if (all.checked != 0) {
        text += tile("operations checked", all.checked, "against the history");
    }
    text += tile("stale look-ups tried", all.stale_lookups, "with handles of erased objects");
    text += tile("wrongly accepted", all.stale_accepted, accepted_note(all), all.stale_accepted != 0);
    text += "</dl>\n";
    return text;
}

std::string provenance(const result_file& file) {
    std::string rows;
    const auto row = [&rows](std::string_view name, const std::string& html) {
        if (!html.empty()) {
            rows += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, html);
        }
    };
    const result_document& document = file.document;
    const machine_description machine = document.machine.value_or(machine_description());
    row("file", fmt::format("<code>{}</code>", escaped(file.name)));
    if (document.command_line) {
        row("command", fmt::format("<code>{}</code>", escaped(*document.command_line)));
    }
    row("started", date_text(document.started.value_or("")));
    row("version", escaped(document.version.value_or("")));
    row("processors", machine.processors ? grouped(*machine.processors) : "");
    row("system", escaped(machine.system.value_or("")));
    row("compiler", escaped(machine.compiler.value_or("")));
    row("build", escaped(machine.build.value_or("")));
    return fmt::format("<dl class=\"provenance\">\n{}</dl>\n", rows);
}

std::string overview_table(std::span<const result_file> files) {
    const std::vector<std::string_view> operations = measured_operations(files);
    std::string body;
    for (std::size_t i = 0; i < files.size(); ++i) {
        body += "<tbody>\n";
        if (files.size() > 1) {
            body +=
                fmt::format("<tr class=\"file\"><th scope=\"rowgroup\" colspan=\"{}\"><a href=\"#f{}\">{}</a>"
                            "</th></tr>\n",
                            7 + operations.size(), i + 1, escaped(files[i].name));
        }
        for (std::size_t j = 0; j < files[i].document.scenarios.size(); ++j) {
            body += table_row(files[i].document.scenarios[j], anchor(i, j), operations);
        }
        body += "</tbody>\n";
    }
    return fmt::format("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"all results\">\n"
                       "<table class=\"overview\">\n{}{}</table></div>\n",
                       table_head(operations), body);
}

} // namespace handlepool::stress::page
