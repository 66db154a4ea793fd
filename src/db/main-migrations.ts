/** The migrations of the main database, in order. */
import type { Migration } from './migration.ts';
import { initial } from './migrations/0001-initial.ts';
import { marketing } from './migrations/0002-marketing.ts';
import { webhookReplays } from './migrations/0003-webhook-replays.ts';
import { importStatus } from './migrations/0004-import-status.ts';
import { held } from './migrations/0005-held.ts';
import { installation } from './migrations/0006-installation.ts';
import { returnPath } from './migrations/0008-return-path.ts';
import { webhookSuspension } from './migrations/0009-webhook-suspension.ts';
import { names } from './migrations/0010-names.ts';
import { retention } from './migrations/0011-retention.ts';
import { contents } from './migrations/0012-contents.ts';
import { jobs } from './migrations/0018-jobs.ts';
import { messageTopic } from './migrations/0019-message-topic.ts';
import { broadcastRuns } from './migrations/0020-broadcast-runs.ts';
import { tracking } from './migrations/0021-tracking.ts';
import { optIn } from './migrations/0023-opt-in.ts';
import { broadcastActivity } from './migrations/0025-broadcast-activity.ts';
import { broadcastControl } from './migrations/0026-broadcast-control.ts';
import { trackedLinks } from './migrations/0027-tracked-links.ts';
import { counts } from './migrations/0028-counts.ts';
import { inbound } from './migrations/0030-inbound.ts';
import { returnPathTokens } from './migrations/0031-return-path-tokens.ts';
import { routePosting } from './migrations/0032-route-posting.ts';
import { receiving } from './migrations/0033-receiving.ts';
import { forwarding } from './migrations/0034-forwarding.ts';
import { dmarcReports } from './migrations/0035-dmarc-reports.ts';
import { greylisting } from './migrations/0036-greylisting.ts';
import { reports } from './migrations/0037-reports.ts';
import { installationMail } from './migrations/0039-installation-mail.ts';
import { reportShares } from './migrations/0040-report-shares.ts';
import { failureNotifications } from './migrations/0041-failure-notifications.ts';
import { rowsOfReceivedMail } from './migrations/0042-rows-of-received-mail.ts';
import { mailboxes } from './migrations/0043-mailboxes.ts';
import { reportsInPlans } from './migrations/0044-reports-in-plans.ts';
import { changesOfMailboxes } from './migrations/0045-changes-of-mailboxes.ts';
import { mailboxScripts } from './migrations/0046-mailbox-scripts.ts';
import { appPasswords } from './migrations/0047-app-passwords.ts';
import { mailboxAliases } from './migrations/0048-mailbox-aliases.ts';
import { submission } from './migrations/0049-submission.ts';
import { deliveryPlans } from './migrations/0051-delivery-plans.ts';
import { mailboxFilters } from './migrations/0052-mailbox-filters.ts';
import { scramOfPasswords } from './migrations/0053-scram-of-passwords.ts';
import { waitingMailOfMailboxes } from './migrations/0054-waiting-mail-of-mailboxes.ts';
import { sharedMailboxes } from './migrations/0056-shared-mailboxes.ts';
import { unsentMailOfTenants } from './migrations/0057-unsent-mail-of-tenants.ts';
import { countsOfUnsentMail } from './migrations/0058-counts-of-unsent-mail.ts';
import { credentialsOfWaitingMail } from './migrations/0059-credentials-of-waiting-mail.ts';
import { mailboxImports } from './migrations/0060-mailbox-imports.ts';
import { countsByAddress } from './migrations/0061-counts-by-address.ts';
import { domainsOfEndpoints } from './migrations/0062-domains-of-endpoints.ts';
import { bounceEvidence } from './migrations/0064-bounce-evidence.ts';
import { classesOfReplies } from './migrations/0065-classes-of-replies.ts';
import { tasks } from './migrations/0069-tasks.ts';
import { postTasks } from './migrations/0070-post-tasks.ts';
import { passesOfRuns } from './migrations/0071-passes-of-runs.ts';
import { kindsOfTasks } from './migrations/0072-kinds-of-tasks.ts';
import { tasksOfConfirmations } from './migrations/0073-tasks-of-confirmations.ts';
import { receivedTasksAsTasks } from './migrations/0074-received-tasks.ts';
import { tasksOfBroadcasts } from './migrations/0075-tasks-of-broadcasts.ts';
import { tasksOfReports } from './migrations/0076-tasks-of-reports.ts';

export const MAIN_MIGRATIONS: readonly Migration[] = [
  initial,
  marketing,
  webhookReplays,
  importStatus,
  held,
  installation,
  returnPath,
  webhookSuspension,
  names,
  retention,
  contents,
  jobs,
  messageTopic,
  broadcastRuns,
  tracking,
  optIn,
  broadcastActivity,
  broadcastControl,
  trackedLinks,
  counts,
  inbound,
  returnPathTokens,
  routePosting,
  receiving,
  forwarding,
  dmarcReports,
  greylisting,
  reports,
  installationMail,
  reportShares,
  failureNotifications,
  rowsOfReceivedMail,
  mailboxes,
  reportsInPlans,
  changesOfMailboxes,
  mailboxScripts,
  appPasswords,
  mailboxAliases,
  submission,
  deliveryPlans,
  mailboxFilters,
  scramOfPasswords,
  waitingMailOfMailboxes,
  sharedMailboxes,
  unsentMailOfTenants,
  countsOfUnsentMail,
  credentialsOfWaitingMail,
  mailboxImports,
  countsByAddress,
  domainsOfEndpoints,
  bounceEvidence,
  classesOfReplies,
  tasks,
  postTasks,
  passesOfRuns,
  kindsOfTasks,
  tasksOfConfirmations,
  receivedTasksAsTasks,
  tasksOfBroadcasts,
  tasksOfReports,
];
