/** The properties of a contact as lines of text, in which a person edits them, such as `plan: pro`. */
import type { PropertyValue } from '../../../audiences/contacts/fields.ts';
import { invalid } from '../../../system/errors.ts';

type Properties = Readonly<Record<string, PropertyValue>>;

/** Returns the lines. A text that would be read as a number or as true or false stands in quotes. */
export function writeProperties(properties: Properties): string {
  return Object.entries(properties)
    .map(([key, value]) => `${key}: ${writeTyped(value)}`)
    .join('\n');
}

/** Returns a value as a text from which `readTyped` makes the same value. */
export function writeTyped(value: PropertyValue): string {
  return typeof value === 'string' && readTyped(value) !== value ? JSON.stringify(value) : String(value);
}

/**
 * Returns the change that lines mean: their properties, and null for those of before that they leave out.
 * @throws AppError validation_error naming a line without a colon, or a property that has two lines
 */
export function readProperties(text: string, before: Properties = {}): Record<string, PropertyValue | null> {
  const read = new Map<string, PropertyValue | null>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const colon = line.indexOf(':');
    const key = line.slice(0, colon).trim();
    const number = index + 1;
    if (colon < 1)
      throw invalid('properties', `Line ${number} of the properties must have a name, a colon and a value`);
    if (read.has(key))
      throw invalid('properties', `Line ${number} of the properties names ${key} a second time`);
    read.set(key, readTyped(line.slice(colon + 1).trim()));
  }
  for (const key of Object.keys(before)) if (!read.has(key)) read.set(key, null);
  return Object.fromEntries(read);
}

/** Returns the number, the boolean or the quoted text that a text stands for, or else the text itself. */
export function readTyped(text: string): PropertyValue {
  if (!/^(?:true|false|-?\d.*|".*")$/.test(text)) return text;
  try {
    const value = JSON.parse(text) as unknown;
    // A number that would lose digits, such as 1.50, is a text.
    if (typeof value === 'number') return String(value) === text ? value : text;
    return typeof value === 'boolean' || typeof value === 'string' ? value : text;
  } catch {
    return text;
  }
}
