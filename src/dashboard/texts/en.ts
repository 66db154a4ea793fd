/** The texts in English, by area. */
import { account } from './en/account.ts';
import { audit } from './en/audit.ts';
import { email } from './en/email.ts';
import { emails } from './en/emails.ts';
import { frame } from './en/frame.ts';
import { login } from './en/login.ts';
import { overview } from './en/overview.ts';
import { said } from './en/said.ts';
import { search } from './en/search.ts';
import { sendTest } from './en/send-test.ts';
import { team } from './en/team.ts';
import { tenants } from './en/tenants.ts';

export const en = {
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
