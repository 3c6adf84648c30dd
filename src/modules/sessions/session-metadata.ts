import { IsValidInside, MESSAGES, ObjectField, validateText } from '../../infrastructure/validation/index.js';

/** The integrator's own keys and values, echoed in the webhooks of the session. */
export type SessionMetadata = Readonly<Record<string, string>>;

/** Specification, "Session metadata". */
const MAX_KEYS = 10;
const MAX_VALUE_LENGTH = 500;
/** The specification sets no limit. Without one, every webhook could carry a key of half a megabyte. */
const MAX_KEY_LENGTH = 500;

/** Keys that a message may show. Others are free text. */
const SHOWN_KEY = /^[\w.-]{1,64}$/;

/** Optional metadata within the limits. @param note added to the description in the API document */
export function MetadataField(note: string): PropertyDecorator {
  return ObjectField(
    {
      required: false,
      members: {
        additionalProperties: { type: 'string', maxLength: MAX_VALUE_LENGTH },
        propertyNames: { maxLength: MAX_KEY_LENGTH },
        maxProperties: MAX_KEYS,
      },
      description:
        'Your own keys and values, echoed as `data.metadata` in every webhook of the session: at most ' +
        `${MAX_KEYS} keys, each value a string of at most ${MAX_VALUE_LENGTH} characters. ${note}`,
      example: { order: '4711' },
    },
    IsValidInside(
      (value) => validateSize(value as object),
      Object.fromEntries(Array.from({ length: MAX_KEYS + 1 }, (_, index) => [index, ''])),
    ),
    IsValidInside((value) => validateMembers(value as object), { order: 4711 }),
  );
}

function validateMembers(metadata: object): string | undefined {
  for (const [key, value] of Object.entries(metadata)) {
    const name = SHOWN_KEY.test(key) ? `metadata.${key}` : 'metadata values';
    const message =
      validateText('metadata keys', key, MAX_KEY_LENGTH) ?? validateText(name, value, MAX_VALUE_LENGTH);
    if (message !== undefined) return message;
  }
  return undefined;
}

/** Merges two sets of metadata, whatever their keys; the second one overrides values of the first. */
export function mergeMetadata(first: SessionMetadata, second: SessionMetadata): SessionMetadata {
  return Object.fromEntries([...Object.entries(first), ...Object.entries(second)]);
}

/** Returns the message about metadata with too many keys. Merging two valid sets can exceed the limit. */
export function validateSize(metadata: object): string | undefined {
  return Object.keys(metadata).length > MAX_KEYS ? MESSAGES.maxKeys('metadata', MAX_KEYS) : undefined;
}
