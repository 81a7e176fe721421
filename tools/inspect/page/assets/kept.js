// SPDX-License-Identifier: MIT
// What the page keeps when it is loaded again: in the tab's own storage, under the address, which has the token.

const name_of = what => `${location.pathname} ${what}`;

export const kept = what => JSON.parse(sessionStorage.getItem(name_of(what)) ?? 'null');

export const keep = (what, value) => {
  try {
    sessionStorage.setItem(name_of(what), JSON.stringify(value));
  } catch { // it is full: then this lasts as long as the page
  }
};
