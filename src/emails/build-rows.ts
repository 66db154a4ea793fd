/** Builds the rows of an accepted email before the transaction that writes them. */
import type { Config } from '../config/config.ts';
import type { EmailRow } from '../db/email-tables.ts';
import type { TopicRow } from '../db/marketing-tables.ts';
import type { MessageRow } from '../db/tables.ts';
import { isSimulatorDomain } from '../domains/sender.ts';
import { addressKey, isAsciiAddress } from '../mail/address.ts';
import type { Attachment } from '../mail/message/file-part.ts';
import { TLS_REQUIRED_FIELD, tlsWishOf } from '../mail/tls-policy/tls-wish.ts';
import { newMessage } from '../queue/new-message.ts';
import { findAsker } from '../tenants/approval-need.ts';
import type { Caller, CallerScope } from '../tenants/authenticate.ts';
import type { EmailRows, SendPolicy } from './accept.ts';
import { describeAttachment } from './load-attachments.ts';
import type { StoredMessage } from './message.ts';
import type { Content } from './render.ts';
import type { EnvelopeRecipient } from './request/addresses.ts';
import { findHeader } from './request/headers.ts';
import { maxAgeMs } from './request/schedule.ts';
import type { EmailRequest } from './request.ts';

type Prepared = {
  id: EmailRow['id'];
  /** Message-ID without angle brackets. */
  messageId: string;
  now: number;
  request: EmailRequest;
  policy: SendPolicy;
  domainId: MessageRow['domainId'];
  complaintHost: MessageRow['complaintHost'];
  content: Content;
  attachments: readonly Attachment[];
  stored: StoredMessage;
  targets: EmailRows['targets'];
};

/** Where an email is sent, and the key that sends it; without a key, a person or the installation does. */
export type EmailSender = CallerScope & Pick<Caller, 'keyId'>;

/** Returns the rows of an email: its message, its content and the data of the API. */
export function buildRows(
  config: Pick<Config, 'delivery'>,
  caller: EmailSender,
  prepared: Prepared,
): EmailRows {
  const { request, policy, stored } = prepared;
  return {
    ...policy,
    blob: stored.blob,
    source: stored.source,
    textBytes: stored.textBytes,
    tags: request.tags,
    targets: prepared.targets,
    message: messageRow(config, caller, prepared),
    email: emailRow(caller, prepared),
  };
}

type PolicyInput = {
  type: EmailRow['type'];
  topic: TopicRow | undefined;
  recipients: readonly EnvelopeRecipient[];
  simulatorOnly: boolean;
};

/** Returns the facts that decide whether an email may be sent. */
export function policyOf(
  config: Pick<Config, 'hostname'>,
  caller: Pick<CallerScope, 'mode' | 'approval'>,
  { type, topic, recipients, simulatorOnly }: PolicyInput,
): SendPolicy {
  return {
    recipients,
    // Mail to the simulator is free, and so is test mail.
    isCharged: caller.mode === 'live' && !simulatorOnly,
    simulatedSuppressions: recipients
      .map(({ address }) => address)
      .filter((address) => isSimulatedSuppression(config, address)),
    kind: type,
    topicId: type === 'broadcast' && topic ? topic.id : null,
    askedBy: findAsker(caller, type),
  };
}

function messageRow(
  config: Pick<Config, 'delivery'>,
  { tenantId, mode }: CallerScope,
  { id, now, request, policy, domainId, complaintHost, stored }: Prepared,
): MessageRow {
  return newMessage({
    ...stored.columns,
    id,
    tenantId,
    mode,
    kind: request.type,
    topicId: policy.topicId,
    sender: request.addresses.from.address,
    domainId,
    complaintHost,
    now,
    datedAt: Math.max(request.schedule.datedAt, now),
    maxAgeMs: maxAgeMs(config, request.type),
    requireTls: tlsWishOf(false, findHeader(request.headers, TLS_REQUIRED_FIELD)),
    utf8: namesUtf8(request.addresses) ? 1 : 0,
  });
}

/** Blind copies have no field, but stand in the envelope of a transaction of which the others may be a part. */
function namesUtf8({ from, to, cc, bcc, replyTo }: EmailRequest['addresses']): boolean {
  return ![from, ...to, ...cc, ...bcc, ...replyTo].every(({ address }) => isAsciiAddress(address));
}

function emailRow({ tenantId, mode, keyId }: EmailSender, prepared: Prepared): EmailRow {
  const { request, content, attachments } = prepared;
  const { from, given } = request.addresses;
  return {
    id: prepared.id,
    tenantId,
    mode,
    type: request.type,
    fromHeader: given.from,
    fromAddress: addressKey(from.address),
    fromDomain: from.domain,
    toList: JSON.stringify(given.to),
    ccList: JSON.stringify(given.cc),
    bccList: JSON.stringify(given.bcc),
    replyToList: JSON.stringify(given.replyTo),
    subject: content.subject,
    html: null,
    text: null,
    headers: JSON.stringify(Object.fromEntries(request.headers.map(({ name, value }) => [name, value]))),
    attachments: JSON.stringify(
      attachments.map((attachment) => describeAttachment(attachment, content.html !== undefined)),
    ),
    tags: JSON.stringify(Object.fromEntries(request.tags.map(({ key, value }) => [key, value]))),
    scheduledAt: request.schedule.scheduledAt,
    templateId: (request.content.templateId ?? null) as EmailRow['templateId'],
    topicId: (request.topicId ?? null) as EmailRow['topicId'],
    broadcastId: null,
    missingVariables: JSON.stringify(content.missingVariables),
    rfcMessageId: prepared.messageId,
    createdAt: prepared.now,
    contentDeletedAt: null,
    apiKeyId: keyId,
  };
}

/** Returns true for `suppressed@simulator.<hostname>`, with or without a label. */
function isSimulatedSuppression(config: Pick<Config, 'hostname'>, address: string): boolean {
  const [local, domain] = address.split('@');
  return isSimulatorDomain(config, domain ?? '') && /^suppressed(\+|$)/i.test(local ?? '');
}
