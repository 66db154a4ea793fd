/**
 * Keeps the digits of numbers that JavaScript cannot hold, such as ids above 2^53, where callers store values of their own: they become text in
 * objects named `variables` and `properties`. Elsewhere numbers have schemas, which bound them.
 */

/** Names of the objects whose values are the caller's own. */
const OWN_VALUES: ReadonlySet<string> = new Set(['variables', 'properties']);
/** Matches a number that may have more digits than a double can hold, which is 15. */
const MANY_DIGITS = /[:[,]\s*-?\d[\d.]{15}/;

type Exact = { key: string; source: string };
/** The third argument of a reviver, which has the text of a number (ECMAScript 2026, JSON.parse). */
type Context = { source?: string };

/** Returns true when the JSON text may have such a number. Few have: it costs a small part of parsing. */
export function mayHaveLongNumbers(text: string): boolean {
  return MANY_DIGITS.test(text);
}

/** Parses a JSON text that was found to be valid. */
export function parseExactly(text: string): unknown {
  const exact = new WeakMap<object, Exact[]>();
  return JSON.parse(text, function (this: object, key: string, ...[value, context]: [unknown, Context?]) {
    const source = context?.source;
    if (typeof value === 'number' && source !== undefined && source.length > 15 && source !== String(value)) {
      const found = exact.get(this);
      if (found) found.push({ key, source });
      else exact.set(this, [{ key, source }]);
    }
    if (typeof value === 'object' && value !== null && OWN_VALUES.has(key))
      for (const one of exact.get(value) ?? []) replaceValue(value, one);
    return value;
  });
}

/** The property is defined and not assigned, because its name may be `__proto__`. */
function replaceValue(holder: object, { key, source }: Exact): void {
  Object.defineProperty(holder, key, { value: source, configurable: true, enumerable: true, writable: true });
}
