// SPDX-License-Identifier: MIT
// Elements and texts. Words of the inspected program become text, never markup.

export const by_id = id => document.getElementById(id);

const fill = (made, properties, children) => {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter(child => child !== undefined && child !== ''));
  return made;
};
export const element = (tag, properties = {}, ...children) => fill(document.createElement(tag), properties, children);
export const drawn = (tag, properties = {}, ...children) =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', tag), properties, children);

export const table = (head, rows) => element('div', {class: 'wide'}, element('table', {},
  element('thead', {}, element('tr', {}, head.map(([words, kind]) => element('th', {scope: 'col', class: kind}, words)))),
  element('tbody', {}, rows.map(row => element('tr', {}, row.map((cell, i) => element('td', {class: head[i][1]}, cell)))))));

/// A program has one, as a rule.
export const name_of_service = ({number}, services) => services.length === 1 ? 'the service' : `service ${number + 1}`;

/// Numbers of four digits at the most, so that columns stay narrow: 12,345,678 is 12.3 M.
export const count = number => {
  const units = ['', ' k', ' M', ' G', ' T', ' P', ' E'];
  let unit = 0, amount = Math.abs(number);
  while (amount >= 10000 && unit + 1 < units.length) { amount /= 1000; ++unit; }
  const text = unit === 0 ? (amount < 10 && amount % 1 ? amount.toFixed(1) : amount.toFixed(0)) :
    amount < 1000 ? amount.toPrecision(3) : amount.toFixed(0);
  return (number < 0 ? '−' : '') + text + units[unit];
};
export const change = number => (number > 0 ? '+' : number === 0 ? '±' : '') + count(number);
export const bytes = number => {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (number >= 1000 && unit + 1 < units.length) { number /= 1024; ++unit; }
  return number.toFixed(unit === 0 ? 0 : 1) + ' ' + units[unit];
};
export const duration = nanoseconds => {
  if (nanoseconds < 1e3) return nanoseconds.toFixed(nanoseconds > 0 && nanoseconds < 10 ? 1 : 0) + ' ns';
  if (nanoseconds < 1e6) return (nanoseconds / 1e3).toFixed(1) + ' µs';
  if (nanoseconds < 1e9) return (nanoseconds / 1e6).toFixed(1) + ' ms';
  if (nanoseconds < 600e9) return (nanoseconds / 1e9).toFixed(1) + ' s';
  return nanoseconds < 36000e9 ? (nanoseconds / 60e9).toFixed(0) + ' min' : (nanoseconds / 3600e9).toFixed(0) + ' h';
};
