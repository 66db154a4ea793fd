/**
 * The data dictionary, second part: audiences, contacts, templates, broadcasts and their jobs. The conventions are those of
 * tables.ts, which lists every table.
 */
import type { Id } from '../system/ids.ts';

export type SuppressionReason = 'manual' | 'bounce' | 'complaint' | 'unsubscribe';

/** Written by suppressions/store.ts. `email` is lower-cased. */
export type SuppressionRow = {
  id: Id<'sup'>;
  tenantId: Id<'ten'>;
  email: string;
  reason: SuppressionReason;
  sourceEmailId: string | null;
  diagnostic: string | null;
  createdAt: number;
};

/**
 * Written by suppressions/evidence/store.ts: a day, counted from 1970 in UTC, on which mail to an address bounced in a way that makes a
 * bad address likely. `row` is that of the reply table. `address` is lower-cased.
 */
export type BounceEvidenceRow = {
  tenantId: Id<'ten'>;
  address: string;
  day: number;
  at: number;
  emailId: string;
  row: string;
};

type JobStatus = 'queued' | 'running' | 'completed' | 'failed';

/** Written by jobs/store.ts: a long task of a tenant that runs in the background. */
export type JobRow = {
  id: Id<'imp' | 'exp'>;
  tenantId: Id<'ten'>;
  type: 'import' | 'export';
  /** List that the rows of the file belong to. Recipients are those of a broadcast, and are only exported. */
  kind: 'contacts' | 'suppressions' | 'recipients' | 'links';
  /** Audience of the contacts; null for other kinds. */
  audienceId: Id<'aud'> | null;
  /** JSON object. Its fields depend on the type and the kind. */
  options: string;
  status: JobStatus;
  /** The error that ended the job; null when there was none. */
  error: string | null;
  /** File of an import until it has ended, and of an export once it has completed. */
  blobId: Id<'blob'> | null;
  /** Size of the file; null for an export that has not completed. */
  sizeBytes: number | null;
  /** Number of rows that were read from the file of an import, or written to the file of an export. */
  rows: number;
  /** JSON object with further counts. Its fields depend on the type. */
  progress: string;
  /** Time of the next run, or the end of its lease. Null once the job has ended. */
  dueAt: number | null;
  createdAt: number;
  startedAt: number | null;
  finishedAt: number | null;
};

/** Written by jobs/errors/store.ts: a row of the file of a job that was rejected. */
export type JobErrorRow = {
  jobId: JobRow['id'];
  tenantId: Id<'ten'>;
  /** Line of the file. The heading is line 1. */
  line: number;
  /** The email address of the row, cut to a bounded length. */
  email: string;
  message: string;
};

/** Written by topics/store.ts: a kind of marketing mail that a reader can unsubscribe from on its own. */
export type TopicRow = {
  id: Id<'top'>;
  tenantId: Id<'ten'>;
  name: string;
  description: string | null;
  defaultOptIn: 0 | 1;
  createdAt: number;
  updatedAt: number;
};

/** Written by templates/store.ts. The long columns come last, so that lists do not read past them. */
export type TemplateRow = {
  id: Id<'tpl'>;
  tenantId: Id<'ten'>;
  name: string;
  subject: string;
  createdAt: number;
  updatedAt: number;
  html: string;
  text: string | null;
};

/** Written by audiences/store.ts. */
export type AudienceRow = {
  id: Id<'aud'>;
  tenantId: Id<'ten'>;
  name: string;
  /** Number of contacts. Every write of contacts updates it, because counting a million takes too long. */
  contactCount: number;
  createdAt: number;
  updatedAt: number;
  /** Time of deletion. A deleted audience is visible only to the worker that removes its contacts. */
  deletedAt: number | null;
  /** JSON of the settings of double opt-in; null when contacts cannot be pending. */
  optIn: string | null;
};

/** Written by audiences/contacts/store.ts. Live and test keys share contacts. The long columns come last. */
export type ContactRow = {
  id: Id<'ct'>;
  tenantId: Id<'ten'>;
  audienceId: Id<'aud'>;
  /** The address as the caller gave it. */
  email: string;
  /** Address in the form of `addressKey`, which is equal for different spellings of one address. */
  address: string;
  firstName: string | null;
  lastName: string | null;
  /** 1 when the contact receives no marketing mail at all. */
  unsubscribed: 0 | 1;
  unsubscribedAt: number | null;
  createdAt: number;
  updatedAt: number;
  /** JSON object from topic id to whether the contact opted in. A topic that is not in it was never chosen. */
  topics: string;
  /** JSON object of strings, numbers and booleans. */
  properties: string;
  /** 1 until the reader has confirmed the subscription. No marketing mail is sent before. */
  pending: 0 | 1;
  /** JSON of the proof of consent. Null for a contact that was never pending. */
  consent: string | null;
};

/** Written by audiences/contacts/choices/store.ts with each contact, and when a reader decides: a choice by address. */
export type ContactChoiceRow = {
  tenantId: Id<'ten'>;
  /** Address of the contact in the form of `addressKey`. */
  address: string;
  /** The topic; an empty text means all marketing mail. */
  topicId: Id<'top'> | '';
  optedIn: 0 | 1;
  /** The contact that made the choice. Empty for a decision of the reader, which outlives the contacts. */
  contactId: Id<'ct'> | '';
};

/** Written by audiences/segments/store.ts. */
export type SegmentRow = {
  id: Id<'seg'>;
  tenantId: Id<'ten'>;
  audienceId: Id<'aud'>;
  name: string;
  /** JSON of the tree of rules. */
  filter: string;
  createdAt: number;
  updatedAt: number;
};

/** States of a broadcast. `failed` means that it could not start. */
export type BroadcastStatus = 'draft' | 'scheduled' | 'sending' | 'paused' | 'sent' | 'canceled' | 'failed';

/** Written by broadcasts/store.ts: what a broadcast consists of. The long columns come last, so that lists do not read past them. */
export type BroadcastRow = {
  id: Id<'brd'>;
  tenantId: Id<'ten'>;
  mode: 'live' | 'test';
  status: BroadcastStatus;
  audienceId: Id<'aud'>;
  segmentId: Id<'seg'> | null;
  fromHeader: string;
  subject: string;
  replyTo: string | null;
  topicId: Id<'top'> | null;
  templateId: Id<'tpl'> | null;
  createdAt: number;
  updatedAt: number;
  html: string | null;
  text: string | null;
};
