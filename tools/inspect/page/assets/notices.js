// SPDX-License-Identifier: MIT
// What stands out in the pools as they are now: who waits for whom, what grows, what is nearly full.

import {by_id, count, duration, element, name_of_service} from './dom.js';

const long_wait = 100e6; // nanoseconds
const long_guard = 2e9;

const thread = (name, number) => name ? `thread “${name}”` : `the thread with number ${number}`;
const guard_text = guard => thread(guard.thread, guard.thread_number) +
  (guard.nanoseconds === null ? ' holds a guard' : ` has held a guard for ${duration(guard.nanoseconds)}`) +
  (guard.task ? `, in task “${guard.task}”` : '') + (guard.place ? `, made in ${guard.place}` : '');

const of_gate = ({name, gate}) => {
  const longest = gate.guards.toSorted((a, b) => (b.nanoseconds ?? 0) - (a.nanoseconds ?? 0))[0];
  if (gate.waited_nanoseconds > long_wait) {
    const who = gate.thread ? thread(gate.thread) : 'a thread';
    const what = gate.waiter === 'exclusive_access' ? 'exclusive access' : 'a compaction';
    return [`${name}: ${what} by ${who} has waited ${duration(gate.waited_nanoseconds)} for guards` +
            (longest ? `: ${guard_text(longest)}` : '')];
  }
  return longest && longest.nanoseconds > long_guard ? [`${name}: ${guard_text(longest)}`] : [];
};

const of_services = services => services.flatMap(service =>
  of_gate({name: name_of_service(service, services), gate: service.gate}).map(words => ({words, is_bad: true})));

const of_pool = pool => {
  if (!pool.is_alive) return [];
  return [
    ...of_gate(pool).map(words => ({words, key: pool.key, is_bad: true})),
    ...(pool.growth_per_second > 0 ? [{words: `${pool.name}: ${count(pool.alive)} objects, and ${count(pool.growth_per_second)} more each second: ` +
                              'see where they are created', key: pool.key, view: 'objects', is_bad: true}] : []),
    ...(pool.alive > .9 * pool.capacity ? [{words: `${pool.name}: ${count(pool.alive)} of ${count(pool.capacity)} ` +
                                                    'objects are in use', key: pool.key, is_bad: true}] : []),
  ];
};

export const show_notices = ({pools, services, has_ended}, open) => {
  const found = [...of_services(services), ...pools.flatMap(of_pool)];
  const list = by_id('notices');
  const items = found.length ? found : [{words: has_ended ? 'Nothing did when the program ended.' :
    pools.some(pool => pool.is_alive && pool.growth_per_second === null) ?
      'Nothing yet: no compaction waits, no guard is held for long; whether a pool grows is seen after twenty looks.' :
      'Nothing: no compaction waits, no guard is held for long, and no pool grows.'}];
  // A button keeps the focus while its words change.
  while (list.children.length > items.length) list.lastChild.remove();
  items.forEach(({words, key, view, is_bad}, i) => {
    const item = list.children[i] ?? list.appendChild(element('li', {}, element('button')));
    item.className = is_bad ? 'bad' : '';
    item.firstChild.textContent = words;
    item.firstChild.disabled = key === undefined;
    item.firstChild.onclick = () => open(key, view);
  });
};
