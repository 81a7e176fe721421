// SPDX-License-Identifier: MIT
// What the recorded frames of the program's world have changed, one after the other, and who began and ended lives.

import {by_id, count, element, table} from './dom.js';
import {ask} from './server.js';

const most = 50; // differences of each part
const slider = by_id('recorded-frame'), against = by_id('recorded-from');

let asked = 0; // so that late answers to earlier questions are passed over

const lives_table = lives => table([['whose life', 'words'], ['how it began or ended', 'words']],
  lives.map(({pool, name, handle, has_ended, text}) => [`${pool} ${name} (${handle})`,
    element('span', {class: has_ended ? 'ended' : 'alive'}, text)]));

const what_changed = ({from, to, differences, left_out}) => {
  const changes = differences.length + left_out;
  return [
    element('p', {}, `From frame ${from} to frame ${to}: `,
      changes === 0 ? 'nothing has changed.' : `${count(changes)} ${changes === 1 ? 'change' : 'changes'}.`),
    differences.length === 0 ? '' : table([['where', 'words'], ['what', 'words'], ['before', 'words'], ['after', 'words']],
      differences.map(({part, object, what, before, after}) => [`${part} ${object}`, what, before, after])),
    left_out ? element('p', {class: 'quiet'}, `and ${count(left_out)} more`) : '',
  ];
};
const who_did_it = ({lives, left_out}) => lives.length === 0 ? [] : [lives_table(lives),
  left_out ? element('p', {class: 'quiet'}, `and ${count(left_out)} more`) : ''];

const show_changes = async () => {
  const question = ++asked;
  const to = Number(slider.value);
  const first = Number(slider.min);
  const from = against.value === 'all' ? first : Math.max(first, to - Number(against.value));
  let found;
  try {
    const [changes, lives] = await Promise.all([ask('changes', {from, to, most}), ask('lives', {frame: to, most})]);
    found = [...what_changed(changes), ...who_did_it(lives)];
  } catch (error) {
    found = [element('p', {}, error.message)];
  }
  if (question === asked) by_id('recorded-changes').replaceChildren(...found.filter(each => each !== ''));
};

const go = steps => {
  slider.value = Number(slider.value) + steps;
  show_changes();
};

export const listen_to_recorded = () => {
  slider.addEventListener('input', show_changes);
  against.addEventListener('change', show_changes);
  by_id('recorded-back').addEventListener('click', () => go(-1));
  by_id('recorded-on').addEventListener('click', () => go(1));
};

export const show_recorded = recorded => {
  if (!recorded) return;
  by_id('recorded').hidden = false;
  if (recorded.error) {
    by_id('recorded-facts').textContent = recorded.error;
    return;
  }
  by_id('recorded-facts').textContent = `${recorded.folder}: ${count(recorded.count)} frames, from ${recorded.first} to ${recorded.last}`;
  const is_new = asked === 0 && recorded.count > 1;
  slider.min = recorded.first;
  slider.max = recorded.last;
  if (is_new) {
    slider.value = slider.max;
    show_changes();
  }
};
