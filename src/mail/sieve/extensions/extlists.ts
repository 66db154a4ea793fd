/**
 * Lists that are stored outside of the script (RFC 6134). There is one: the address book of the owner, which has the addresses that the
 * mailbox has written to.
 */
import { readAddressList } from '../../message/address-list.ts';
import { type Extension, type MatchType, textsTest } from '../definition.ts';
import type { Run } from '../run/run.ts';

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
