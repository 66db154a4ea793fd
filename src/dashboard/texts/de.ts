/** The texts in German, by area. */
import { account } from './de/account.ts';
import { audit } from './de/audit.ts';
import { emails } from './de/emails.ts';
import { frame } from './de/frame.ts';
import { login } from './de/login.ts';
import { said } from './de/said.ts';
import { team } from './de/team.ts';
import { tenants } from './de/tenants.ts';
import type { en } from './en.ts';

export const de: typeof en = { account, audit, emails, frame, login, said, team, tenants };
