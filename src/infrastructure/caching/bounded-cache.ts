import { LRUCache } from 'lru-cache';
import { boundedKey } from './bounded-key.js';

/** A cache of a limited number of values, whose keys have a limited length: strangers may choose them. */
export class BoundedCache<Value extends NonNullable<unknown>> extends LRUCache<string, Value> {
  override get(key: string): Value | undefined {
    return super.get(boundedKey(key));
  }

  override peek(key: string, options?: LRUCache.PeekOptions<string, Value, unknown>): Value | undefined {
    return super.peek(boundedKey(key), options);
  }

  override set(key: string, value: Value): this {
    return super.set(boundedKey(key), value);
  }

  override delete(key: string): boolean {
    return super.delete(boundedKey(key));
  }
}
