/** Orders events by time, and events of the same time by the order in which they were added. */
export class Heap {
  #items = [];
  #added = 0;

  push(at, value) {
    const items = this.#items;
    const item = { at, order: (this.#added += 1), value };
    let index = items.push(item) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(item, items[parent])) break;
      items[index] = items[parent];
      index = parent;
    }
    items[index] = item;
  }

  /** Removes and returns the earliest event; undefined if there is none. */
  pop() {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (items.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && isBefore(items[child + 1], items[child])) child += 1;
      if (!isBefore(items[child], last)) break;
      items[index] = items[child];
      index = child;
    }
    items[index] = last;
    return first;
  }
}

/** Returns a source of random numbers (mulberry32) that repeats for the same seed. */
export function randomSource(seed) {
  let state = seed;
  const uniform = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    uniform,
    exponential: (mean) => -mean * Math.log(1 - uniform()),
    normal: () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()),
  };
}

function isBefore(left, right) {
  return left.at < right.at || (left.at === right.at && left.order < right.order);
}
