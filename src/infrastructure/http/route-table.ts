import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Express } from 'express';

interface RouteLayer {
  readonly route?: { readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

/** Finds the methods of a path. Express responds with 404 where HTTP requires 405 (RFC 9110, section 15.5.6). */
@Injectable()
export class RouteTable {
  constructor(private readonly adapterHost: HttpAdapterHost) {}

  /** Returns the methods for the `Allow` header, or none if the path is unknown. */
  allowedMethods(path: string): string[] {
    const express = this.adapterHost.httpAdapter.getInstance<Express>();
    const methods = new Set<string>();
    for (const layer of express.router.stack as unknown as RouteLayer[]) {
      if (!layer.route || !matches(layer, path)) continue;
      for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
    }
    // Express handles HEAD wherever it handles GET.
    if (methods.has('GET')) methods.add('HEAD');
    return [...methods].toSorted();
  }
}

function matches(layer: RouteLayer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    // A path that cannot be decoded matches nothing.
    return false;
  }
}
