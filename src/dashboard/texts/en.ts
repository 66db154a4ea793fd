/** The texts in English, by area. */
import { account } from './en/account.ts';
import { audit } from './en/audit.ts';
import { emails } from './en/emails.ts';
import { frame } from './en/frame.ts';
import { login } from './en/login.ts';
import { said } from './en/said.ts';
import { team } from './en/team.ts';
import { tenants } from './en/tenants.ts';

export const en = { account, audit, emails, frame, login, said, team, tenants };
