/**
 * The schemas of the document. One with a `title` stands once, among the components, and is referred to by it; so do the
 * parts of a schema that refers to itself (`$defs`).
 */
import { isDeepStrictEqual } from 'node:util';

export type Schemas = {
  /** By title. Filled by `reference`. */
  components: Record<string, object>;
  /**
   * The schema as the document shows it: itself, or a reference to a component.
   *
   * @throws Error when another schema has the same title
   */
  reference(schema: object): object;
};

const COMPONENTS = '#/components/schemas/';

export function createSchemas(): Schemas {
  const components: Record<string, object> = {};

  function add(name: string, schema: object): object {
    const known = components[name];
    if (known && !isDeepStrictEqual(known, schema)) {
      throw new Error(`two different schemas have the title ${name}`);
    }
    components[name] = schema;
    return { $ref: `${COMPONENTS}${name}` };
  }

  function show(schema: object, isRoot: boolean): object {
    const { $defs = {}, $id, ...rest } = schema as { $defs?: object; $id?: string; title?: string };
    for (const [name, part] of Object.entries($defs)) add(name, show(part, true));
    const shown = Object.fromEntries(
      Object.entries(rest).map(([keyword, value]) => [keyword, showKeyword(keyword, value)]),
    );
    const typed = { ...typeOfValues(shown), ...shown };
    return isRoot || rest.title === undefined ? typed : add(componentName(rest.title), typed);
  }

  /** Only what holds schemas is gone into: an example may look like one. */
  function showKeyword(keyword: string, value: unknown): unknown {
    if (keyword === '$ref') return `${COMPONENTS}${String(value).replace(/^#\/\$defs\//, '')}`;
    if (isMapOfSchemas(keyword) && isObject(value)) {
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, showValue(one)]));
    }
    if (isListOfSchemas(keyword) && Array.isArray(value)) return value.map(showValue);
    return isSchema(keyword) ? showValue(value) : value;
  }

  const showValue = (value: unknown): unknown => (isObject(value) ? show(value, false) : value);
  return { components, reference: (schema) => show(schema, false) };
}

/** Values say their type; a page that shows only the keyword `type` would show them as anything. */
function typeOfValues({ enum: values }: { enum?: unknown }): { type?: string } {
  const areStrings = Array.isArray(values) && values.every((value) => typeof value === 'string');
  return areStrings ? { type: 'string' } : {};
}

/** `Created webhook endpoint` is `CreatedWebhookEndpoint`. */
function componentName(title: string): string {
  return title.replace(/[^\w.-]+(\w?)/g, (_, letter: string) => letter.toUpperCase());
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON Schema 2020-12, core 10: the keywords that apply schemas. */
const isMapOfSchemas = (keyword: string): boolean =>
  ['properties', 'patternProperties', 'dependentSchemas'].includes(keyword);
const isListOfSchemas = (keyword: string): boolean =>
  ['allOf', 'anyOf', 'oneOf', 'prefixItems'].includes(keyword);
const isSchema = (keyword: string): boolean =>
  [
    'items',
    'contains',
    'additionalProperties',
    'propertyNames',
    'unevaluatedItems',
    'unevaluatedProperties',
    'not',
    'if',
    'then',
    'else',
  ].includes(keyword);
