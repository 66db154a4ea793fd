/** CAPABILITY (RFC 9051 section 6.1.1). */
import { privacyOf } from '../../access/privacy.ts';
import { channelBindingOf } from '../../sasl/channel-binding.ts';
import { COMPRESS_DEFLATE, capabilitiesOf, earlyCapabilities } from '../capabilities.ts';
import type { Connection } from '../connection-state.ts';
import { defineCommand, noArguments, sendUntagged } from './command.ts';

export const capability = defineCommand({
  name: 'CAPABILITY',
  states: 'any',
  parse: noArguments,
  async run(connection) {
    sendUntagged(connection, `CAPABILITY ${currentCapabilities(connection)}`);
    return undefined;
  },
});

/** Returns what is advertised in the state of the connection. */
export function currentCapabilities(connection: Connection): string {
  const { messageBytes } = connection.context.limits;
  if (connection.session) {
    const binding = channelBindingOf(connection.socket);
    return earlyCapabilities({ ...privacyOf(connection), binding, messageBytes });
  }
  const { state, compression } = connection;
  const { disabledCapabilities } = state.account;
  const withheld = [...disabledCapabilities, ...(compression ? [COMPRESS_DEFLATE] : [])];
  return capabilitiesOf({ disabledCapabilities: withheld }, messageBytes);
}
