import { SetMetadata, type INestApplicationContext, type Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { Surface } from '../config/index.js';

const SURFACE = 'surface';

/** Assigns a route to a surface. Processes that do not serve the surface do not have the route. */
export const OnSurface = (surface: Surface): MethodDecorator => SetMetadata(SURFACE, surface);

/**
 * Removes the controllers of surfaces that this process does not serve. Must run before the application is initialized,
 * which is when Nest registers the routes.
 */
export function keepRoutesOf(app: INestApplicationContext, surfaces: readonly Surface[]): void {
  for (const { controllers } of app.get(ModulesContainer).values()) {
    for (const [token, { metatype }] of controllers) {
      const own = surfacesOf(metatype as Type);
      if (own.length > 0 && !own.some((surface) => surfaces.includes(surface))) controllers.delete(token);
    }
  }
}

/** Returns the surfaces of a controller's routes. A controller without any is served by every process. */
function surfacesOf({ prototype }: Type): Surface[] {
  const surfaces = Object.values(Object.getOwnPropertyDescriptors(prototype)).flatMap(({ value }) =>
    typeof value === 'function' ? [Reflect.getMetadata(SURFACE, value) as Surface | undefined] : [],
  );
  return [...new Set(surfaces)].filter((surface) => surface !== undefined);
}
