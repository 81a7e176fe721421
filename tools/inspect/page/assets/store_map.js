// SPDX-License-Identifier: MIT
// A pool's store, a cell for each place, as it is now.

import {by_id, count, element} from './dom.js';
import {ask} from './server.js';

const colours = ['#1f77b4', '#e08214', '#2ca25f', '#c2408a', '#8c6bb1', '#b15928', '#17a2a2', '#9e9e2a'];
const rest = '#888888';
const states = {a: 'alive', n: 'newborn', e: 'erased, and not destroyed yet', '-': 'empty', r: 'reserved'};
const state_colours = {a: '#1f77b4', n: '#2ca25f', e: '#d62728', '-': 'transparent', r: '#e0a814'};

const hue_of_age = (age, oldest) => {
  const part = Math.log1p(age) / Math.log1p(Math.max(1, oldest));
  return `hsl(${215 + 50 * part} 65% ${78 - 45 * part}%)`; // paler for the young, whatever colours one sees
};

// Each way of colouring: what a cell's colour is, and what colours mean.
const ways = {
  age: {
    title: 'age',
    colour: (cell, map) => cell.age === null ? rest : hue_of_age(cell.age, map.oldest),
    legend: map => !map.knows_ages ? [[rest, 'not known: the pool has none of the options remember_frames and record_lives']] :
      [0, .25, .5, 1].map(part => Math.round(Math.expm1(part * Math.log1p(map.oldest))))
      .filter((age, i, all) => all.indexOf(age) === i).map(age => [hue_of_age(age, map.oldest), `${count(age)} frames`]),
  },
  creator: {
    title: 'created in',
    colour: cell => cell.creator === null ? rest : colours[cell.creator] ?? rest,
    legend: map => map.creator_names.slice(0, colours.length).map((name, i) => [colours[i], name])
      .concat(map.creator_names.length > colours.length ? [[rest, 'elsewhere']] : []),
  },
  written: {
    title: 'written since the last look',
    colour: cell => cell.is_written === undefined ? '#c9c9c9' : cell.is_written ? '#e08214' : '#7f8fa6',
    legend: () => [['#e08214', 'written'], ['#7f8fa6', 'as before'], ['#c9c9c9', 'not seen before']],
  },
  state: {
    title: 'state',
    colour: cell => state_colours[cell.state],
    legend: () => Object.entries(states).map(([state, name]) => [state_colours[state], name]),
  },
};

const cells_of = (answer, hashes) => [...answer.states].map((state, i) => {
  const handle = answer.handles[i];
  const before = hashes.get(handle);
  return {state, handle, age: answer.ages[i], creator: answer.creators[i],
          is_written: state !== 'a' || before === undefined ? undefined : before !== answer.hashes[i]};
});

export class store_map {
  first = 0;
  way = 'age';
  selected = 0;
  hashes = new Map();

  constructor(open_life) {
    this.open_life = open_life;
    this.canvas = element('canvas', {tabindex: 0, role: 'application', 'aria-label': 'The store', 'aria-describedby': 'cell'});
    this.chooser = element('select', {id: 'way', onchange: () => { this.way = this.chooser.value; this.draw(); }},
      Object.entries(ways).map(([value, {title}]) => element('option', {value}, title)));
    this.part = element('span');
    this.back = element('button', {onclick: () => this.turn(-1)}, 'Cells before');
    this.on = element('button', {onclick: () => this.turn(1)}, 'Cells after');
    this.cell = element('p', {class: 'cell', id: 'cell', 'aria-live': 'polite'});
    this.legend = element('ul', {class: 'legend'});
    by_id('view-map').replaceChildren(
      element('p', {class: 'choices'}, element('label', {for: 'way'}, 'Colour by'), this.chooser, this.part, this.back, this.on),
      this.canvas, this.legend, this.cell);
    this.canvas.addEventListener('pointermove', event => this.select(this.at(event)));
    this.canvas.addEventListener('click', event => { this.select(this.at(event)); this.open(); });
    this.canvas.addEventListener('keydown', event => this.key(event));
  }

  /// Another pool.
  begin(key) {
    this.key_of_pool = key;
    this.first = this.selected = 0;
    this.hashes = new Map();
    this.map = undefined;
  }

  /// Shows what the server answers if it is wanted still when it has come, and returns it.
  async refresh(is_wanted = () => true) {
    const key = this.key_of_pool;
    const answer = await ask('map', {key, first: this.first});
    if (key !== this.key_of_pool || !is_wanted()) return answer; // meanwhile another one was chosen, or nothing is to change
    this.map = {...answer, cells: cells_of(answer, this.hashes),
                knows_ages: answer.ages.some(age => age !== null),
                oldest: answer.ages.reduce((oldest, age) => Math.max(oldest, age ?? 0), 0)};
    this.hashes = new Map(answer.handles.flatMap((handle, i) => answer.states[i] === 'a' ? [[handle, answer.hashes[i]]] : []));
    this.draw();
    return answer;
  }

  get has_cells() { return this.map !== undefined; }

  /// There is nothing to be drawn, for this reason.
  fail(reason) {
    this.map = undefined;
    this.canvas.height = 0;
    this.canvas.style.height = '0';
    this.legend.replaceChildren();
    this.cell.textContent = reason;
  }

  turn(pages) {
    const shown = this.map?.cells.length || 1; // fewer of large objects
    this.first = Math.min(Math.max(0, this.first + pages * shown), Math.max(0, (this.map?.size ?? 1) - 1));
    this.selected = 0;
    this.refresh().catch(error => { this.cell.textContent = error.message; }); // what is drawn stays
  }

  draw() {
    if (!this.map) return;
    const {cells, size, first} = this.map;
    const seen = this.canvas.clientWidth, scale = devicePixelRatio;
    this.side = Math.max(4, Math.min(18, Math.floor(Math.sqrt(seen * 320 / Math.max(1, cells.length)))));
    this.columns = Math.max(1, Math.floor(seen / this.side));
    const rows = Math.max(1, Math.ceil(cells.length / this.columns));
    this.canvas.width = seen * scale;
    this.canvas.height = rows * this.side * scale;
    this.canvas.style.height = `${rows * this.side}px`;
    const pen = this.canvas.getContext('2d');
    pen.scale(scale, scale);
    const empty = getComputedStyle(document.documentElement).getPropertyValue('--empty');
    const {colour, legend} = ways[this.way];
    cells.forEach((cell, i) => {
      const x = i % this.columns * this.side, y = Math.floor(i / this.columns) * this.side, inner = this.side - 1;
      pen.fillStyle = cell.state === 'a' || cell.state === 'n' ? colour(cell, this.map) :
                      cell.state === '-' ? empty : state_colours[cell.state];
      pen.fillRect(x, y, inner, inner);
      if (i === this.selected) {
        pen.strokeStyle = getComputedStyle(this.canvas).color;
        pen.strokeRect(x + .5, y + .5, inner - 1, inner - 1);
      }
    });
    const among = [...new Set(cells.map(cell => cell.state))].filter(state => state === 'e' || state === 'r' || state === '-');
    const also = this.way === 'state' ? [] : among.map(state => [state === '-' ? empty : state_colours[state], states[state]]);
    this.legend.replaceChildren(...[...legend(this.map), ...also].map(([colour_of, words]) => {
      const sample = element('i');
      sample.style.background = colour_of;
      return element('li', {}, sample, words);
    }));
    this.part.textContent = cells.length === size ? `${count(size)} cells` :
      `cells ${first} to ${first + cells.length - 1} of ${size}`;
    this.back.hidden = first === 0;
    this.on.hidden = first + cells.length >= size;
    this.canvas.setAttribute('aria-label', `The store: ${count(size)} cells; arrow keys go from one to the next`);
    this.tell();
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return Math.floor((event.clientY - box.top) / this.side) * this.columns + Math.floor((event.clientX - box.left) / this.side);
  }
  select(cell) {
    if (!this.map || cell < 0 || cell >= this.map.cells.length || cell === this.selected) return;
    this.selected = cell;
    this.draw();
  }
  open() {
    const cell = this.map?.cells[this.selected];
    if (cell && cell.handle !== '0x0') this.open_life(cell.handle);
  }
  key(event) {
    const step = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: this.columns, ArrowUp: -this.columns}[event.key];
    if (step !== undefined) {
      event.preventDefault();
      this.select(this.selected + step);
    } else if (event.key === 'Enter') {
      this.open();
    }
  }
  tell() {
    const cell = this.map.cells[this.selected];
    this.cell.textContent = !cell ? 'The store is empty.' :
      [`Cell ${this.map.first + this.selected}: ${states[cell.state]}`, cell.handle === '0x0' ? '' : cell.handle,
       cell.age === null ? '' : `${count(cell.age)} frame${cell.age === 1 ? '' : 's'} old`,
       cell.creator === null ? '' : `created in ${this.map.creator_names[cell.creator]}`].filter(words => words).join(', ');
  }
}
