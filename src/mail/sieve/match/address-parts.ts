/** Parts of addresses (RFC 5228 section 2.7.4). An address that is not valid has neither a local part nor a domain. */
import type { AddressPart, Call, Tag } from '../compile/definition.ts';
import { countsValues } from './counts.ts';

const ALL: AddressPart = {
  name: ':all',
  read: ({ localPart = '', domain }) => (domain === undefined ? localPart : `${localPart}@${domain}`),
};

const LOCAL_PART: AddressPart = {
  name: ':localpart',
  read: ({ localPart, domain }) => (domain === undefined ? undefined : localPart),
};

const DOMAIN: AddressPart = {
  name: ':domain',
  read: ({ localPart, domain }) => (localPart === undefined ? undefined : domain),
};

/** Returns the tag of a part. */
export function addressPartTag(addressPart: AddressPart): Tag {
  return { name: addressPart.name, group: 'address part', addressPart };
}

export const ADDRESS_PART_TAGS: readonly Tag[] = [ALL, LOCAL_PART, DOMAIN].map(addressPartTag);

/** Returns the part of addresses that a call names, or the whole address. Addresses are counted whole (RFC 5231 section 4.2). */
export function addressPartOf(call: Call): AddressPart {
  return countsValues(call) ? ALL : (call.tagOf('address part')?.addressPart ?? ALL);
}
