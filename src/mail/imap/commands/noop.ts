/** NOOP (RFC 9051 section 6.1.2) and CHECK (RFC 3501 section 6.4.1): report all changes. */
import { defineCommand, noArguments } from './command.ts';

export const noop = defineCommand({
  name: 'NOOP',
  states: 'any',
  parse: noArguments,
  run: async () => undefined,
});

/** Mail is always on disk before it is reported, so there is nothing to check. */
export const check = defineCommand({
  name: 'CHECK',
  states: 'selected',
  parse: noArguments,
  run: async () => undefined,
});
