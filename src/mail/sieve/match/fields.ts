/** The fields that a test reads: in which headers, which occurrences of them, and what of their values. */
import type { Call } from '../compile/definition.ts';
import type { HeaderView } from '../run/header-view.ts';
import type { Run } from '../run/run.ts';
import { MatchValue } from './comparator.ts';

/** Returns the headers in which a test looks: that of the message, unless a tag says otherwise. */
export function headersOf(call: Call): (run: Run) => readonly HeaderView[] {
  for (const { headers } of call.tags) if (headers) return headers(call);
  return (run) => [run.message.header];
}

/** Returns what chooses occurrences of fields: all of them, or the one that `:index` names (RFC 5260 section 6). */
export function occurrencesOf(call: Call): <Item>(items: readonly Item[]) => readonly Item[] {
  if (!call.has(':index')) return (items) => items;
  const index = call.number(':index');
  if (index === 0) throw call.fault('`:index` counts from 1', ':index');
  const isFromEnd = call.has(':last');
  return (items) => {
    const at = isFromEnd ? items.length - index : index - 1;
    return at < 0 ? [] : items.slice(at, at + 1);
  };
}

type ReadValues = (run: Run, header: HeaderView, names: readonly string[]) => readonly MatchValue[];

/** Returns what reads the values of the fields with some names in lower case from a header. */
export function fieldValuesOf(call: Call): ReadValues {
  const choose = occurrencesOf(call);
  const extract = call.tags.find((tag) => tag.extract)?.extract?.(call);
  if (!extract) return (_run, header, names) => choose(names.flatMap((name) => header.values(name)));
  return (run, header, names) => {
    const fields = names.flatMap((name) => header.rawValues(name).map((value) => ({ name, value })));
    return choose(fields).flatMap((field) => extract(field, run).map((text) => new MatchValue(text)));
  };
}
