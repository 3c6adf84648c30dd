import { getMetadataStorage } from 'class-validator';

type Validation = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

/** Returns the validations of a DTO in the order of its fields; none for anything else. */
export function validationsOf(target: unknown): readonly Validation[] {
  if (typeof target !== 'function') return [];
  return getMetadataStorage().getTargetValidationMetadatas(target, '', false, false);
}
