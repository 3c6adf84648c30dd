import { percentDecoded } from '../config/index.js';
import { isPhoneNumber } from '../phone-numbers/index.js';
import { redactText } from './redaction.js';

const MASK = '***';
/** Parameters whose name contains one of these words have secret values. */
const SECRET_NAME =
  /token|secret|key|sig|pass|pwd|auth|code|jwt|session|credential|hash|otp|nonce|cookie|bearer|hmac|(?:^|[^a-z])pin(?:$|[^a-z])/i;
const EMAIL = /[^\s@]@[^\s@]*\.[a-z]{2}/i;
/**
 * The characters of a phone number; `isPhoneNumber` checks the digits. A leading space is a plus sign that was
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
  return `${origin.replace(/\/\/.*@/s, `//${MASK}@`)}${maskedPath}${maskedQuery}`;
}

function maskedSegment(segment: string): string {
  return looksSecret(segment) ? MASK : segment;
}

function maskedParameter(parameter: string): string {
  const end = parameter.indexOf('=');
  if (end < 0) return maskedSegment(parameter);
  const name = parameter.slice(0, end);
  const value = parameter.slice(end + 1);
  if (value === '') return parameter;
  const shownName = looksSecret(name) ? MASK : name;
  return `${shownName}=${SECRET_NAME.test(decoded(name)) || looksSecret(value) ? MASK : value}`;
}

function looksSecret(text: string): boolean {
  const plain = decoded(text);
  return [text, plain].some(
    (each) =>
      looksGenerated(each) ||
      EMAIL.test(each) ||
      (PHONE_CHARACTERS.test(each) && isPhoneNumber(each.replace(/^ /, '+'))) ||
      redactText(each) !== each,
  );
}

function decoded(text: string): string {
  return percentDecoded(text.replaceAll('+', ' ')) ?? text;
}

/** The pairs of letters that are most common in English text. About 85% of the pairs in words are among them. */
const COMMON_PAIRS = new Set(
  (
    'th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ' +
    'ic ne ea ra ce li ch ll be ma si om ur ca el ta la ns di fo ho pe ec pr no ct us ac ot il tr ly nc et ut ss so ' +
    'rs un lo wa ge ie wh ee wi em ad ol rt po we na ul ni ts mo ow pa im mi ai sh ir su id os iv ia am fi ci vi pl ' +
    'ig tu ev ld ry mp fe bl ab gh ty op sa ay ex ke fr oo av ag ap gr od bo sp rd do uc bu ov rm oc cu ok eb bh hu'
  ).split(' '),
);
/** Words have at least this share of common pairs. In random letters, a fifth of the pairs are common. */
const MIN_COMMON_SHARE = 0.55;

/** At least 16 characters of the kinds that tokens and joined words consist of. */
const CANDIDATE = /^[\w~+/=.%-]{16,}$/;
const HEX = /^[0-9a-f]+$/i;
const LETTERS_AND_DIGITS = /^(?=.*\d)(?=.*[A-Za-z])/;
/** A word, which may end with a short number, or a short number alone. */
const WORD = /^(?:[A-Za-z]{1,12}\d{0,4}|[A-Za-z]{13,40}|\d{0,8})$/;

/** Minimum length of a generated value that contains letters and digits. */
const MIN_LENGTH_WITH_DIGITS = 20;

/** Returns whether a text looks generated at random, such as a key, and not like words. Takes linear time. */
function looksGenerated(text: string): boolean {
  if (!CANDIDATE.test(text)) return false;
  if (HEX.test(text)) return true;
  if (isWords(text)) return false;
  return !LETTERS_AND_DIGITS.test(text) || text.length >= MIN_LENGTH_WITH_DIGITS;
}

function isWords(text: string): boolean {
  const words = text.split(/[^A-Za-z0-9]+/);
  if (!words.every((word) => WORD.test(word))) return false;
  let pairs = 0;
  let common = 0;
  for (const word of words) {
    const letters = word.replace(/\d+$/, '').toLowerCase();
    for (let index = 1; index < letters.length; index += 1) {
      pairs += 1;
      if (COMMON_PAIRS.has(letters.slice(index - 1, index + 1))) common += 1;
    }
  }
  return common >= pairs * MIN_COMMON_SHARE;
}
