/**
 * The data dictionary, second part: audiences, contacts, double opt-in, templates, broadcasts and their jobs. The conventions are those of
 * tables.ts, which lists every table.
 */

import type { Id } from '../system/ids.ts';
import {
  belongsTo,
  clusteredTable,
  flag,
  id,
  initially,
  integer,
  key,
  nullable,
  type Row,
  references,
  rowNumber,
  table,
  text,
} from './table.ts';

export type SuppressionReason = 'manual' | 'bounce' | 'complaint' | 'unsubscribe';

/** Written by suppressions/store.ts. `email` is lower-cased. */
export const suppressions = table({
  id: key(id('sup')),
  tenantId: references('tenants', id('ten')),
  email: text(),
  reason: text<SuppressionReason>(),
  sourceEmailId: nullable(text()),
  diagnostic: nullable(text()),
  createdAt: integer(),
}).indexedBy({
  suppressionsByEmail: 'UNIQUE (tenantId, email)',
  suppressionsByTenant: '(tenantId, id)',
  suppressionsByReason: '(tenantId, reason, id)',
});
export type SuppressionRow = Row<typeof suppressions>;

/**
 * Written by suppressions/evidence-store.ts: a day, counted from 1970 in UTC, on which mail to an address bounced in a way that makes a
 * bad address likely. `row` is that of the reply table. `address` is lower-cased.
 */
export const bounceEvidence = clusteredTable({
  tenantId: key(id('ten')),
  address: key(text()),
  day: key(integer()),
  at: integer(),
  emailId: text(),
  row: text(),
}).indexedBy({
  bounceEvidenceByAge: '(at)',
});
export type BounceEvidenceRow = Row<typeof bounceEvidence>;

type JobStatus = 'waiting' | 'queued' | 'running' | 'completed' | 'failed';

/** Written by jobs/store.ts: a long task of a tenant that runs in the background. */
export const jobs = table({
  id: key(id('imp', 'exp')),
  tenantId: references('tenants', id('ten')),
  type: text<'import' | 'export'>(),
  /** List that the rows of the file belong to. Recipients are those of a broadcast, and are only exported. */
  kind: text<'contacts' | 'suppressions' | 'recipients' | 'links'>(),
  /** Audience of the contacts; null for other kinds. */
  audienceId: nullable(id('aud')),
  /** JSON object. Its fields depend on the type and the kind. */
  options: text(),
  status: text<JobStatus>(),
  /** The error that ended the job; null when there was none. */
  error: nullable(text()),
  /** File of an import until it has ended, and of an export once it has completed. */
  blobId: references('blobs', nullable(id('blob'))),
  /** Size of the file; null for an export that has not completed. */
  sizeBytes: nullable(integer()),
  /** Number of rows that were read from the file of an import, or written to the file of an export. */
  rows: integer(),
  /** JSON object with further counts. Its fields depend on the type. */
  progress: text(),
  createdAt: integer(),
  startedAt: nullable(integer()),
  finishedAt: nullable(integer()),
}).indexedBy({
  jobsByTenant: '(tenantId, type, id)',
  jobsByStatus: '(tenantId, type, status, id)',
  jobsByKind: '(tenantId, type, kind, id)',
  jobsByAudience: '(tenantId, type, kind, audienceId, id)',
  jobsByBlob: '(blobId)',
  jobsEnded: '(finishedAt) WHERE finishedAt IS NOT NULL',
});
export type JobRow = Row<typeof jobs>;

/** Written by jobs/errors/store.ts: a row of the file of a job that was rejected. */
export const jobErrors = clusteredTable({
  jobId: key(references('jobs', text<JobRow['id']>())),
  tenantId: id('ten'),
  /** Line of the file. The heading is line 1. */
  line: key(integer()),
  /** The email address of the row, cut to a bounded length. */
  email: text(),
  message: text(),
});
export type JobErrorRow = Row<typeof jobErrors>;

/** Written by topics/store.ts: a kind of marketing mail that a reader can unsubscribe from on its own. */
export const topics = table({
  id: key(id('top')),
  tenantId: references('tenants', id('ten')),
  name: text(),
  description: nullable(text()),
  defaultOptIn: flag(),
  createdAt: integer(),
  updatedAt: integer(),
}).indexedBy({
  topicsByTenant: '(tenantId, id)',
});
export type TopicRow = Row<typeof topics>;

/** Written by templates/store.ts. The long columns come last, so that lists do not read past them. */
export const templates = table({
  id: key(id('tpl')),
  tenantId: references('tenants', id('ten')),
  name: text(),
  subject: text(),
  createdAt: integer(),
  updatedAt: integer(),
  html: text(),
  text: nullable(text()),
}).indexedBy({
  templatesByTenant: '(tenantId, id)',
  templatesByName: '(tenantId, name, id)',
});
export type TemplateRow = Row<typeof templates>;

/**
 * Written by templates/versions-store.ts: a content that a template has or had. The newest version is the current content. HTML and text of a
 * version are found by their hashes among the rows of `templateTexts`, and are those of the template itself where no row has the hash.
 */
export const templateVersions = table({
  id: key(id('tpv')),
  tenantId: id('ten'),
  templateId: belongsTo('templates', id('tpl')),
  subject: text(),
  htmlHash: text(),
  textHash: nullable(text()),
  /** The API key or the person that made the content; both are null for a content from before versions were kept. */
  keyId: nullable(id('key')),
  personId: nullable(id('per')),
  createdAt: integer(),
}).indexedBy({
  templateVersionsByTemplate: '(templateId, id)',
});
export type TemplateVersionRow = Row<typeof templateVersions>;

/** Written by templates/versions-store.ts: a former HTML or text of a template, stored once for all versions that have it. */
export const templateTexts = table({
  templateId: key(belongsTo('templates', text<TemplateRow['id']>())),
  tenantId: id('ten'),
  hash: key(text()),
  content: text(),
});

/** Written by audiences/store.ts. */
export const audiences = table({
  id: key(id('aud')),
  tenantId: references('tenants', id('ten')),
  name: text(),
  /** Number of contacts. Every write of contacts updates it, because counting a million takes too long. */
  contactCount: integer(),
  createdAt: integer(),
  updatedAt: integer(),
  /** Time of deletion. A deleted audience is visible only to the worker that removes its contacts. */
  deletedAt: nullable(integer()),
  /** JSON of the settings of double opt-in; null when contacts cannot be pending. */
  optIn: nullable(text()),
}).indexedBy({
  audiencesByTenant: '(tenantId, id) WHERE deletedAt IS NULL',
  audiencesDeleted: '(deletedAt) WHERE deletedAt IS NOT NULL',
});
export type AudienceRow = Row<typeof audiences>;

/** Written by audiences/contacts/store.ts. Live and test keys share contacts. The long columns come last. */
export const contacts = table({
  id: key(id('ct')),
  tenantId: id('ten'),
  audienceId: references('audiences', id('aud')),
  /** The address as the caller gave it. */
  email: text(),
  /** Address in the form of `addressKey`, which is equal for different spellings of one address. */
  address: text(),
  firstName: nullable(text()),
  lastName: nullable(text()),
  /** 1 when the contact receives no marketing mail at all. */
  unsubscribed: flag(),
  unsubscribedAt: nullable(integer()),
  createdAt: integer(),
  updatedAt: integer(),
  /** JSON object from topic id to whether the contact opted in. A topic that is not in it was never chosen. */
  topics: text(),
  /** JSON object of strings, numbers and booleans. */
  properties: text(),
  /** 1 until the reader has confirmed the subscription. No marketing mail is sent before. */
  pending: initially(0, flag()),
  /** JSON of the proof of consent. Null for a contact that was never pending. */
  consent: nullable(text()),
}).indexedBy({
  contactsByAddress: 'UNIQUE (tenantId, address, audienceId)',
  contactsByAudience: '(audienceId, id)',
  contactsByUnsubscribed: '(audienceId, unsubscribed, id)',
  contactsPending: '(tenantId, address) WHERE pending = 1',
  contactsPendingByAudience: '(audienceId, unsubscribed, id) WHERE pending = 1',
});
export type ContactRow = Row<typeof contacts>;

/** Written by audiences/choices-store.ts with each contact, and when a reader decides: a choice by address. */
export const contactChoices = clusteredTable({
  tenantId: key(id('ten')),
  /** Address of the contact in the form of `addressKey`. */
  address: key(text()),
  /** The topic; an empty text means all marketing mail. */
  topicId: key(text<Id<'top'> | ''>()),
  optedIn: key(flag()),
  /** The contact that made the choice. Empty for a decision of the reader, which outlives the contacts. */
  contactId: key(text<Id<'ct'> | ''>()),
});
export type ContactChoiceRow = Row<typeof contactChoices>;

/** Written by audiences/segments/store.ts. */
export const segments = table({
  id: key(id('seg')),
  tenantId: references('tenants', id('ten')),
  audienceId: references('audiences', id('aud')),
  name: text(),
  /** JSON of the tree of rules. */
  filter: text(),
  createdAt: integer(),
  updatedAt: integer(),
}).indexedBy({
  segmentsByTenant: '(tenantId, id)',
  segmentsByAudience: '(audienceId, id)',
});
export type SegmentRow = Row<typeof segments>;

/** States of a broadcast. `failed` means that it could not start. */
export type BroadcastStatus = 'draft' | 'scheduled' | 'sending' | 'paused' | 'sent' | 'canceled' | 'failed';

/** Written by broadcasts/store.ts: what a broadcast consists of. The long columns come last, so that lists do not read past them. */
export const broadcasts = table({
  id: key(id('brd')),
  tenantId: references('tenants', id('ten')),
  mode: text<'live' | 'test'>(),
  status: text<BroadcastStatus>(),
  audienceId: id('aud'),
  segmentId: nullable(id('seg')),
  fromHeader: text(),
  subject: text(),
  replyTo: nullable(text()),
  topicId: nullable(id('top')),
  templateId: nullable(id('tpl')),
  createdAt: integer(),
  updatedAt: integer(),
  html: nullable(text()),
  text: nullable(text()),
}).indexedBy({
  broadcastsByTenant: '(tenantId, mode, id)',
  broadcastsByStatus: '(tenantId, mode, status, id)',
  broadcastsByAudience: '(tenantId, mode, audienceId, id)',
});
export type BroadcastRow = Row<typeof broadcasts>;

/** Written by audiences/opt-in/store.ts: the confirmation mails that an address was sent. A row outlives the contacts of the
 * address and has no retention, because the limit holds for all time. */
export const confirmations = clusteredTable({
  tenantId: key(id('ten')),
  /** Test mail reaches nobody, so that it does not count against the limit of live mail. */
  mode: key(text<'live' | 'test'>()),
  /** Address in the form of `addressKey`. */
  address: key(text()),
  /** Number of mails, those that are still to be made included. */
  count: integer(),
  /** Time at which the latest mail was requested; null when there was none. */
  sentAt: nullable(integer()),
});
export type ConfirmationRow = Row<typeof confirmations>;

/** Written by audiences/opt-in/store.ts: a confirmation mail that is still to be made. The write that accepts the mail removes it. */
export const confirmationRequests = table({
  id: rowNumber(),
  tenantId: id('ten'),
  mode: text<'live' | 'test'>(),
  audienceId: id('aud'),
  contactId: id('ct'),
  /** Address of the contact when the mail was requested, in the form of `addressKey`. */
  address: text(),
  /** The one domain that the requesting key may send from; null when it may send from any domain of its tenant. */
  keyDomainId: nullable(id('dom')),
  requestedAt: integer(),
  /** `sentAt` of the address before this request, which is restored when no mail can be made. */
  previousSentAt: nullable(integer()),
  /** The key in whose name the mail asks for approval; null when it needs none. */
  askedBy: nullable(id('key')),
});
export type ConfirmationRequestRow = Row<typeof confirmationRequests>;
