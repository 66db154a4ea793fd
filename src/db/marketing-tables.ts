/**
 * The data dictionary, second part: lists of people, and what they are told. Conventions as in tables.ts, which lists
 * every table.
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

export type JobStatus = 'queued' | 'running' | 'completed' | 'failed';

/** Written by imports/store.ts: a CSV file on its way into a list. Its counts and its rows are committed together. */
export type ImportRow = {
  id: Id<'imp'>;
  tenantId: Id<'ten'>;
  kind: 'contacts' | 'suppressions';
  /** Where contacts go; null for suppressions. */
  audienceId: Id<'aud'> | null;
  /** JSON object; what it holds depends on the kind. */
  options: string;
  status: JobStatus;
  /** Why it failed as a whole. */
  error: string | null;
  /** The file; null once it is no longer needed. */
  blobId: Id<'blob'> | null;
  sizeBytes: number;
  /** Of the file: how far it is read. */
  processedBytes: number;
  /** Data rows read; the next four are what became of them. */
  rows: number;
  created: number;
  updated: number;
  skipped: number;
  failed: number;
  /** When it is next run, or until when it is leased. Null once ended. */
  dueAt: number | null;
  createdAt: number;
  startedAt: number | null;
  finishedAt: number | null;
};

/** Written by imports/store.ts: a row of a file that was not taken. */
export type ImportErrorRow = {
  importId: Id<'imp'>;
  tenantId: Id<'ten'>;
  /** Of the file, the heading being line 1. */
  line: number;
  /** What the row is known by, cut to a bounded length. */
  email: string;
  message: string;
};

/** Written by exports/store.ts: a list on its way into a CSV file. */
export type ExportRow = {
  id: Id<'exp'>;
  tenantId: Id<'ten'>;
  kind: 'contacts' | 'suppressions';
  audienceId: Id<'aud'> | null;
  /** JSON object: which rows. */
  filter: string;
  status: JobStatus;
  error: string | null;
  /** The file, once it is whole; null again when it has expired. */
  blobId: Id<'blob'> | null;
  sizeBytes: number | null;
  rows: number;
  dueAt: number | null;
  createdAt: number;
  startedAt: number | null;
  finishedAt: number | null;
};

/** Written by topics/store.ts: what a reader of marketing mail may leave by itself. */
export type TopicRow = {
  id: Id<'top'>;
  tenantId: Id<'ten'>;
  name: string;
  description: string | null;
  defaultOptIn: 0 | 1;
  createdAt: number;
  updatedAt: number;
};

/** Written by templates/store.ts. The long columns stand last: a list reads past none of them. */
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
  /** Kept with every write of its contacts: counting a million takes too long. */
  contactCount: number;
  createdAt: number;
  updatedAt: number;
  /** Hidden from all but the worker that removes its contacts. */
  deletedAt: number | null;
};

/** Written by audiences/contacts/store.ts. Live and test keys share them. The long columns stand last. */
export type ContactRow = {
  id: Id<'ct'>;
  tenantId: Id<'ten'>;
  audienceId: Id<'aud'>;
  /** As it was given. */
  email: string;
  /** Its `addressKey`: what makes it one with another spelling of it. */
  address: string;
  firstName: string | null;
  lastName: string | null;
  /** Of all marketing mail. */
  unsubscribed: 0 | 1;
  unsubscribedAt: number | null;
  createdAt: number;
  updatedAt: number;
  /** JSON object, topic id to whether the contact opted in; what is not in it was never chosen. */
  topics: string;
  /** JSON object of strings, numbers and booleans. */
  properties: string;
};

/** Written by audiences/contacts/choices/store.ts, with each write of a contact: what it chose itself, found by address. */
export type ContactChoiceRow = {
  tenantId: Id<'ten'>;
  /** The contact's. */
  address: string;
  /** Empty: all marketing mail. */
  topicId: Id<'top'> | '';
  optedIn: 0 | 1;
  contactId: Id<'ct'>;
};

/** Written by audiences/segments/store.ts. */
export type SegmentRow = {
  id: Id<'seg'>;
  tenantId: Id<'ten'>;
  audienceId: Id<'aud'>;
  name: string;
  /** The tree of rules, as JSON. */
  filter: string;
  createdAt: number;
  updatedAt: number;
};
