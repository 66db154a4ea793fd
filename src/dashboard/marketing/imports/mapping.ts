/** The mapping of the columns of a file, as the form has it: for each column a field, and the name of a property. */
import type { Form } from '../../../http/pages/form-body.ts';
import { fieldOf } from '../../page.ts';

export type Column = { column: number; heading: string; field: string | null };
/** Fields of columns by their numbers, as the API takes them; null leaves a column out. */
export type Mapping = Record<string, string | null>;

/** Field of a column that is a property, whose name stands in a field of its own. */
const PROPERTY = 'property';
const PROPERTY_PREFIX = 'properties.';
/** Field of a column about a topic whose id stands in the field of the name, where the choice of fields cannot have all topics. */
export const TOPIC = 'topic';
const TOPIC_PREFIX = 'topics.';
/** Maximum number of columns in the form: each has about 1 kB, and a page at most 100. */
export const MAX_SHOWN_COLUMNS = 60;

/** Returns the fields of a column in the form. `topicList` is given where topics are named by their ids. */
export function choiceOf(field: string | null, topicList?: string): { field: string; key: string } {
  if (field?.startsWith(PROPERTY_PREFIX))
    return { field: PROPERTY, key: field.slice(PROPERTY_PREFIX.length) };
  if (topicList !== undefined && field?.startsWith(TOPIC_PREFIX))
    return { field: TOPIC, key: field.slice(TOPIC_PREFIX.length) };
  return { field: field ?? '', key: '' };
}

/**
 * Returns the mapping that somebody has chosen: the columns that differ from what was found, and those with a field that another column
 * takes from them. What is not named is read as it was found, with all its checks.
 */
export function readMapping(form: Form, found: readonly Column[]): Mapping {
  const chosen = found.slice(0, MAX_SHOWN_COLUMNS).map(({ column, field }) => {
    const name = `field.${column}`;
    const wanted = form.names.includes(name) ? fieldOf(form, name) : (field ?? '');
    const key = fieldOf(form, `key.${column}`).trim();
    const keyed = { [PROPERTY]: PROPERTY_PREFIX + key, [TOPIC]: TOPIC_PREFIX + key }[wanted];
    return { column, found: field, field: keyed ?? (wanted || null) };
  });
  const changed = new Set(chosen.filter((one) => one.field !== one.found).map(({ field }) => field));
  const named = chosen.filter((one) => one.field !== one.found || (one.field && changed.has(one.field)));
  return Object.fromEntries(named.map(({ column, field }) => [String(column), field]));
}
