/** Logs a user in, for LOGIN and AUTHENTICATE (RFC 9051 section 6.2). */
import { type PrivacyContext, privacyOf } from '../../access/privacy.ts';
import { capabilitiesOf } from '../capabilities.ts';
import { type Admission, isRefusal, type Refusal } from '../session.ts';
import type { EarlyConnection, Result } from './command.ts';

/** Returns the refusal of a login on a connection that others can read (RFC 9051 section 7.1, PRIVACYREQUIRED). */
export function refusePlaintext(connection: PrivacyContext): Refusal | undefined {
  if (privacyOf(connection).isPrivate) return undefined;
  return { refused: 'NO', code: 'PRIVACYREQUIRED', text: 'The connection must be encrypted before a login' };
}

/** Completes a login. A success hands the connection over, and tells the client the capabilities of the user. */
export function admit({ context }: EarlyConnection, answer: Admission | Refusal): Result {
  context.metrics.login(isRefusal(answer) ? 'refused' : 'accepted');
  if (isRefusal(answer)) return answer;
  const noticed = `CAPABILITY ${capabilitiesOf(answer, context.limits.messageBytes)}`;
  return { noticed, text: 'Logged in', next: async () => answer };
}
