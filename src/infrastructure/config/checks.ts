import { X509Certificate } from 'node:crypto';
import { Resolver } from 'node:dns';
import { isIP } from 'node:net';
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
  message: string,
): PropertyDecorator {
  return ValidateBy({ name: test.name, validator: { validate: test, defaultMessage: () => message } });
}

/** Validates that a setting is a URL of HTTP. The example shows that it begins with a scheme. */
export function IsHttpUrl(example: string): PropertyDecorator {
  const options = { require_tld: false, require_protocol: true, protocols: ['http', 'https'] };
  return IsUrl(options, { message: `$property must be a URL such as ${example}` });
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

/** Returns whether the value is a list of addresses of DNS servers, with or without ports. */
export function isDnsServerList(value: unknown): boolean {
  return succeeds(() => new Resolver().setServers(value as string[]));
}

/** Returns whether the function completes without an error. Use it for values that only a parser can check. */
function succeeds(attempt: () => unknown): boolean {
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
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
