import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Express, NextFunction, Request, Response } from 'express';
import { METHOD_NOT_ALLOWED, type ApiError } from '../errors/index.js';

interface RouteLayer {
  readonly route?: { readonly path: unknown; readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

/** Finds the methods of a path. Express responds with 404 where HTTP requires 405 (RFC 9110, section 15.5.6). */
@Injectable()
export class RouteTable {
  /** The methods of paths without parameters. */
  private fixedPaths: ReadonlyMap<string, ReadonlySet<string>> | undefined;

  constructor(private readonly adapterHost: HttpAdapterHost) {}

  /**
   * Rejects methods that a path without parameters does not support. Express would try routes with parameters next, and
   * treat the `create` of `/users/create` as an ID.
   */
  readonly middleware = (request: Request, _response: Response, next: NextFunction): void => {
    this.fixedPaths ??= this.readFixedPaths();
    const methods = this.fixedPaths.get(request.path);
    next(methods && !methods.has(request.method) ? notAllowed(methods) : undefined);
  };

  /** Returns the error for a request that no route accepts, or undefined if its path is unknown. */
  methodNotAllowed(path: string): ApiError | undefined {
    const methods = methodsOf(this.layers().filter((layer) => matches(layer, path)));
    return methods.size === 0 ? undefined : notAllowed(methods);
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
  return METHOD_NOT_ALLOWED.error(undefined, { headers: { Allow: [...methods].toSorted().join(', ') } });
}

function matches(layer: RouteLayer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    // A path that cannot be decoded matches nothing.
    return false;
  }
}
