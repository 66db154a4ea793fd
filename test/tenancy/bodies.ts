/**
 * Bodies that hold ids where the example of their operation holds none: what is put over the example, or left out of it as
 * undefined. Ids are of the right kind, as they are in examples, and are replaced like those.
 */
import { SANDBOX } from '../emails/fixtures.ts';

const exampleId = (prefix: string) => `${prefix}_${'0'.repeat(26)}`;

const EMAIL = {
  from: 'Ada <ada@a.example>',
  to: 'bob@rcpt.example',
  subject: 'Hello',
  type: 'transactional',
};
const OF_TEMPLATE = { ...EMAIL, templateId: exampleId('tpl') };
const OF_TOPIC = { ...EMAIL, text: 'Hello', type: 'broadcast', topicId: exampleId('top') };
const WITH_CHOICE = { topics: [{ id: exampleId('top'), subscription: 'opt_out' }] };
const OPT_IN = { from: `ada@${SANDBOX}`, templateId: exampleId('tpl') };
const filter = {
  op: 'or',
  rules: [
    { field: 'unsubscribed', cmp: 'eq', value: true },
    { op: 'and', rules: [{ field: `topics.${exampleId('top')}`, cmp: 'eq', value: true }] },
  ],
};

export const MORE_BODIES: Readonly<Record<string, readonly object[]>> = {
  sendEmail: [{ ...OF_TEMPLATE, html: undefined }, OF_TOPIC],
  sendBatch: [{ emails: [OF_TEMPLATE] }, { emails: [OF_TOPIC] }],
  createBroadcast: [
    { audienceId: undefined, segmentId: exampleId('seg') },
    { html: undefined, templateId: exampleId('tpl') },
  ],
  updateBroadcast: [
    { audienceId: exampleId('aud'), topicId: exampleId('top') },
    { segmentId: exampleId('seg') },
    { segmentId: null, html: null, templateId: exampleId('tpl') },
  ],
  testBroadcast: [{ contactId: exampleId('ct') }],
  createWebhookEndpoint: [{ domainId: exampleId('dom') }],
  createAudience: [{ optIn: OPT_IN }],
  updateAudience: [{ optIn: OPT_IN }],
  createContact: [{ email: 'chooser@rcpt.example', ...WITH_CHOICE }],
  updateContact: [WITH_CHOICE],
  createSegment: [{ filter }],
  updateSegment: [{ filter }],
  countSegment: [{ filter }],
};
