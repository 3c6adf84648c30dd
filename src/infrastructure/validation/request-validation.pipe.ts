import { Injectable, ValidationPipe, type ArgumentMetadata, type Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { INVALID_FIELD } from '../errors/index.js';
import { isKnownValid } from '../framework-patches/index.js';
import { fieldError, MESSAGES, displayNameOf, problemOf } from './messages.js';
import { conditionOf } from './field.js';
import { similarName } from './similar-name.js';
import { isMissing } from './text.js';
import { fieldsOf, hasFields, type DtoFields } from './validations.js';

/**
 * Turns bodies and queries into DTOs. The first violation in the order of the fields becomes the error. Unknown members
 * of a body are dropped, so that additive changes stay compatible, unless they look like a misspelled optional field,
 * which would otherwise be ignored without notice. Unknown and blank query parameters are rejected, so that a misspelled
 * or empty filter does not quietly return everything. docs/decisions/0017-validation-pipe.md compares it with Nest's
 * pipe.
 */
@Injectable()
export class RequestValidationPipe extends ValidationPipe {
  /** Returns the DTO. Returns other parameters, such as forms and the authenticated client, unchanged. */
  override async transform(value: unknown, { metatype, type }: ArgumentMetadata): Promise<unknown> {
    if (!hasFields(metatype)) return value;
    const dto = metatype as Type<object>;
    return type === 'query' ? validatedQuery(dto, value as object) : validated(dto, value as object);
  }
}

/**
 * Turns the parameters of a query into a DTO.
 *
 * @throws ApiError INVALID_FIELD for an unknown, repeated or blank parameter, or the first violation
 */
export function validatedQuery<Dto extends object>(type: Type<Dto>, sent: object): Dto {
  const query = withPlainNames(sent, fieldsOf(type));
  rejectUnknown(query, fieldsOf(type));
  const dto = validated(type, query);
  rejectBlank(query);
  return dto;
}

/**
 * Turns a JSON object into a DTO.
 *
 * @throws ApiError INVALID_FIELD with the first violation in the order of the fields
 */
export function validated<Dto extends object>(type: Type<Dto>, value: object): Dto {
  const dto = instanceOf(type, value as Readonly<Record<string, unknown>>);
  const violations = isKnownValid(dto) ? [] : validateSync(dto, { stopAtFirstError: true });
  const [violation] = violations;
  const missing = messageAboutMissing(type, violations);
  const message = missing ?? Object.values(violation?.constraints ?? {})[0];
  const misspelled = messageAboutMisspelled(value, fieldsOf(type), violation?.property);
  const sentences = [message, misspelled].filter((sentence) => sentence !== undefined);
  if (sentences.length > 0)
    throw INVALID_FIELD.error(
      sentences.join(' '),
      missing === undefined
        ? { ...problemOf(violation), others: violations.slice(1).flatMap((each) => problemOf(each) ?? []) }
        : {},
    );
  return dto;
}

/**
 * Converts the fields of a DTO. class-transformer gets nothing else, because it takes more than linear time, and neither objects
 * nor arrays, because it would convert each of their members and call the value of one named `constructor` as a class.
 */
function instanceOf<Dto extends object>(type: Type<Dto>, value: Readonly<Record<string, unknown>>): Dto {
  const scalars: Record<string, unknown> = {};
  const containers: Record<string, unknown> = {};
  for (const name of fieldsOf(type).names) {
    const member = Object.hasOwn(value, name) ? value[name] : undefined;
    (typeof member === 'object' && member !== null ? containers : scalars)[name] = member;
  }
  // No DTO has `@Expose` or `@Exclude`, and looking for them takes a third of the time.
  return Object.assign(plainToInstance(type, scalars, { ignoreDecorators: true }), containers);
}

/** Reads `event[]`, or `event[0]` and `event[1]`, as axios, jQuery, PHP and Rails name a parameter with several values, as `event`. */
function withPlainNames(query: object, { repeatable }: DtoFields): object {
  const plain = new Map<string, unknown>();
  for (const [sent, value] of Object.entries(query)) {
    const listed = sent.replace(/\[\d*\]$/, '');
    const name = repeatable.has(listed) && !Object.hasOwn(query, listed) ? listed : sent;
    plain.set(name, plain.has(name) ? [plain.get(name), value].flat() : value);
  }
  return Object.fromEntries(plain) as object;
}

function rejectUnknown(query: object, { names: known, repeatable }: DtoFields): void {
  for (const [name, value] of Object.entries(query)) {
    if (!known.has(name)) {
      const meant = similarName(name, [...known]);
      throw INVALID_FIELD.error(MESSAGES.unknownParameter(quoted(name), meant));
    }
    if (Array.isArray(value) && !repeatable.has(name))
      throw fieldError({ field: name, rule: MESSAGES.repeatedParameter, limit: quoted(name) });
  }
}

/**
 * Returns the message about an unknown member whose name resembles a missing field. The candidates are the violated field if
 * there is a violation, or else the optional fields.
 */
function messageAboutMisspelled(
  body: object,
  { names, optional, ignoresUnknown }: DtoFields,
  violated: string | undefined,
): string | undefined {
  if (ignoresUnknown) return undefined;
  const candidates = violated === undefined ? optional : [violated];
  for (const name of Object.keys(body)) {
    if (names.has(name)) continue;
    const meant = similarName(name, candidates);
    if (meant !== undefined && isMissing((body as Record<string, unknown>)[meant]))
      return MESSAGES.misspelledField(quoted(name), meant);
  }
  return undefined;
}

/** The client chose the name, so messages quote it only if it looks like the name of a field. */
function quoted(name: string): string {
  return /^[\w-]{1,64}$/.test(name) ? name : '';
}

/** Runs after the validation, which has a message of its own for required parameters. */
function rejectBlank(query: object): void {
  const blank = Object.entries(query).find(([, value]) => isMissing(value));
  if (blank) throw fieldError({ field: blank[0], rule: MESSAGES.blankParameter, limit: blank[0] });
}

const typesReportingAll = new WeakSet<object>();
const listFormat = new Intl.ListFormat('en-US');

/** Class decorator for a form that users fill in: one message names all missing fields. */
export function ReportAllMissingFields(): ClassDecorator {
  return (target) => {
    typesReportingAll.add(target);
  };
}

/**
 * Returns the message about all missing fields of a DTO with `@ReportAllMissingFields()`, if the first problem is a
 * missing field and there are several.
 */
function messageAboutMissing(target: Type, violations: readonly ValidationError[]): string | undefined {
  if (!isMissingField(violations[0]) || !typesReportingAll.has(target)) return undefined;
  const names: string[] = [];
  const covered = new Set<string>();
  for (const { property } of violations.filter(isMissingField)) {
    if (covered.has(property)) continue;
    const condition = conditionOf(target.prototype as object, property);
    const alternative = condition && 'unless' in condition ? condition.unless : undefined;
    names.push(
      displayNameOf(property) + (alternative === undefined ? '' : ` (or ${displayNameOf(alternative)})`),
    );
    if (alternative !== undefined) covered.add(alternative);
  }
  return names.length > 1 ? `The ${listFormat.format(names)} fields are required.` : undefined;
}

function isMissingField(violation: ValidationError | undefined): boolean {
  return violation?.constraints?.['isDefined'] !== undefined;
}
