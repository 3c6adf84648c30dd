/** The tools that the conformance suite calls, as far as they use features that the connector offers. */
import { MissingRequiredClientCapabilityError } from '@modelcontextprotocol/server';

/** One red pixel. */
const IMAGE = {
  type: 'image',
  mimeType: 'image/png',
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==',
};
/** A WAV file without samples. */
const AUDIO = {
  type: 'audio',
  mimeType: 'audio/wav',
  data: 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=',
};

const text = (value) => ({ type: 'text', text: value });
const resource = (uri, mimeType, value) => ({ type: 'resource', resource: { uri, mimeType, text: value } });

const OBJECT = { type: 'object', properties: {} };

/** The suite compares this schema with the one in `tools/list`. */
const JSON_SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

/** Name, result, and input schema of each tool. */
const FIXTURES = [
  fixture('test_simple_text', { content: [text('This is a simple text response for testing.')] }),
  fixture('test_image_content', { content: [IMAGE] }),
  fixture('test_audio_content', { content: [AUDIO] }),
  fixture('test_embedded_resource', {
    content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  }),
  fixture('test_multiple_content_types', {
    content: [
      text('Multiple content types test:'),
      IMAGE,
      resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  }),
  fixture('test_error_handling', {
    content: [text('This tool intentionally returns an error for testing')],
    isError: true,
  }),
  fixture('test_missing_capability', () => {
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
  }),
  fixture('test_streaming_elicitation', { content: [text('This server asks nothing.')] }),
  fixture('test_logging_tool', { content: [text('This server sends no log messages.')] }),
  fixture('json_schema_2020_12_tool', { content: [text('ok')] }, JSON_SCHEMA_2020_12),
];

function fixture(name, result, inputSchema = OBJECT) {
  return { name, result, listed: { name, description: `The fixture ${name}.`, inputSchema } };
}

/** Adds the fixtures to the tools of the service, behind its own guards, handler and transport. */
export function addFixtures(tools, calls) {
  const offeredTo = tools.offeredTo.bind(tools);
  tools.offeredTo = async (agent) => [...(await offeredTo(agent)), ...FIXTURES.map(({ listed }) => listed)];
  const find = tools.find.bind(tools);
  tools.find = (name) => FIXTURES.find((fixture) => fixture.name === name) ?? find(name);
  const admit = calls.admit.bind(calls);
  calls.admit = async (agent, tool, response) =>
    FIXTURES.includes(tool) ? undefined : admit(agent, tool, response);
  const run = calls.run.bind(calls);
  calls.run = async (context, ...rest) => {
    if (!FIXTURES.includes(context.tool)) return run(context, ...rest);
    const { result } = context.tool;
    return typeof result === 'function' ? result() : result;
  };
}
