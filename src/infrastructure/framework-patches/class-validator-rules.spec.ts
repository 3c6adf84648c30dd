import * as classValidator from 'class-validator';
import { isKnownValid, rulesOf } from './class-validator-rules.js';

const { IsIn, IsInt, IsOptional, IsString, Length, ValidateIf, getMetadataStorage, validateSync } =
  classValidator;

const VALUES = [undefined, null, '', 'a', 'abcd', 0, 3, 1.5, ['a'], [1, 'b'], {}];

class Example {
  @IsString()
  @Length(1, 3)
  text?: unknown;

  @IsOptional()
  @IsInt()
  optional?: unknown;

  @ValidateIf((example: Example) => example.text !== 'a')
  @IsIn(['a', 3])
  conditional?: unknown;
}

class EachExample {
  @IsString({ each: true })
  texts: unknown;
}

describe('isKnownValid', () => {
  it('agrees with class-validator about every combination of values', () => {
    const outcomes = VALUES.flatMap((text) =>
      VALUES.flatMap((optional) =>
        VALUES.map((conditional) => {
          const example = Object.assign(new Example(), { text, optional, conditional });
          return { example, valid: isKnownValid(example), expected: validateSync(example).length === 0 };
        }),
      ),
    );
    expect(outcomes.filter(({ valid, expected }) => valid !== expected)).toEqual([]);
    expect(new Set(outcomes.map(({ valid }) => valid))).toEqual(new Set([true, false]));
  });

  it('leaves kinds of validations that it does not know to class-validator', () => {
    expect(isKnownValid(Object.assign(new EachExample(), { texts: ['a'] }))).toBe(false);
  });

  it('is needed as long as class-validator looks up the rules of a class for each object', () => {
    const lookUp = import.meta.jest.spyOn(getMetadataStorage(), 'getTargetValidationMetadatas');
    const example = Object.assign(new Example(), { text: 'a' });
    for (let count = 0; count < 3; count += 1) validateSync(example);
    expect(lookUp).toHaveBeenCalledTimes(3);
    lookUp.mockClear();
    for (let count = 0; count < 3; count += 1) isKnownValid(example);
    expect(lookUp).not.toHaveBeenCalled();
    lookUp.mockRestore();
  });
});

describe('rulesOf', () => {
  it('lists the rules of a class in the order of its fields', () => {
    expect(rulesOf(Example).map(({ propertyName }) => propertyName)).toEqual([
      'text',
      'text',
      'optional',
      'optional',
      'conditional',
      'conditional',
    ]);
    expect(rulesOf(undefined)).toEqual([]);
  });

  it('is needed as long as class-validator exports no other access to its rules', () => {
    const names = Object.keys(classValidator).filter((name) => /metadata|schema|rules|describe/i.test(name));
    expect(names.toSorted()).toEqual(['MetadataStorage', 'getMetadataStorage', 'registerSchema']);
  });
});
