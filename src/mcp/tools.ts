/** The tools, in the order in which clients list them. The order never depends on the caller, so that clients can keep the list. */
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
import { readReceived, searchReceived } from './tools/received.ts';
import { cancelEmail, rescheduleEmail, scheduleEmail, sendEmail } from './tools/sending.ts';
import { findSuppressions, removeSuppression } from './tools/suppressions.ts';
import { listTemplates, previewTemplate } from './tools/templates.ts';
import { findWebhookDeliveries, listWebhooks } from './tools/webhooks.ts';

export const TOOLS: readonly Tool[] = [
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
