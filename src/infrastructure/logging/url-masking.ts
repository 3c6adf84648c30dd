import { redactText } from './redaction.js';

const MASK = '***';
/** Names of parameters whose values are for nobody's eyes, wherever the word stands in the name. */
const SECRET_NAME =
  /token|secret|key|sig|pass|pwd|auth|code|jwt|session|credential|hash|otp|nonce|cookie|bearer|hmac|(?:^|[^a-z])pin(?:$|[^a-z])/i;
/** What people make by machine and not by hand: long, and of letters and digits mixed. */
const SECRET_VALUE = /^(?=.*\d)(?=.*[A-Za-z])[\w~+=.%-]{20,}$/;
const HEX_OR_BASE64 = /^(?:[0-9a-f]{16,}|[A-Za-z0-9+/_=-]{32,})$/i;

/**
 * The URL as it may be shown and kept: without user information and fragment, and with a mask in place of what
 * looks like a secret in its path and its parameters. Their names and their order stay, so that one still sees
 * which URL it is. Masked again, it stays as it is. Never throws.
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
    (each) => SECRET_VALUE.test(each) || HEX_OR_BASE64.test(each) || redactText(each) !== each,
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
