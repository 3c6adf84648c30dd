/** An item of a list, which contains its own links. */
export interface Linked<Item> {
  previous: Item | undefined;
  next: Item | undefined;
  isLinked: boolean;
}

/**
 * Items in the order in which they were added. For items that come and go all the time: a `Set` that lives long keeps them until
 * the old generation of the heap is collected (docs/decisions/0022-heap-growth.md).
 */
export class LinkedList<Item extends Linked<Item>> {
  private first: Item | undefined;
  private last: Item | undefined;
  size = 0;

  add(item: Item): void {
    item.isLinked = true;
    item.previous = this.last;
    if (this.last) this.last.next = item;
    else this.first = item;
    this.last = item;
    this.size += 1;
  }

  /** @returns whether the list had the item */
  delete(item: Item): boolean {
    if (!item.isLinked) return false;
    const { previous, next } = item;
    if (previous) previous.next = next;
    else this.first = next;
    if (next) next.previous = previous;
    else this.last = previous;
    item.isLinked = false;
    item.previous = undefined;
    item.next = undefined;
    this.size -= 1;
    return true;
  }

  *[Symbol.iterator](): Generator<Item> {
    for (let item = this.first; item; item = item.next) yield item;
  }
}
