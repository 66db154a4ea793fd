/** The test `envelope` (RFC 5228 section 5.4). */
import { readAddressList } from '../../message/address-list.ts';
import type { AddressPart, Extension } from '../compile/definition.ts';
import { mapTexts } from '../compile/text.ts';
import { ADDRESS_PART_TAGS, addressPartOf } from '../match/address-parts.ts';
import { MatchValue } from '../match/comparator.ts';
import { countsValues } from '../match/counts.ts';
import { compileMatcher, KEYS, MATCH_TAGS } from '../match/match-types.ts';

const PARTS: ReadonlySet<string> = new Set(['from', 'to']);

export const ENVELOPE: Extension = {
  name: 'envelope',
  tests: [
    {
      name: 'envelope',
      tags: [...MATCH_TAGS, ...ADDRESS_PART_TAGS],
      parameters: [{ name: 'envelope parts', type: 'texts' }, KEYS],
      compile(call) {
        const names = mapTexts(call.texts('envelope parts'), (name) => name.toLowerCase());
        const unknown = names.constants?.find((name) => !PARTS.has(name));
        if (unknown !== undefined)
          throw call.fault(`\`${unknown}\` is not a part of the envelope`, 'envelope parts');
        const part = addressPartOf(call);
        const matches = compileMatcher(call);
        const isCount = countsValues(call);
        return (run) => {
          const { from, to } = run.input.envelope;
          const values = names
            .read(run)
            .filter((name) => PARTS.has(name))
            .flatMap((name) => partOf(name === 'from' ? from : to, part, { isCount }));
          return matches(run, values);
        };
      },
    },
  ],
};

/** Returns the part of an address. The null reverse-path is empty in each part, and is not counted (RFC 5231 section 4.2). */
function partOf(path: string, part: AddressPart, { isCount }: { isCount: boolean }): MatchValue[] {
  if (path === '') return isCount ? [] : [new MatchValue('')];
  const [address] = readAddressList(`<${path}>`, 1);
  const localPart = address?.mailbox ?? path;
  const text = part.read({ localPart, domain: address?.host ?? undefined });
  return text === undefined ? [] : [new MatchValue(text)];
}
