/** Translates the fields of contacts. Properties that stand for segments (segments.ts) are not shown. */
import type { ShownContact } from '../../../audiences/contacts/schemas.ts';
import { type Fields, given, isFields } from '../fields.ts';
import { isMembership } from './segments.ts';

/**
 * Returns the fields of a new contact. The schema of the operation checks the values that are passed on. `memberships` are the names of
 * properties that put it into segments.
 */
export function newContactFrom(contact: Fields, memberships: readonly string[]): Fields {
  const { topics, properties } = contact;
  const change = changeFrom({
    ...contact,
    properties: isFields(properties) ? valuesOf(properties) : properties,
  });
  const own = isFields(change['properties']) ? change['properties'] : {};
  return {
    ...change,
    ...given({ topics }),
    ...(memberships.length > 0 && { properties: { ...own, ...asProperties(memberships, true) } }),
  };
}

/** Returns the change of a contact. Null empties a name, and removes a property; elsewhere it changes nothing. */
export function changeFrom({ email, first_name, last_name, unsubscribed, properties }: Fields): Fields {
  const names = { firstName: first_name, lastName: last_name };
  return {
    ...given({ email, unsubscribed, properties }),
    ...Object.fromEntries(Object.entries(names).filter(([, value]) => value !== undefined)),
  };
}

/** Returns the properties that have a value: a new contact has none that could be removed. */
function valuesOf(properties: Fields): Fields {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== null));
}

/** Returns properties that put a contact into segments, or take it out of them. */
export function asProperties(memberships: readonly string[], isMember: boolean): Fields {
  return Object.fromEntries(memberships.map((key) => [key, isMember || null]));
}

/** Returns a contact as an item of Resend's list. */
export function showContactItem(contact: ShownContact) {
  const { id, email, firstName, lastName, createdAt, unsubscribed } = contact;
  return { id, email, first_name: firstName, last_name: lastName, created_at: createdAt, unsubscribed };
}

/** Returns a contact as Resend shows it. */
export function showContact(contact: ShownContact) {
  const own = Object.entries(contact.properties).filter(([key]) => !isMembership(key));
  const properties = own.map(([key, value]) => [key, { type: typeof value, value }]);
  return {
    object: 'contact',
    ...showContactItem(contact),
    properties: Object.fromEntries(properties),
  };
}
