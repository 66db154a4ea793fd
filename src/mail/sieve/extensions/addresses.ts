/**
 * Addresses: the test `envelope` (RFC 5228 section 5.4), and the address parts `:user` and `:detail` (RFC 5233), whose separator is `+`, as
 * for the addresses of mailboxes.
 */
import { parseMailbox } from '../../address.ts';
import { readAddressList } from '../../message/address-list.ts';
import { MatchValue } from '../comparator.ts';
import { type AddressPart, type Extension, mapTexts } from '../definition.ts';
import { ADDRESS_PART_TAGS, addressPartOf, addressPartTag } from '../match/fields.ts';
import { compileMatcher, countsValues, KEYS, MATCH_TAGS } from '../match/match-types.ts';

/** Returns the mailbox that a text is, in a form without comments and needless white space; undefined for any other text. */
export function readScriptMailbox(text: string): string | undefined {
  return parseMailbox(text) ? text : readScriptAddress(text);
}

/** Returns the address of a text that is one mailbox, with or without a name; undefined for any other text. */
export function readScriptAddress(text: string): string | undefined {
  const plain = parseMailbox(text);
  // White space in a quoted local part belongs to it.
  if (plain || text.includes('"')) return plain?.address;
  const withoutComments = text.replace(/\([^()]*\)/g, ' ');
  const parts = withoutComments.split('@').map((part) => part.trim());
  return parseMailbox(parts.join('@'))?.address;
}

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

const SEPARATOR = '+';

export const SUBADDRESS: Extension = {
  name: 'subaddress',
  tags: [
    {
      on: ['address', 'envelope'],
      tags: [
        addressPartTag({
          name: ':user',
          read: ({ localPart, domain }) =>
            domain === undefined ? undefined : localPart?.split(SEPARATOR)[0],
        }),
        addressPartTag({
          name: ':detail',
          read({ localPart = '', domain }) {
            const at = localPart.indexOf(SEPARATOR);
            return at < 0 || domain === undefined ? undefined : localPart.slice(at + 1);
          },
        }),
      ],
    },
  ],
};
