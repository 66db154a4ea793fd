/** Every page of the dashboard, in the order of the navigation. Routes, the navigation and the tests that visit all pages follow from it. */
import { accountPage } from './account/account.tsx';
import { operatorAuditPage, tenantAuditPage } from './audit/page.tsx';
import { linkPage } from './entry/link.tsx';
import { codePage, loginPage } from './entry/login.tsx';
import { logoutPage } from './entry/logout.ts';
import { startPage } from './entry/start.ts';
import { tenantsPage } from './operating/tenants.tsx';
import type { PageDefinition } from './page.ts';
import { searchPageOver } from './search/search.tsx';
import { emailAttemptsPage } from './sending/emails/attempts.tsx';
import { emailPage } from './sending/emails/email.tsx';
import { emailsPage } from './sending/emails/list.tsx';
import { emailPreviewPage } from './sending/emails/preview.ts';
import { sendTestPage } from './sending/emails/send-test.tsx';
import { overviewPage } from './sending/overview/overview.tsx';
import { teamPage } from './team/team.tsx';

export const PAGES: readonly PageDefinition[] = [
  startPage,
  loginPage,
  codePage,
  logoutPage,
  linkPage,
  accountPage,
  overviewPage,
  emailsPage,
  emailPage,
  emailAttemptsPage,
  emailPreviewPage,
  sendTestPage,
  searchPageOver(() => PAGES),
  teamPage,
  tenantAuditPage,
  tenantsPage,
  operatorAuditPage,
] as unknown as readonly PageDefinition[];
