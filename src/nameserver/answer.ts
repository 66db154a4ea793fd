/** Decides what the zone answers to a question (RFC 1034 section 4.3.2), without I/O. */
import { CODES, TYPES } from './wire/codes.ts';
import type { Question } from './wire/query.ts';
import { MINIMAL_ANY, type RecordSet } from './wire/record-set.ts';
import type { Content } from './wire/response.ts';
import type { Zone, ZoneNode } from './zone/zone.ts';

/** Maximum number of aliases that one answer follows. Resolvers follow the rest themselves. */
const MAX_ALIASES = 4;

/** Returns the content of the response. */
export function answerQuestion(zone: Zone, { name, type }: Question): Content {
  const found = zone.find(name);
  if (found.kind === 'outside') return { code: CODES.refused };
  // A negative answer has SOA, which says how long it may be remembered (RFC 2308 section 3).
  const negative = { isAuthoritative: true, authorities: [zone.soa] };
  if (found.kind === 'no-name') return { code: CODES.noSuchName, ...negative };
  const answers = answersOf(zone, found.node, type);
  const hasData = answers.length > 0;
  const last = answers.at(-1);
  if (!hasData || last === undefined) return { code: CODES.noError, ...negative };
  const additionals = type === TYPES.NS ? addressesOf(zone, last.targets) : [];
  return { code: CODES.noError, isAuthoritative: true, answers, additionals };
}

function answersOf(zone: Zone, first: ZoneNode, type: number): RecordSet[] {
  if (type === TYPES.ANY) return first.size > 0 ? [MINIMAL_ANY] : [];
  const answers: RecordSet[] = [];
  let node: ZoneNode | undefined = first;
  while (node && answers.length < MAX_ALIASES) {
    const wanted = node.get(type);
    if (wanted) return [...answers, wanted];
    const alias = node.get(TYPES.CNAME);
    if (!alias) return answers;
    answers.push(alias);
    node = nodeAt(zone, alias.targets[0]);
  }
  return answers;
}

function addressesOf(zone: Zone, names: readonly string[]): RecordSet[] {
  return names.flatMap((name) => {
    const node = nodeAt(zone, name);
    return [node?.get(TYPES.A), node?.get(TYPES.AAAA)].filter((set) => set !== undefined);
  });
}

function nodeAt(zone: Zone, name: string | undefined): ZoneNode | undefined {
  const found = name === undefined ? undefined : zone.find(name);
  return found?.kind === 'node' ? found.node : undefined;
}
