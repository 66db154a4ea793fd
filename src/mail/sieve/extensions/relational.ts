/** Further ways to compare: the match types `:value` and `:count` (RFC 5231) and `:list`, and two comparators. */

import { readAddressList } from '../../message/address-list.ts';
import { foldText } from '../../message/fold.ts';
import { orderOctets } from '../comparator.ts';
import { type Call, type Extension, MATCHING_TESTS, type MatchType, textsTest } from '../definition.ts';
import { foldKeys } from '../match/match-types.ts';
import type { Run } from '../run/run.ts';

/** Relations of an order: a negative number where the value of the message is less than the key. */
const RELATIONS: Readonly<Record<string, (order: number) => boolean>> = {
  gt: (order) => order > 0,
  ge: (order) => order >= 0,
  lt: (order) => order < 0,
  le: (order) => order <= 0,
  eq: (order) => order === 0,
  ne: (order) => order !== 0,
};

function relationOf(call: Call, tag: string): (order: number) => boolean {
  const relation = RELATIONS[call.constant(tag).toLowerCase()];
  if (!relation) throw call.fault(`\`${tag}\` needs one of ${Object.keys(RELATIONS).join(', ')}`, tag);
  return relation;
}

const VALUE: MatchType = {
  needsSubstrings: false,
  compile({ call, comparator, keys }) {
    const holds = relationOf(call, ':value');
    const folded = foldKeys(keys, comparator);
    return (run, values) => {
      const texts = folded.read(run);
      return values.some((value) => {
        const text = value.fold(comparator, run);
        run.spend(texts.length);
        return texts.some((key) => {
          run.spendOnSearch(text.length + key.length);
          return holds(comparator.order(text, key));
        });
      });
    };
  },
};

const COUNT: MatchType = {
  needsSubstrings: false,
  compile({ call, comparator, keys }) {
    const holds = relationOf(call, ':count');
    const folded = foldKeys(keys, comparator);
    return (run, values) => {
      const count = comparator.fold(String(values.length));
      return folded.read(run).some((key) => holds(comparator.order(count, key)));
    };
  },
};

export const RELATIONAL: Extension = {
  name: 'relational',
  tags: [
    {
      on: MATCHING_TESTS,
      tags: [
        { name: ':value', value: 'constant', group: 'match type', matchType: VALUE },
        { name: ':count', value: 'constant', group: 'match type', matchType: COUNT },
      ],
    },
  ],
};

/** The comparators i;ascii-numeric (RFC 4790 section 9.1) and i;unicode-casemap (RFC 5051). */

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

/**
 * Lists that are stored outside of the script (RFC 6134). There is one: the address book of the owner, which has the addresses that the
 * mailbox has written to.
 */

/** Prefix for which a leading colon stands (RFC 6134 section 2.5). */
const URN = 'urn:ietf:params:sieve:';
/** The list that every server must have (RFC 6134 section 2.5). Its name is compared without regard to case. */
const DEFAULT_ADDRESS_BOOK = `${URN}addrbook:default`;
/** Maximum number of addresses of a test that are looked up. Fields with more are those of mass mail. */
const MAX_ADDRESSES = 100;

/** Returns true for the name of a list that exists. */
function isList(name: string): boolean {
  const uri = name.startsWith(':') ? `${URN}${name.slice(1)}` : name;
  try {
    return decodeURIComponent(uri).toLowerCase() === DEFAULT_ADDRESS_BOOK;
  } catch {
    return false;
  }
}

const LIST: MatchType = {
  needsSubstrings: false,
  compile({ call, keys }) {
    if (call.has(':comparator')) throw call.fault('`:list` takes no comparator', ':comparator');
    const keepsValues = call.uses('variables');
    return (run, values) => {
      for (const name of keys.read(run))
        if (!isList(name)) run.fail(`there is no list ${JSON.stringify(name.slice(0, 100))}`);
      const addresses = [...new Set(values.flatMap(({ text }) => addressesOf(text)))].slice(0, MAX_ADDRESSES);
      run.spend(addresses.length);
      const found = findContact(run, addresses);
      if (found === undefined) return false;
      if (keepsValues) run.matchValues = [found];
      return true;
    };
  },
};

/** Returns the addresses in a value, which may be a field with names, one address, or a part of one that no list has. */
function addressesOf(text: string): string[] {
  return readAddressList(text.trim(), MAX_ADDRESSES).flatMap(({ mailbox, host }) =>
    mailbox !== null && host !== null ? [`${mailbox}@${host}`] : [],
  );
}

/** Returns the first address that is in the address book. */
function findContact(run: Run, addresses: readonly string[]): string | undefined {
  const known = run.knownContacts(addresses);
  return addresses.find((address) => known.get(address) === true);
}

export const EXTLISTS: Extension = {
  name: 'extlists',
  tests: [textsTest('valid_ext_list', 'list names', (_run, names) => names.every(isList))],
  tags: [
    {
      on: ['header', 'address', 'envelope', 'string'],
      tags: [{ name: ':list', group: 'match type', matchType: LIST }],
    },
    { on: ['redirect'], tags: [{ name: ':list' }] },
  ],
};
