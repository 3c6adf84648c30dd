import 'reflect-metadata';
import { exampleOf, IntegerProperty, ObjectProperty, TextProperty } from './properties.js';

class Part {
  @TextProperty('', 'a')
  name!: string;

  @TextProperty('')
  withoutExample!: string;
}

class Whole extends Part {
  @IntegerProperty('', null, { nullable: true })
  count!: number | null;

  @ObjectProperty(Part, '')
  part!: Part;

  @ObjectProperty([Part], '')
  parts!: Part[];

  @ObjectProperty(Part, '', { nullable: true, example: null })
  noPart!: Part | null;
}

describe('exampleOf', () => {
  it('consists of the examples of the properties, inherited and nested ones included', () => {
    const part = { name: 'a' };
    expect(exampleOf(Whole)).toEqual({ name: 'a', count: null, part, parts: [part], noPart: null });
  });

  it('does not give the properties of a subclass to its base class', () => {
    expect(exampleOf(Part)).toEqual({ name: 'a' });
  });
});
