/**
 * Decides what an update changes at one name and type, without I/O. Only values that this installation has written are changed or
 * removed: a mark beside the name says that it has (`markOf`), and a conflict with records of somebody else is told to the operator.
 */
import { isSameOrBelow } from '../mail/domain-names.ts';
import type { Update, UpdateType, ValueSet } from './message.ts';

export type Situation = {
  zone: string;
  /** The mark of this installation (`markOf`). */
  mark: string;
  /** Values that the name shall have; none when it is not printed any more. */
  wanted: ValueSet;
  /** Values that the server has; undefined when an alias is there instead. */
  found: readonly string[] | undefined;
  /** Marks beside the name, of any installation and type. */
  marks: readonly string[];
  /** Values that were written before, as the database has them. */
  written: readonly string[];
};

type Plan =
  | { kind: 'in_place'; isOwned: boolean }
  | { kind: 'update'; update: Update }
  /** Somebody else's records are in the way. `advice` says what the operator can do. */
  | { kind: 'conflict'; advice: string };

const WILDCARD = '*.';
const MARK_PREFIX = '_postrider.';
/** Versions at the beginning of texts of which a name has at most one (RFC 7208 section 4.5, RFC 9989, RFC 6376, RFC 8460). */
const VERSIONS = /^v=(?:spf1|DMARC1|DKIM1|TLSRPTv1)(?=[ ;]|$)/i;

/** Returns the name of the mark. A wildcard has its mark at a name that no lookup uses. */
export function markName(name: string): string {
  return MARK_PREFIX + (name.startsWith(WILDCARD) ? `_wildcard.${name.slice(WILDCARD.length)}` : name);
}

/** Returns the mark by which an installation says that it has written records of a type. */
export function markOf(installationId: string, type: UpdateType): string {
  return `postrider-owner=${installationId}; type=${type}`;
}

/** Returns the zone that a name belongs to: the longest of those that are named; undefined when it is in none. */
export function zoneOf(name: string, zones: readonly string[]): string | undefined {
  return zones.filter((zone) => isSameOrBelow(name, zone)).sort((one, other) => other.length - one.length)[0];
}

/** Decides what to do. */
export function planUpdate(situation: Situation): Plan {
  const { wanted, found, marks, mark, written } = situation;
  if (found === undefined) return { kind: 'conflict', advice: 'an alias (CNAME) is there; remove it' };
  const isOwned = marks.includes(mark);
  const missing = wanted.values.filter((value) => !found.includes(value));
  const obsolete = isOwned
    ? written.filter((value) => found.includes(value) && !wanted.values.includes(value))
    : [];
  if (missing.length === 0 && obsolete.length === 0 && (wanted.values.length > 0 || !isOwned))
    return { kind: 'in_place', isOwned };
  const foreign = found.filter((value) => !obsolete.includes(value) && !wanted.values.includes(value));
  const conflict = missing.length > 0 ? findConflict(wanted, foreign) : undefined;
  if (conflict !== undefined) return { kind: 'conflict', advice: conflict };
  return { kind: 'update', update: updateOf(situation, { found, missing, obsolete }) };
}

type Changes = { found: readonly string[]; missing: readonly string[]; obsolete: readonly string[] };

function updateOf({ zone, mark, wanted, marks }: Situation, { found, missing, obsolete }: Changes): Update {
  const set = (values: readonly string[]): ValueSet => ({ ...wanted, values });
  const markSet = (values: readonly string[]): ValueSet => ({
    name: markName(wanted.name),
    type: 'TXT',
    values,
  });
  const staysOwned = wanted.values.length > 0;
  const isNewAlias = wanted.type === 'CNAME' && found.length === 0 && missing.length > 0;
  return {
    zone,
    // The server makes sure that nothing has changed since it was asked.
    expected: [set(found), markSet(marks)],
    ...(isNewAlias && { unused: wanted.name }),
    added: [set(missing), markSet(staysOwned && !marks.includes(mark) ? [mark] : [])],
    removed: [set(obsolete), markSet(!staysOwned && marks.includes(mark) ? [mark] : [])],
  };
}

/** Returns why the missing values cannot stand beside those of others; undefined when they can. */
function findConflict({ type, values }: ValueSet, foreign: readonly string[]): string | undefined {
  const [first] = foreign;
  if (first === undefined) return undefined;
  if (type !== 'TXT')
    return `another ${type} record is there (${first}); remove it, or publish yours by hand`;
  const versions = new Set(values.map(versionOf));
  const same = foreign.find((value) => versionOf(value) !== undefined && versions.has(versionOf(value)));
  if (same === undefined) return undefined;
  return `there is such a record already (${same}), and a second one would make both invalid; merge them`;
}

function versionOf(text: string): string | undefined {
  return VERSIONS.exec(text)?.[0].toLowerCase();
}
