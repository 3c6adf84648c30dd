import type { SessionMetadata } from '../webhooks/index.js';

/** Merges two sets of metadata, whatever their keys; the second one overrides values of the first. */
export function mergeMetadata(first: SessionMetadata, second: SessionMetadata): SessionMetadata {
  return Object.fromEntries([...Object.entries(first), ...Object.entries(second)]);
}
