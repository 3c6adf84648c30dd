import { allEntries, menuEntries, menuGroups, type MenuEntry } from './menu.js';

const entry = (label: string, group: string, place: number): MenuEntry => ({
  label,
  group,
  place,
  icon: 'globe',
  path: `/${label}`,
});

describe('Entries of the menus', () => {
  it('are in the order of their places, in whichever order they are added', () => {
    menuEntries(entry('third', 'Later', 30));
    menuEntries(entry('fourth', 'Later', 40), entry('first', 'Sooner', 10));
    menuEntries(entry('second', 'Sooner', 20));
    expect(allEntries().map(({ label }) => label)).toEqual(['first', 'second', 'third', 'fourth']);
    expect(menuGroups().map(({ label }) => label)).toEqual(['Sooner', 'Later']);
  });
});
