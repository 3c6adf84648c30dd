import 'reflect-metadata';
import { Controller, Get, Module, Query } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  ApiOkResponse,
  ApiProperty,
  ApiSchema,
  DocumentBuilder,
  SwaggerModule,
  type OpenAPIObject,
} from '@nestjs/swagger';
import { withReferences } from './swagger-references.js';

@ApiSchema({ name: 'Part' })
class Part {
  @ApiProperty()
  name!: string;
}

class Whole {
  @ApiProperty({ type: Part, description: 'Always there.' })
  always!: Part;

  @ApiProperty({ type: Part, nullable: true })
  sometimes!: Part | null;
}

class Filter {
  @ApiProperty({ enum: ['a', 'b'], enumName: 'Kind', example: 'a' })
  kind!: string;
}

@Controller()
class Wholes {
  @Get()
  @ApiOkResponse({ type: Whole })
  find(@Query() _filter: Filter): void {}
}

@Module({ controllers: [Wholes] })
class WholesModule {}

let document: OpenAPIObject;
beforeAll(async () => {
  const app = await NestFactory.create(WholesModule, { logger: false });
  document = SwaggerModule.createDocument(app, new DocumentBuilder().setOpenAPIVersion('3.1.0').build());
  await app.close();
});

const PART = { $ref: '#/components/schemas/Part' };
const propertiesOf = (described: OpenAPIObject): unknown =>
  (described.components?.schemas?.['Whole'] as { properties?: unknown } | undefined)?.properties;

describe('withReferences', () => {
  it('writes references as OpenAPI 3.1 does', () => {
    expect(propertiesOf(withReferences(document))).toEqual({
      always: { ...PART, description: 'Always there.' },
      sometimes: { oneOf: [PART, { type: 'null' }] },
    });
  });

  it('is needed as long as @nestjs/swagger writes them for OpenAPI 3.0', () => {
    expect(propertiesOf(document)).toEqual({
      always: { allOf: [PART], description: 'Always there.' },
      sometimes: { anyOf: [PART, { type: 'null' }] },
    });
  });
});

describe('Parameters', () => {
  it('refer to a named enumeration without a patch', () => {
    expect(document.paths['/']?.get?.parameters).toEqual([
      { name: 'kind', in: 'query', required: true, schema: { $ref: '#/components/schemas/Kind' } },
    ]);
  });
});
