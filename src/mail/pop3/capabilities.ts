/** Capabilities that the server announces (RFC 2449 section 6). Those before login stay announced after it, except STLS. */
import type { Socket } from 'node:net';
import { type PrivacyContext, privacyOf } from '../access/privacy.ts';
import { channelBindingOf } from '../sasl/channel-binding.ts';
import { offeredMechanisms } from '../sasl/mechanisms.ts';
import type { Pop3ServerOptions } from './options.ts';

type Announcing = PrivacyContext & {
  socket: Socket;
  context: { options: Pick<Pop3ServerOptions, 'implementation'> };
};

/** Returns the capabilities of a connection in this state, one for each line. */
export function capabilitiesOf(connection: Announcing, state: 'authorization' | 'transaction'): string[] {
  const { isPrivate, offersTls } = privacyOf(connection);
  const mechanisms = offeredMechanisms(channelBindingOf(connection.socket));
  return [
    'TOP',
    'UIDL',
    'PIPELINING',
    'RESP-CODES',
    'AUTH-RESP-CODE',
    // Mailboxes keep mail for as long as its owner wants.
    'EXPIRE NEVER',
    'UTF8 USER',
    'LANG',
    // Passwords are not asked for where others can read them (RFC 5034 section 4).
    ...(isPrivate ? ['USER', `SASL ${mechanisms.join(' ')}`] : []),
    ...(offersTls && state === 'authorization' ? ['STLS'] : []),
    `IMPLEMENTATION ${connection.context.options.implementation}`,
  ];
}
