import 'reflect-metadata';
import * as common from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import * as core from '@nestjs/core';
import { declaredRoutesOf } from './nest-routes.js';

@common.Controller(['things', '/other-things/'])
class Things {
  @common.Get(':id')
  find(): void {}

  @common.All()
  all(): void {}

  helper(): void {}
}

describe('declaredRoutesOf', () => {
  it('returns the methods and paths of a controller', () => {
    const { find, all } = Things.prototype;
    expect(declaredRoutesOf(Things)).toEqual([
      { handler: find, method: 'GET', paths: ['/things/:id', '/other-things/:id'] },
      { handler: all, method: 'ALL', paths: ['/things', '/other-things'] },
    ]);
  });

  it('is needed as long as Nest does not export the keys of this metadata', () => {
    const exported = Object.values({ ...common, ...core }) as unknown[];
    expect(exported).not.toContain(METHOD_METADATA);
    expect(exported).not.toContain(PATH_METADATA);
  });

  it.each(['routes', 'getRoutes', 'getRoute'])(
    'is needed as long as DiscoveryService has no member %s',
    (member) => expect(member in core.DiscoveryService.prototype).toBe(false),
  );
});
