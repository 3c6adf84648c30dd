import { Injectable, SetMetadata, type Type } from '@nestjs/common';
import { DiscoveryService, Reflector } from '@nestjs/core';
import { ServiceConfiguration, type Surface } from '../config/index.js';
import { METHOD_NOT_ALLOWED, NOT_FOUND, type ApiError } from '../errors/index.js';
import { declaredRoutesOf } from '../framework-patches/index.js';
import { nearestPath } from './nearest-path.js';

/** RFC 8615. */
export const WELL_KNOWN = '/.well-known/';

const SURFACES = 'surfaces';

/** Assigns a route to surfaces. A process that serves none of them responds as if it did not have the route. */
export const OnSurface = (...surfaces: Surface[]): MethodDecorator => SetMetadata(SURFACES, surfaces);

/** A route of a controller, at one of its paths. */
export interface Route {
  /** With placeholders such as `:id`. */
  readonly path: string;
  readonly pattern: RegExp;
  /** `ALL`: the route decides itself which methods it accepts. */
  readonly method: string;
  readonly handler: () => unknown;
  /** Empty for a route that every process serves. */
  readonly surfaces: readonly Surface[];
}

/** Returns whether a path is that of certain routes. */
export type PathTest = (path: string) => boolean;

/** Knows the routes of all controllers, and which of them this process serves. */
@Injectable()
export class RouteTable {
  private table: { readonly served: readonly Route[]; readonly others: readonly Route[] } | undefined;
  /** The paths that error messages may show: all but those of the internal API. */
  private publicPaths: readonly string[] | undefined;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly reflector: Reflector,
    private readonly configuration: ServiceConfiguration,
  ) {}

  get served(): readonly Route[] {
    return this.routes.served;
  }

  /** The routes of surfaces that this process does not serve. */
  get others(): readonly Route[] {
    return this.routes.others;
  }

  /** Returns the error for a request that no route accepts: 405 if the path has other methods (RFC 9110, section 15.5.6). */
  noRoute(path: string): ApiError {
    // `/users/create` is not an ID.
    const fixed = this.served.filter((route) => route.path === path);
    const routes = fixed.length > 0 ? fixed : this.served.filter(({ pattern }) => pattern.test(path));
    if (routes.length > 0) return methodNotAllowed(methodsOf(routes));
    this.publicPaths ??= this.served
      .filter(({ surfaces }) => !surfaces.includes('internal'))
      .map((route) => route.path);
    // Programs look for metadata at several of these paths. They have not misspelled another.
    const nearest = path.startsWith(WELL_KNOWN) ? undefined : nearestPath(path, this.publicPaths);
    return NOT_FOUND.error(nearest && `${NOT_FOUND.message} Did you mean ${nearest}?`);
  }

  /** Returns a test for the paths of the served routes whose handlers have the metadata. */
  pathsWith(metadata: string): PathTest {
    const isMarked = ({ handler }: Route): boolean => this.reflector.get(metadata, handler) === true;
    const hasParameters = ({ path }: Route): boolean => path.includes(':');
    const marked = this.served.filter(isMarked);
    const fixed = new Map(
      this.served
        .filter((route) => !hasParameters(route))
        .map(({ path }) => [path, marked.some((route) => route.path === path)]),
    );
    const patterns = marked.filter(hasParameters).map(({ pattern }) => pattern);
    // `/users/create` is not an ID.
    return (path) => fixed.get(path) ?? patterns.some((pattern) => pattern.test(path));
  }

  hasRouteAt(path: string): boolean {
    return this.served.some(({ pattern }) => pattern.test(path));
  }

  serves(surfaces: readonly Surface[]): boolean {
    return surfaces.length === 0 || surfaces.some((surface) => this.configuration.serves(surface));
  }

  private get routes(): NonNullable<RouteTable['table']> {
    if (this.table) return this.table;
    const all = this.discovery.getControllers().flatMap(({ metatype }) => this.routesOf(metatype as Type));
    const served = all.filter(({ surfaces }) => this.serves(surfaces));
    return (this.table = { served, others: all.filter((route) => !served.includes(route)) });
  }

  private routesOf(controller: Type): Route[] {
    return declaredRoutesOf(controller).flatMap(({ handler, method, paths }) => {
      const surfaces = this.reflector.get<Surface[] | undefined>(SURFACES, handler) ?? [];
      return paths.map((path) => {
        const pattern = new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`);
        return { path, pattern, method, handler, surfaces };
      });
    });
  }
}

/** Returns the methods that the routes accept. */
export function methodsOf(routes: readonly Route[]): Set<string> {
  const methods = new Set(routes.map(({ method }) => method));
  // Express handles HEAD wherever it handles GET.
  if (methods.has('GET')) methods.add('HEAD');
  return methods;
}

/** Returns the error for a method that a path does not have. */
export function methodNotAllowed(methods: Iterable<string>): ApiError {
  const allowed = [...methods].toSorted().join(', ');
  return METHOD_NOT_ALLOWED.error(`The method is not allowed for this path. Allowed methods: ${allowed}.`, {
    headers: { Allow: allowed },
  });
}
