/** The texts in German, by area. */
import { account } from './de/account.ts';
import { audit } from './de/audit.ts';
import { email } from './de/email.ts';
import { emails } from './de/emails.ts';
import { frame } from './de/frame.ts';
import { login } from './de/login.ts';
import { overview } from './de/overview.ts';
import { said } from './de/said.ts';
import { search } from './de/search.ts';
import { sendTest } from './de/send-test.ts';
import { team } from './de/team.ts';
import { tenants } from './de/tenants.ts';
import type { en } from './en.ts';

export const de: typeof en = {
  account,
  audit,
  email,
  emails,
  frame,
  login,
  overview,
  said,
  search,
  sendTest,
  team,
  tenants,
};
