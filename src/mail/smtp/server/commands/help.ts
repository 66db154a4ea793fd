/** HELP (RFC 5321 section 4.1.1.8). */
import type { Command } from './command.ts';

export const help: Command = {
  run: () => ({ code: 214, status: '2.0.0', text: 'This server speaks SMTP as in RFC 5321' }),
  isIdle: true,
};
