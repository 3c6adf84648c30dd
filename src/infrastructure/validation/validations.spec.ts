import { IsIn, IsInt, IsOptional, IsString, Length, ValidateIf, validateSync } from 'class-validator';
import { isKnownValid } from './validations.js';

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
});
