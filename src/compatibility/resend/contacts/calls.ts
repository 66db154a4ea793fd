/** The calls about contacts, which belong to the audience of all contacts unless they name a group. */
import type { ShownContact } from '../../../audiences/contacts/schemas.ts';
import { type Calls, path } from '../../../http/json/calls.ts';
import { invalid } from '../../../system/errors.ts';
import type { Access, Asked, Call, Given } from '../call.ts';
import { fieldsOf } from '../fields.ts';
import { findContactsAudience } from './audience.ts';
import { askNew } from './create.ts';
import { asProperties, changeFrom, showContact } from './fields.ts';
import { listGroup } from './group-pages.ts';
import { askMembership, listSegmentsOf, segmentsOf, showMembership } from './memberships.ts';
import { askOne, getContact } from './place.ts';
import { makeRoom } from './room.ts';
import { getGroup, requireMembership } from './segments.ts';
import { choicesOf, listTopicsOf } from './topics.ts';

const named = ({ id }: { id: string }) => ({ object: 'contact', id });
const EMPTY = { object: 'list', has_more: false, data: [] };

export const contactCalls: readonly Call[] = [
  { at: 'POST /contacts', operation: 'createContact', ask: askNew, answer: named },
  {
    at: 'GET /contacts',
    operation: 'listContacts',
    run: async (given, calls, access) => {
      const { segment_id: groupId } = given.query;
      if (Array.isArray(groupId)) throw invalid('segment_id', '`segment_id` may be given only once');
      if (typeof groupId === 'string') return listGroup(await getGroup(groupId, calls), given, calls);
      const audienceId = await findContactsAudience(access);
      return audienceId === undefined ? EMPTY : listGroup({ audienceId, segment: undefined }, given, calls);
    },
  },
  { at: 'GET /contacts/:id', operation: 'getContact', ask: askOne, answer: showContact },
  { at: 'PATCH /contacts/:id', operation: 'updateContact', ask: askChange, answer: named },
  { at: 'DELETE /contacts/:id', operation: 'deleteContact', run: remove },
  ...callsOfGroup('/audiences/:groupId/contacts'),
  ...callsOfGroup('/segments/:groupId/contacts'),
  { at: 'GET /contacts/:id/segments', operation: 'getContact', run: listSegmentsOf },
  {
    at: 'POST /contacts/:id/segments/:segmentId',
    operation: 'updateContact',
    ask: (given, access) => askMembership(given, access, true),
    answer: (contact: ShownContact, given) => showMembership(contact, given),
  },
  {
    at: 'DELETE /contacts/:id/segments/:segmentId',
    operation: 'updateContact',
    ask: (given, access) => askMembership(given, access, false),
    answer: (contact: ShownContact, given) => ({ ...showMembership(contact, given), deleted: true }),
  },
  { at: 'GET /contacts/:id/topics', operation: 'getContact', run: listTopicsOf },
  {
    at: 'PATCH /contacts/:id/topics',
    operation: 'updateContact',
    ask: async (given, access) => ({ ...(await askOne(given, access)), body: { topics: choicesOf(given) } }),
    answer: ({ id }: ShownContact, given) => ({
      object: 'contact_topics',
      id,
      contact_id: id,
      topics: choicesOf(given),
    }),
  },
];

/** The calls of the contacts of a group, which older clients use. */
function callsOfGroup(at: `/${string}`): readonly Call[] {
  return [
    { at: `POST ${at}`, operation: 'createContact', ask: askNew, answer: named },
    {
      at: `GET ${at}`,
      operation: 'listContacts',
      run: async (given, calls) =>
        listGroup(await getGroup(given.params['groupId'] ?? '', calls), given, calls),
    },
    { at: `GET ${at}/:id`, operation: 'getContact', ask: askOne, answer: showContact },
    { at: `PATCH ${at}/:id`, operation: 'updateContact', ask: askChange, answer: named },
    { at: `DELETE ${at}/:id`, operation: 'deleteContact', run: remove },
  ];
}

async function askChange(given: Given, access: Access): Promise<Asked> {
  const body = changeFrom(fieldsOf(given.body));
  const { params } = await askOne(given, access);
  await makeRoom(params, body['properties'], access);
  return { params, body };
}

/**
 * Removes a contact. Older programs remove it from an audience, where each audience had a contact of its own: it is only taken out of that
 * segment while it is in others.
 */
async function remove(given: Given, calls: Calls, access: Access) {
  const { params } = await askOne(given, access);
  const contact = await getContact(params, calls);
  const { id } = contact;
  const { groupId } = given.params;
  const segments = groupId === undefined ? [] : await segmentsOf(contact, params.audienceId, calls);
  const left = segments.find((segment) => segment.id === groupId);
  const one = path`/audiences/${params.audienceId}/contacts/${id}`;
  if (left && segments.length > 1)
    await calls.patch(one, { properties: asProperties([requireMembership(left)], false) });
  else await calls.delete(one);
  return { ...named({ id }), contact: id, deleted: true };
}
