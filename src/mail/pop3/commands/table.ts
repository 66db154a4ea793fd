/** The commands by their keywords. */

import type { Command } from './command.ts';
import { auth, pass, user } from './login.ts';
import { dele, list, rset, stat, uidl } from './maildrop.ts';
import { retr, top } from './retr.ts';
import { capa, lang, noop, quit, stls, utf8 } from './session.ts';

export const COMMANDS: ReadonlyMap<string, Command> = new Map(
  Object.entries({
    CAPA: capa,
    USER: user,
    PASS: pass,
    AUTH: auth,
    STLS: stls,
    UTF8: utf8,
    LANG: lang,
    STAT: stat,
    LIST: list,
    UIDL: uidl,
    RETR: retr,
    TOP: top,
    DELE: dele,
    RSET: rset,
    NOOP: noop,
    QUIT: quit,
  }),
);
