/** ENABLE (RFC 9051 section 6.3.1, RFC 5161). */
import { bad } from '../command-error.ts';
import type { Features } from '../session.ts';
import { currentCapabilities } from './capability.ts';
import { defineCommand, enableFeatures, sendUntagged } from './command.ts';

/** Features by their capability. */
const FEATURES: ReadonlyMap<string, Partial<Features>> = new Map(
  Object.entries({
    IMAP4rev2: { rev2: true, utf8: true },
    'UTF8=ACCEPT': { utf8: true },
    CONDSTORE: { condstore: true },
    METADATA: { metadata: true },
    QRESYNC: { condstore: true, qresync: true },
  }),
);

export const enable = defineCommand({
  name: 'ENABLE',
  states: 'authenticated',
  parse(cursor) {
    const names: string[] = [];
    while (!cursor.isAtEnd) {
      cursor.space();
      names.push(cursor.atom().toUpperCase());
    }
    return names.length > 0 ? names : bad('ENABLE needs a capability');
  },
  async run(connection, names) {
    const offered = currentCapabilities(connection).split(' ');
    const enabled: string[] = [];
    for (const [name, features] of FEATURES) {
      // Names that are unknown are ignored (RFC 5161 section 3.1).
      if (!names.includes(name.toUpperCase()) || !offered.includes(name)) continue;
      enableFeatures(connection, features);
      enabled.push(name);
    }
    sendUntagged(connection, ['ENABLED', ...enabled].join(' '));
    return undefined;
  },
});
