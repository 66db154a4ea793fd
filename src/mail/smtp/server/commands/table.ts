/** The commands of each protocol by their verbs. */
import { auth } from './auth.ts';
import { bdat } from './bdat.ts';
import type { Command } from './command.ts';
import { data } from './data.ts';
import { ehlo, helo, lhlo } from './greet.ts';
import { SESSION_COMMANDS } from './session-commands.ts';
import { mail, rcpt } from './transaction.ts';

const COMMON: Readonly<Record<string, Command>> = {
  ...SESSION_COMMANDS,
  MAIL: mail,
  RCPT: rcpt,
  DATA: data,
  BDAT: bdat,
};

export const COMMANDS: Readonly<Record<'smtp' | 'lmtp', ReadonlyMap<string, Command>>> = {
  smtp: new Map(Object.entries({ ...COMMON, HELO: helo, EHLO: ehlo, AUTH: auth })),
  // LMTP has a greeting of its own (RFC 2033 section 4.1).
  lmtp: new Map(Object.entries({ ...COMMON, LHLO: lhlo })),
};
