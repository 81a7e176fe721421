// SPDX-License-Identifier: MIT
// What is known of a handle.

import {by_id, element} from './dom.js';
import {ask} from './server.js';

const handle_pattern = /^(0x[0-9a-f]{1,16}|[0-9]{1,20})$/i;

const life = ({alive, text, bytes}) => element('div', {class: `life ${alive ? 'alive' : 'ended'}`}, element('div', {}, text),
  bytes ? element('div', {class: 'bytes quiet'}, 'bytes ' + (bytes.length > 512 ? bytes.slice(0, 512) + '…' : bytes)) : '');

const greatest = 2n ** 64n - 1n;
const is_handle = text => handle_pattern.test(text) && BigInt(text) <= greatest;

/// The handle in a line of a log, if it has one number in hexadecimal digits; else the line.
const picked_from = line => {
  const found = line.match(/0x[0-9a-f]{1,16}(?![0-9a-f])/gi) ?? [];
  return found.length === 1 ? found[0] : line;
};

const answer_to = async handle => {
  if (!is_handle(handle)) {
    return [element('p', {}, `“${handle}” is no handle: a handle is a number of 64 bits, 4294968317 or 0x1000003fd.`)];
  }
  if (BigInt(handle) === 0n) return [element('p', {}, `${handle} is the null handle, which is of no pool.`)];
  const lives = await ask('life', {handle: handle.toLowerCase()});
  return lives.length ? lives.map(life) : [element('p', {}, `No pool here has the pool id of ${handle}.`)];
};

let shown; // the handle

const show = async (is_wanted = () => true) => {
  const handle = shown;
  let content;
  try {
    content = await answer_to(handle);
  } catch (error) {
    content = [element('p', {}, error.message)];
  }
  if (handle === shown && is_wanted()) by_id('life-content').replaceChildren(...content);
};

/// Asks again for the handle that is shown: it may have ended meanwhile. Shows the answer if it is wanted still.
export const refresh_life = async is_wanted => { if (shown !== undefined) await show(is_wanted); };

export const show_life = async line => {
  const handle = picked_from(line);
  if (handle === '') return;
  shown = handle;
  by_id('life').hidden = false;
  by_id('handle').value = handle;
  by_id('life-title').textContent = `The life of ${handle}`;
  await show();
  by_id('life').scrollIntoView({block: 'nearest'});
};
