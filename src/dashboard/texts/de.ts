/** The texts in German, by area. */
import { account } from './de/account.ts';
import { appPasswords } from './de/app-passwords.ts';
import { approvals } from './de/approvals.ts';
import { audiences } from './de/audiences.ts';
import { audit } from './de/audit.ts';
import { backups } from './de/backups.ts';
import { branding } from './de/branding.ts';
import { broadcasts } from './de/broadcasts.ts';
import { certificates } from './de/certificates.ts';
import { dns } from './de/dns.ts';
import { domains } from './de/domains.ts';
import { email } from './de/email.ts';
import { emails } from './de/emails.ts';
import { frame } from './de/frame.ts';
import { health } from './de/health.ts';
import { imports } from './de/imports.ts';
import { inbound } from './de/inbound.ts';
import { jobs } from './de/jobs.ts';
import { keys } from './de/keys.ts';
import { live } from './de/live.ts';
import { login } from './de/login.ts';
import { mailSessions } from './de/mail-sessions.ts';
import { mailSettings } from './de/mail-settings.ts';
import { mailboxKeys } from './de/mailbox-keys.ts';
import { mailboxes } from './de/mailboxes.ts';
import { myMailbox } from './de/my-mailbox.ts';
import { operators } from './de/operators.ts';
import { outboundRoutes } from './de/outbound-routes.ts';
import { overview } from './de/overview.ts';
import { passkeys } from './de/passkeys.ts';
import { queue } from './de/queue.ts';
import { recovery } from './de/recovery.ts';
import { reports } from './de/reports.ts';
import { resting } from './de/resting.ts';
import { routes } from './de/routes.ts';
import { rules } from './de/rules.ts';
import { said } from './de/said.ts';
import { check, requests, simulator } from './de/sandbox.ts';
import { search } from './de/search.ts';
import { segments } from './de/segments.ts';
import { sendTest } from './de/send-test.ts';
import { settings } from './de/settings.ts';
import { site } from './de/site.ts';
import { sites } from './de/sites.ts';
import { sources } from './de/sources.ts';
import { spamSenders } from './de/spam-senders.ts';
import { suppressions } from './de/suppressions.ts';
import { tasks } from './de/tasks.ts';
import { team } from './de/team.ts';
import { templates } from './de/templates.ts';
import { tenants } from './de/tenants.ts';
import { topics } from './de/topics.ts';
import { webhooks } from './de/webhooks.ts';
import type { en } from './en.ts';

export const de: typeof en = {
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
