import { Injectable } from '@nestjs/common';
import { HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import type { Express, NextFunction, Request, Response } from 'express';
import { METHOD_NOT_ALLOWED, NOT_FOUND, type ApiError } from '../errors/index.js';
import { nearestPath } from './nearest-path.js';
import { pathsOf } from './served-surfaces.js';

const WELL_KNOWN = '/.well-known/';

interface RouteLayer {
  readonly route?: { readonly path: unknown; readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

/**
 * Knows the routes that this process serves. Express responds with 404 where HTTP requires 405 (RFC 9110, section
 * 15.5.6).
 */
@Injectable()
export class RouteTable {
  /** The methods of paths without parameters. */
  private fixedPaths: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  /** The paths that error messages may show: all but those of the internal API. */
  private publicPaths: readonly string[] | undefined;

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly modules: ModulesContainer,
  ) {}

  /**
   * Rejects methods that a path without parameters does not support. Express would try routes with parameters next, and
   * treat the `create` of `/users/create` as an ID.
   */
  readonly middleware = (request: Request, _response: Response, next: NextFunction): void => {
    this.fixedPaths ??= this.readFixedPaths();
    const methods = this.fixedPaths.get(request.path);
    next(methods && !methods.has(request.method) ? notAllowed(methods) : undefined);
  };

  /** Returns the error for a request that no route accepts. */
  noRoute(path: string): ApiError {
    const methods = methodsOf(this.layers().filter((layer) => matches(layer, path)));
    if (methods.size > 0) return notAllowed(methods);
    this.publicPaths ??= this.readPublicPaths();
    // Programs look for metadata at several of these paths. They have not misspelled another.
    const nearest = path.startsWith(WELL_KNOWN) ? undefined : nearestPath(path, this.publicPaths);
    return NOT_FOUND.error(nearest && `${NOT_FOUND.message} Did you mean ${nearest}?`);
  }

  private readPublicPaths(): string[] {
    const internal = pathsOf('internal', this.modules);
    const paths = this.layers().map(({ route }) => String(route?.path));
    return [...new Set(paths)].filter((path) => !internal.has(path));
  }

  private readFixedPaths(): Map<string, Set<string>> {
    const paths = new Map<string, Set<string>>();
    for (const layer of this.layers()) {
      const path = layer.route?.path;
      if (typeof path !== 'string' || /[:*{]/.test(path)) continue;
      paths.set(path, new Set([...(paths.get(path) ?? []), ...methodsOf([layer])]));
    }
    return paths;
  }

  private layers(): RouteLayer[] {
    const { router } = this.adapterHost.httpAdapter.getInstance<Express>();
    return (router.stack as unknown as RouteLayer[]).filter(({ route }) => route !== undefined);
  }
}

function methodsOf(layers: readonly RouteLayer[]): Set<string> {
  const methods = new Set(
    layers.flatMap(({ route }) => Object.keys(route?.methods ?? {}).map((method) => method.toUpperCase())),
  );
  // Express handles HEAD wherever it handles GET.
  if (methods.has('GET')) methods.add('HEAD');
  return methods;
}

function notAllowed(methods: ReadonlySet<string>): ApiError {
  const allowed = [...methods].toSorted().join(', ');
  return METHOD_NOT_ALLOWED.error(`The method is not allowed for this path. Allowed methods: ${allowed}.`, {
    headers: { Allow: allowed },
  });
}

function matches(layer: RouteLayer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    // A path that cannot be decoded matches nothing.
    return false;
  }
}
