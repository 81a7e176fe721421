// SPDX-License-Identifier: MIT
#include "parts.hpp"

namespace handlepool::stress::page {

namespace {

// The colours of the charts are those of Okabe and Ito, which most colour-blind people can tell apart, darker
// or lighter where the background needs it. Each operation has dashes of its own besides.
constexpr std::string_view sheet = R"css(
:root {
  color-scheme: light dark;
  --page: #f5f6f8; --card: #ffffff; --ink: #14181d; --soft: #55606c; --rule: #d9dee4; --grid: #e6e9ee;
  --link: #005a94; --good: #00694a; --good-back: #e0f3ec; --bad: #b02a12; --bad-back: #fdebe6;
  --blue: #0072b2; --vermilion: #c94f00; --green: #00805e; --purple: #a8508c; --gray: #414a54; --orange: #966400;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #0f1216; --card: #181c22; --ink: #e9edf1; --soft: #a1abb6; --rule: #303741; --grid: #272d35;
    --link: #7cc4f2; --good: #58d0a8; --good-back: #10302a; --bad: #ff9478; --bad-back: #3b1a14;
    --blue: #56b4e9; --vermilion: #f5803a; --green: #2fc598; --purple: #cf8ab8; --gray: #ccd3da; --orange: #e6a817;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 12px; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0 auto; max-width: 1320px; padding: 0 max(12px, min(3vw, 32px)) 32px;
  background: var(--page); color: var(--ink);
  font: 16px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
h1, h2, h3, h4, p, dl, dd, ul, figure, pre { margin: 0; padding: 0; }
a { color: var(--link); text-underline-offset: .15em; }
a:focus-visible, .wide:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
small { font-size: .8125rem; }
code, pre { font: .8125rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }

/* ---- Header and overview ---- */
h1 { font-size: 1.6rem; line-height: 1.2; margin: 24px 0 14px; letter-spacing: -.01em; }
h1 small { color: var(--soft); font-size: 1rem; font-weight: 400; letter-spacing: 0; margin-left: .3em; }
h2 { font-size: 1.2rem; line-height: 1.3; margin: 34px 0 10px; }
.verdict { border-radius: 8px; padding: 12px 14px; font-size: 1.0625rem; }
.verdict.good { background: var(--good-back); color: var(--good); }
.verdict.bad { background: var(--bad-back); color: var(--bad); }
.verdict span::before { content: "– "; }
.verdict a { color: inherit; }
.tiles { display: grid; gap: 10px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 160px), 1fr)); margin: 12px 0; }
.tiles div, .card { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 10px 12px; }
.tiles dt, .pairs dt, .facts dt, .provenance dt { color: var(--soft); font-size: .8125rem; line-height: 1.35; }
.tiles dd { font-size: clamp(1.05rem, 3vw, 1.4rem); font-weight: 600; line-height: 1.3; }
.tiles .bad dd, td.bad { color: var(--bad); font-weight: 600; }
.tiles dd.note { font-size: .8125rem; font-weight: 400; min-height: 1.3em; }
.note { color: var(--soft); font-size: .8125rem; }
.provenance { display: grid; gap: 2px 28px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 380px), 1fr)); font-size: .9375rem; margin: 12px 0; }
.provenance div { align-items: baseline; display: flex; gap: 10px; }
.provenance dt { flex: 0 0 5.5rem; }
.wide { overflow-x: auto; background: var(--card); border: 1px solid var(--rule); border-radius: 8px; }
table { border-collapse: collapse; font-size: .875rem; white-space: nowrap; }
th, td { overflow-wrap: normal; }
th { font-weight: 500; text-align: left; }
td { text-align: right; }
.overview { width: 100%; }
.overview th, .overview td { padding: 6px 10px; border-bottom: 1px solid var(--grid); }
.overview tbody:last-child tr:last-child > * { border-bottom: 0; }
.overview thead th { color: var(--soft); font-size: .8125rem; text-align: right; vertical-align: bottom; border-bottom-color: var(--rule); }
.overview thead .group { text-align: center; padding-bottom: 2px; }
.overview th:first-child, .overview thead tr:first-child th:nth-child(2), .overview td:nth-child(2) { text-align: left; }
.overview thead tr + tr th:first-child { text-align: right; }
.overview tbody th, .overview thead tr:first-child th:first-child { position: sticky; left: 0; background: var(--card); }
.overview tbody th { max-width: max(26vw, 7rem); overflow-wrap: anywhere; white-space: normal; }
.overview td { overflow-wrap: anywhere; white-space: normal; }
.overview .badge { border-radius: 10px; white-space: normal; }
.overview .file th { position: static; color: var(--soft); max-width: none; background: var(--page); }
.overview .file a { position: sticky; left: 10px; }
.badge { border-radius: 99px; display: inline-block; font-size: .8125rem; font-weight: 600; padding: 1px 9px; white-space: nowrap; }
.badge.good { background: var(--good-back); color: var(--good); }
.badge.bad { background: var(--bad-back); color: var(--bad); }
@media screen and (max-width: 1080px) {
  .overview, .overview tbody { display: block; white-space: normal; }
  .overview thead { clip-path: inset(50%); height: 1px; overflow: hidden; position: absolute; width: 1px; }
  .overview tr { border-bottom: 1px solid var(--grid); align-items: end; display: grid; gap: 4px 8px; grid-template-columns: repeat(auto-fill, minmax(6.2rem, 1fr)); padding: 8px 10px; }
  .overview tbody:last-child tr:last-child { border-bottom: 0; }
  .overview tbody th, .overview td { border: 0; max-width: none; min-width: 0; padding: 0; text-align: left; }
  .overview tbody th { align-self: start; grid-column: 1 / -2; position: static; }
  .overview .file { background: var(--page); }
  .overview .file th { grid-column: 1 / -1; }
  .overview td:nth-child(2) { grid-column: -2 / -1; text-align: right; }
  .overview td[data-column]::before { color: var(--soft); content: attr(data-column); display: block; font-size: .75rem; font-weight: 400; }
}

/* ---- A result ---- */
.result { border-top: 1px solid var(--rule); padding: 18px 0 22px; }
h2 + .result { border-top: 0; padding-top: 4px; }
h3 { align-items: center; display: flex; flex-wrap: wrap; font-size: 1.1rem; gap: 4px 10px; line-height: 1.3; }
h3 a { color: inherit; text-decoration: none; }
h3 a:hover { text-decoration: underline; }
h4 { font-size: .9375rem; line-height: 1.35; }
.summary { color: var(--soft); margin-top: 2px; max-width: 75ch; }
.parameters { display: flex; flex-wrap: wrap; gap: 2px 16px; list-style: none; margin-top: 6px; font-size: .875rem; color: var(--soft); }
.parameters b { color: var(--ink); font-weight: 500; }
.pairs { display: grid; gap: 8px 16px; grid-template-columns: repeat(auto-fill, minmax(min(100%, 168px), 1fr)); margin: 14px 0; }
.pairs dd { font-weight: 600; line-height: 1.35; }
.pairs small { color: var(--soft); font-weight: 400; display: block; line-height: 1.35; }
.violations { background: var(--bad-back); border-left: 4px solid var(--bad); border-radius: 4px; margin-top: 12px; padding: 10px 12px; }
.violations h4 { color: var(--bad); }
.violations pre { background: var(--card); border-radius: 4px; margin-top: 8px; padding: 8px 10px; white-space: pre-wrap; }
.violations p { margin-top: 8px; font-size: .875rem; }
.cards { display: grid; gap: 12px; grid-template-columns: repeat(auto-fill, minmax(min(100%, 340px), 1fr)); }
.card { min-width: 0; }
figcaption { line-height: 1.35; margin-bottom: 8px; }
figcaption strong { display: block; font-size: .9375rem; }
figcaption span { color: var(--soft); font-size: .8125rem; }
.card > .note { margin-top: 4px; }
.card .wide { border: 0; border-radius: 0; margin-top: 6px; }
.latencies { font-size: .8125rem; width: 100%; }
.latencies th, .latencies td { border-top: 1px solid var(--grid); padding: 2px 0 2px 8px; }
.latencies thead th { border: 0; color: var(--soft); text-align: right; }
.latencies th:first-child { padding-left: 0; text-align: left; }
.facts dl { display: grid; gap: 8px; margin-top: 8px; }
.facts dd { font-size: .9375rem; }
.unseen { clip-path: inset(50%); height: 1px; overflow: hidden; position: absolute; white-space: nowrap; width: 1px; }
footer { border-top: 1px solid var(--rule); font-size: .875rem; padding-top: 12px; }

/* ---- Charts ---- */
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--soft); font-family: inherit; font-size: 12px; }
svg .tick { fill: var(--ink); }
svg .grid { stroke: var(--grid); fill: none; }
svg .base { stroke: var(--soft); fill: none; }
svg .mark { stroke: var(--ink); stroke-dasharray: 2 3; fill: none; }
svg .line { fill: none; stroke: var(--colour); stroke-linejoin: round; stroke-width: 1.6; }
svg .area { fill: var(--colour); opacity: .13; }
svg .band { fill: var(--colour); opacity: .3; }
svg .bar { fill: var(--colour); }
svg .tip { fill: none; pointer-events: all; }
svg .tip:hover { fill: var(--ink); opacity: .12; }
svg.key { display: inline-block; height: 8px; margin-right: 6px; vertical-align: middle; width: 24px; }
.throughput, .emplace { --colour: var(--blue); }
.alive, .find { --colour: var(--green); }
.compaction, .erase { --colour: var(--vermilion); }
.reuse, .contains { --colour: var(--purple); }
.compact { --colour: var(--gray); }
.other { --colour: var(--orange); }
.line.erase { stroke-dasharray: 7 3; }
.line.find { stroke-dasharray: 2 2; }
.line.contains { stroke-dasharray: 9 3 2 3; }
.line.compact { stroke-width: 2.6; }
.line.other { stroke-dasharray: 4 4; }
label { cursor: pointer; }
label:has(input:not(:checked)) { color: var(--soft); text-decoration: line-through; }
label:has(input:focus-visible) { outline: 2px solid var(--link); outline-offset: 1px; }
figure:has([value="emplace"]:not(:checked)) svg[role] .emplace, figure:has([value="erase"]:not(:checked)) svg[role] .erase,
figure:has([value="find"]:not(:checked)) svg[role] .find, figure:has([value="contains"]:not(:checked)) svg[role] .contains,
figure:has([value="compact"]:not(:checked)) svg[role] .compact, figure:has([value="other"]:not(:checked)) svg[role] .other
{ visibility: hidden; }

@media print {
  :root {
    --page: #ffffff; --ink: #000000; --soft: #444444; --rule: #bbbbbb; --grid: #dddddd;
    --link: #000000; --good: #00543b; --good-back: #ffffff; --bad: #8f1d08; --bad-back: #ffffff;
  }
  body { font-size: 10pt; max-width: none; padding: 0; }
  .wide { overflow: visible; }
  .overview { font-size: 7pt; }
  .overview th, .overview td { padding: 2px 4px; white-space: normal; }
  .cards { grid-template-columns: repeat(2, 1fr); }
  .card, .tiles div, .pairs div, tr { break-inside: avoid; }
  h2, h3, h4 { break-after: avoid; }
  footer { display: none; }
}
)css";

} // namespace

std::string_view style_sheet() {
    return sheet.substr(1);
}

} // namespace handlepool::stress::page
