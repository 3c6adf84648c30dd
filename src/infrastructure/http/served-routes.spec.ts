import type { Request, Response } from 'express';
import { NOT_FOUND } from '../errors/index.js';
import type { AllowedOrigins } from './cross-origin-requests.js';
import type { RouteTable } from './route-table.js';
import { ServedRoutes } from './served-routes.js';

const ROUTES = [
  { path: '/reports/all', method: 'ALL' },
  { path: '/reports/new', method: 'GET' },
  { path: '/reports/:id', method: 'POST' },
];

describe('ServedRoutes', () => {
  const served = ROUTES.map(({ path, method }) => ({
    path,
    method,
    pattern: new RegExp(`^${path.replace(':id', '[^/]+')}$`),
    handler: () => undefined,
    surfaces: [],
  }));
  const noRoute = NOT_FOUND.error();
  const table: Partial<RouteTable> = {
    served,
    others: [],
    noRoute: () => noRoute,
    pathsWith: () => () => false,
  };
  const routes = new ServedRoutes(table as RouteTable, {} as AllowedOrigins);
  const errorFor = (method: string, path: string): unknown => {
    let problem: unknown;
    routes.use({ method, path, url: path } as Request, {} as Response, (error) => (problem = error));
    return problem;
  };

  it.each(['GET', 'POST', 'DELETE'])('leaves %s to a route that takes every method', (method) => {
    expect(errorFor(method, '/reports/all')).toBeUndefined();
  });

  it('does not take a fixed path for a parameter if its method is another', () => {
    expect(errorFor('POST', '/reports/new')).toBe(noRoute);
    expect(errorFor('HEAD', '/reports/new')).toBeUndefined();
    expect(errorFor('POST', '/reports/17')).toBeUndefined();
  });
});
