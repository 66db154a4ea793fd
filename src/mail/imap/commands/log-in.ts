/** Logs a user in, for LOGIN and AUTHENTICATE (RFC 9051 section 6.2). */
import { isLoopback } from '../../../system/address-block.ts';
import { capabilitiesOf, type Privacy } from '../capabilities.ts';
import { ConnectionFault } from '../fault.ts';
import type { ImapServerOptions } from '../options.ts';
import { type ImapClient, isRefusal, type Refusal } from '../session.ts';
import { type Connection, type Result, responseText } from './command.ts';

type PrivacyContext = {
  client: Pick<ImapClient, 'address' | 'tls'>;
  context: { options: Pick<ImapServerOptions, 'tls'> };
};

/** Returns whether a password can be sent on this connection. Nobody else can read a connection on loopback. */
export function privacyOf({ client, context }: PrivacyContext): Privacy {
  const isPrivate = client.tls !== undefined || isLoopback(client.address);
  return { isPrivate, offersTls: client.tls === undefined && context.options.tls?.mode === 'starttls' };
}

/** Returns the refusal of a login on a connection that others can read (RFC 9051 section 7.1, PRIVACYREQUIRED). */
export function refusePlaintext(connection: PrivacyContext): Refusal | undefined {
  if (privacyOf(connection).isPrivate) return undefined;
  return { refused: 'NO', code: 'PRIVACYREQUIRED', text: 'The connection must be encrypted before a login' };
}

/** Asks the session. A success changes the state, and tells the client the capabilities of the user. */
export async function logIn(
  connection: Connection,
  credentials: { username: string; password: string },
): Promise<Result> {
  const { session, context, client } = connection;
  const answer = await session.login({ ...credentials, client });
  context.metrics.login(isRefusal(answer) ? 'refused' : 'accepted');
  if (isRefusal(answer)) return answer;
  connection.state = { name: 'authenticated', account: answer };
  void answer.ended?.then((refusal) =>
    connection.wire.interrupt(new ConnectionFault('session', responseText(refusal))),
  );
  return { noticed: `CAPABILITY ${capabilitiesOf(answer, context.limits.messageBytes)}`, text: 'Logged in' };
}
