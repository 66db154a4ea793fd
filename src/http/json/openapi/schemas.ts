/**
 * Collects the schemas of the document. A schema with a `title` becomes a component and is referred to by its title;
 * so do the parts of a recursive schema (`$defs`).
 */
import { isDeepStrictEqual } from 'node:util';

export type Schemas = {
  /** Schemas by title. `reference` adds to them. */
  components: Record<string, object>;
  /**
   * Returns the schema for the document: the schema itself, or a reference to a component.
   * @throws Error when another schema has the same title
   */
  reference(schema: object): object;
};

const COMPONENTS = '#/components/schemas/';

/** Returns an empty collection. */
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

  /**
   * Converts the value of a keyword. It descends only into keywords that contain schemas, because an example may look
   * like one.
   */
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

/**
 * Returns the type of an enumeration. A page that shows only the keyword `type` would otherwise show it as any value.
 */
function typeOfValues({ enum: values }: { enum?: unknown }): { type?: string } {
  const areStrings = Array.isArray(values) && values.every((value) => typeof value === 'string');
  return areStrings ? { type: 'string' } : {};
}

/** Converts a title to the name of a component: `Created webhook endpoint` becomes `CreatedWebhookEndpoint`. */
function componentName(title: string): string {
  return title.replace(/[^\w.-]+(\w?)/g, (_, letter: string) => letter.toUpperCase());
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Keywords that contain schemas (JSON Schema 2020-12, core, section 10). */
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
