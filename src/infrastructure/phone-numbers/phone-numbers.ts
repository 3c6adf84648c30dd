import { parsePhoneNumberFromString } from 'libphonenumber-js/max';

/**
 * The form of a number of an area code (NANP, INC 95-0407-008): not an easily recognizable code, which is never that of an area;
 * not reserved (N9X, 37X, 96X), nor the government's 710.
 */
const WITH_AREA_CODE = /^\+1(?!37|96|710)[2-9](?!(\d)\1)[0-8]\d[2-9]\d{6}$/;

/**
 * Returns whether a number is one of the US or Canada. The full metadata (`/max`) tells apart the countries that share +1, such as
 * Jamaica and Bermuda. Area codes that are newer than the metadata, and those that it lacks, are of the US or Canada unless they
 * are known to be of another country.
 *
 * @param phoneNumber in E.164
 */
export function isNorthAmerican(phoneNumber: string): boolean {
  const number = parsePhoneNumberFromString(phoneNumber);
  // The parser names a country only if the number is valid there.
  if (number?.country !== undefined) return number.country === 'US' || number.country === 'CA';
  return WITH_AREA_CODE.test(phoneNumber) && number?.getPossibleCountries().includes('US') === true;
}

/** Returns whether a text is a valid phone number. A number without a country code is one of the US. */
export function isPhoneNumber(text: string): boolean {
  const number = parsePhoneNumberFromString(text, 'US');
  return number?.isValid() === true || (number !== undefined && isNorthAmerican(number.number));
}
