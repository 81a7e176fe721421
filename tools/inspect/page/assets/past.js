// SPDX-License-Identifier: MIT
// The numbers of all pools at each look, the last ten minutes or so, and what follows from them.

const most_looks = 1200;
const enough_looks = 20, enough_seconds = 2; // to tell growth from what comes and goes

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
    const now = this.numbers(key, this.last), from = Math.max(0, this.last - enough_looks), before = this.numbers(key, from);
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

  /// How many more objects there are each second, if they have become more in most looks of the last minute;
  /// undefined before there were enough looks.
  growth(key) {
    const last = this.looks[this.last]?.seconds ?? 0;
    const curve = [];
    for (let at = this.last; at >= 0 && this.looks[at].seconds > last - 60; --at) {
      const numbers = this.numbers(key, at);
      if (!numbers) break;
      curve.unshift([this.looks[at].seconds, numbers.alive]);
    }
    if (curve.length < enough_looks || last - curve[0][0] < enough_seconds) return undefined;
    const quarter = Math.floor(curve.length / 4);
    const least = part => Math.min(...part.map(([, alive]) => alive));
    // What comes and goes has minima that stay; what leaks has none.
    const minima = [0, 1, 2, 3].map(i => least(curve.slice(i * quarter, (i + 1) * quarter)));
    const grows = minima.every((each, i) => i === 0 || each > minima[i - 1]);
    const most_before = Math.max(...curve.slice(2 * quarter, 3 * quarter).map(([, alive]) => alive));
    return grows && curve.at(-1)[1] > most_before ? (minima[3] - minima[0]) / (curve[3 * quarter][0] - curve[0][0]) : 0;
  }
}
