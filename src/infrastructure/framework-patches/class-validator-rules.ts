import { ValidationTypes, getMetadataStorage } from 'class-validator';

type Rule = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];
type Check = (dto: object, value: unknown) => unknown;

const rulesByType = new Map<unknown, readonly Rule[]>();

/**
 * Written for class-validator 0.15.1. Evidence: docs/decisions/0017-validation-pipe.md.
 *
 * Returns the rules of a class in the order of its fields; none for anything else. class-validator documents how to declare rules and how
 * to run them, but not how to list them. Computed once per class, because every request needs them for each parameter.
 */
export function rulesOf(target: unknown): readonly Rule[] {
  let rules = rulesByType.get(target);
  if (!rules) {
    rules =
      typeof target === 'function'
        ? getMetadataStorage().getTargetValidationMetadatas(target, '', false, false)
        : [];
    rulesByType.set(target, rules);
  }
  return rules;
}

/** Cleared by `forgetConstraints`. */
const checksByType = new Map<unknown, (dto: object) => boolean>();

/**
 * Written for class-validator 0.15.1. Evidence: docs/decisions/0017-validation-pipe.md.
 *
 * Returns true only if class-validator would find no violation. If it returns false, `validateSync` decides. `validateSync` is
 * slow: for every object, it groups the rules of the class and searches all constraints for the instance of each one.
 */
export function isKnownValid(dto: object): boolean {
  const type = dto.constructor;
  let check = checksByType.get(type);
  if (!check) checksByType.set(type, (check = compile(type)));
  return check(dto);
}

/** Makes `isKnownValid` look up the instances of constraints again, after `useContainer`. */
export function forgetConstraints(): void {
  checksByType.clear();
}

function compile(type: unknown): (dto: object) => boolean {
  const isCondition = (rule: Rule): boolean => rule.type === ValidationTypes.CONDITIONAL_VALIDATION;
  const names = new Set(rulesOf(type).map(({ propertyName }) => propertyName));
  const checks = [...names].map((name) => {
    const own = rulesOf(type).filter(({ propertyName }) => propertyName === name);
    return {
      name,
      conditions: own.filter(isCondition).map(({ constraints }) => constraints[0] as Check),
      rules: own.filter((rule) => !isCondition(rule)).map(checkOf),
    };
  });
  return (dto) =>
    checks.every(({ name, conditions, rules }) => {
      const value = (dto as Record<string, unknown>)[name];
      return conditions.some((holds) => !holds(dto, value)) || rules.every((holds) => holds(dto, value));
    });
}

/** Returns a check that fails for every kind of rule that it does not know: `validateSync` then decides. */
function checkOf({ type, each, validateIf, constraintCls, propertyName, constraints }: Rule): Check {
  const isSimple = type === ValidationTypes.CUSTOM_VALIDATION || type === ValidationTypes.IS_DEFINED;
  if (!isSimple || each || validateIf) return () => false;
  const validators = getMetadataStorage()
    .getTargetValidatorConstraints(constraintCls)
    .map(({ instance }) => instance);
  return (object, value) => {
    const context = {
      targetName: object.constructor.name,
      property: propertyName,
      object,
      value,
      constraints,
    };
    return validators.every((validator) => validator.validate(value, context) === true);
  };
}
