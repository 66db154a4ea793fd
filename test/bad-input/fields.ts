/** Every place of a body where a value may be put, the nested ones and those that its example leaves out among them. */
import type { Route } from './world.ts';

export type Steps = readonly [string, ...(string | number)[]];

export function fieldsOf({ valid, schema }: Pick<Route, 'valid' | 'schema'>): Steps[] {
  const left = Object.keys(schema?.properties ?? {}).filter((name) => !Object.hasOwn(valid, name));
  const there = Object.entries(valid).flatMap(([name, value]): Steps[] => [
    [name],
    ...stepsBelow(value).map((steps): Steps => [name, ...steps]),
  ]);
  return [...there, ...left.map((name): Steps => [name])];
}

/** What stands in each item of a list is like what stands in the first. */
function stepsBelow(value: unknown): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [];
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? isOfOneKind(value)
      ? value.slice(0, 1).map((item, index) => [index, item])
      : [...value.entries()]
    : Object.entries(value);
  return entries.flatMap(([step, item]) => [[step], ...stepsBelow(item).map((steps) => [step, ...steps])]);
}

function isOfOneKind(items: readonly unknown[]): boolean {
  const shapes = items.map((item) => JSON.stringify(stepsBelow(item)));
  return new Set(shapes).size <= 1;
}

/** What a field stands instead of: the two are refused together, whatever they hold. */
const INSTEAD_OF: Readonly<Record<string, string>> = { templateId: 'html' };

/** The fields that may be blamed when this one is wrong. */
export function blamable([field]: Steps): readonly string[] {
  const other = INSTEAD_OF[field];
  return other === undefined ? [field] : [field, other];
}

/** Returns true when the schema of the field allows a list, or when there is no schema that says so. */
export function takesList({ schema }: Pick<Route, 'schema'>, field: string): boolean {
  const ofField = schema?.properties?.[field];
  return ofField === undefined || JSON.stringify(ofField).includes('"array"');
}

/** The body with `value` in this place. */
export function spoiled(valid: Record<string, unknown>, steps: Steps, value: unknown): unknown {
  const other = INSTEAD_OF[steps[0]];
  const rest = Object.entries(valid).filter(([field]) => field !== other);
  return withValueAt(Object.fromEntries(rest), steps, value);
}

function withValueAt(body: unknown, [step, ...rest]: readonly (string | number)[], value: unknown): unknown {
  if (step === undefined) return value;
  if (Array.isArray(body))
    return body.map((item, at) => (at === step ? withValueAt(item, rest, value) : item));
  const fields = (body ?? {}) as Record<string, unknown>;
  return { ...fields, [step]: withValueAt(fields[step], rest, value) };
}
