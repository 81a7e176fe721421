// SPDX-License-Identifier: MIT
// What is known of a handle.

import {by_id, element} from './dom.js';
import {ask} from './server.js';

const handle_pattern = /^(0x[0-9a-f]{1,16}|[0-9]{1,20})$/i;

const life = ({alive, text, bytes}) => element('div', {class: `life ${alive ? 'alive' : 'ended'}`}, element('div', {}, text),
  bytes ? element('div', {class: 'bytes quiet'}, 'bytes ' + (bytes.length > 512 ? bytes.slice(0, 512) + '…' : bytes)) : '');

const answer_to = async handle => {
  if (!handle_pattern.test(handle)) {
    return [element('p', {}, `“${handle}” is no handle: a handle is a number of 64 bits, 4294968317 or 0x1000003fd.`)];
  }
  const lives = await ask('life', {handle: handle.toLowerCase()});
  return lives.length ? lives.map(life) : [element('p', {}, `No pool here has the pool id of ${handle}.`)];
};

export const show_life = async handle => {
  by_id('life').hidden = false;
  by_id('handle').value = handle;
  by_id('life-title').textContent = `The life of ${handle}`;
  try {
    by_id('life-content').replaceChildren(...await answer_to(handle));
  } catch (error) {
    by_id('life-content').replaceChildren(element('p', {}, error.message));
  }
  by_id('life').scrollIntoView({block: 'nearest'});
};
