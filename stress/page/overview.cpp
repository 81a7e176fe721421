#include "overview.hpp"

#include "count_sum.hpp"
#include "html.hpp"
#include "numbers.hpp"
#include "section.hpp"

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
    std::uint64_t violations = 0;
    double seconds = 0;
    std::uint64_t operations = 0;
    std::uint64_t checked = 0;
    std::uint64_t stale = 0;
    std::uint64_t accepted = 0;

    void add(const result& each) {
        ++results;
        failed += each.passed() ? 0 : 1;
        add_count(violations, each.violations);
        seconds += each.seconds.value_or(0);
        add_count(operations, each.operations.value_or(0));
        add_count(checked, each.operations_checked.value_or(0));
        add_count(stale, each.stale_lookups.value_or(0));
        add_count(accepted, each.stale_accepted.value_or(0));
    }
};

std::string verdict(const sums& all, const std::string& failures) {
    if (all.failed == 0) {
        return fmt::format("<p class=\"verdict good\"><strong>✓ {}</strong></p>\n",
                           all.results == 1
                               ? "Passed: no wrong answer"
                               : fmt::format("All {} results passed: no wrong answer", grouped(all.results)));
    }
    return fmt::format("<p class=\"verdict bad\"><strong>✗ {} in {} of {}</strong> <span>{}</span></p>\n",
                       plural_sum(all.violations, "violation", "violations"), grouped(all.failed),
                       plural(all.results, "result", "results"), failures);
}

std::string tile(std::string_view name, std::uint64_t value, std::string_view note, bool bad = false) {
    return fmt::format("<div{}><dt>{}</dt><dd>{}</dd><dd class=\"note\">{}</dd></div>\n",
                       bad ? " class=\"bad\"" : "", name, grouped_sum(value), note);
}

std::string accepted_note(const sums& all) {
    const std::optional<double> bound =
        bound_95({.stale_lookups = all.stale, .stale_accepted = all.accepted});
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

std::string number_cell(const std::optional<std::uint64_t>& value, bool bad = false) {
    return fmt::format("<td{}>{}</td>", bad ? " class=\"bad\"" : "", value ? grouped(*value) : "–");
}

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
    row += number_cell(shown.operations);
    row += fmt::format("<td>{}</td>",
                       shown.operations_per_second ? short_number(*shown.operations_per_second) : "–");
    row += number_cell(shown.stale_lookups);
    row += number_cell(shown.stale_accepted, shown.stale_accepted.value_or(0) != 0);
    for (const std::string_view operation : operations) {
        const auto measured = shown.latencies_nanoseconds.find(operation);
        const bool known = measured != shown.latencies_nanoseconds.end() && measured->second.worst;
        row += fmt::format("<td>{}</td>", known ? nanoseconds_text(*measured->second.worst) : "–");
    }
    row += fmt::format("<td>{}</td></tr>\n", shown.compaction_microseconds
                                                 ? microseconds_text(shown.compaction_microseconds->worst)
                                                 : "–");
    return row;
}

} // namespace

std::string anchor(std::size_t file, std::size_t position) {
    return fmt::format("r{}-{}", file + 1, position + 1);
}

std::string verdict_and_totals(std::span<const result_file> files) {
    sums all;
    std::string failures;
    for (std::size_t i = 0; i < files.size(); ++i) {
        for (std::size_t j = 0; j < files[i].document.scenarios.size(); ++j) {
            const result& each = files[i].document.scenarios[j];
            all.add(each);
            if (!each.passed()) {
                failures += fmt::format("{}<a href=\"#{}\">{}</a>", failures.empty() ? "" : ", ",
                                        anchor(i, j), escaped(each.title()));
            }
        }
    }
    std::string text = verdict(all, failures);
    text += "<dl class=\"tiles\">\n";
    text += tile("operations", all.operations, fmt::format("in {}", duration_text(all.seconds)));
    if (all.checked != 0) {
        text += tile("operations checked", all.checked, "against the history");
    }
    text += tile("stale look-ups tried", all.stale, "with handles of erased objects");
    text += tile("wrongly accepted", all.accepted, accepted_note(all), all.accepted != 0);
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
