/**
 * Delivers to recipients of this installation. The message is the same, byte by byte, that a remote server would get, and each
 * answer is evaluated like the reply of one.
 */

import type { RecipientRow } from '../../db/tables.ts';
import { withoutSuccess } from '../../mail/smtp/dsn-parameters.ts';
import { withTimeout } from '../../system/clock.ts';
import { INSTALLATION_TENANT } from '../../tenants/installation.ts';
import type { Claim } from '../claim.ts';
import { DELIVERY_DEADLINE_MS } from '../claim.ts';
import type { DeliveryApp } from '../delivery-app.ts';
import type { LocalAnswer, LocalMessage, LocalOrigin, LocalReceiver } from '../local-receiver.ts';
import { evaluateResult } from '../outcome/evaluate.ts';
import type { Peer, Verdict } from '../outcome/outcome.ts';
import type { Replies } from '../outcome/replies/replies.ts';
import type { SpooledMessage } from '../store.ts';
import type { Attempt, Transport } from '../transport.ts';
import type { SessionContext } from './session-context.ts';

type LocalContext = Pick<SessionContext, 'report' | 'startSending'>;

/**
 * Returns the transport of the site. Answers never slow the site down, because all tenants share it and a refusal concerns one
 * recipient.
 */
export function createLocalTransport(
  app: DeliveryApp,
  context: LocalContext,
  receive: LocalReceiver,
): Transport {
  return {
    connection: null,
    isConnected: false,
    isLost: false,
    idleMs: 0,
    open: async () => undefined,
    transact: (claim) => handOver(app, claim, { context, receive }),
    closeWhenFull: async () => {},
    close: async () => {},
    cut() {},
  };
}

async function handOver(
  app: DeliveryApp,
  claim: Claim,
  { context, receive }: { context: LocalContext; receive: LocalReceiver },
): Promise<Attempt> {
  const { clock, config } = app;
  if (!context.startSending(claim)) return { kind: 'released' };
  const startedAt = clock.elapsed();
  const { message, signature } = await prepareLocal(app, claim);
  // A receiver that hangs ends before the lease of the claim, so that the mail is not delivered twice.
  const timeoutMs = claim.claimedAt + DELIVERY_DEADLINE_MS - startedAt;
  const answers = await withTimeout(clock, receive(message), { timeoutMs, what: 'receiving local mail' });
  const now = clock.elapsed();
  context.report({ kind: 'accepted' });
  const peer = { mx: config.hostname, address: null, tls: null };
  const verdicts = evaluateAnswers(app.replies, { peer, claim }, answers);
  return {
    kind: 'evaluated',
    verdicts,
    undecided: undefined,
    signature,
    transactionMs: Math.round(now - startedAt),
  };
}

async function prepareLocal(
  app: DeliveryApp,
  claim: Claim,
): Promise<{ message: LocalMessage; signature: string }> {
  const { signature, content, returnPath } = await app.prepare(claim);
  const prefix = Buffer.from(signature, 'latin1');
  const message: LocalMessage = {
    origin: originOf(claim.message),
    sender: returnPath,
    recipients: claim.recipients.map(({ address }) => address),
    dsn: {
      message: claim.message.dsn,
      recipients: claim.recipients.map(({ dsn }) => withoutSuccess(dsn)),
    },
    requireTls: claim.message.requireTls === 1,
    utf8: claim.message.utf8 === 1,
    sizeBytes: prefix.length + content.sizeBytes,
    isEightBit: content.isEightBit,
    async *bytes() {
      yield prefix;
      if (content.inline) yield content.inline;
      else yield* content.chunks();
    },
  };
  return { message, signature };
}

/** Only forwarding adds fields to a message whose bytes were received. */
function originOf({ tenantId, traceFields, blobId }: SpooledMessage): LocalOrigin {
  if (tenantId !== INSTALLATION_TENANT) return { kind: 'tenant' };
  return traceFields === null || blobId === null ? { kind: 'installation' } : { kind: 'forwarded', blobId };
}

function evaluateAnswers(
  replies: Replies,
  { peer, claim }: { peer: Peer; claim: Claim },
  answers: readonly LocalAnswer[],
): Map<RecipientRow['id'], Verdict> {
  return new Map(
    claim.recipients.map(({ id }, index) => {
      const answer = answers[index];
      if (!answer) throw new Error('the local receiver gave fewer answers than recipients');
      const { phase, code, status, text } = answer;
      const reply = { code, enhanced: status, lines: [`${status} ${text}`] };
      const isAccepted = code >= 200 && code < 300;
      return [
        id,
        {
          outcome: evaluateResult(
            replies,
            peer,
            isAccepted ? { kind: 'accepted', reply } : { kind: 'refused', phase, reply },
          ),
        },
      ];
    }),
  );
}
