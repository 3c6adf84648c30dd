import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Express } from 'express';

interface RouteLayer {
  readonly route?: { readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

/** Which methods a path has: Express itself answers 404 where HTTP wants 405 (RFC 9110, section 15.5.6). */
@Injectable()
export class RouteTable {
  constructor(private readonly adapterHost: HttpAdapterHost) {}

  /** The methods of the `Allow` header; empty where the path is unknown. */
  allowedMethods(path: string): string[] {
    const express = this.adapterHost.httpAdapter.getInstance<Express>();
    const methods = new Set<string>();
    for (const layer of express.router.stack as unknown as RouteLayer[]) {
      if (!layer.route || !matches(layer, path)) continue;
      for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
    }
    // Express answers HEAD wherever it answers GET.
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
