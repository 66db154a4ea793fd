/** The address parts `:user` and `:detail` (RFC 5233). The separator is `+`, as for the addresses of mailboxes. */
import type { Extension } from '../compile/definition.ts';
import { addressPartTag } from '../match/address-parts.ts';

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
