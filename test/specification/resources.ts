/** Section 2: the fields of the resources; and the marketing email of section 1. */
import type { Section } from './table.ts';

export const RESOURCES: readonly Section[] = [
  {
    title: '1 Marketing email',
    statements: {
      'a broadcast is sent to an audience':
        'broadcasts/sending/sending.test.ts: each contact gets the broadcast once, with values of its own',
      'a broadcast is sent to a saved segment':
        'broadcasts/sending/sending.test.ts: a second broadcast goes to those who got the first one and did not open it',
      'preference topics handle unsubscribing':
        'preferences/app.test.ts: after the button come the topics, leaving everything, and coming back',
    },
  },
  {
    title: '2 All resources',
    statements: {
      'a <timestamp> is an ISO 8601 date-time':
        'specification/lists.test.ts: every item says in ISO 8601 when it was made',
    },
  },
  {
    title: '2.1 Email',
    statements: {
      'id begins with em_':
        'emails/send.test.ts: an accepted email answers its id and status alone, with a request id',
      'a retrieved email carries from, to, subject, type, status, createdAt, lastEventAt':
        'emails/send.test.ts: the email shows the fields as the request gave them',
      'a retrieved email carries the fields of its schema, id among them':
        'emails/accept.test.ts: an email is shown with every field of its schema and no other',
      'type is transactional or broadcast':
        'specification/operations.test.ts: fields whose values the specification names accept exactly those values',
      'lastEventAt is the time of the latest delivery event':
        'emails/statuses.test.ts: lastEventAt is the time of the latest event, whichever recipient it is of',
      'list items carry id, from, to, subject, status, createdAt':
        'emails/list.test.ts: a list starts with the 20 newest, each with six fields',
      'the answer to a send carries only id and status':
        'emails/send.test.ts: an accepted email answers its id and status alone, with a request id',
    },
  },
  {
    title: '2.2 Domain',
    statements: {
      'a domain carries id (dom_), name, status, productType, region, records':
        'domains/api.test.ts: a domain is created with its three records, all pending',
      'a name is an apex domain or a subdomain':
        'domains/api.test.ts: an apex domain and its subdomain are two domains, each with records at its own name',
      'the initial status is pending':
        'domains/api.test.ts: a domain is created with its three records, all pending',
      'productType is api by default, or mailbox, or both':
        'domains/api.test.ts: a domain is for the API, for mailboxes or for both, and for the API unless it is said',
      'region has a default code':
        'domains/api.test.ts: a domain is created with its three records, all pending',
      'records are returned at creation':
        'domains/api.test.ts: a domain is created with its three records, all pending',
      'trackingSubdomain is settable by update':
        'domains/update.test.ts: every setting can be changed at once, and the domain is answered',
      'openTracking and clickTracking are booleans, settable by update':
        'domains/update.test.ts: every setting can be changed at once, and the domain is answered',
      'a record carries type, name, value and status, initially pending':
        'domains/api.test.ts: a domain is created with its three records, all pending',
      'three records are returned at creation: SPF as TXT, DKIM as CNAME, DMARC as TXT':
        'domains/api.test.ts: a domain is created with its three records, all pending',
    },
  },
  {
    title: '2.3 Broadcast',
    statements: {
      'a broadcast carries id (brd_), status, audienceId, subject, createdAt':
        'broadcasts/api.test.ts: a broadcast is created as a draft with its whole record, and retrieved the same',
    },
  },
  {
    title: '2.4 Template',
    statements: {
      'a created template carries id (tpl_), name, subject, createdAt':
        'templates/api.test.ts: a template is created with its whole record, and retrieved the same with either key',
      'html and text are stored':
        'templates/api.test.ts: a template is created with its whole record, and retrieved the same with either key',
      'variables are {{variable}} placeholders':
        'templates/render.test.ts: variables are found once each, in order, with the first fallback they have',
    },
  },
  {
    title: '2.5 Audience',
    statements: {
      'an audience carries id (aud_), name, createdAt':
        'audiences/api.test.ts: an audience is created with its whole record, and retrieved the same with either key',
    },
  },
  {
    title: '2.6 Contact',
    statements: {
      'a contact is made with email, firstName, lastName, unsubscribed, properties':
        'audiences/contacts/api.test.ts: a contact is created with its whole record, and retrieved the same with either key',
      'email is unique within its audience':
        'audiences/contacts/api.test.ts: an address that is there already is refused with its id, in any spelling',
      'unsubscribed is a global flag: no marketing mail of any topic':
        'emails/opt-out.test.ts: a reader who opted out of the topic, or of all, is left out as a suppressed one is',
      'properties is an object of custom properties':
        'audiences/contacts/fields.test.ts: legal properties come back as they were, whatever their keys and values',
      'properties are usable by segments':
        'audiences/segments/api.test.ts: a segment is created with its whole record, and retrieved the same with its contacts counted',
    },
  },
  {
    title: '2.7 Segment',
    statements: {
      'a segment is made with name, audienceId and a filter tree':
        'audiences/segments/api.test.ts: a segment is created with its whole record, and retrieved the same with its contacts counted',
    },
  },
  {
    title: '2.8 Topic',
    statements: {
      'a topic is made with name, description, defaultOptIn':
        'topics/api.test.ts: a topic is created with its whole record, and retrieved the same with either key',
    },
  },
  {
    title: '2.9 Suppression',
    statements: {
      'a suppression carries id (sup_), email, reason, createdAt':
        'suppressions/api.test.ts: an address is suppressed with its whole record, and retrieved the same with either key',
      'reason is manual, bounce, complaint or unsubscribe':
        'specification/operations.test.ts: fields whose values the specification names accept exactly those values',
    },
  },
  {
    title: '2.10 Inbound route',
    statements: {
      'a route is made with address, destination, enabled':
        'routes/api.test.ts: a route is created enabled, with its secret, and answers to its id without it',
    },
  },
  {
    title: '2.11 Webhook endpoint',
    statements: {
      'an endpoint carries id (wh_), url, events, status, description':
        'webhooks/api.test.ts: an endpoint is created enabled, with its secret, and answers to its id without it',
      'its status is enabled at creation':
        'webhooks/api.test.ts: an endpoint is created enabled, with its secret, and answers to its id without it',
      'secret is returned by create':
        'webhooks/api.test.ts: an endpoint is created enabled, with its secret, and answers to its id without it',
      'description is optional':
        'webhooks/email-events.test.ts: an endpoint may ask for every event of section 6, and needs no description',
    },
  },
  {
    title: '2.12 List envelope',
    statements: {
      'data is the items, also when there are none': 'emails/list.test.ts: an empty list is a list',
      'hasMore says whether more items exist': 'http/json/query.test.ts: the envelope tells where to go on',
      'nextCursor is the id to pass as startingAfter, or null':
        'http/json/query.test.ts: the envelope tells where to go on',
      'every list has this envelope': 'specification/lists.test.ts: GET /v1/emails pages as every list does',
    },
  },
];
