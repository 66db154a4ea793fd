/**
 * Writes the shapes of bodies and queries into the comments of the resources of PHP, where static analysis and people read them. Answers are
 * `Result`, which has every field. Run it after a change of the API.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readDocument, readOperations } from './openapi.ts';
import { type ApiTypes, type Field, type NamedType, pascal, readTypes, type TypeTree } from './schemas.ts';

const RESOURCES = fileURLToPath(new URL('../php/src/Resources/', import.meta.url));

/** Returns the files of the resources as they should be, by name. */
export async function currentResources(): Promise<Map<string, string>> {
  const shapes = shapesOf(readTypes(await readDocument(), readOperations()));
  return new Map(
    globSync('*.php', { cwd: RESOURCES }).map((file) => {
      const source = readFileSync(RESOURCES + file, 'utf8');
      return [file, withShapes(source, file.replace('.php', ''), shapes)];
    }),
  );
}

export function readResource(file: string): string {
  return readFileSync(RESOURCES + file, 'utf8');
}

/** Shapes by class, method and parameter, such as `Topics.create.body`. */
type Shapes = ReadonlyMap<string, string>;

function shapesOf({ types, operations }: ApiTypes): Shapes {
  const byName = new Map(types.map((type) => [type.name, type]));
  return new Map(
    operations.flatMap(({ call, bodyType, queryType }) => {
      const names = call.split('.');
      const method = names.pop();
      const key = `${names.map(pascal).join('')}.${method}`;
      const shape = (name: string) => typeOf({ kind: 'named', name }, { byName, around: [] });
      return [
        ...(bodyType === undefined ? [] : [[`${key}.body`, shape(bodyType)] as const]),
        ...(queryType === undefined ? [] : [[`${key}.query`, shape(queryType)] as const]),
      ];
    }),
  );
}

/** Replaces the shapes in the comments of the methods. */
function withShapes(source: string, name: string, shapes: Shapes): string {
  return source.replace(
    /\t\/\*\*(?:(?!\*\/).)*\*\/\n\tpublic function (\w+)/gs,
    (method: string, methodName: string) =>
      method.replace(/@param \S[^\n]* \$(body|query)$/gm, (line: string, parameter: string) => {
        const shape = shapes.get(`${name}.${methodName}.${parameter}`);
        return shape === undefined ? line : `@param ${shape} $${parameter}`;
      }),
  );
}

type Context = { byName: ReadonlyMap<string, NamedType>; around: readonly string[] };

function fieldOf({ name, required, nullable, type }: Field, context: Context): string {
  const value = typeOf(type, context);
  const shown = !nullable ? value : value.includes('|') ? `${value}|null` : `?${value}`;
  return `${name}${required ? '' : '?'}: ${shown}`;
}

function typeOf(type: TypeTree, context: Context): string {
  switch (type.kind) {
    case 'string':
      return 'string';
    case 'integer':
      return 'int';
    case 'number':
      return 'float';
    case 'boolean':
      return 'bool';
    case 'null':
      return 'null';
    case 'any':
      return 'mixed';
    case 'list':
      return `list<${typeOf(type.items, context)}>`;
    case 'map':
      return `array<string, ${typeOf(type.values, context)}>`;
    case 'union':
      return type.of.map((one) => typeOf(one, context)).join('|');
    case 'named':
      return shapeOf(type.name, context);
  }
}

/** The content of an attachment may be an open file or bytes too. */
const CONTENT = 'content?: string|Bytes|resource';

function shapeOf(name: string, { byName, around }: Context): string {
  const type = byName.get(name);
  // A type that contains itself, such as a filter, is written out once.
  if (type === undefined || around.includes(name)) return 'array<string, mixed>';
  const fields = type.fields.map((field) => fieldOf(field, { byName, around: [...around, name] }));
  const shape = `array{${fields.join(', ')}}`;
  return name.endsWith('Attachment') ? shape.replace('content?: string', CONTENT) : shape;
}

if (import.meta.main)
  for (const [file, source] of await currentResources()) writeFileSync(RESOURCES + file, source);
