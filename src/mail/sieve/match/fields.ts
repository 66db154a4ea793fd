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

/** Returns what chooses occurrences of a field: all of them, or the one that `:index` names (RFC 5260 section 6). */
export function occurrencesOf(call: Call): <Item>(items: readonly Item[]) => readonly Item[] {
  if (!call.has(':index')) return (items) => items;
  const index = call.number(':index');
  if (index === 0) throw call.fault('`:index` counts from 1', ':index');
  const isFromEnd = call.has(':last');
  return (items) => {
    const at = isFromEnd ? items.length - index : index - 1;
    return items.slice(Math.max(at, 0), at + 1);
  };
}

/** Returns what reads the values of a field from a header. */
export function fieldValuesOf(call: Call): (header: HeaderView, name: string) => readonly MatchValue[] {
  const choose = occurrencesOf(call);
  const extract = call.tags.find((tag) => tag.extract)?.extract?.(call);
  if (!extract) return (header, name) => choose(header.values(name));
  return (header, name) =>
    choose(header.rawValues(name)).flatMap((value) => extract(value).map((text) => new MatchValue(text)));
}
