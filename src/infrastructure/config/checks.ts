import { X509Certificate } from 'node:crypto';
import { Resolver } from 'node:dns';
import { existsSync, readFileSync } from 'node:fs';
import { isIP, isIPv6 } from 'node:net';
import tls from 'node:tls';
import { applyDecorators } from '@nestjs/common';
import { IsInt, IsUrl, Max, Min, ValidateBy, type ValidationArguments } from 'class-validator';

/** Validates that a setting is an integer from `min` to `max`. */
export function IsIntegerBetween(min: number, max: number): PropertyDecorator {
  return applyDecorators(IsInt(), Min(min), Max(max));
}

/**
 * Validates a setting with a function, for checks that class-validator lacks. The message must begin with the field's
 * name or `$property`, which `loadConfiguration` replaces with the name of the variable.
 */
export function Satisfies(
  test: (value: unknown, context?: ValidationArguments) => boolean,
  message: string | ((context: ValidationArguments) => string),
): PropertyDecorator {
  return ValidateBy({ name: test.name, validator: { validate: test } }, { message });
}

/** Validates that a setting is a URL of HTTP. The example shows that it begins with a scheme. Compose allows underscores in names. */
export function IsHttpUrl(example: string): PropertyDecorator {
  const protocols = ['http', 'https'];
  const options = { require_tld: false, require_protocol: true, allow_underscores: true, protocols };
  return IsUrl(options, { message: `$property must be a URL such as ${example}` });
}

const LOOPBACK = /^(?:localhost\.?|127(?:\.\d{1,3}){3}|\[(?:::1|::ffff:7f[\da-f]{2}:[\da-f]{1,4})\])$/i;

/** Returns whether only this machine can reach the host: a name or an address, in any spelling, with or without brackets. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  return LOOPBACK.test(isIPv6(address) ? (parsedUrl(`http://[${address}]`)?.hostname ?? '') : address);
}

/** Returns whether the host is another machine: neither a socket in the file system nor this machine. */
export function isOtherMachine(host: string): boolean {
  return !/^$|^\/|^%2f/i.test(host) && !isLoopback(host);
}

/** Validates that a setting is the URL of a host. The service serves no paths below another one, and links to none. */
export function IsHostUrl(example: string): PropertyDecorator {
  return Satisfies(isHostUrl, `$property must be a URL without a path, such as ${example}`);
}

function isHostUrl(value: unknown): boolean {
  const url = /^https?:\/\/[^/]/i.test(String(value)) ? parsedUrl(String(value)) : undefined;
  return url !== undefined && [`${url.origin}/`, url.origin].includes(url.href);
}

/** Validates that a setting is what a server can listen on. */
export function IsListenAddress(): PropertyDecorator {
  return Satisfies(
    isListenAddress,
    '$property must be an IP address or a name of this machine, without a port',
  );
}

const isListenAddress = (value: unknown): boolean =>
  isIP(String(value)) !== 0 || /^(?!-)[a-z\d.-]+$/i.test(String(value));

/** Returns whether the value is a certificate in PEM. */
export function isCertificate(value: unknown): boolean {
  return succeeds(() => new X509Certificate(value as string));
}

/**
 * Returns the authorities that Node.js trusts, also those of `NODE_EXTRA_CA_CERTS`, and another one. The option `ca` of a TLS connection
 * replaces all of them.
 */
export function trustedWith(authority: string): string[] {
  // Since Node.js 22.15.
  const { getCACertificates } = tls as { getCACertificates?: (type: 'default') => string[] };
  return [...(getCACertificates?.('default') ?? [...tls.rootCertificates, ...extraAuthorities()]), authority];
}

function extraAuthorities(): string[] {
  const file = process.env['NODE_EXTRA_CA_CERTS'];
  // Node.js has warned about a file that cannot be read.
  return file && existsSync(file) ? [readFileSync(file, 'utf8')] : [];
}

/** Returns whether the value is a list of addresses of DNS servers, with or without ports. */
export function isDnsServerList(value: unknown): boolean {
  return succeeds(() => new Resolver().setServers(value as string[]));
}

/** Returns whether the function completes without an error. Use it for values that only a parser can check. */
export function succeeds(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}

/**
 * Parses a URL with the WHATWG parser. Returns undefined if the text is not a URL.
 *
 * Replaces `URL.canParse`, which is wrong in Node.js 20 once the calling function is compiled: its fast path reads
 * Latin-1 as UTF-8, so text with letters such as ä is accepted at first and rejected later.
 */
export function parsedUrl(text: string, base?: string): URL | undefined {
  return accepted(() => new URL(text, base));
}

/** Returns the value of a JSON text; undefined if the text is something else. */
export function parsedJson(text: string): unknown {
  return accepted<unknown>(() => JSON.parse(text));
}

/** Returns a percent-encoded text as it was before; undefined if the text is not valid. */
export function percentDecoded(text: string): string | undefined {
  return accepted(() => decodeURIComponent(text));
}

function accepted<Value>(parse: () => Value): Value | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
