import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { Field } from './field.js';
import type { Rule } from './rule.js';
import { isE164 } from './rules.js';

const SUPPORTED_COUNTRIES: ReadonlySet<string | undefined> = new Set(['US', 'CA']);

/**
 * A number in use in the US or Canada. The full metadata is needed: by the country code alone every
 * number of the North American plan (Jamaica, Bermuda, …) and every invented one would pass.
 */
const isValidInSupportedCountry: Rule = (value) => {
  const number = parsePhoneNumberFromString(value as string);
  if (number?.isValid() && SUPPORTED_COUNTRIES.has(number.country)) return undefined;
  return 'The phone number must be a valid number in a supported country.';
};

/** An optional phone number of the US or Canada. @param use what it is for, for the API document */
export function NorthAmericanPhoneNumber(use: string): PropertyDecorator {
  return Field({
    required: false,
    rules: [isE164, isValidInSupportedCountry],
    document: {
      type: String,
      pattern: '^\\+[1-9]\\d{1,14}$',
      description: `E.164; a valid number of the US or Canada. ${use}`,
      example: '+12125550123',
    },
  });
}
