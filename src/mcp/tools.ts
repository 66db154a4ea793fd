/** The tools, in the order in which clients list them. A key that names a mailbox reaches its mail alone, and other keys reach the mail of no mailbox. */
import type { Tool } from './tool.ts';
import { checkApproval, showAccount } from './tools/account.ts';
import {
  changeBroadcast,
  controlBroadcast,
  draftBroadcast,
  listBroadcasts,
  preflightBroadcast,
  reportBroadcast,
  sendBroadcast,
  testBroadcast,
} from './tools/broadcasts.ts';
import { addContact, countSegment, findContacts, listAudiences } from './tools/contacts.ts';
import { checkDomain, listDomains, verifyDomain } from './tools/domains.ts';
import { explainBounce, explainWait, findEmails, showEmail } from './tools/emails.ts';
import {
  markMessage,
  readMailboxMessage,
  searchMailbox,
  sendDraft,
  showMailboxThread,
  writeDraft,
} from './tools/mailbox.ts';
import { readReceived, searchReceived } from './tools/received.ts';
import { cancelEmail, rescheduleEmail, scheduleEmail, sendEmail } from './tools/sending.ts';
import { findSuppressions, removeSuppression } from './tools/suppressions.ts';
import { listTemplates, previewTemplate } from './tools/templates.ts';
import { findWebhookDeliveries, listWebhooks } from './tools/webhooks.ts';

/** Tools for keys of the tenant. */
export const TENANT_TOOLS: readonly Tool[] = [
  sendEmail,
  scheduleEmail,
  cancelEmail,
  rescheduleEmail,
  findEmails,
  showEmail,
  explainBounce,
  explainWait,
  listDomains,
  checkDomain,
  verifyDomain,
  listBroadcasts,
  draftBroadcast,
  changeBroadcast,
  preflightBroadcast,
  testBroadcast,
  sendBroadcast,
  controlBroadcast,
  reportBroadcast,
  listAudiences,
  findContacts,
  addContact,
  countSegment,
  listTemplates,
  previewTemplate,
  findSuppressions,
  removeSuppression,
  listWebhooks,
  findWebhookDeliveries,
  searchReceived,
  readReceived,
  showAccount,
  checkApproval,
];

/** Tools for keys that name a mailbox. */
export const MAILBOX_TOOLS: readonly Tool[] = [
  searchMailbox,
  readMailboxMessage,
  showMailboxThread,
  writeDraft,
  sendDraft,
  markMessage,
];
