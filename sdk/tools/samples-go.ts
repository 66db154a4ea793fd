/** Writes values of JSON as Go has them in the types of its library. */
import type { NamedType } from './schemas.ts';
import { type Emitter, goName } from './types-go.ts';

const PACKAGE = 'postrider.';
const TAB = '\t';

/** Returns the name of a type as programs write it, such as `[]postrider.Tag`. */
function qualified(type: string): string {
  return type.replace(/\b[A-Z]\w*/g, `${PACKAGE}$&`);
}

/** Returns a pointer to the struct of a body. */
export function goBody(emitter: Emitter, type: NamedType, value: object): string {
  return `&${new GoValues(emitter).struct({ name: goName(type.name), type }, value, 0)}`;
}

type Struct = { name: string; type: NamedType };

/** Name of a type in Go, and the type of the objects in it. */
type GoType = { goType: string; object: NamedType | undefined };

/** Writes values with the types of an emitter. `depth` is that of the line on which a value begins. */
class GoValues {
  readonly #emitter: Emitter;

  constructor(emitter: Emitter) {
    this.#emitter = emitter;
  }

  struct({ name, type }: Struct, value: object, depth: number): string {
    const fields = Object.entries(value).map(([key, inner]: [string, unknown]) => {
      const field = type.fields.find((one) => one.name === key);
      if (field === undefined) throw new Error(`${type.name} has no field ${key}`);
      const { type: goType, object } = this.#emitter.fieldType(type, field);
      return `${TAB.repeat(depth + 1)}${goName(key)}: ${this.#literal({ goType, object }, inner, depth + 1)},\n`;
    });
    return `${PACKAGE}${name}{\n${fields.join('')}${TAB.repeat(depth)}}`;
  }

  #literal({ goType, object }: GoType, value: unknown, depth: number): string {
    const as = (type: string, inner: unknown, at = depth) =>
      this.#literal({ goType: type, object }, inner, at);
    const [, nullable] = /^Nullable\[(.+)\]$/.exec(goType) ?? [];
    if (nullable !== undefined)
      return value === null
        ? `${PACKAGE}Null[${qualified(nullable)}]()`
        : `${PACKAGE}Value(${as(nullable, value)})`;
    if (value === null) return 'nil';
    if (goType === 'any') return anyLiteral(value, depth);
    if (goType === '*Content') return `${PACKAGE}FromBase64(${JSON.stringify(value)})`;
    if (goType.startsWith('*')) {
      const pointed = as(goType.slice(1), value);
      return pointed.startsWith(PACKAGE) ? `&${pointed}` : `${PACKAGE}Ptr(${pointed})`;
    }
    if (goType === 'OneOrMany') return as('[]string', [value].flat());
    if (Array.isArray(value)) {
      const items = value.map((one) => as(goType.slice(2), one, depth + 1));
      return block(qualified(goType), items, depth);
    }
    if (goType.startsWith('map[string]')) {
      const type = goType.slice('map[string]'.length);
      const entries = Object.entries(value as object).map(
        ([key, one]: [string, unknown]) => `${JSON.stringify(key)}: ${as(type, one, depth + 1)}`,
      );
      return block(qualified(goType), entries, depth);
    }
    if (typeof value === 'object' && object !== undefined)
      return this.struct({ name: goType, type: object }, value, depth);
    return typeof value === 'number' ? `${goType}(${value})` : JSON.stringify(value);
  }
}

function block(type: string, items: readonly string[], depth: number): string {
  const short = items.join(', ');
  if (short.length < 60 && !short.includes('\n')) return `${type}{${short}}`;
  const indent = TAB.repeat(depth + 1);
  return `${type}{\n${items.map((item) => `${indent}${item},\n`).join('')}${TAB.repeat(depth)}}`;
}

function anyLiteral(value: unknown, depth: number): string {
  if (Array.isArray(value))
    return block(
      '[]any',
      value.map((one) => anyLiteral(one, depth + 1)),
      depth,
    );
  if (typeof value !== 'object' || value === null) return value === null ? 'nil' : JSON.stringify(value);
  const entries = Object.entries(value).map(
    ([key, one]) => `${JSON.stringify(key)}: ${anyLiteral(one, depth + 1)}`,
  );
  return block('map[string]any', entries, depth);
}
