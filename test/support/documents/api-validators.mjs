import { readFileSync } from 'node:fs';

const DOCUMENT = 'document';

/**
 * Returns the committed API document, and a function that returns the validator of a schema in it, by its JSON pointer. All
 * test files of a worker share the validators: compiling them takes longer than many a test.
 *
 * @param read returns a module of the bundle
 */
export function apiValidators(read) {
  const document = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8'));
  const { Ajv2020 } = read('ajv/dist/2020.js');
  // The API document as a whole is no JSON schema. Redocly checks the schemas that it contains.
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, meta: false });
  read('ajv-formats').default(ajv);
  ajv.addSchema(document, DOCUMENT);
  const validators = new Map();
  const validatorOf = (pointer) => {
    if (!validators.has(pointer)) validators.set(pointer, ajv.compile({ $ref: `${DOCUMENT}#/${pointer}` }));
    return validators.get(pointer);
  };
  return { document, validatorOf, errorsText: (errors) => ajv.errorsText(errors) };
}
