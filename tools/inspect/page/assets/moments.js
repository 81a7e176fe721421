// SPDX-License-Identifier: MIT
// Moments that were kept, and what has changed between two of them.

import {by_id, change, count, element, table} from './dom.js';
import {keep, kept as kept_before} from './kept.js';
import {ask} from './server.js';

const most_places = 1000;
// Each {name, pools: key -> {name, alive, created, erased, places: place -> alive}}.
const kept = (kept_before('moments') ?? []).map(({name, pools}) =>
  ({name, pools: new Map(pools.map(([key, pool]) => [key, {...pool, places: new Map(pool.places)}]))}));
const keep_all = () => keep('moments', kept.map(({name, pools}) =>
  ({name, pools: [...pools].map(([key, pool]) => [key, {...pool, places: [...pool.places]}])})));

const take = async (name, pools) => ({name, pools: new Map((await Promise.all(pools.filter(pool => pool.is_alive).map(
  async ({key}) => {
    try {
      const {name: pool, alive, created, erased, places} = await ask('pool', {key, most: 0, places: most_places});
      return [[key, {name: pool, alive, created, erased, places: new Map((places ?? []).map(each => [each.place, each.alive]))}]];
    } catch { // it has ended
      return [];
    }
  }))).flat())});

const compare = (first, second) => {
  const both = [...second.pools].filter(([key]) => first.pools.has(key)).map(([key, now]) => [first.pools.get(key), now]);
  const pools = both.map(([before, now]) => [now.name, count(before.alive), count(now.alive), change(now.alive - before.alive),
    count(now.created - before.created), count(now.erased - before.erased)]);
  const places = both.flatMap(([before, now]) => [...new Set([...before.places.keys(), ...now.places.keys()])].map(place =>
    ({pool: now.name, place, before: before.places.get(place) ?? 0, now: now.places.get(place) ?? 0})))
    .filter(each => each.before !== each.now).toSorted((a, b) => (b.now - b.before) - (a.now - a.before));
  return [
    table([['pool', 'words'], [first.name], [second.name], ['change'], ['created', 'spare'], ['erased', 'spare']], pools),
    places.length ? table([['created in', 'words'], ['pool', 'spare'], [first.name], [second.name], ['change']],
      places.slice(0, 100).map(({place, pool, before, now}) => [place, pool, count(before), count(now), change(now - before)])) :
      element('p', {class: 'quiet'}, 'No place has more or fewer living objects than before.'),
  ];
};

const chooser = (id, words, chosen, on_change) => [element('label', {for: id}, words),
  element('select', {id, onchange: on_change}, kept.map(({name}, i) => element('option', {value: i, selected: i === chosen}, name)))];

const show = () => {
  const [first, second] = ['first', 'second'].map(id => by_id(id)?.value);
  if (first !== undefined && second !== undefined) {
    by_id('comparison').replaceChildren(...compare(kept[first], kept[second]));
  }
};

const forget_all = () => {
  kept.length = 0;
  keep_all();
  show_moments();
};

/// Shows what is kept, and compares the last two.
export const show_moments = () => {
  const count_kept = kept.length;
  const words = count_kept < 2 ? kept.map(({name}) => `${name} is kept; keep another one to compare.`) :
    [...chooser('first', 'From ', count_kept - 2, show), ...chooser('second', ' to ', count_kept - 1, show)];
  by_id('marks').replaceChildren(...words, ...(count_kept ? [' ', element('button', {id: 'forget', onclick: forget_all}, 'Forget all')] : []));
  by_id('comparison').replaceChildren();
  show();
};

/// Keeps the pools as they are now, and compares with the moment kept before.
export const keep_moment = async pools => {
  const name = by_id('mark-name').value.trim() || new Date().toLocaleTimeString();
  by_id('mark-name').value = '';
  kept.push(await take(name, pools));
  keep_all();
  show_moments();
};
