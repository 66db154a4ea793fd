/** The commands by their names. */
import type { Command } from '../command.ts';
import { authenticate, unauthenticate } from './authenticate.ts';
import {
  checkScript,
  deleteScript,
  getScript,
  haveSpace,
  listScripts,
  putScript,
  renameScript,
  setActive,
} from './script-commands.ts';
import { capability, logout, noop, starttls } from './session-commands.ts';

const ALL: readonly Command[] = [
  authenticate,
  unauthenticate,
  starttls,
  capability,
  noop,
  logout,
  haveSpace,
  putScript,
  checkScript,
  listScripts,
  getScript,
  setActive,
  deleteScript,
  renameScript,
];

export const COMMANDS: ReadonlyMap<string, Command> = new Map(ALL.map((command) => [command.name, command]));
