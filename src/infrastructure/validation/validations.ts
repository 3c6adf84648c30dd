import { getMetadataStorage } from 'class-validator';

type Validation = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

/** Cached, because every request needs them for each parameter. */
const known = new Map<unknown, readonly Validation[]>();

/** Returns the validations of a DTO in the order of its fields; none for anything else. */
export function validationsOf(target: unknown): readonly Validation[] {
  let validations = known.get(target);
  if (!validations) {
    validations =
      typeof target === 'function'
        ? getMetadataStorage().getTargetValidationMetadatas(target, '', false, false)
        : [];
    known.set(target, validations);
  }
  return validations;
}
