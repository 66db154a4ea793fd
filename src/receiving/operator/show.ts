/** Shows received messages to the operator: what arrived from whom, what was found out about it, and what is done with it. */
import type { ReceivedMessageRow, ReceivedRecipientRow, ReceivedTaskRow } from '../../db/inbound-tables.ts';
import type { SpamReason } from '../../inbound/spam-signals.ts';
import type { AuthenticationResult } from '../../mail/auth/result.ts';
import type { ReceivedSummary } from '../../routes/messages/store.ts';
import { isoTime } from '../../system/clock.ts';
import { isoTimeOrNull } from '../../webhooks/schemas.ts';
import type { TaskCount } from './store.ts';

/** A message in the list. `tasks` counts what is done with it. */
export type ListedReceived = ReturnType<typeof showListed>;
/** A message with all that is known about it, except its content. */
export type OperatorReceived = ReturnType<typeof showDetails>;

/** Returns a message as the list shows it. */
export function showListed(row: ReceivedSummary, tasks: readonly TaskCount[]) {
  return {
    id: row.id,
    tenantId: row.tenantId,
    from: row.headerFrom ?? row.sender,
    to: JSON.parse(row.recipients) as string[],
    subject: row.subject,
    sizeBytes: row.sizeBytes,
    spamScore: row.spamScore,
    flagged: row.flagged === 1,
    tasks: tasks.map(({ kind, state, count }) => ({ kind, state, count })),
    createdAt: isoTime(row.createdAt),
  };
}

type Details = {
  message: ReceivedMessageRow;
  recipients: readonly ReceivedRecipientRow[];
  tasks: readonly ReceivedTaskRow[];
};

/** Returns a message with its envelope, its verdicts, its recipients and its tasks. Times are in ISO 8601. */
export function showDetails({ message, recipients, tasks }: Details) {
  return {
    id: message.id,
    tenantId: message.tenantId,
    envelope: envelopeOf(message),
    from: message.headerFrom,
    subject: message.subject,
    messageId: message.messageId,
    emailId: message.emailId,
    sizeBytes: message.sizeBytes,
    auth: message.auth === null ? null : verdictsOf(JSON.parse(message.auth) as AuthenticationResult),
    spam: {
      score: message.spamScore,
      flagged: message.flagged === 1,
      reasons: (JSON.parse(message.spamReasons) as SpamReason[]).map(
        ({ name, points }) => `${name} ${points}`,
      ),
    },
    recipients: recipients.map(({ address, kind, targetId }) => ({ address, kind, targetId })),
    tasks: tasks.map(showTask),
    createdAt: isoTime(message.createdAt),
    endedAt: isoTimeOrNull(message.endedAt),
    contentDeletedAt: isoTimeOrNull(message.contentDeletedAt),
  };
}

function envelopeOf({ sender, remoteAddress, helo, tls, requireTls, utf8 }: ReceivedMessageRow) {
  return { sender, client: remoteAddress, helo, tls, requireTls: requireTls === 1, utf8: utf8 === 1 };
}

/** Returns the results of authentication in short. Their reasons are in the Authentication-Results field of the raw message. */
function verdictsOf({ spf, dkim, dmarc, arc, reverseDns }: AuthenticationResult) {
  return {
    spf: { result: spf.result, domain: spf.domain },
    dkim: dkim.map(({ result, domain, selector }) => ({ result, domain, selector })),
    dmarc: { result: dmarc.result, policy: dmarc.policy ?? null, domain: dmarc.domain },
    arc: { result: arc.result, sealers: arc.sets.map(({ sealer }) => sealer) },
    reverseDns: { result: reverseDns.result, name: reverseDns.name ?? null },
  };
}

function showTask(task: ReceivedTaskRow) {
  const isRunning = task.runId !== null;
  return {
    id: task.id,
    kind: task.kind,
    targetId: task.targetId,
    state: isRunning ? ('running' as const) : task.state,
    attempts: task.attempts,
    nextAttemptAt: isRunning ? null : isoTimeOrNull(task.dueAt),
    responseStatus: task.responseStatus,
    responseTimeMs: task.responseTimeMs,
    error: task.error,
    endedAt: isoTimeOrNull(task.endedAt),
  };
}
