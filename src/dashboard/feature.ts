import type { App } from '../app.ts';
import { SliceSize } from '../db/slice-size.ts';
import type { Feature } from '../feature.ts';
import { DAY_MS } from '../system/clock.ts';
import { firstKeptId } from '../system/ids.ts';
import { createDashboard } from './app.tsx';
import { recordCommands } from './audit/commands.ts';
import { expireAudit } from './audit/store.ts';
import { expireDrafts } from './drafts/store.ts';
import { registerPeopleAdmin } from './people/admin-api.ts';
import { expireLinks } from './people/links-store.ts';
import { SESSION_MS } from './people/people.ts';
import { expireSessions } from './people/sessions-store.ts';
import { expireForms } from './sent-forms/store.ts';

/** Time for which the audit log is kept, in days. */
const AUDIT_DAYS = 400;
/** Times after which a session and a link have ended for certain, in days. */
const SESSION_DAYS = SESSION_MS / DAY_MS;
const LINK_DAYS = 1;
/** Time for which a draft waits for its author, in days. */
const DRAFT_DAYS = 7;
/** Time for which a form that was sent is known, in days: a session that is not used for as long has ended, and with it its pages. */
const SENT_FORM_DAYS = 7;

export const dashboard = {
  name: 'dashboard',
  ids: ['per', 'ses', 'lnk', 'adt', 'psk', 'dft', 'frm'],
  pages: [createDashboard],
  operatorRoutes: [recordCommands, registerPeopleAdmin],
  retention: ({ db }: Pick<App, 'db'>) => [
    {
      kind: 'audit log',
      size: new SliceSize(),
      expire: (now, slice) =>
        db.commit(expireAudit, { ...slice, before: firstKeptId('adt', now, AUDIT_DAYS) }),
    },
    {
      kind: 'sessions of the dashboard',
      size: new SliceSize(),
      expire: (now, slice) =>
        db.commit(expireSessions, { ...slice, before: firstKeptId('ses', now, SESSION_DAYS) }),
    },
    {
      kind: 'drafts of the dashboard',
      size: new SliceSize(),
      expire: (now, slice) =>
        db.commit(expireDrafts, { ...slice, before: firstKeptId('dft', now, DRAFT_DAYS) }),
    },
    {
      kind: 'sent forms of the dashboard',
      size: new SliceSize(),
      expire: (now, slice) =>
        db.commit(expireForms, { ...slice, before: firstKeptId('frm', now, SENT_FORM_DAYS) }),
    },
    {
      kind: 'login links',
      size: new SliceSize(),
      expire: (now, slice) =>
        db.commit(expireLinks, { ...slice, before: firstKeptId('lnk', now, LINK_DAYS) }),
    },
  ],
} satisfies Feature;
