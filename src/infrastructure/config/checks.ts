import { X509Certificate } from 'node:crypto';
import { Resolver } from 'node:dns';
import { applyDecorators } from '@nestjs/common';
import { IsInt, Max, Min, ValidateBy, type ValidationArguments } from 'class-validator';

/** Validates that a setting is an integer from `min` to `max`. */
export function IsIntegerBetween(min: number, max: number): PropertyDecorator {
  return applyDecorators(IsInt(), Min(min), Max(max));
}

/**
 * Validates a setting with a function, for checks that class-validator lacks. The message must begin with the field's
 * name, which `loadConfiguration` replaces with the name of the variable.
 */
export function Satisfies(
  test: (value: unknown, context?: ValidationArguments) => boolean,
  message: string,
): PropertyDecorator {
  return ValidateBy({ name: test.name, validator: { validate: test, defaultMessage: () => message } });
}

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
