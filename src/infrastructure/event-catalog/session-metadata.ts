import { z } from 'zod';
import { jsonSchemaOf } from '../schemas/index.js';
import { HasValidContents, MESSAGES, ObjectField, validateText } from '../validation/index.js';

/** The integrator's own keys and values, echoed in the webhooks of the session. */
export type SessionMetadata = Readonly<Record<string, string>>;

/** Specification, "Session metadata". */
const MAX_KEYS = 10;
/** The maximum for a sign-in link. */
export const MAX_LINK_METADATA_KEYS = 50;
const MAX_VALUE_LENGTH = 500;
/** The specification sets no limit. Without one, every webhook could carry a key of half a megabyte. */
const MAX_KEY_LENGTH = 500;

/** Keys that a message may show. Others are free text. */
const SHOWN_KEY = /^[\w.-]{1,64}$/;

/** Metadata as schemas show it. Zod does not check the key `__proto__`: requests use `MetadataField`. */
const METADATA = z.record(
  z.string().meta({ type: undefined, maxLength: MAX_KEY_LENGTH }),
  z.string().meta({ maxLength: MAX_VALUE_LENGTH }),
);

export const SESSION_METADATA = METADATA.meta({
  id: 'WebhookMetadata',
  description: 'Metadata of the session or of the sign-in link; absent if none was attached.',
  minProperties: 1,
  maxProperties: MAX_LINK_METADATA_KEYS,
});

/** Optional metadata within the limits, which the schema in the API document states. @param options.max the number of keys */
export function MetadataField(
  description: string,
  { max = MAX_KEYS }: { readonly max?: number } = {},
): PropertyDecorator {
  const { type: _, ...members } = jsonSchemaOf(METADATA.meta({ maxProperties: max }));
  return ObjectField(
    { required: false, members, description, example: { order: '4711' } },
    HasValidContents((value) => validateMetadataSize(value as object, max)),
    HasValidContents((value) => validateMembers(value as object)),
  );
}

/** Returns the message about metadata with too many keys. Merging two valid sets can exceed the limit. */
export function validateMetadataSize(metadata: object, max = MAX_KEYS): string | undefined {
  return Object.keys(metadata).length > max ? MESSAGES.maxKeys('metadata', max) : undefined;
}

/** Merges two sets of metadata, whatever their keys; the second one overrides values of the first. */
export function mergeMetadata(first: SessionMetadata, second: SessionMetadata): SessionMetadata {
  return Object.fromEntries([...Object.entries(first), ...Object.entries(second)]);
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
