import { SetMetadata, type INestApplicationContext, type Type } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants.js';
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

/** Returns the paths of a surface's routes, as Nest registers them. */
export function pathsOf(surface: Surface, modules: ModulesContainer): Set<string> {
  const controllers = [...modules.values()].flatMap(({ controllers: all }) => [...all.values()]);
  return new Set(
    controllers.flatMap(({ metatype }) =>
      handlersOf(metatype as Type)
        .filter((handler) => surfaceOf(handler) === surface)
        .map((handler) => `/${[metatype as Type, handler].map(pathOf).filter(Boolean).join('/')}`),
    ),
  );
}

/** Returns the surfaces of a controller's routes. A controller without any is served by every process. */
function surfacesOf(controller: Type): Surface[] {
  return [...new Set(handlersOf(controller).map(surfaceOf))].filter((surface) => surface !== undefined);
}

function handlersOf({ prototype }: Type): object[] {
  return Object.values(Object.getOwnPropertyDescriptors(prototype)).flatMap(({ value }) =>
    typeof value === 'function' ? [value as object] : [],
  );
}

function surfaceOf(handler: object): Surface | undefined {
  return Reflect.getMetadata(SURFACE, handler) as Surface | undefined;
}

function pathOf(target: object): string {
  return String(Reflect.getMetadata(PATH_METADATA, target)).replaceAll(/^\/|\/$/g, '');
}
