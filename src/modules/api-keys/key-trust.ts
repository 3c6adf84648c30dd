import { DAY, MINUTE, SECOND } from '../../infrastructure/time/index.js';

/** The issuer of the tokens that a program sends in place of a key, and their required content. */
export interface KeyTrust {
  readonly issuer: string;
  /** Null for the address of our token endpoint. */
  readonly audience: string | null;
  /** The subject, or the beginning of it and `*`. */
  readonly subject: string;
  readonly claims: Readonly<Record<string, string>>;
}

/** The claims of a token whose signature was verified. */
export type AssertionClaims = Readonly<Record<string, unknown>>;

/** A rule for tokens, and why a token breaks it. */
export interface CheckedRule {
  readonly rule: string;
  readonly problem?: string | undefined;
}

/** Milliseconds by which clocks may differ. */
const ASSERTION_TOLERANCE = 2 * MINUTE;
const MAX_LIFETIME = DAY;
export const MAX_CLAIMS = 5;
export const MAX_CLAIM_LENGTH = 256;
const LIMIT = 100;

/**
 * Returns the problem with the subject of a trust: a placeholder of a preset matches no token, and a prefix without a boundary would match
 * other names that begin alike.
 */
export function problemWithSubject(subject: string): string | undefined {
  const [placeholder] = /<[^>]+>/.exec(subject) ?? [];
  if (placeholder !== undefined) return `Replace ${placeholder} with your own value.`;
  return subject.endsWith('*') && !/.[:/]\*$/.test(subject)
    ? 'The beginning of a subject must end with “:” or “/” before the “*”.'
    : undefined;
}

/** Returns all rules of a trust, in the order in which a person would check them. */
export function checkRules(
  { issuer, audience, subject, claims: required }: KeyTrust,
  claims: AssertionClaims,
  tokenEndpoint: string,
  now: number,
): CheckedRule[] {
  return [
    equal('Issuer', claims['iss'], issuer),
    // A token for several audiences could have been passed on by one of the others.
    equal('Audience', onlyOf(claims['aud']), audience ?? tokenEndpoint),
    subjectRule(subject, claims['sub']),
    ...Object.entries(required).map(([name, value]) => equal(`Claim ${name}`, claims[name], value)),
    { rule: 'Time', problem: problemWithTimes(claims, now) },
  ];
}

/** Some issuers write numbers and Booleans as such, others as text. */
function equal(what: string, actual: unknown, expected: string): CheckedRule {
  const isPlain = typeof actual === 'number' || typeof actual === 'boolean';
  return {
    rule: `${what} is ${expected}`,
    problem: (isPlain ? String(actual) : actual) === expected ? undefined : `It is ${shown(actual)}.`,
  };
}

function subjectRule(subject: string, actual: unknown): CheckedRule {
  if (!subject.endsWith('*')) return equal('Subject', actual, subject);
  const beginning = subject.slice(0, -1);
  const matches = typeof actual === 'string' && actual.startsWith(beginning) && actual !== beginning;
  return {
    rule: `Subject begins with ${beginning}`,
    problem: matches ? undefined : `It is ${shown(actual)}.`,
  };
}

function onlyOf(audience: unknown): unknown {
  return Array.isArray(audience) && audience.length === 1 ? audience[0] : audience;
}

/** All times are in seconds (RFC 7519, section 2). */
function problemWithTimes({ exp, iat, nbf }: AssertionClaims, now: number): string | undefined {
  if (typeof exp !== 'number' || typeof iat !== 'number') return 'It lacks exp or iat.';
  if (exp * SECOND <= now - ASSERTION_TOLERANCE) return 'It has expired.';
  if (iat * SECOND > now + ASSERTION_TOLERANCE) return 'It was issued in the future.';
  if (nbf !== undefined && !(typeof nbf === 'number' && nbf * SECOND <= now + ASSERTION_TOLERANCE))
    return 'It is not valid yet.';
  return (exp - iat) * SECOND > MAX_LIFETIME ? 'It is valid for more than 24 hours.' : undefined;
}

function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `“${text.slice(0, LIMIT)}”`;
}
