/** Every page of the dashboard, in the order of the navigation. Routes, the navigation and the tests that visit all pages follow from it. */
import { accountPage } from './account/account.tsx';
import { operatorAuditPage, tenantAuditPage } from './audit/page.tsx';
import { authenticatorPage } from './entry/authenticator.tsx';
import { codePage } from './entry/code.tsx';
import { linkPage } from './entry/link.tsx';
import { loginPage } from './entry/login.tsx';
import { logoutPage } from './entry/logout.ts';
import { mailboxForgottenPage } from './entry/mailbox-forgotten.tsx';
import { mailboxLinkPage } from './entry/mailbox-link.tsx';
import { mailboxLoginPage } from './entry/mailbox-login.tsx';
import { openIdPage, openIdReturnPage } from './entry/openid.tsx';
import { startPage } from './entry/start.ts';
import { exportFilePage, exportPage } from './jobs/export.tsx';
import { importErrorsPage, importPage } from './jobs/import.tsx';
import { operatorTailPage, tailPage } from './live/tail-page.tsx';
import { mailboxApiKeysPage } from './mailbox/api-keys.tsx';
import { mailboxAppPasswordsPage } from './mailbox/app-passwords.tsx';
import { forwardingPage } from './mailbox/forwarding.tsx';
import { mailboxOverviewPage } from './mailbox/overview.tsx';
import { mailboxRecoveryPage } from './mailbox/recovery.tsx';
import { rulePage } from './mailbox/rule.tsx';
import { rulesPage } from './mailbox/rules.tsx';
import { mailboxSecurityPage } from './mailbox/security.tsx';
import { spamSendersPage } from './mailbox/spam.tsx';
import { vacationPage } from './mailbox/vacation.tsx';
import { audiencePage } from './marketing/audiences/audience.tsx';
import { audiencesPage } from './marketing/audiences/list.tsx';
import { audienceSettingsPage } from './marketing/audiences/settings.tsx';
import { brandingPage } from './marketing/branding/branding.tsx';
import { brandingPreviewPage } from './marketing/branding/preview.tsx';
import { broadcastPage } from './marketing/broadcasts/broadcast.tsx';
import { checkBroadcastPage } from './marketing/broadcasts/check.tsx';
import { editBroadcastPage } from './marketing/broadcasts/edit.tsx';
import { broadcastsPage } from './marketing/broadcasts/list.tsx';
import { newBroadcastPage } from './marketing/broadcasts/new.tsx';
import { broadcastPreviewPage } from './marketing/broadcasts/preview.ts';
import { providersPage } from './marketing/broadcasts/providers.tsx';
import { recipientsPage } from './marketing/broadcasts/recipients.tsx';
import { contactPage } from './marketing/contacts/contact.tsx';
import { newContactPage } from './marketing/contacts/new.tsx';
import { importPreviewPage } from './marketing/imports/preview.tsx';
import { uploadPage } from './marketing/imports/upload.tsx';
import { segmentContactsPage } from './marketing/segments/contacts.tsx';
import { segmentsPage } from './marketing/segments/list.tsx';
import { newSegmentPage } from './marketing/segments/new.tsx';
import { segmentPage } from './marketing/segments/segment.tsx';
import { topicsPage } from './marketing/topics/list.tsx';
import { topicPage } from './marketing/topics/topic.tsx';
import { backupsPage } from './operating/backups.tsx';
import { operatorBroadcastsPage } from './operating/broadcasts.tsx';
import { certificatesPage } from './operating/certificates.tsx';
import { deliverTestPage } from './operating/deliver-test.tsx';
import { dnsPage } from './operating/dns/dns.tsx';
import { operatorEmailsPage } from './operating/emails.tsx';
import { healthPage } from './operating/health.tsx';
import { operatorsPage } from './operating/operators.tsx';
import { outboundRoutesPage } from './operating/outbound-routes/routes.tsx';
import { plansPage } from './operating/plans.tsx';
import { queueActionsPage } from './operating/queue/actions.tsx';
import { queueChangePage } from './operating/queue/change.tsx';
import { queueDomainPage } from './operating/queue/domain.tsx';
import { queueEmailPage } from './operating/queue/email.tsx';
import { queueMailPage } from './operating/queue/mail.tsx';
import { queuePage } from './operating/queue/overview.tsx';
import { restingPage } from './operating/queue/resting.tsx';
import { sitePage } from './operating/queue/site.tsx';
import { sitesPage } from './operating/queue/sites.tsx';
import { tracePage } from './operating/queue/trace.tsx';
import { restorationPage } from './operating/restoration.tsx';
import { settingsPage } from './operating/settings.tsx';
import { sourcesPage } from './operating/sources/sources.tsx';
import { suppressionReviewPage } from './operating/suppression-review.tsx';
import { tasksPage } from './operating/tasks.tsx';
import { tenantPage } from './operating/tenant.tsx';
import { tenantDeletePage } from './operating/tenant-delete.tsx';
import { tenantsPage } from './operating/tenants.tsx';
import type { PageDefinition } from './page.ts';
import { mailboxImportErrorsPage, mailboxImportsPage } from './receiving/imports.tsx';
import { inboundFilePage, inboundHtmlPage, inboundRawPage } from './receiving/inbound-files.ts';
import { inboundPage } from './receiving/inbound-list.tsx';
import { inboundMessagePage } from './receiving/inbound-message.tsx';
import { mailboxPage } from './receiving/mailbox.tsx';
import { mailboxesPage } from './receiving/mailboxes.tsx';
import { reportsPage } from './receiving/reports/reports.tsx';
import { routePage } from './receiving/route.tsx';
import { routesPage } from './receiving/routes.tsx';
import { searchPageOver } from './search/search.tsx';
import { approvalsPage } from './sending/approvals/list.tsx';
import { domainPage } from './sending/domains/domain.tsx';
import { domainsPage } from './sending/domains/list.tsx';
import { newDomainPage } from './sending/domains/new.tsx';
import { emailAttemptsPage } from './sending/emails/attempts.tsx';
import { emailCheckPage } from './sending/emails/check.tsx';
import { emailPage } from './sending/emails/email.tsx';
import { emailFilePage } from './sending/emails/file.ts';
import { emailsPage } from './sending/emails/list.tsx';
import { emailPreviewPage } from './sending/emails/preview.ts';
import { emailRawPage } from './sending/emails/raw.ts';
import { sendTestPage } from './sending/emails/send-test.tsx';
import { keyPage } from './sending/keys/key.tsx';
import { keysPage } from './sending/keys/list.tsx';
import { newKeyPage } from './sending/keys/new.tsx';
import { overviewPage } from './sending/overview/overview.tsx';
import { requestsPage } from './sending/requests.tsx';
import { simulatorPage } from './sending/simulator.tsx';
import { addSuppressionsPage } from './sending/suppressions/add.tsx';
import { suppressionExportFilePage, suppressionExportPage } from './sending/suppressions/export.tsx';
import { suppressionFilesPage } from './sending/suppressions/files.tsx';
import { suppressionImportErrorsPage, suppressionImportPage } from './sending/suppressions/import.tsx';
import { suppressionsPage } from './sending/suppressions/list.tsx';
import { templatesPage } from './sending/templates/list.tsx';
import { newTemplatePage } from './sending/templates/new.tsx';
import { templatePage, templatePreviewPage } from './sending/templates/template.tsx';
import {
  templateVersionPage,
  templateVersionPreviewPage,
  templateVersionsPage,
} from './sending/templates/versions.tsx';
import { deliveriesPage } from './sending/webhooks/deliveries.tsx';
import { deliveryPage } from './sending/webhooks/delivery.tsx';
import { webhookPage } from './sending/webhooks/endpoint.tsx';
import { webhooksPage } from './sending/webhooks/list.tsx';
import { newWebhookPage } from './sending/webhooks/new.tsx';
import { teamPage } from './team/team.tsx';

export const PAGES: readonly PageDefinition[] = [
  startPage,
  loginPage,
  codePage,
  authenticatorPage,
  openIdPage,
  openIdReturnPage,
  mailboxLoginPage,
  mailboxForgottenPage,
  mailboxLinkPage,
  logoutPage,
  linkPage,
  accountPage,
  overviewPage,
  emailsPage,
  emailPage,
  emailAttemptsPage,
  emailPreviewPage,
  emailFilePage,
  emailCheckPage,
  emailRawPage,
  sendTestPage,
  approvalsPage,
  tailPage,
  templatesPage,
  newTemplatePage,
  templatePage,
  templatePreviewPage,
  templateVersionsPage,
  templateVersionPage,
  templateVersionPreviewPage,
  domainsPage,
  newDomainPage,
  domainPage,
  suppressionsPage,
  addSuppressionsPage,
  suppressionFilesPage,
  suppressionImportPage,
  suppressionImportErrorsPage,
  suppressionExportPage,
  suppressionExportFilePage,
  webhooksPage,
  newWebhookPage,
  webhookPage,
  deliveriesPage,
  deliveryPage,
  keysPage,
  newKeyPage,
  keyPage,
  requestsPage,
  simulatorPage,
  searchPageOver(() => PAGES),
  inboundPage,
  inboundMessagePage,
  inboundHtmlPage,
  inboundFilePage,
  inboundRawPage,
  routesPage,
  routePage,
  mailboxesPage,
  mailboxPage,
  mailboxImportsPage,
  mailboxImportErrorsPage,
  reportsPage,
  broadcastsPage,
  newBroadcastPage,
  broadcastPage,
  editBroadcastPage,
  broadcastPreviewPage,
  checkBroadcastPage,
  recipientsPage,
  providersPage,
  audiencesPage,
  audiencePage,
  audienceSettingsPage,
  newContactPage,
  contactPage,
  uploadPage,
  importPreviewPage,
  importPage,
  importErrorsPage,
  exportPage,
  exportFilePage,
  segmentsPage,
  newSegmentPage,
  segmentPage,
  segmentContactsPage,
  topicsPage,
  topicPage,
  brandingPage,
  brandingPreviewPage,
  teamPage,
  tenantAuditPage,
  healthPage,
  queuePage,
  operatorTailPage,
  queueMailPage,
  queueChangePage,
  queueActionsPage,
  queueEmailPage,
  queueDomainPage,
  sitesPage,
  restingPage,
  sitePage,
  tracePage,
  deliverTestPage,
  operatorEmailsPage,
  operatorBroadcastsPage,
  outboundRoutesPage,
  sourcesPage,
  suppressionReviewPage,
  tasksPage,
  tenantsPage,
  tenantPage,
  tenantDeletePage,
  plansPage,
  certificatesPage,
  dnsPage,
  backupsPage,
  restorationPage,
  settingsPage,
  operatorsPage,
  operatorAuditPage,
  mailboxOverviewPage,
  vacationPage,
  forwardingPage,
  rulesPage,
  rulePage,
  spamSendersPage,
  mailboxAppPasswordsPage,
  mailboxApiKeysPage,
  mailboxSecurityPage,
  mailboxRecoveryPage,
] as unknown as readonly PageDefinition[];
