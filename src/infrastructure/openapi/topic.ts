import { ApiTags } from '@nestjs/swagger';

const descriptions = new Map<string, string>();

/**
 * The heading under which the API document has the operations of a controller, below that of their surface. Where
 * several controllers share one, the first of them describes it.
 */
export function Topic(name: string, description?: string): ClassDecorator {
  if (description !== undefined) descriptions.set(name, description);
  return ApiTags(name);
}

/** What a topic is about. */
export function descriptionOfTopic(name: string): string {
  return descriptions.get(name) ?? '';
}
