/**
 * Forwards mail: that of postmaster and abuse to the operator, and that to the rewritten sender of a forwarded message, which is a
 * bounce, to the sender that the address stands for.
 */
import type { App } from '../../app.ts';
import type { ReceivedRecipientRow } from '../../db/inbound-tables.ts';
import { reportedRecipients } from '../../inbound/sender-reports.ts';
import { findReceived, listReceivedRecipients } from '../../inbound/store.ts';
import { createReceivedKind, type RunningReceivedTask, type TaskOutcome } from '../../inbound/tasks/kind.ts';
import { settlementOfDone } from '../../inbound/tasks/store.ts';
import type { TaskKind } from '../../tasks/kind.ts';
import { type BuiltForward, buildForward, type Forwarding } from './forward.ts';
import { settleForward } from './settle.ts';

/** Maximum number of messages that are prepared at the same time. Each is hashed once, on the main thread. */
const CONCURRENCY = 4;

const REASONS: Readonly<Record<Extract<BuiltForward, { kind: 'refused' }>['reason'], string>> = {
  deleted: 'The message was deleted',
  loop: 'The message loops: it was forwarded from this address before',
  malformed: 'The header of the message has no end',
};

/** Returns the kind of task that forwards mail. */
export function createForwardKind(app: App): TaskKind {
  const results = app.metrics.counter('inbound_forwards_total', 'Received mail that was to be forwarded.', [
    'result',
  ]);

  async function run(task: RunningReceivedTask): Promise<TaskOutcome> {
    const forward = await build(app, task);
    if (forward.kind === 'refused') {
      results.inc({ result: forward.reason });
      return { kind: 'failed', error: REASONS[forward.reason] };
    }
    const settlement = settlementOfDone(task.lease, app.clock.now());
    const end = await app.db.commit(settleForward, { settlement, forward });
    if (end !== 'stale') {
      results.inc({ result: 'forwarded' });
      app.wakeups.notify('queue');
    }
    return { kind: 'settled', end };
  }

  return createReceivedKind(app, { kind: 'forward', concurrency: CONCURRENCY, run });
}

async function build(app: App, { messageId, position }: RunningReceivedTask): Promise<BuiltForward> {
  const { db, config } = app;
  const message = await findReceived(db.read, messageId);
  const recipients = await listReceivedRecipients(db.read, messageId);
  const recipient = recipients.find((one) => one.position === position);
  if (!message || !recipient) return { kind: 'refused', reason: 'deleted' };
  return buildForward(
    app,
    message,
    forwardingOf(config, recipient, reportedRecipients(recipients, position)),
  );
}

function forwardingOf(
  { hostname, inbound }: Pick<App['config'], 'hostname' | 'inbound'>,
  { address, kind, targetId }: ReceivedRecipientRow,
  reported: readonly ReceivedRecipientRow[],
): Forwarding {
  // The postmaster may be addressed without a domain (RFC 5321 section 4.1.1.3).
  const withDomain = (named: string) => (named.includes('@') ? named : `${named}@${hostname}`);
  const named = reported.map(({ address: one, dsn }) => ({ address: withDomain(one), dsn }));
  return {
    recipient: withDomain(address),
    named,
    addresses: [kind === 'srs' ? targetId : inbound.postmaster],
  };
}
