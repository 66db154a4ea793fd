/** Section 4, from 4.6 on: the endpoints of who reads, and of where mail and events go. */
import type { Section } from './table.ts';

export const OTHER_ENDPOINTS: readonly Section[] = [
  {
    title: '4.6 Segments',
    statements: {
      'create requires name': 'audiences/segments/api.test.ts: refused with 400: no name',
      'create requires audienceId': 'audiences/segments/api.test.ts: refused with 400: no audience',
      'create requires filter': 'audiences/segments/api.test.ts: refused with 400: no filter',
      list: 'specification/lists.test.ts: GET /v1/segments pages as every list does',
      get: 'audiences/segments/api.test.ts: a segment is created with its whole record, and retrieved the same with its contacts counted',
      delete:
        "tenancy.test.ts: deleteSegment tells nothing of what is not its caller's, and works with what is",
      'a filter is a tree of op and rules, each of field, cmp and value':
        'audiences/segments/filter.test.ts: a filter is kept with its operators in lower case, and without what is no part of it',
      'op combines rules with AND or OR':
        'audiences/segments/condition.test.ts: groups nest, and hold as their operator says',
      'a rule on properties.<name>':
        'audiences/segments/condition.test.ts: groups nest, and hold as their operator says',
      'a rule on unsubscribed':
        'audiences/segments/condition.test.ts: columns of the contact are asked like properties',
      'eq compares with a string or a boolean':
        'audiences/segments/condition.test.ts: columns of the contact are asked like properties',
      'what a filter finds is what it says, whatever it is':
        'audiences/segments/property.test.ts: a filter finds the contacts that plain JavaScript finds',
    },
  },
  {
    title: '4.7 Audiences',
    statements: {
      'create requires name': 'audiences/api.test.ts: refused with 400: no name',
      list: 'specification/lists.test.ts: GET /v1/audiences pages as every list does',
      get: 'audiences/api.test.ts: an audience is created with its whole record, and retrieved the same with either key',
      delete:
        'audiences/delete.test.ts: from the moment it is deleted nothing of it is found, though its rows are there',
    },
  },
  {
    title: '4.8 Contacts',
    statements: {
      'create requires email': 'audiences/contacts/api.test.ts: a contact needs an address',
      'create takes firstName, lastName, unsubscribed, properties':
        'audiences/contacts/api.test.ts: a contact is created with its whole record, and retrieved the same with either key',
      'each of them is optional': 'audiences/contacts/api.test.ts: only the address is required',
      'email is unique per audience':
        'audiences/contacts/api.test.ts: an address that is there already is refused with its id, in any spelling',
      list: 'specification/lists.test.ts: GET /v1/audiences/{audienceId}/contacts pages as every list does',
      get: 'audiences/contacts/api.test.ts: a contact is created with its whole record, and retrieved the same with either key',
      update:
        'audiences/contacts/api.test.ts: a change keeps what it does not name, merges properties, and null empties names',
      delete:
        'audiences/contacts/api.test.ts: a deleted contact is gone, not counted, and its address is free',
    },
  },
  {
    title: '4.9 Topics',
    statements: {
      'create requires name': 'topics/api.test.ts: refused with 400: no name',
      'create takes description and defaultOptIn, true unless it is said':
        'topics/api.test.ts: a topic is created with its whole record, and retrieved the same with either key',
      list: 'specification/lists.test.ts: GET /v1/topics pages as every list does',
      update:
        'changes.test.ts: PATCH /v1/topics/{id} changes all fields at once or each alone, and leaves the others',
      delete:
        "tenancy.test.ts: deleteTopic tells nothing of what is not its caller's, and works with what is",
      'description is shown on preference pages':
        'preferences/app.test.ts: after the button come the topics, leaving everything, and coming back',
      'a topic handles unsubscribing':
        'preferences/app.test.ts: a one-click request leaves the topic, at once and once, in both kinds of form',
      'defaultOptIn decides about readers without a choice':
        'broadcasts/preflight.test.ts: everybody is counted once: who gets the broadcast, and the others by the first reason',
      'a topic id is passed on sends of type broadcast':
        'emails/content.test.ts: a broadcast needs a topic of the tenant; a transactional email may have one',
      'a topic id is passed on broadcasts':
        'broadcasts/api.test.ts: a broadcast is created as a draft with its whole record, and retrieved the same',
    },
  },
  {
    title: '4.10 Suppressions',
    statements: {
      'list answers data and hasMore':
        'specification/lists.test.ts: GET /v1/suppressions pages as every list does',
      'add requires email': 'suppressions/api.test.ts: refused with 400: no address',
      'add takes reason':
        'suppressions/api.test.ts: an address is suppressed with its whole record, and retrieved the same with either key',
      remove: 'suppressions/api.test.ts: a suppression is removed by its id or its address, once',
      'suppressed addresses are never delivered to':
        'suppressions/sending.test.ts: an address suppressed as manual gets no mail until it is removed',
      'hard bounces are added by themselves':
        'queue/deliver.test.ts: a refused recipient bounces and is suppressed; the others are delivered',
      'complaints are added by themselves':
        'queue/feedback.test.ts: a complaint turns the recipient complained and suppresses the address',
    },
  },
  {
    title: '4.11 Inbound routes',
    statements: {
      'create requires address and an https destination':
        'routes/api.test.ts: an invalid route is refused with 400, when it is created and when it is changed',
      'enabled is optional, true unless it is said':
        'routes/api.test.ts: a route is created enabled, with its secret, and answers to its id without it',
      'an address is full, or * at a domain':
        'routes/api.test.ts: addresses are kept in lower case, their domains as domains are named',
      'inbound mail is that of a verified domain':
        'routes/api.test.ts: the very domain must be a verified one of the tenant',
      list: 'specification/lists.test.ts: GET /v1/inbound/routes pages as every list does',
      update:
        'changes.test.ts: PATCH /v1/inbound/routes/{id} changes all fields at once or each alone, and leaves the others',
      delete:
        "tenancy.test.ts: deleteInboundRoute tells nothing of what is not its caller's, and works with what is",
      'each inbound message is posted to the destination, with from, to, subject, text, html, headers, attachments':
        'routes/post/body.test.ts: the body has the fields of the specification first, then what we add',
    },
  },
  {
    title: '4.12 Webhook endpoints',
    statements: {
      'create requires url, which is https': 'webhooks/api.test.ts: refused with 400: http',
      'create requires events, of section 6': 'webhooks/api.test.ts: refused with 400: an unknown event',
      'create takes description':
        'webhooks/api.test.ts: an endpoint is created enabled, with its secret, and answers to its id without it',
      'create answers 201 with id, url, events, secret, status':
        'webhooks/api.test.ts: an endpoint is created enabled, with its secret, and answers to its id without it',
      list: 'specification/lists.test.ts: GET /v1/webhooks pages as every list does',
      get: 'webhooks/api.test.ts: an endpoint is created enabled, with its secret, and answers to its id without it',
      update: 'webhooks/update.test.ts: a change sets the named fields and leaves the others',
      delete:
        'webhooks/posts.test.ts: a deleted endpoint is posted to no more, and an answer that comes too late changes nothing',
      'test posts a sample event to the endpoint':
        'webhooks/send-test.test.ts: a test posts one signed sample and returns the result',
    },
  },
  {
    title: '4.13 Pagination',
    statements: {
      'limit is 20 by default and at most 100':
        'http/json/query.test.ts: a page holds 20 items, or as many as asked for up to 100',
      'startingAfter answers items after this id':
        'specification/lists.test.ts: GET /v1/emails pages as every list does',
      'endingBefore answers items before this id':
        'specification/lists.test.ts: GET /v1/emails pages as every list does',
      'both together are 400': 'http/json/query.test.ts: two cursors are a bad request',
      'all of it on all list endpoints':
        'specification/lists.test.ts: GET /v1/emails pages as every list does',
    },
  },
];
