/** The comparator i;unicode-casemap (RFC 5051). */
import { foldText } from '../../message/fold.ts';
import type { Extension } from '../compile/definition.ts';
import { orderOctets } from '../match/comparator.ts';

export const COMPARATOR_UNICODE_CASEMAP: Extension = {
  name: 'comparator-i;unicode-casemap',
  comparators: [
    {
      name: 'i;unicode-casemap',
      fold: foldText,
      order: orderOctets,
      character: 'code point',
      hasSubstrings: true,
    },
  ],
};
