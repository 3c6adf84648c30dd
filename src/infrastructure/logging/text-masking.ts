import { redactText } from './redaction.js';

const MASK = '[REDACTED]';

/** Headers whose whole value is secret. */
const SECRET_HEADER = /^([ \t]*(?:(?:set-)?cookie|(?:proxy-)?authorization)[ \t]*:).*$/gim;
const SECRET_WORD =
  'token|secret|passw(?:or)?d|pwd|api[_-]?key|private[_-]?key|authorization|signature|cookie|credential|jwt';
const SEPARATOR = String.raw`["']?[ \t]{0,8}(?:=>|[:=])[ \t]{0,8}`;
const VALUE = String.raw`"(?:[^"\\\r\n]|\\.)*"?|'(?:[^'\\\r\n]|\\.)*'?|[^\s"',;&<>{}[\]]+`;
/**
 * A name that contains such a word, a separator, and a value: as in JSON, a query, or a configuration. A name begins only once
 * (the lookbehind) and is not shortened (the reference to the lookahead), so that the pattern takes linear time.
 */
const NAMED_SECRET = new RegExp(
  String.raw`(?<![\w.-])(?=[\w.-]*?(?:${SECRET_WORD}))(?=([\w.-]+))\1(${SEPARATOR})(?!(?:null|true|false)\b)(${VALUE})`,
  'gi',
);

/** Masks everything that looks like a secret in the text of somebody else. Idempotent. */
export function maskedText(text: string): string {
  return redactText(text)
    .replace(SECRET_HEADER, `$1 ${MASK}`)
    .replace(NAMED_SECRET, (_, name: string, separator: string, value: string) => {
      const quote = /^["']/.exec(value)?.[0] ?? '';
      return `${name}${separator}${quote}${MASK}${quote}`;
    });
}
