import { SetMetadata, type INestApplicationContext, type Type } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants.js';
import { ModulesContainer } from '@nestjs/core';
import type { Surface } from '../config/index.js';

const SURFACES = 'surfaces';

/** Assigns a route to surfaces. Processes that serve none of them do not have the route. */
export const OnSurface = (...surfaces: Surface[]): MethodDecorator => SetMetadata(SURFACES, surfaces);

/**
 * Removes the controllers of surfaces that this process does not serve; a controller without a surface stays. Must run before the application is initialized,
 * which is when Nest registers the routes.
 */
export function keepRoutesOf(app: INestApplicationContext, surfaces: readonly Surface[]): void {
  for (const { controllers } of app.get(ModulesContainer).values()) {
    for (const [token, { metatype }] of controllers) {
      const own = handlersOf(metatype as Type).flatMap(surfacesOf);
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
        .filter((handler) => surfacesOf(handler).includes(surface))
        .flatMap((handler) =>
          pathsAt(metatype as Type).flatMap((base) =>
            pathsAt(handler).map((path) => `/${[base, path].filter(Boolean).join('/')}`),
          ),
        ),
    ),
  );
}

function handlersOf({ prototype }: Type): object[] {
  return Object.values(Object.getOwnPropertyDescriptors(prototype)).flatMap(({ value }) =>
    typeof value === 'function' ? [value as object] : [],
  );
}

function surfacesOf(handler: object): Surface[] {
  return (Reflect.getMetadata(SURFACES, handler) as Surface[] | undefined) ?? [];
}

function pathsAt(target: object): string[] {
  const paths = Reflect.getMetadata(PATH_METADATA, target) as string | string[];
  return [paths].flat().map((path) => path.replaceAll(/^\/|\/$/g, ''));
}
