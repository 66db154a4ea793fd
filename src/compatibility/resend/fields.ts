/** Reads fields of Resend's bodies. Values that our schemas check are passed on as they are. */
import { AppError, invalid } from '../../system/errors.ts';

export type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns the fields of a body.
 * @throws AppError validation_error unless it is an object
 */
export function fieldsOf(body: unknown): Fields {
  if (isFields(body)) return body;
  throw new AppError('validation_error', 'The body must be a JSON object');
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns true for a field that has a value. To Resend's clients, null is an omitted field. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Returns the values that were given. */
export function given<Values extends Fields>(values: Values): Partial<Values> {
  const kept: Record<string, unknown> = {};
  for (const name in values) if (isGiven(values[name])) kept[name] = values[name];
  return kept as Partial<Values>;
}

/**
 * Refuses fields that are spelled as in programs, such as scheduledAt: fields that nobody knows are ignored, and then mail would be sent
 * at once, or to readers who have opted out of its topic.
 * @throws AppError validation_error for the first that is given
 */
export function requireSpelling(fields: Fields, names: readonly string[]): void {
  for (const name of names) {
    const misspelled = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (isGiven(fields[misspelled])) throw invalid(name, `Write \`${name}\` instead of ${misspelled}`);
  }
}

/**
 * Refuses fields that would change what a call does, and that this server cannot do.
 * @throws AppError validation_error for the first that is given
 */
export function refuseFields(fields: Fields, reasons: Readonly<Record<string, string>>): void {
  for (const [name, reason] of Object.entries(reasons))
    if (isGiven(fields[name])) throw invalid(name, `\`${name}\` ${reason}`);
}
