// SPDX-License-Identifier: MIT
// All pools, a row each, at the moment that was chosen.

import {by_id, bytes, count, duration, element} from './dom.js';

const state_of = pool => !pool.is_alive ? 'ended' : pool.gate.state === 'waiting_for_guards' ? 'waits for guards' :
  pool.gate.state !== 'open' ? pool.gate.state : pool.gate.guards.length ? 'guarded' : 'open';

const cells = (pool, past, at) => {
  const numbers = past.numbers(pool.key, at), rates = past.rates(pool.key, at);
  const rate = value => value === undefined ? '–' : count(value);
  if (!numbers) return ['–', count(pool.capacity), '–', '–', '–', '–', '–', at === past.last ? 'ended' : '–'];
  return [count(numbers.alive), count(pool.capacity), rate(rates?.created), rate(rates?.erased), rate(rates?.frames),
          rates?.compaction === undefined ? '–' : duration(rates.compaction), bytes(numbers.bytes_resident),
          at === past.last ? state_of(pool) : '–'];
};

export const show_pools = (pools, past, at, chosen, open) => {
  const body = by_id('pools').tBodies[0];
  const rows = new Map([...body.rows].map(row => [Number(row.dataset.key), row]));
  for (const [key, row] of rows) {
    if (!pools.some(pool => pool.key === key)) row.remove();
  }
  for (const pool of pools) {
    let row = rows.get(pool.key);
    if (!row) {
      const spare = i => i >= 1 && i <= 6 ? 'spare' : undefined;
      row = element('tr', {'data-key': pool.key},
        element('td', {}, element('button', {onclick: () => open(pool.key)}, pool.name || 'without a name')),
        Array.from({length: 8}, (_, i) => element('td', {class: spare(i)})));
      body.append(row);
    }
    row.setAttribute('aria-current', pool.key === chosen);
    row.className = pool.is_alive ? '' : 'ended';
    cells(pool, past, at).forEach((text, i) => { row.cells[i + 1].textContent = text; });
  }
};
