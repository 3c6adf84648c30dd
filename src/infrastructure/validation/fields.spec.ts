import 'reflect-metadata';
import { cpuTimeOf } from '../../../test/support/programs/cpu-time.js';
import { enumeration } from '../schemas/index.js';
import {
  ExternalUserIdField,
  ArrayField,
  BooleanField,
  EmailField,
  EnumField,
  IntegerField,
  ObjectField,
  TextField,
  TimestampField,
  UuidField,
} from './fields.js';
import { exampleMessages } from './validations.js';
import { RequestValidationPipe } from './request-validation.pipe.js';
import { validateText } from './text.js';

const KIND = enumeration('Kind', ['a', 'b'], '');

class Order {
  @TextField({ max: 5, description: '' })
  first_name!: string;

  @IntegerField({ required: false, min: 2, max: 9, default: 3, description: '' })
  count: number = 3;

  @EnumField(KIND, { required: { when: 'count', is: 'never' }, description: '' })
  kind?: string;

  @TextField({ required: { unless: 'kind' }, description: '' })
  reason?: string;

  @TextField({ required: false, clearable: true, description: '' })
  note?: string | null;

  @ArrayField({
    required: false,
    max: 2,
    items: {},
    validateItem: (item, field) => validateText(field, item, 3),
    description: '',
  })
  names?: string[];

  @ObjectField({ required: false, members: {}, description: '' })
  data?: object;
}

class Query {
  @TimestampField({ in: 'query', required: false, description: '' })
  start?: string;

  @TimestampField({ in: 'query', required: false, notBefore: 'start', description: '' })
  end?: string;

  @IntegerField({ in: 'query', required: false, description: '' })
  limit?: number;

  @ArrayField({
    in: 'query',
    required: false,
    max: 3,
    items: {},
    validateItem: () => undefined,
    description: '',
  })
  kinds?: string[];
}

const pipe = new RequestValidationPipe();
const bodyOf = async (body: object): Promise<Order> =>
  (await pipe.transform(body, { type: 'custom', metatype: Order })) as Order;
const queryOf = async (query: object): Promise<Query> =>
  (await pipe.transform(query, { type: 'query', metatype: Query })) as Query;

const VALID = { first_name: 'Ada', kind: 'a' };

describe('Field', () => {
  class Composed {
    @BooleanField({ description: '' })
    flag!: boolean;
  }

  it.each([
    [{}, 'The flag field is required.'],
    [{ flag: null }, 'The flag field is required.'],
    [{ flag: ' ' }, 'The flag field is required.'],
    [{ flag: 'true' }, 'The flag field must be true or false.'],
  ])('reports a missing field first for %j', async (body, message) => {
    await expect(pipe.transform(body, { type: 'custom', metatype: Composed })).rejects.toThrow(message);
  });

  it.each([
    [7, 'The first name field must be a string.'],
    ['too long \0', 'The first name field must not contain null characters or unpaired surrogates.'],
    ['too long', 'The first name field must not be greater than 5 characters.'],
  ])('applies validators in order for %j', async (first_name, message) => {
    await expect(bodyOf({ ...VALID, first_name })).rejects.toThrow(new Error(message));
  });
});

describe('RequestValidationPipe with a body', () => {
  it.each([
    [{ kind: 'c', count: 0 }, 'The first name field is required.'],
    [{ first_name: 'Ada', kind: 'c', count: 0 }, 'The count field must be at least 2.'],
    [{ ...VALID, kind: 'c', count: 10 }, 'The count field must not be greater than 9.'],
    [{ ...VALID, count: '3' }, 'The count field must be an integer.'],
    [{ ...VALID, kind: 'c' }, 'The selected kind is invalid. Allowed values: a, b.'],
  ])('reports the first problem of %j in the order of the fields', async (body, message) => {
    await expect(bodyOf(body)).rejects.toThrow(new Error(message));
  });

  it('requires a conditional field only if its condition is met', async () => {
    for (const reason of [undefined, null, ' '])
      await expect(bodyOf({ first_name: 'Ada', reason })).rejects.toThrow(
        new Error('The reason field is required when the kind field is not present.'),
      );
    expect(await bodyOf({ first_name: 'Ada', reason: 'why' })).toMatchObject({ reason: 'why' });
  });

  it('applies defaults, clears fields and drops unknown members', async () => {
    const expected = { ...VALID, count: 3 };
    expect({ ...(await bodyOf({ ...VALID, unknown: 1 })) }).toEqual(expected);
    expect({ ...(await bodyOf({ ...VALID, count: null, note: ' ' })) }).toEqual({ ...expected, note: null });
  });

  it.each([
    [{ Note: 'x' }, 'The field Note is not known. Did you mean note?'],
    [{ cuont: 3 }, 'The field cuont is not known. Did you mean count?'],
    [{ 'dat a': {} }, 'The field is not known. Did you mean data?'],
    [{ note: null, notes: null }, 'The field notes is not known. Did you mean note?'],
    [{ kind: undefined, reason: 'why', kin: 'a' }, 'The field kin is not known. Did you mean kind?'],
  ])('refuses a misspelled optional field: %j', async (members, message) => {
    await expect(bodyOf({ ...VALID, ...members })).rejects.toThrow(new Error(message));
  });

  it.each([
    [{ firstName: 'Ada' }],
    [{ note: 'x', Note: 'y' }],
    [{ counter: 1 }],
    [JSON.parse('{"__proto__":1,"toString":2}') as object],
  ])('ignores other unknown members: %j', async (members) => {
    expect(await bodyOf({ ...VALID, ...members })).toMatchObject(VALID);
  });

  it('returns objects and arrays as they were sent', async () => {
    const data = JSON.parse('{"constructor":1,"toString":2,"__proto__":{"a":3},"list":[{}]}') as object;
    expect((await bodyOf({ ...VALID, data })).data).toBe(data);
    await expect(bodyOf({ ...VALID, first_name: { constructor: 1 } })).rejects.toThrow('must be a string');
  });

  it('takes no more than one step for each of 100,000 unknown members, and reads none', async () => {
    const count = 100_000;
    const members = Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, 0]));
    const steps = { lists: 0, looks: 0, reads: new Set<PropertyKey>() };
    const body = new Proxy(
      { ...VALID, ...members },
      {
        ownKeys: (target) => {
          steps.lists += 1;
          return Reflect.ownKeys(target);
        },
        getOwnPropertyDescriptor: (target, name) => {
          steps.looks += 1;
          return Reflect.getOwnPropertyDescriptor(target, name);
        },
        get: (target, name) => {
          steps.reads.add(name);
          return Reflect.get(target, name) as unknown;
        },
      },
    );
    expect(await bodyOf(body)).toMatchObject(VALID);
    expect([...steps.reads].filter((name) => name in members)).toEqual([]);
    expect(steps.lists).toBeLessThanOrEqual(1);
    expect(steps.looks).toBeLessThan(count + 20);
  });

  it('reports invalid fields before misspelled ones', async () => {
    await expect(bodyOf({ ...VALID, count: 'x', Note: 'x' })).rejects.toThrow('must be an integer');
  });

  it('counts code points', async () => {
    expect(await bodyOf({ ...VALID, first_name: '😀😀😀😀😀' })).toMatchObject({ first_name: '😀😀😀😀😀' });
  });

  it.each([
    ['a', 'The names field must be an array.'],
    [[], 'The names field is required.'],
    [['a', 'b', 7], 'The names field must not have more than 2 items.'],
    [['long', 7], 'The names[0] field must not be greater than 3 characters.'],
    [['a', ' '], 'The names[1] field is required.'],
  ])('reports the first invalid item of %j', async (names, message) => {
    await expect(bodyOf({ ...VALID, names })).rejects.toThrow(new Error(message));
  });
});

describe('White space around a value', () => {
  class Pasted {
    @EmailField({ description: '' })
    email!: string;

    @UuidField({ in: 'form' })
    id!: string;

    @TextField({ in: 'form', isTrimmed: true })
    name!: string;
  }

  it('is dropped where it comes with what users paste, and keyboards add after a word', async () => {
    const id = '0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1';
    const pasted = { email: 'ada@example.com ', id: `\u00A0${id}\r\n`, name: ' Ada ' };
    const read = (await pipe.transform(pasted, { type: 'custom', metatype: Pasted })) as Pasted;
    expect({ ...read }).toEqual({ email: 'ada@example.com', id, name: 'Ada' });
    await expect(
      pipe.transform({ ...pasted, email: 'a da@example.com' }, { type: 'custom', metatype: Pasted }),
    ).rejects.toThrow('The email field must be a valid email address.');
  });
});

describe('A list in a form', () => {
  const LIST = { in: 'form', max: 9, items: {}, validateItem: () => undefined } as const;
  class Lists {
    @ArrayField(LIST)
    words!: string[];

    @ArrayField({ ...LIST, isByLine: true })
    lines!: string[];
  }
  const read = async (form: Lists | { words: string; lines: string }): Promise<Lists> => ({
    ...((await pipe.transform(form, { type: 'custom', metatype: Lists })) as Lists),
  });

  it('has an item in each word or line', async () => {
    const text = ' a, b \r\n\r\n c\t';
    expect(await read({ words: text, lines: text })).toEqual({
      words: ['a', 'b', 'c'],
      lines: ['a, b', 'c'],
    });
  });

  it('takes little time to read', async () => {
    const text = `a${' '.repeat(100_000)}b`;
    const form = { words: text, lines: text };
    let reading: Promise<Lists> | undefined;
    expect(cpuTimeOf(() => void (reading = read(form)))).toBeLessThan(100);
    expect(await reading).toEqual({ words: ['a', 'b'], lines: [text] });
  });
});

describe('RequestValidationPipe with another parameter', () => {
  it.each([
    ['a class that is imported as a type only', Function],
    ['an interface', Object],
    ['a class', class Form {}],
  ])('returns a parameter without fields unchanged: %s', async (_name, metatype) => {
    const form = new URLSearchParams({ a: 'b' });
    expect(await pipe.transform(form, { type: 'custom', metatype })).toBe(form);
  });
});

describe('RequestValidationPipe with a query', () => {
  it('reads digits as a number', async () => {
    expect({ ...(await queryOf({ limit: '7' })) }).toEqual({ limit: 7 });
    await expect(queryOf({ limit: '7.5' })).rejects.toThrow('The limit field must be an integer.');
  });

  it.each([
    [{ kinds: ['a', 'b'] }],
    [{ kinds: 'a,b' }],
    [{ 'kinds[]': ['a', 'b'] }],
    [{ 'kinds[]': 'a,b' }],
    [{ 'kinds[0]': 'a', 'kinds[1]': 'b' }],
    [{ 'kinds[0]': 'a', 'kinds[]': 'b' }],
    [{ 'kinds[0]': 'a,b' }],
  ])('reads the values of %j', async (query) => {
    expect({ ...(await queryOf(query)) }).toEqual({ kinds: ['a', 'b'] });
  });

  it.each([
    [{ 'limit[0]': '1' }, 'The query parameter is not known.'],
    [{ kinds: 'a', 'kinds[0]': 'b' }, 'The query parameter is not known.'],
    [{ 'kinds[a]': 'b' }, 'The query parameter is not known.'],
    [{ 'kinds[0]': 'a', 'kinds[1]': ['b', 'c', 'd'] }, 'The kinds field must not have more than 3 items.'],
    [JSON.parse('{"__proto__[0]":"a","__proto__":"b"}') as object, 'The query parameter is not known.'],
    [{ page: '1' }, 'The query parameter page is not known.'],
    [{ Limit: '1' }, 'The query parameter Limit is not known. Did you mean limit?'],
    [{ 'a b': '1' }, 'The query parameter is not known.'],
    [{ limit: ['1', '2'] }, 'The query parameter limit is given more than once.'],
    [
      { start: '2026-02-31T00:00:00Z' },
      'The start field must be a date and time such as 2026-01-31T08:15:30Z.',
    ],
    [
      { start: '2026-01-02T00:00:00Z', end: '2026-01-01T00:00:00Z' },
      'The start field must not be after the end field.',
    ],
  ])('rejects %j', async (query, message) => {
    await expect(queryOf(query)).rejects.toThrow(new Error(message));
  });
});

describe('exampleMessages', () => {
  it('returns the first message of each kind that the schema does not express', () => {
    expect(exampleMessages(Order)).toEqual([
      'The kind field is required when the count is never.',
      'The reason field is required when the kind field is not present.',
    ]);
  });

  it('returns nothing for a class without fields', () => {
    class Nothing {
      @ExternalUserIdField()
      static readonly id = 1;
    }
    expect(exampleMessages(Nothing)).toEqual([]);
    expect(exampleMessages(undefined)).toEqual([]);
  });
});
