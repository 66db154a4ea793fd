/** Capabilities that the server announces (RFC 2449 section 6). Those before login stay announced after it, except STLS. */
import { privacyOf } from '../access/privacy.ts';
import { channelBindingOf } from '../sasl/channel-binding.ts';
import { offeredMechanisms } from '../sasl/mechanisms.ts';
import type { Connection, EarlyConnection } from './connection-state.ts';

/** Returns the capabilities of a connection in its state, one for each line. */
export function capabilitiesOf(connection: Connection): readonly string[] {
  if (!connection.session) return connection.capabilities;
  return lastingCapabilities(connection, privacyOf(connection).offersTls ? ['STLS'] : []);
}

/** Returns the capabilities that stay announced after the login, with others. */
export function lastingCapabilities(connection: EarlyConnection, others: readonly string[] = []): string[] {
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
    ...(privacyOf(connection).isPrivate ? ['USER', `SASL ${mechanisms.join(' ')}`] : []),
    ...others,
    `IMPLEMENTATION ${connection.context.options.implementation}`,
  ];
}
