/**
 * The fields that a test reads: in which headers, which occurrences of them, and which part of their addresses (RFC 5228 section 2.7.4). An
 * address that is not valid has neither a local part nor a domain.
 */
import { MatchValue } from '../comparator.ts';
import type { AddressPart, Call, Tag } from '../definition.ts';
import type { HeaderView } from '../run/header-view.ts';
import type { Run } from '../run/run.ts';
import { countsValues } from './match-types.ts';

/**
 * Returns what collects values of the headers in which a test looks: that of the message, unless a tag says otherwise. Most tests look in
 * one header, whose values are not copied.
 */
export function collectFrom(
  call: Call,
  valuesOf: (run: Run, header: HeaderView) => readonly MatchValue[],
): (run: Run) => readonly MatchValue[] {
  const headersOf = call.tags.find((tag) => tag.headers)?.headers?.(call);
  if (!headersOf) return (run) => valuesOf(run, run.message.header);
  return (run) => headersOf(run).flatMap((header) => valuesOf(run, header));
}

/** Returns the values of all items; those of a single item are not copied. */
export function flatMapFew<Item, Value>(
  items: readonly Item[],
  valuesOf: (item: Item) => readonly Value[],
): readonly Value[] {
  const [first] = items;
  return items.length === 1 && first !== undefined ? valuesOf(first) : items.flatMap(valuesOf);
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
  if (!extract) return (_run, header, names) => choose(flatMapFew(names, (name) => header.values(name)));
  return (run, header, names) => {
    const fields = names.flatMap((name) => header.rawValues(name).map((value) => ({ name, value })));
    return choose(fields).flatMap((field) => extract(field, run).map((text) => new MatchValue(text)));
  };
}

const ALL: AddressPart = {
  name: ':all',
  read: ({ localPart = '', domain }) => (domain === undefined ? localPart : `${localPart}@${domain}`),
};

const LOCAL_PART: AddressPart = {
  name: ':localpart',
  read: ({ localPart, domain }) => (domain === undefined ? undefined : localPart),
};

const DOMAIN: AddressPart = {
  name: ':domain',
  read: ({ localPart, domain }) => (localPart === undefined ? undefined : domain),
};

/** Returns the tag of a part. */
export function addressPartTag(addressPart: AddressPart): Tag {
  return { name: addressPart.name, group: 'address part', addressPart };
}

export const ADDRESS_PART_TAGS: readonly Tag[] = [ALL, LOCAL_PART, DOMAIN].map(addressPartTag);

/** Returns the part of addresses that a call names, or the whole address. Addresses are counted whole (RFC 5231 section 4.2). */
export function addressPartOf(call: Call): AddressPart {
  return countsValues(call) ? ALL : (call.tagOf('address part')?.addressPart ?? ALL);
}
