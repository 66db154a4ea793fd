/** EXPN (RFC 5321 section 4.1.1.7): is refused, so that nobody learns who is on a list (RFC 5321 section 7.3). */
import type { Command } from './command.ts';

export const expn: Command = {
  run: () => ({ code: 502, status: '5.5.1', text: 'Lists are not expanded' }),
  isIdle: true,
};
