// SPDX-License-Identifier: MIT
// A pool's numbers over time.

import {by_id, bytes, count, drawn, duration, element} from './dom.js';

const width = 420, height = 150, left = 62, right = 8, top = 8, bottom = 20;

// One above the other, so that their sum is the uppermost line.
const phases_chart = names => ({title: 'Phases of a compaction', format: duration, is_stacked: true,
  lines: names.map((name, i) => [name, ({rates, phases}) => rates && phases?.[i]])});

const charts = names => [
  {title: 'Alive', format: count, lines: [['alive', ({numbers}) => numbers.alive]]},
  {title: 'Each second', format: count, lines: [['created', ({rates}) => rates?.created], ['erased', ({rates}) => rates?.erased]]},
  {title: 'A compaction takes', format: duration, lines: [['compaction', ({rates}) => rates?.compaction]]},
  {title: 'Memory', format: bytes, lines: [['memory', ({numbers}) => numbers.bytes_resident]]},
  {title: 'Waiting for a compaction', format: count,
   lines: [['newborn', ({numbers}) => numbers.newborn], ['removals', ({numbers}) => numbers.waiting_removals]]},
  phases_chart(names),
];
const classes = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];

const stacked = curves => curves.map((curve, i) => curve.map(([at], j) =>
  [at, curves.slice(0, i + 1).reduce((sum, each) => sum + each[j][1], 0)]));

// [seconds, value] of each look that has one.
const curve_of = (history, value) => history.map(look => [look.seconds, value(look)]).filter(([, found]) => found !== undefined);

// The last value up to a time.
const value_at = (curve, seconds) => curve.findLast(([at]) => at <= seconds)?.[1];

const chart = ({title, format, lines, is_stacked}, values_of, [begin, end], seconds) => {
  const curves = is_stacked ? stacked(values_of) : values_of;
  const highest = Math.max(0, ...curves.flat().map(([, value]) => value)) || 1;
  const is_known = curves.some(curve => curve.length);
  const x = at => left + (width - left - right) * (end > begin ? (at - begin) / (end - begin) : 1);
  const y = value => height - bottom - (height - top - bottom) * value / highest;
  const path = curve => curve.map(([at, value], i) => `${i ? 'L' : 'M'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join('');
  const grid = [0, .5, 1].map(part => drawn('g', {},
    drawn('line', {class: 'grid', x1: left, x2: width - right, y1: y(highest * part), y2: y(highest * part)}),
    drawn('text', {x: left - 6, y: y(highest * part) + 4, 'text-anchor': 'end'}, is_known ? format(highest * part) : '')));
  const area = curve => curve.length ? `${path(curve)}L${x(curve.at(-1)[0])} ${y(0)}L${x(curve[0][0])} ${y(0)}Z` : '';
  const values = lines.map(([name], i) => [name, value_at(values_of[i], seconds)]);
  const words = values.map(([name, value]) => `${name} ${value === undefined ? 'unknown' : format(value)}`);
  return element('figure', {'data-chart': title},
    element('figcaption', {}, element('span', {class: 'title'}, title), values.map(([name, value], i) =>
      element('span', {}, lines.length > 1 ? element('span', {class: `key ${classes[i]}`}, name + ' ') : '',
              value === undefined ? '–' : format(value)))),
    drawn('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${title}: ${words.join(', ')}`},
      grid,
      drawn('text', {x: left, y: height - 5}, `${duration((end - begin) * 1e9)} ago`),
      drawn('text', {x: width - right, y: height - 5, 'text-anchor': 'end'}, 'now'),
      is_stacked ? curves.map((curve, i) => drawn('path', {class: `area ${classes[i]}`, d: area(curve)})).reverse() :
        curves.map((curve, i) => drawn('path', {class: `line ${classes[i]}`, d: path(curve)})),
      seconds < end ? drawn('line', {class: 'cursor', x1: x(seconds), x2: x(seconds), y1: top, y2: height - bottom}) : ''));
};

export const show_charts = (key, past, at, phase_names) => {
  const span = [past.looks[0].seconds, past.looks[past.last].seconds];
  const history = past.history(key);
  by_id('view-charts').replaceChildren(...charts(phase_names).map(each =>
    chart(each, each.lines.map(([, value]) => curve_of(history, value)), span, past.looks[at].seconds)));
};
