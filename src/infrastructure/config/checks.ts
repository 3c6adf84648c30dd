import { X509Certificate } from 'node:crypto';
import { ValidateBy } from 'class-validator';

/** Validates a setting by a function, for checks that class-validator lacks. The message begins with the field's name. */
export function Satisfies(
  name: string,
  test: (value: unknown) => boolean,
  message: string,
): PropertyDecorator {
  return ValidateBy({ name, validator: { validate: test, defaultMessage: () => message } });
}

/** Returns whether the value is a certificate in PEM. */
export function isCertificate(value: unknown): boolean {
  return succeeds(() => new X509Certificate(value as string));
}

/** Returns whether the function does not throw: for values that only a parser can check. */
export function succeeds(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}
