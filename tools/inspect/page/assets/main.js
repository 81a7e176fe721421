// SPDX-License-Identifier: MIT
// Asks for the state again and again, and shows the moment that was chosen.

import {show_charts} from './charts.js';
import {by_id, count, duration, element} from './dom.js';
import {refresh_life, show_life} from './life.js';
import {keep, kept} from './kept.js';
import {keep_moment, show_moments} from './moments.js';
import {show_notices} from './notices.js';
import {show_objects, wanted} from './objects.js';
import {past} from './past.js';
import {show_pools} from './pool_table.js';
import {listen_to_recorded, show_recorded} from './recorded.js';
import {ask} from './server.js';
import {store_map} from './store_map.js';

const views = ['charts', 'objects', 'map'];
const known = new past();
const map = new store_map(show_life);
const pause_button = by_id('pause'), moment = by_id('moment');
const milliseconds = 500; // between two questions
const times_the_reading = 50; // between two looks into a pool, so that these take 2 % of a processor at the most

let state; // the last one
let {chosen, view} = kept('place') ?? {view: 'charts'}; // the key of the pool that is shown, and what of it
let is_open = false;
let is_paused = false;
let is_live = true; // the newest moment is shown, whatever comes
let next_reading = 0;
const read_at = {}; // by view
let objects_of; // the key of the pool whose objects are there to be seen
let unread; // why the view can't be read anew, if it can't

const is_running = () => !is_paused;
const shown_moment = () => is_live ? known.last : Number(moment.value);
const chosen_pool = () => state.pools.find(pool => pool.key === chosen);

const show_moment = () => {
  moment.max = known.last;
  if (is_live) moment.value = known.last;
  const ago = known.looks[known.last].seconds - known.looks[shown_moment()].seconds;
  by_id('to-now').hidden = by_id('moment-note').hidden = is_live;
  by_id('moment-text').textContent = is_live || ago === 0 ? 'now' : `${duration(ago * 1e9)} ago`;
  show_pools(state, known, shown_moment(), chosen, open_pool);
  if (chosen !== undefined && view === 'charts') show_charts(chosen, known, shown_moment(), state.phases);
};

const show_connection = (problem, has_ended = state?.has_ended) => {
  by_id('connection').className = problem || has_ended ? 'bad' : '';
  by_id('connection').textContent = problem ?? (is_paused ? (has_ended ? 'paused; the program has ended' : 'paused') :
    has_ended ? 'has ended; this is what was known of it' : `process ${state.process}, live`);
};

const show_state = () => {
  document.title = `${state.name} – handlepool-inspect`;
  by_id('program').textContent = `Pools of ${state.name}`;
  show_notices(state, open_pool);
  by_id('mark').disabled = state.has_ended;
  if (!is_open || !chosen_pool()) open_pool(chosen_pool() ? chosen : state.pools.find(pool => pool.is_alive)?.key ?? state.pools[0]?.key);
  show_moment();
  show_connection();
  show_recorded(state.recorded);
};

const is_shown = () => view === 'objects' ? objects_of === chosen : view === 'map' && map.has_cells;

/// Says how old what is shown is, where that is seconds.
const show_reading = () => {
  by_id('reading').hidden = !is_shown() || (!unread && next_reading - read_at[view] < 4 * milliseconds);
  const seconds = time => Math.round(time / 1000);
  const ago = seconds(performance.now() - read_at[view]);
  by_id('reading-text').textContent = unread ? `${unread}; this was read ${ago} s ago.` :
    `Read ${ago} s ago; again in ${Math.max(1, seconds(next_reading - performance.now()))} s, ` +
    'so that it takes 2 % of a processor at the most.';
};

const note_reading = (of_view, answer) => {
  read_at[of_view] = performance.now();
  next_reading = read_at[of_view] + times_the_reading * 1000 * answer.processor_seconds;
};

/// Shows what is read if it is wanted still when it has come.
const refresh_view = async (is_wanted = () => true) => {
  if (chosen === undefined) return;
  const key = chosen;
  try {
    if (state.has_ended) throw new Error('The program has ended');
    unread = undefined;
    if (view === 'objects') {
      const details = await ask('pool', {key, ...wanted});
      if (!is_wanted()) return;
      note_reading('objects', details);
      if (key === chosen) show_objects(objects_of = key, details, known.frames_per_second(key), show_life);
    } else if (view === 'map') {
      const answer = await map.refresh(is_wanted);
      if (is_wanted()) note_reading('map', answer);
    }
  } catch (error) {
    if (!is_wanted()) return;
    unread = error.message;
    if (is_shown()) return; // it is kept
    const words = `${unread}: what is in the pool is not known.`;
    if (view === 'objects') {
      objects_of = undefined;
      by_id('view-objects').replaceChildren(element('p', {class: 'quiet'}, words));
    }
    if (view === 'map') map.fail(words);
  }
};

function open_pool(key, asked_view = view) {
  if (key === undefined) return;
  chosen = key;
  const pool = chosen_pool();
  by_id('pool').hidden = false;
  by_id('pool-title').textContent = pool.name || 'without a name';
  by_id('pool-facts').textContent = `${pool.type || 'a type that is known at run time'}, ${count(pool.object_bytes)} bytes each; ` +
    `pool id ${pool.id}, layout ${pool.layout}; ${pool.is_stable ? 'objects stay where they are' : 'objects lie dense'}`;
  map.begin(key);
  is_open = true;
  open_view(asked_view);
}

const open_view = asked => {
  view = asked;
  keep('place', {chosen, view});
  for (const each of views) {
    const tab = by_id(`tab-${each}`), is_open = each === view;
    tab.setAttribute('aria-selected', is_open);
    tab.tabIndex = is_open ? 0 : -1;
    by_id(`view-${each}`).hidden = !is_open;
  }
  show_moment();
  refresh_view().then(show_reading);
};

const set_pause = on => {
  if (!state) return;
  is_paused = on;
  pause_button.setAttribute('aria-pressed', on);
  pause_button.textContent = on ? 'Go on' : 'Pause';
  show_connection();
};

const step_pool = step => {
  const keys = state.pools.map(pool => pool.key);
  open_pool(keys[(keys.indexOf(chosen) + step + keys.length) % keys.length]);
};

const keys = {
  '/': () => by_id('handle').focus(),
  ' ': () => set_pause(!is_paused),
  m: () => { if (state && !state.has_ended) keep_moment(state.pools); },
  r: () => by_id('read-now').click(),
  j: () => step_pool(1),
  k: () => step_pool(-1),
  1: () => open_view('charts'),
  2: () => open_view('objects'),
  3: () => open_view('map'),
};

const listen = () => {
  for (const each of by_id('search').elements) each.disabled = false; // before, the browser itself would send the form
  by_id('search').addEventListener('submit', event => {
    event.preventDefault();
    by_id('handle').blur(); // so that keys are keys again
    show_life(by_id('handle').value.trim());
  });
  pause_button.addEventListener('click', () => set_pause(!is_paused));
  by_id('mark').addEventListener('click', () => keys.m());
  by_id('mark-name').addEventListener('keydown', event => { if (event.key === 'Enter') keys.m(); });
  by_id('read-now').addEventListener('click', async () => {
    await refresh_view();
    show_reading();
  });
  moment.addEventListener('input', () => {
    is_live = Number(moment.value) === known.last;
    show_moment();
  });
  by_id('to-now').addEventListener('click', () => {
    is_live = true;
    show_moment();
  });
  for (const each of views) by_id(`tab-${each}`).addEventListener('click', () => open_view(each));
  document.querySelector('[role=tablist]').addEventListener('keydown', event => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (step === undefined) return;
    open_view(views[(views.indexOf(view) + step + views.length) % views.length]);
    by_id(`tab-${view}`).focus();
  });
  addEventListener('keydown', event => {
    if (event.key === 'Escape') event.target.blur();
    const is_writing = (/INPUT|SELECT/.test(event.target.tagName) && event.target.type !== 'range') || (event.key === ' ' && event.target.tagName === 'BUTTON');
    if (!state || is_writing || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });
  addEventListener('resize', () => { if (view === 'map') map.draw(); });
};

const run = async () => {
  let look = 0;
  for (;;) {
    const begun = performance.now();
    try {
      if (is_paused) {
        const {has_ended} = await ask('state', {since: Number.MAX_SAFE_INTEGER}); // and nothing else is of interest
        if (is_paused) show_connection(undefined, has_ended);
      } else {
        const answer = await ask('state', {since: look});
        if (is_paused) continue; // while the answer was on its way: these looks are asked for again
        look = answer.look;
        state = answer;
        const forgotten = known.add(answer);
        if (!is_live) moment.value = Math.max(0, Number(moment.value) - forgotten);
        if (known.looks.length) show_state();
        if (state.has_ended || performance.now() >= next_reading) await refresh_view(is_running);
        if (is_paused) continue;
        show_reading();
        if (!state.has_ended) await refresh_life(is_running);
      }
    } catch (error) {
      show_connection(`handlepool-inspect does not answer: ${error.message}`);
    }
    await new Promise(done => setTimeout(done, Math.max(milliseconds, performance.now() - begun)));
  }
};

listen();
listen_to_recorded();
show_moments();
run();
