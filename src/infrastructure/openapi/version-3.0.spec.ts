import type { OpenAPIObject } from '@nestjs/swagger';
import { toVersion30 } from './version-3.0.js';

const documentWith = (schemas: object, response: object = {}): OpenAPIObject =>
  ({
    openapi: '3.1.0',
    info: { title: '', version: '' },
    paths: {
      '/a': {
        get: {
          parameters: [{ name: 'b', in: 'query', schema: { type: 'string', examples: ['c'] } }],
          responses: {
            200: {
              description: '',
              content: { 'application/json': { schema: { $ref: '#/components/schemas/A' } } },
            },
            400: response,
          },
        },
      },
    },
    webhooks: { W: { post: { responses: {} } } },
    components: {
      schemas,
      responses: { Bad: { description: 'Shared' } },
    },
  }) as unknown as OpenAPIObject;

const converted = (schema: object, others: object = {}): unknown =>
  toVersion30(documentWith({ A: schema, ...others })).components?.schemas?.['A'];

describe('toVersion30', () => {
  it.each([
    [
      { type: ['string', 'null'], maxLength: 3 },
      { type: 'string', maxLength: 3, nullable: true },
    ],
    [
      { type: 'string', const: 'b' },
      { type: 'string', enum: ['b'] },
    ],
    [{ type: 'object', propertyNames: { maxLength: 3 } }, { type: 'object' }],
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    [{ type: 'object', if: { required: ['b'] }, then: { required: ['c'] } }, { type: 'object' }],
    [
      { properties: { type: { type: ['integer', 'null'] } } },
      { properties: { type: { type: 'integer', nullable: true } } },
    ],
    [{ properties: { const: { type: 'string' } } }, { properties: { const: { type: 'string' } } }],
    [
      { type: 'object', example: { const: 1, if: 2 } },
      { type: 'object', example: { const: 1, if: 2 } },
    ],
  ])('converts %j to %j', (schema, expected) => expect(converted(schema)).toEqual(expected));

  it('keeps references, without the members next to them', () => {
    const B = { type: 'string', enum: ['c'] };
    const $ref = '#/components/schemas/B';
    expect(converted({ properties: { b: { $ref, description: 'D', example: 'c' } } }, { B })).toEqual({
      properties: { b: { $ref } },
    });
    expect(
      converted(
        { properties: { b: { oneOf: [{ $ref }, { type: 'null' }], description: 'D', example: null } } },
        { B },
      ),
    ).toEqual({ properties: { b: { type: 'string', allOf: [{ $ref }], nullable: true, description: 'D' } } });
  });

  it('omits webhooks, examples of schemas, and components that nothing uses', () => {
    const document = toVersion30(documentWith({ A: { type: 'string' }, Unused: { type: 'string' } }));
    expect(document.openapi).toBe('3.0.3');
    expect(document).not.toHaveProperty('webhooks');
    expect(document.paths['/a']?.get?.parameters).toEqual([
      { name: 'b', in: 'query', schema: { type: 'string' } },
    ]);
    expect(document.components).toEqual({ schemas: { A: { type: 'string' } }, responses: {} });
  });

  it('repeats a shared response with a description of its own', () => {
    const $ref = '#/components/responses/Bad';
    const own = toVersion30(documentWith({ A: {} }, { $ref, description: 'Own' }));
    expect(own.paths['/a']?.get?.responses[400]).toEqual({ description: 'Own' });
    const shared = toVersion30(documentWith({ A: {} }, { $ref }));
    expect(shared.paths['/a']?.get?.responses[400]).toEqual({ $ref });
  });
});
