import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner } from '@nestjs/core';

/** A route as the decorators of a controller declare it. */
export interface DeclaredRoute {
  readonly handler: () => unknown;
  /** `ALL` for a route that decides itself which methods it accepts. */
  readonly method: string;
  /** With placeholders such as `:id`. */
  readonly paths: readonly string[];
}

const scanner = new MetadataScanner();

/**
 * Written for Nest 12.5.1. Evidence: docs/decisions/0031-frameworks.md.
 *
 * Returns the routes of a controller. Nest's `DiscoveryService` finds controllers, but nothing that Nest documents tells which paths
 * and methods `@Controller()`, `@Get()` and the others were given.
 */
export function declaredRoutesOf(controller: Type): DeclaredRoute[] {
  const { prototype } = controller as { readonly prototype: Record<string, () => unknown> };
  return scanner.getAllMethodNames(prototype).flatMap((name): DeclaredRoute[] => {
    const handler = prototype[name] as () => unknown;
    const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
    if (method === undefined) return [];
    const paths = pathsAt(controller).flatMap((base) =>
      pathsAt(handler).map((own) => `/${[base, own].filter(Boolean).join('/')}`),
    );
    return [{ handler, method: RequestMethod[method], paths }];
  });
}

function pathsAt(target: Type | (() => unknown)): string[] {
  return [Reflect.getMetadata(PATH_METADATA, target) as string | string[]]
    .flat()
    .map((path) => path.replaceAll(/^\/|\/$/g, ''));
}
