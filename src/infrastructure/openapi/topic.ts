import { ApiTags } from '@nestjs/swagger';

const descriptions = new Map<string, string>();

/**
 * Groups the operations of a controller under a heading of the API document, below that of their surface. If several
 * controllers share a topic, only the first one describes it.
 */
export function Topic(name: string, description?: string): ClassDecorator {
  if (description !== undefined) descriptions.set(name, description);
  return ApiTags(name);
}

/** Returns the description of a topic. */
export function descriptionOfTopic(name: string): string {
  return descriptions.get(name) ?? '';
}
