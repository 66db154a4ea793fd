/** The commands by their keywords. */
import { auth } from './auth.ts';
import { capa } from './capa.ts';
import type { Command } from './command.ts';
import { dele, rset } from './dele.ts';
import { lang } from './lang.ts';
import { list, stat, uidl } from './list.ts';
import { noop } from './noop.ts';
import { quit } from './quit.ts';
import { retr, top } from './retr.ts';
import { stls } from './stls.ts';
import { pass, user } from './user.ts';
import { utf8 } from './utf8.ts';

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
