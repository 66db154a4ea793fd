/** Makes the details of a line of the audit log: short values, as many as a line may have. */
import type { Values } from './before.tsx';

/** Maximum length of a value that is kept. */
const MAX_VALUE_CHARACTERS = 200;
/** Maximum size of all values of a line. Our own limit: people make many lines, which are kept for long. */
const MAX_DETAILS_BYTES = 1_000;

type Entries = readonly (readonly [string, string])[];

/** Returns the values, and those of the fields that they have changed, as JSON. Empty values are left out. */
export function detailsOf(values: Entries, earlier: Entries = []): string {
  const details = addFitting({}, values, (all) => all);
  const before = addFitting({}, earlier, (some) => ({ ...details, before: some }));
  return JSON.stringify(Object.keys(before).length > 0 ? { ...details, before } : details);
}

/** Returns the values with those that are not empty, up to the one with which the line would be too long. */
function addFitting(values: Values, more: Entries, lineWith: (values: Values) => object): Values {
  const [first, ...others] = more;
  if (!first) return values;
  const [name, text] = first;
  if (text === '') return addFitting(values, others, lineWith);
  const longer = { ...values, [name]: shortened(text) };
  const isFitting = Buffer.byteLength(JSON.stringify(lineWith(longer))) <= MAX_DETAILS_BYTES;
  return isFitting ? addFitting(longer, others, lineWith) : values;
}

/** Returns a text that is short enough to be kept. */
export function shortened(text: string): string {
  return (
    text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text
  ).toWellFormed();
}
