/** NOOP (RFC 5321 section 4.1.1.9): does nothing. Its argument is ignored. */
import type { Command } from './command.ts';

export const noop: Command = {
  run: () => ({ code: 250, status: '2.0.0', text: 'OK' }),
  isIdle: true,
};
