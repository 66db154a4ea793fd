/** Section 4 of the specification as its tables have it: each endpoint, what it answers when all is well, and its fields. */

export type SpecifiedOperation = {
  /** The statuses of success; where the specification shows none, those of the product. */
  answers: readonly string[];
  /** Of the body: `true` where the table says Required. */
  body?: Readonly<Record<string, boolean>>;
  query?: readonly string[];
};

const PAGE = ['limit', 'startingAfter', 'endingBefore'];
const created = (body: Record<string, boolean>): SpecifiedOperation => ({ answers: ['201'], body });
const listed = (...filters: string[]): SpecifiedOperation => ({
  answers: ['200'],
  query: [...PAGE, ...filters],
});
const shown: SpecifiedOperation = { answers: ['200'] };
const changed = (...fields: string[]): SpecifiedOperation => ({
  answers: ['200'],
  body: Object.fromEntries(fields.map((field) => [field, false])),
});
const deleted: SpecifiedOperation = { answers: ['204'] };

const CONTACT = { firstName: false, lastName: false, unsubscribed: false, properties: false };

export const OPERATIONS: Readonly<Record<string, SpecifiedOperation>> = {
  'POST /v1/emails': {
    answers: ['200'],
    body: {
      ...{ from: true, to: true, subject: true, html: false, text: false, type: true },
      ...{ cc: false, bcc: false, replyTo: false, headers: false, attachments: false, tags: false },
      ...{ scheduledAt: false, templateId: false, variables: false, topicId: false },
    },
  },
  'GET /v1/emails/{id}': shown,
  'GET /v1/emails': listed('status', 'from', 'to'),
  'POST /v1/emails/batch': { answers: ['200'], body: { emails: true } },
  'POST /v1/domains': created({ name: true, productType: false, region: false }),
  'GET /v1/domains': listed(),
  'GET /v1/domains/{id}': shown,
  'POST /v1/domains/{id}/verify': shown,
  'PATCH /v1/domains/{id}': changed(
    ...['trackingSubdomain', 'openTracking', 'clickTracking', 'productType', 'region'],
  ),
  'DELETE /v1/domains/{id}': deleted,
  'POST /v1/templates': created({ name: true, subject: true, html: true, text: false }),
  'GET /v1/templates': listed(),
  'GET /v1/templates/{id}': shown,
  'PATCH /v1/templates/{id}': changed('name', 'subject', 'html', 'text'),
  'DELETE /v1/templates/{id}': deleted,
  'POST /v1/broadcasts': created({
    ...{ audienceId: false, segmentId: false, from: true, subject: true, html: false },
    ...{ templateId: false, topicId: false, replyTo: false, scheduleAt: false },
  }),
  'GET /v1/broadcasts': listed(),
  'GET /v1/broadcasts/{id}': shown,
  'POST /v1/broadcasts/{id}/send': shown,
  'POST /v1/segments': created({ name: true, audienceId: true, filter: true }),
  'GET /v1/segments': listed(),
  'GET /v1/segments/{id}': shown,
  'DELETE /v1/segments/{id}': deleted,
  'POST /v1/audiences': created({ name: true }),
  'GET /v1/audiences': listed(),
  'GET /v1/audiences/{id}': shown,
  'DELETE /v1/audiences/{id}': deleted,
  'POST /v1/audiences/{audienceId}/contacts': {
    answers: ['200', '201'],
    body: { email: true, ...CONTACT },
  },
  'GET /v1/audiences/{audienceId}/contacts': listed(),
  'GET /v1/audiences/{audienceId}/contacts/{id}': shown,
  'PATCH /v1/audiences/{audienceId}/contacts/{id}': changed('email', ...Object.keys(CONTACT)),
  'DELETE /v1/audiences/{audienceId}/contacts/{id}': deleted,
  'POST /v1/topics': created({ name: true, description: false, defaultOptIn: false }),
  'GET /v1/topics': listed(),
  'PATCH /v1/topics/{id}': changed('name', 'description', 'defaultOptIn'),
  'DELETE /v1/topics/{id}': deleted,
  'GET /v1/suppressions': listed(),
  'POST /v1/suppressions': { answers: ['200', '201'], body: { email: true, reason: false } },
  'DELETE /v1/suppressions/{id}': deleted,
  'POST /v1/inbound/routes': created({ address: true, destination: true, enabled: false }),
  'GET /v1/inbound/routes': listed(),
  'PATCH /v1/inbound/routes/{id}': changed('address', 'destination', 'enabled'),
  'DELETE /v1/inbound/routes/{id}': deleted,
  'POST /v1/webhooks': created({ url: true, events: true, description: false }),
  'GET /v1/webhooks': listed(),
  'GET /v1/webhooks/{id}': shown,
  'PATCH /v1/webhooks/{id}': changed('url', 'events', 'description'),
  'DELETE /v1/webhooks/{id}': deleted,
  'POST /v1/webhooks/{id}/test': shown,
};

/** Every value that the specification names, and no other, by the place in the document. */
export const ENUMERATIONS: readonly [operation: string, field: string, values: readonly string[]][] = [
  ['POST /v1/emails', 'type', ['transactional', 'broadcast']],
  ['GET /v1/emails', 'status', ['queued', 'sent', 'delivered', 'bounced', 'complained', 'canceled']],
  ['POST /v1/domains', 'productType', ['api', 'mailbox', 'both']],
  ['PATCH /v1/domains/{id}', 'productType', ['api', 'mailbox', 'both']],
  ['POST /v1/suppressions', 'reason', ['manual', 'bounce', 'complaint', 'unsubscribe']],
];
