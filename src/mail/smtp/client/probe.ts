/** Asks a server whether it takes mail for a recipient: MAIL and RCPT, and then RSET instead of a message (RFC 5321 section 4.1.1.5). */
import type { SmtpReply } from '../reply.ts';
import { command } from './command.ts';
import { type Envelope, findFault, mailCommand, rcptCommands, refuseUtf8 } from './envelope.ts';
import { SmtpError, type SmtpFailure, type SmtpPhase } from './failure.ts';
import { isSuccess, type SessionState } from './transaction.ts';

export type ProbedRecipient =
  | { kind: 'accepted'; reply: SmtpReply }
  | { kind: 'refused'; phase: SmtpPhase; reply: SmtpReply }
  | { kind: 'failed'; failure: SmtpFailure };

/** Probes the only recipient of the envelope. Errors of the peer are results. The session can carry mail no more when it failed. */
export async function probeRecipient(state: SessionState, envelope: Envelope): Promise<ProbedRecipient> {
  const { connection, extensions, timeouts } = state;
  const { observer } = envelope;
  const fault = findFault(envelope);
  if (fault) return { kind: 'failed', failure: fault };
  const refusal = refuseUtf8(envelope, extensions);
  if (refusal) return { kind: 'refused', phase: 'mail', reply: refusal };
  const steps = [
    { phase: 'mail', line: mailCommand(envelope, extensions), timeoutMs: timeouts.mailMs },
    ...rcptCommands(envelope, extensions).map(
      (line) => ({ phase: 'rcpt', line, timeoutMs: timeouts.rcptMs }) as const,
    ),
  ] as const;
  try {
    let last: SmtpReply | undefined;
    for (const { phase, line, timeoutMs } of steps) {
      last = await command(connection, { phase, line: line.trimEnd(), timeoutMs, observer });
      if (!isSuccess(last)) return { kind: 'refused', phase, reply: last };
    }
    if (!last) throw new Error('the envelope has no recipient');
    await command(connection, { phase: 'rcpt', line: 'RSET', timeoutMs: timeouts.resetMs, observer });
    return { kind: 'accepted', reply: last };
  } catch (error) {
    if (!(error instanceof SmtpError)) throw error;
    const { failure } = error;
    if (failure.kind !== 'reply') observer?.({ kind: 'failed', failure });
    return { kind: 'failed', failure };
  }
}
