/** The commands by their names. Those that take UIDs begin with UID. test/accounts/imap/isolation.test.ts asks each about another account. */
import { APPEND_COMMANDS } from './append.ts';
import type { Command } from './command.ts';
import { COPY_COMMANDS } from './copy.ts';
import { FETCH_COMMANDS } from './fetch.ts';
import { IDLE_COMMANDS } from './idle.ts';
import { LOGIN_COMMANDS } from './login.ts';
import { MAILBOX_COMMANDS } from './mailboxes.ts';
import { SEARCH_COMMANDS } from './search.ts';
import { SELECT_COMMANDS } from './select.ts';
import { SESSION_COMMANDS } from './session.ts';

const ALL = [
  ...SESSION_COMMANDS,
  ...LOGIN_COMMANDS,
  ...SELECT_COMMANDS,
  ...MAILBOX_COMMANDS,
  ...APPEND_COMMANDS,
  ...IDLE_COMMANDS,
  ...COPY_COMMANDS,
  ...SEARCH_COMMANDS,
  ...FETCH_COMMANDS,
];

export const COMMANDS: ReadonlyMap<string, Command> = new Map(ALL.map((command) => [command.name, command]));
