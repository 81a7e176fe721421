// SPDX-License-Identifier: MIT
// A pool's living objects: where they were created, how many more there are than at first, and the oldest.

import {by_id, change, count, element, table} from './dom.js';

const first_seen = new Map(); // key -> place -> alive

const places_table = (details, first) => {
  if (details.places === null) {
    return element('p', {class: 'quiet'},
      'The pool does not record where objects are created: its option record_lives does. ');
  }
  const rows = details.places.map(({place, alive, youngest, oldest}) => ({place, alive, youngest, oldest,
    more: alive - (first.get(place) ?? 0)})).toSorted((a, b) => b.more - a.more || b.alive - a.alive);
  return table([['created in', 'words'], ['alive'], ['since first seen'], ['youngest', 'spare'], ['oldest']],
    rows.map(({place, alive, more, youngest, oldest}) => [place, count(alive),
      element('span', {class: more > 0 ? 'more' : ''}, change(more)), count(youngest), count(oldest)]));
};

const ages_text = ages => ages ? `Ages in frames: the youngest ${ages.youngest}, half up to ${ages.median}, ` +
  `three quarters up to ${ages.upper_quartile}, the oldest ${ages.oldest}.` : '';

export const show_objects = (key, details, open_life) => {
  if (!first_seen.has(key)) {
    first_seen.set(key, new Map((details.places ?? []).map(({place, alive}) => [place, alive])));
  }
  const view = by_id('view-objects');
  const focused = view.contains(document.activeElement) ? document.activeElement.textContent : undefined;
  view.replaceChildren(
    places_table(details, first_seen.get(key)),
    element('p', {class: 'quiet'}, details.places_left_out ? `${count(details.places_left_out)} more places. ` : '',
      'A place whose objects become more and whose oldest ones get older forgets to erase them. ', ages_text(details.ages)),
    table([['the oldest objects', 'words'], ['age in frames']],
      details.oldest.slice(0, 10).map(({handle, text, age}) => [
        element('button', {onclick: () => open_life(handle)}, text), age === null ? '–' : count(age)])));
  [...view.querySelectorAll('button')].find(button => button.textContent === focused)?.focus();
};
