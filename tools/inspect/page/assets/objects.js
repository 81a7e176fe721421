// SPDX-License-Identifier: MIT
// A pool's living objects: where they were created, how many more there are than at first, and the oldest.

import {by_id, change, count, duration, element, table} from './dom.js';
import {keep, kept} from './kept.js';

/// What the server is asked for: of all places, those that grow may have few objects.
export const wanted = {most: 10, places: 1000};
const most_rows = 30;
const first_seen = new Map(kept('first seen')?.map(([key, places]) => [key, new Map(places)])); // key -> place -> alive

/// An age in frames, and in time if frames are as long as they are now.
const age_text = (frames, frames_per_second) =>
  count(frames) + (frames_per_second ? ` (about ${duration(frames / frames_per_second * 1e9)})` : '');

// `first`: how many there were in each place; nothing if that was just now.
const places_table = (details, first, frames_per_second) => {
  if (details.places === null) {
    return element('p', {class: 'quiet'},
      'The pool does not record where objects are created: its option record_lives does. ');
  }
  const rows = details.places.map(({place, alive, youngest, oldest}) => ({place, alive, youngest, oldest,
    more: first && alive - (first.get(place) ?? 0)})).toSorted((a, b) => (b.more ?? 0) - (a.more ?? 0) || b.alive - a.alive);
  return table([['created in', 'words'], ['alive'], ['since first seen'], ['youngest', 'spare'], ['oldest']],
    rows.slice(0, most_rows).map(({place, alive, more, youngest, oldest}) => [place, count(alive),
      element('span', {class: more > 0 ? 'more' : ''}, first ? change(more) : '–'), count(youngest), age_text(oldest, frames_per_second)]));
};

const ages_text = (ages, frames_per_second) => ages ? `Ages in frames: the youngest ${ages.youngest}, half up to ${ages.median}, ` +
  `three quarters up to ${ages.upper_quartile}, the oldest ${age_text(ages.oldest, frames_per_second)}.` : '';

export const show_objects = (key, details, frames_per_second, open_life) => {
  const is_first = !first_seen.has(key);
  if (is_first) {
    first_seen.set(key, new Map((details.places ?? []).map(({place, alive}) => [place, alive])));
    keep('first seen', [...first_seen].map(([key, places]) => [key, [...places]]));
  }
  const left_out = (details.places_left_out ?? 0) + Math.max(0, (details.places ?? []).length - most_rows);
  const view = by_id('view-objects');
  const focused = view.contains(document.activeElement) ? document.activeElement.textContent : undefined;
  view.replaceChildren(
    places_table(details, is_first ? undefined : first_seen.get(key), frames_per_second),
    element('p', {class: 'quiet'}, left_out ? `${count(left_out)} more places. ` : '',
      'If a place has more and more objects, and its oldest ones get older and older, nobody erases them. ', ages_text(details.ages, frames_per_second)),
    table([['the oldest objects', 'words'], ['age in frames']],
      details.oldest.map(({handle, text, age}) => [
        element('button', {onclick: () => open_life(handle)}, text), age === null ? '–' : age_text(age, frames_per_second)])));
  [...view.querySelectorAll('button')].find(button => button.textContent === focused)?.focus();
};
