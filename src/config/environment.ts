/** The variables of the environment: `POSTRIDER_HTTP_PORT` sets `http.port`, and some switches of tests have a variable alone. */
import { type TObject, type TSchema, Type } from 'typebox';
import { CRASH_POINTS } from '../crash-points.ts';
import { crashPointName } from '../system/crash-point.ts';
import { ConfigError } from './config-error.ts';
import { configSchema } from './schema.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Settings for fault tests. They come from the environment only, never from a file. */
export type FaultSettings = { crashAt: string | undefined; synchronous: 'FULL' | 'NORMAL' };

const ENV_PREFIX = 'POSTRIDER_';
const ENV_ONLY = ['POSTRIDER_CONFIG', 'POSTRIDER_CRASH_AT', 'POSTRIDER_UNSAFE_SYNCHRONOUS'];

type Leaf = { path: string[]; schema: TSchema };

/** Returns every setting, with its path in the configuration. */
export function leaves(schema: TObject, path: string[] = []): Leaf[] {
  return Object.entries(schema.properties).flatMap(([key, value]) =>
    Type.IsObject(value) ? leaves(value, [...path, key]) : [{ path: [...path, key], schema: value }],
  );
}

/** Returns true for a list of objects. It has no variable that sets it, because a variable holds only a list of texts. */
export function isListOfObjects(schema: TSchema): boolean {
  return Type.IsArray(schema) && Type.IsObject(schema.items);
}

/** Returns the variable of a setting: `http.port` is `POSTRIDER_HTTP_PORT`, `dataDir` is `POSTRIDER_DATA_DIR`. */
export function environmentName(path: readonly string[]): string {
  return (
    ENV_PREFIX + path.map((key) => key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()).join('_')
  );
}

/**
 * Sets the values that variables give, and notes in `origins` which variable each comes from.
 * @throws ConfigError naming the variable that is wrong
 */
export function applyEnvironment(
  values: Record<string, unknown>,
  env: Environment,
  origins: Map<string, string>,
): void {
  const known = new Map(leaves(configSchema).map((leaf) => [environmentName(leaf.path), leaf]));
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith(ENV_PREFIX) || ENV_ONLY.includes(name) || text === undefined) continue;
    const leaf = known.get(name);
    if (!leaf) throw new ConfigError(`${name}: there is no such setting`);
    if (isListOfObjects(leaf.schema))
      throw new ConfigError(`${name}: "${leaf.path.join('.')}" can be set in a configuration file only`);
    origins.set(leaf.path.join('.'), name);
    setPath(values, leaf.path, parseText(leaf.schema, text));
  }
}

/** Converts the text of a variable. A text that does not fit stays text, so that the schema check reports it. */
function parseText(schema: TSchema, text: string): unknown {
  if (Type.IsArray(schema)) return text === '' ? [] : text.split(',').map((item) => item.trim());
  if (Type.IsInteger(schema)) return /^-?\d+$/.test(text) ? Number(text) : text;
  if (Type.IsBoolean(schema)) return text === 'true' ? true : text === 'false' ? false : text;
  return text;
}

function setPath(values: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [key, ...rest] = path;
  if (key === undefined) return;
  if (rest.length === 0) {
    values[key] = value;
    return;
  }
  const child = values[key];
  const next = isRecord(child) ? child : {};
  values[key] = next;
  setPath(next, rest, value);
}

/** Reads the switches of fault tests. @throws ConfigError */
export function readFaultSettings(env: Environment): FaultSettings {
  const crashAt = env['POSTRIDER_CRASH_AT'] || undefined;
  if (crashAt !== undefined && !CRASH_POINTS.some((name) => name === crashPointName(crashAt)))
    throw new ConfigError(`POSTRIDER_CRASH_AT: "${crashAt}" is not a crash point`);
  const unsafe = env['POSTRIDER_UNSAFE_SYNCHRONOUS'];
  if (unsafe !== undefined && unsafe !== 'NORMAL')
    throw new ConfigError('POSTRIDER_UNSAFE_SYNCHRONOUS: only NORMAL');
  return { crashAt, synchronous: unsafe ?? 'FULL' };
}

/** Returns true for a mapping, such as a section of the configuration. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
