// SPDX-License-Identifier: MIT
// The numbers of all pools at each look, the last ten minutes or so, and what follows from them.

const most_looks = 1200;
const looks_of_rate = 20;

export class past {
  looks = []; // each {seconds, pools: key -> {alive, created, ...}}

  /// Returns how many of the oldest looks are forgotten.
  add(state) {
    for (const {seconds, numbers} of state.looks) {
      const pools = new Map(numbers.map(row => [row[0], Object.fromEntries(state.columns.map((name, i) => [name, row[i]]))]));
      this.looks.push({seconds, pools});
    }
    return this.looks.splice(0, Math.max(0, this.looks.length - most_looks)).length;
  }

  get last() { return this.looks.length - 1; }

  numbers(key, at) { return this.looks[at]?.pools.get(key); }

  /// What has happened in a second, between this look and the one before.
  rates(key, at) {
    const now = this.numbers(key, at), before = this.numbers(key, at - 1);
    if (!now || !before) return undefined;
    const seconds = this.looks[at].seconds - this.looks[at - 1].seconds;
    const frames = now.frames - before.frames;
    return {
      created: (now.created - before.created) / seconds,
      erased: (now.erased - before.erased) / seconds,
      frames: frames / seconds,
      compaction: frames > 0 ? (now.compaction_nanoseconds - before.compaction_nanoseconds) / frames : undefined,
    };
  }

  /// In the last looks; undefined where no frame has ended.
  frames_per_second(key) {
    const now = this.numbers(key, this.last), from = Math.max(0, this.last - looks_of_rate), before = this.numbers(key, from);
    const frames = now && before ? now.frames - before.frames : 0;
    return frames > 0 ? frames / (this.looks[this.last].seconds - this.looks[from].seconds) : undefined;
  }

  /// What the phases of a compaction take, of those that were timed up to now and at least one before.
  phases(key, at) {
    const now = this.numbers(key, at);
    for (let from = at - 1; from >= 0 && from > at - 20; --from) {
      const before = this.numbers(key, from);
      if (!before) return undefined;
      const timed = now.timed_compactions - before.timed_compactions;
      if (timed > 0) return now.phase_nanoseconds.map((each, i) => (each - before.phase_nanoseconds[i]) / timed);
    }
    return undefined;
  }

  /// All that is known of each look at a pool, up to now.
  history(key) {
    return this.looks.flatMap(({seconds, pools}, at) => pools.has(key) ?
      [{seconds, numbers: pools.get(key), rates: this.rates(key, at), phases: this.phases(key, at)}] : []);
  }
}
