/** Logs a user in, for PASS and AUTH. */

import { type PrivacyContext, privacyOf } from '../../access/privacy.ts';
import { type Admission, isRefusal, type Refusal } from '../session.ts';
import { type EarlyConnection, type Result, refuse } from './command.ts';

/** Returns the refusal of a login on a connection that others can read (RFC 2595 section 2.3). */
export function refusePlaintext(connection: PrivacyContext): Refusal | undefined {
  return privacyOf(connection).isPrivate
    ? undefined
    : refuse('The connection must be encrypted before a login');
}

/** Completes a login. A success hands the connection over. */
export function admit({ context }: EarlyConnection, answer: Admission | Refusal): Result {
  context.metrics.login(isRefusal(answer) ? 'refused' : 'accepted');
  if (isRefusal(answer)) return answer;
  return { text: `${answer.count} messages (${answer.sizeBytes} octets)`, next: async () => answer };
}
