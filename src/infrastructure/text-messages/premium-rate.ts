import { parsePhoneNumberFromString } from 'libphonenumber-js/max';

/** Local numbers that charge the caller. The numbering plans of North American cities do not list them by type. */
const PAY_PER_CALL = /^\+1\d{3}976\d{4}$/;

/** Returns whether the owner of the phone number earns from messages to it. @param phoneNumber in E.164 */
export function isPremiumRate(phoneNumber: string): boolean {
  return (
    PAY_PER_CALL.test(phoneNumber) || parsePhoneNumberFromString(phoneNumber)?.getType() === 'PREMIUM_RATE'
  );
}
