import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { looksGenerated } from './generated-text.js';
import { redactText } from './redaction.js';

const MASK = '***';
/** Parameters whose name contains one of these words have secret values. */
const SECRET_NAME =
  /token|secret|key|sig|pass|pwd|auth|code|jwt|session|credential|hash|otp|nonce|cookie|bearer|hmac|(?:^|[^a-z])pin(?:$|[^a-z])/i;
const EMAIL = /[^\s@]@[^\s@]*\.[a-z]{2}/i;
/**
 * The characters of a phone number; `isPhoneNumber` also checks the digits. A leading space is a plus sign that was
 * decoded as in a query.
 */
const PHONE_CHARACTERS = /^[+ ]?[\d ().-]{7,20}$/;

/**
 * Returns the URL in a form that may be displayed and stored: without user information and fragment, and with
 * everything masked that looks like a secret, an email address or a phone number in the path and the parameters. The
 * names and order of parameters remain, so the URL is recognizable. Idempotent. Never throws.
 */
export function maskedUrl(url: string): string {
  const [, origin = '', path = '', query] =
    /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)?([^?#]*)(?:\?([^#]*))?/is.exec(url) ?? [];
  const maskedPath = path.split('/').map(maskedSegment).join('/');
  const maskedQuery = query === undefined ? '' : `?${query.split('&').map(maskedParameter).join('&')}`;
  return `${maskedOrigin(origin)}${maskedPath}${maskedQuery}`;
}

function maskedOrigin(origin: string): string {
  return origin.replace(/\/\/.*@/s, `//${MASK}@`);
}

function maskedSegment(segment: string): string {
  return looksSecret(segment) ? MASK : segment;
}

function maskedParameter(parameter: string): string {
  const end = parameter.indexOf('=');
  if (end < 0) return maskedSegment(parameter);
  const [name, value] = [parameter.slice(0, end), parameter.slice(end + 1)];
  if (value === '') return parameter;
  const shownName = looksSecret(name) ? MASK : name;
  return `${shownName}=${SECRET_NAME.test(decoded(name)) || looksSecret(value) ? MASK : value}`;
}

function looksSecret(text: string): boolean {
  const plain = decoded(text);
  return [text, plain].some(
    (each) => looksGenerated(each) || EMAIL.test(each) || isPhoneNumber(each) || redactText(each) !== each,
  );
}

/** Treats a number without a country code as a US number. */
function isPhoneNumber(text: string): boolean {
  if (!PHONE_CHARACTERS.test(text)) return false;
  return parsePhoneNumberFromString(text.replace(/^ /, '+'), 'US')?.isValid() === true;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
