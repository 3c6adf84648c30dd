import { LinkedList, type Linked } from './linked-list.js';

class Item implements Linked<Item> {
  previous: Item | undefined;
  next: Item | undefined;
  isLinked = false;

  constructor(readonly name: string) {}
}

const namesIn = (list: LinkedList<Item>): string => Array.from(list, ({ name }) => name).join('');

describe('LinkedList', () => {
  it.each(['first', 'middle', 'last'])('keeps the order when the %s item is deleted', (place) => {
    const list = new LinkedList<Item>();
    const [first, middle, last] = ['a', 'b', 'c'].map((name) => new Item(name)) as [Item, Item, Item];
    for (const item of [first, middle, last]) list.add(item);
    const item = { first, middle, last }[place] as Item;
    expect(list.delete(item)).toBe(true);
    expect(namesIn(list)).toBe('abc'.replace(item.name, ''));
    expect([item.previous, item.next, list.size]).toEqual([undefined, undefined, 2]);
    list.add(item);
    expect(namesIn(list)).toBe(`${'abc'.replace(item.name, '')}${item.name}`);
  });

  it('deletes an item once', () => {
    const list = new LinkedList<Item>();
    const [one, other] = [new Item('a'), new Item('b')];
    list.add(one);
    expect([list.delete(other), list.delete(one), list.delete(one)]).toEqual([false, true, false]);
    expect([list.size, namesIn(list)]).toEqual([0, '']);
  });
});
