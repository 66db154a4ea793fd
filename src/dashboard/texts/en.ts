/** The texts in English, by area. */
import { account } from './en/account.ts';
import { appPasswords } from './en/app-passwords.ts';
import { approvals } from './en/approvals.ts';
import { audiences } from './en/audiences.ts';
import { audit } from './en/audit.ts';
import { backups } from './en/backups.ts';
import { branding } from './en/branding.ts';
import { broadcasts } from './en/broadcasts.ts';
import { certificates } from './en/certificates.ts';
import { dns } from './en/dns.ts';
import { domains } from './en/domains.ts';
import { email } from './en/email.ts';
import { emails } from './en/emails.ts';
import { frame } from './en/frame.ts';
import { health } from './en/health.ts';
import { imports } from './en/imports.ts';
import { inbound } from './en/inbound.ts';
import { jobs } from './en/jobs.ts';
import { keys } from './en/keys.ts';
import { live } from './en/live.ts';
import { login } from './en/login.ts';
import { mailSessions } from './en/mail-sessions.ts';
import { mailSettings } from './en/mail-settings.ts';
import { mailboxKeys } from './en/mailbox-keys.ts';
import { mailboxes } from './en/mailboxes.ts';
import { myMailbox } from './en/my-mailbox.ts';
import { operators } from './en/operators.ts';
import { outboundRoutes } from './en/outbound-routes.ts';
import { overview } from './en/overview.ts';
import { passkeys } from './en/passkeys.ts';
import { queue } from './en/queue.ts';
import { recovery } from './en/recovery.ts';
import { reports } from './en/reports.ts';
import { resting } from './en/resting.ts';
import { routes } from './en/routes.ts';
import { rules } from './en/rules.ts';
import { said } from './en/said.ts';
import { check, requests, simulator } from './en/sandbox.ts';
import { search } from './en/search.ts';
import { segments } from './en/segments.ts';
import { sendTest } from './en/send-test.ts';
import { settings } from './en/settings.ts';
import { site } from './en/site.ts';
import { sites } from './en/sites.ts';
import { sources } from './en/sources.ts';
import { spamSenders } from './en/spam-senders.ts';
import { suppressions } from './en/suppressions.ts';
import { tasks } from './en/tasks.ts';
import { team } from './en/team.ts';
import { templates } from './en/templates.ts';
import { tenants } from './en/tenants.ts';
import { topics } from './en/topics.ts';
import { webhooks } from './en/webhooks.ts';

export const en = {
  account,
  appPasswords,
  approvals,
  audiences,
  audit,
  backups,
  branding,
  certificates,
  check,
  dns,
  domains,
  broadcasts,
  email,
  emails,
  frame,
  health,
  imports,
  inbound,
  keys,
  jobs,
  live,
  login,
  mailboxes,
  mailboxKeys,
  mailSessions,
  mailSettings,
  myMailbox,
  operators,
  outboundRoutes,
  overview,
  passkeys,
  queue,
  recovery,
  reports,
  requests,
  resting,
  routes,
  rules,
  said,
  search,
  segments,
  sendTest,
  settings,
  simulator,
  site,
  sites,
  sources,
  spamSenders,
  suppressions,
  tasks,
  team,
  templates,
  tenants,
  webhooks,
  topics,
};
