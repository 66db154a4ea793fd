/** Brings headings and words into the form in which they are compared. */

const IS_ASCII = /^[\x20-\x7e]*$/;

/**
 * Returns a text without accents, spaces and punctuation, in lower case: `First Name`, `first_name` and `FIRST-NAME` become
 * `firstname`, and `Prénom` becomes `prenom`.
 */
export function plainForm(text: string): string {
  if (IS_ASCII.test(text)) return text.toLowerCase().replace(/[^a-z0-9]/g, '');
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

/** Returns the value of each name, by the plain form of the name. Of two equal names, the first one counts. */
export function byPlainForm<Value>(
  lists: readonly [names: readonly string[], value: Value][],
): Map<string, Value> {
  const values = new Map<string, Value>();
  for (const [names, value] of lists) {
    for (const name of names) {
      const plain = plainForm(name);
      if (!values.has(plain)) values.set(plain, value);
    }
  }
  return values;
}
