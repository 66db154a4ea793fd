/** The comparators i;ascii-numeric (RFC 4790 section 9.1) and i;unicode-casemap (RFC 5051). */
import { foldText } from '../../message/fold.ts';
import { orderOctets } from '../comparator.ts';
import type { Extension } from '../definition.ts';

/** Stands for a text that does not begin with a digit, which is greater than all numbers. */
const INFINITY = '';

export const COMPARATOR_ASCII_NUMERIC: Extension = {
  name: 'comparator-i;ascii-numeric',
  comparators: [
    {
      name: 'i;ascii-numeric',
      fold(text) {
        const digits = /^[0-9]+/.exec(text)?.[0];
        return digits === undefined ? INFINITY : digits.replace(/^0+(?=.)/, '');
      },
      order(first, second) {
        if (first === second) return 0;
        if (first === INFINITY || second === INFINITY) return first === INFINITY ? 1 : -1;
        return first.length - second.length || (first < second ? -1 : 1);
      },
      character: 'octet',
      hasSubstrings: false,
    },
  ],
};

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
