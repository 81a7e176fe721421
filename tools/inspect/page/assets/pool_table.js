// SPDX-License-Identifier: MIT
// All pools, and the services that they are in, a row each, at the moment that was chosen.

import {by_id, bytes, count, duration, element, name_of_service} from './dom.js';

const state_of = gate => gate.state === 'waiting_for_guards' ? 'waits for guards' :
  gate.state !== 'open' ? gate.state : gate.guards.length ? 'guarded' : 'open';

const cells = (pool, past, at) => {
  const numbers = past.numbers(pool.key, at), rates = past.rates(pool.key, at);
  const rate = value => value === undefined ? '–' : count(value);
  if (!numbers) return ['–', count(pool.capacity), '–', '–', '–', '–', '–', at === past.last ? 'ended' : '–'];
  return [count(numbers.alive), count(pool.capacity), rate(rates?.created), rate(rates?.erased), rate(rates?.frames),
          rates?.compaction === undefined ? '–' : duration(rates.compaction), bytes(numbers.bytes_resident),
          at !== past.last ? '–' : pool.is_alive ? state_of(pool.gate) : 'ended'];
};

const cells_of_service = (gate, is_now) => [...Array(7).fill('–'), is_now ? state_of(gate) : '–'];

/// The row with this key, which is made before another one if it is not there.
const row_of = (key, body, make_first, next = null) => {
  const found = [...body.rows].find(row => row.dataset.key === key);
  if (found) return found;
  const spare = i => i >= 1 && i <= 6 ? 'spare' : undefined;
  return body.insertBefore(element('tr', {'data-key': key}, element('td', {}, make_first()),
    Array.from({length: 8}, (_, i) => element('td', {class: spare(i)}))), next);
};
const fill_row = (row, texts) => texts.forEach((text, i) => { row.cells[i + 1].textContent = text; });

export const show_pools = ({pools, services}, past, at, chosen, open) => {
  const body = by_id('pools').tBodies[0];
  const pool_key = ({key}) => `pool ${key}`, service_key = ({number}) => `service ${number}`;
  const keys = new Set([...pools.map(pool_key), ...services.map(service_key)]);
  for (const row of [...body.rows]) {
    if (!keys.has(row.dataset.key)) row.remove();
  }
  for (const pool of pools) {
    const row = row_of(pool_key(pool), body,
      () => element('button', {onclick: () => open(pool.key)}, pool.name || 'without a name'),
      body.querySelector('[data-key^=service]'));
    row.setAttribute('aria-current', pool.key === chosen);
    row.className = pool.is_alive ? '' : 'ended';
    fill_row(row, cells(pool, past, at));
  }
  for (const service of services) {
    fill_row(row_of(service_key(service), body, () => name_of_service(service, services)),
      cells_of_service(service.gate, at === past.last));
  }
};
