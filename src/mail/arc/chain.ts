/** Reads the ARC fields of a message, as far as the next set builds on them (RFC 8617 section 4.2). Nothing is verified here. */
import { parseTagList } from '../dkim/tag-list.ts';
import { fieldValue, type HeaderField } from '../dkim/verify/header-fields.ts';

/** Names of the fields of a set, in the order in which a seal covers them (RFC 8617 section 5.1.1). */
export const SET_FIELDS = ['arc-authentication-results', 'arc-message-signature', 'arc-seal'] as const;
/** Maximum number of sets (RFC 8617 section 4.2.1). */
export const MAX_SETS = 50;

type Chain = {
  /** Highest instance of any field; 0 when there is no chain. */
  instance: number;
  /** True when the newest seal says that the chain has failed. */
  hasFailed: boolean;
  /** The fields of all sets, the oldest set first, each set in the order of `SET_FIELDS`. Undefined when a field is missing. */
  fields: readonly HeaderField[] | undefined;
};

/** Matches the instance at the beginning of ARC-Authentication-Results (RFC 8617 section 4.1.1), which may follow comments. */
const RESULTS_INSTANCE = /^(?:\s|\([^()\\]*\))*i\s*=\s*([0-9]{1,2})\s*;/;
const INSTANCE = /^[0-9]{1,2}$/;

/** Reads the chain of a message. */
export function readChain(fields: readonly HeaderField[]): Chain {
  const sets = new Map<string, HeaderField>();
  let instance = 0;
  let newestSeal: HeaderField | undefined;
  let isBroken = false;
  for (const field of fields) {
    const name = SET_FIELDS.find((one) => one === field.name);
    if (name === undefined) continue;
    const found = instanceOf(field);
    const key = `${name} ${found}`;
    isBroken ||= found === 0 || sets.has(key);
    sets.set(key, field);
    if (name === 'arc-seal' && found >= instance) newestSeal = field;
    instance = Math.max(instance, found);
  }
  const hasFailed = newestSeal !== undefined && tagOf(newestSeal, 'cv').toLowerCase() === 'fail';
  return { instance, hasFailed, fields: isBroken ? undefined : inOrder(sets, instance) };
}

function inOrder(sets: ReadonlyMap<string, HeaderField>, instance: number): HeaderField[] | undefined {
  const ordered: HeaderField[] = [];
  for (let one = 1; one <= instance; one++)
    for (const name of SET_FIELDS) {
      const field = sets.get(`${name} ${one}`);
      if (!field) return undefined;
      ordered.push(field);
    }
  return ordered;
}

/** Returns the instance of a field; 0 when it has none that is valid. */
function instanceOf(field: HeaderField): number {
  if (field.name === 'arc-authentication-results')
    return Number(RESULTS_INSTANCE.exec(fieldValue(field))?.[1] ?? 0);
  const text = tagOf(field, 'i');
  return INSTANCE.test(text) ? Number(text) : 0;
}

function tagOf(field: HeaderField, name: string): string {
  return parseTagList(fieldValue(field))?.get(name) ?? '';
}
