import { X509Certificate } from 'node:crypto';
import { ValidateBy } from 'class-validator';

/** A check of a setting that class-validator does not have. The message begins with the name of the field. */
export function Satisfies(
  name: string,
  test: (value: unknown) => boolean,
  message: string,
): PropertyDecorator {
  return ValidateBy({ name, validator: { validate: test, defaultMessage: () => message } });
}

/** Whether it is a certificate in PEM. */
export function isCertificate(value: unknown): boolean {
  return succeeds(() => new X509Certificate(value as string));
}

/** Whether it does not throw: for values that their users judge best. */
export function succeeds(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}
