/** The rule that the dashboard is a client of the API: it has SQL for people, sessions, drafts, sent forms and the audit log alone. */
import type { Source } from './source.ts';

/** Folders of the dashboard with stores, and the tables that they may name. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  'dashboard/people/': [
    'people',
    'memberships',
    'dashboardSessions',
    'loginLinks',
    'passkeys',
    'recoveryCodes',
    'issuerSubjects',
    // Memberships are listed with the names of their tenants.
    'tenants',
  ],
  'dashboard/drafts/': ['drafts'],
  'dashboard/sent-forms/': ['sentForms'],
  'dashboard/audit/': ['auditEntries'],
};

/** Where the dashboard uses a store of another feature, with the reason. Everything else is asked of the API (http/json/calls.ts). */
const REASONS: ReadonlyMap<string, string> = new Map([
  [
    'dashboard/entry/link.tsx -> tenants/store.ts',
    'An invitation names its tenant to somebody who is not logged in.',
  ],
  [
    'dashboard/entry/logout.ts -> mailboxes/store.ts',
    'The audit log names the mailbox whose owner has logged out.',
  ],
  ['dashboard/people/admin-api.ts -> tenants/store.ts', 'It is itself an API of the operator.'],
  [
    'dashboard/people/mailbox-login.ts -> mailboxes/store.ts',
    'A login comes before everything that an API could ask for.',
  ],
  ['dashboard/people/mailbox-login.ts -> tenants/store.ts', 'A suspended tenant lets nobody in.'],
  [
    'dashboard/people/mailbox-recovery.ts -> mailboxes/addresses/store.ts',
    'Whoever has lost a password is not logged in.',
  ],
  [
    'dashboard/people/mailbox-recovery.ts -> mailboxes/store.ts',
    'Whoever has lost a password is not logged in.',
  ],
  [
    'dashboard/people/mailbox-recovery.ts -> mailboxes/recovery/store.ts',
    'A link is mailed in the language of its reader, and works without a login.',
  ],
  ['dashboard/people/mailbox-recovery.ts -> tenants/store.ts', 'A suspended tenant lets nobody in.'],
]);

const QUERY =
  /\b(?:selectFrom|innerJoin|leftJoin|insertInto|updateTable|deleteFrom)\(\s*['"](\w+)|\b(?:find|insert|update|delete|put|list|addTo)(?:Row|Rows|RowOnce|Columns)\(\s*[\w.]+,\s*['"](\w+)/g;

/** Returns the queries of the dashboard for what is none of its own. */
export function foreignQueries(sources: readonly Source[]): string[] {
  return ofDashboard(sources).flatMap(({ path, code }) => {
    const own = Object.entries(TABLES).find(([folder]) => path.startsWith(folder))?.[1] ?? [];
    const named = [...code.matchAll(QUERY)].map(([, one, other = '']) => one ?? other);
    return [...new Set(named)]
      .filter((table) => !own.includes(table))
      .map((table) => `${path} asks for ${table}`);
  });
}

/** Returns the uses of stores of other features, and the reasons that nothing needs any more. Types and constants are no use. */
export function foreignStores(sources: readonly Source[], reasons = REASONS): string[] {
  const uses = ofDashboard(sources).flatMap(({ path, importedNames }) =>
    [...importedNames]
      .filter(([file, names]) => isForeignStore(file) && [...names].some((name) => /^[a-z*]/.test(name)))
      .map(([file]) => `${path} -> ${file}`),
  );
  return [
    ...uses.filter((use) => !reasons.has(use)),
    ...[...reasons.keys()].filter((use) => !uses.includes(use)).map((use) => `${use} is not there any more`),
  ];
}

function ofDashboard(sources: readonly Source[]): readonly Source[] {
  return sources.filter(({ path }) => path.startsWith('dashboard/'));
}

function isForeignStore(file: string): boolean {
  return /(?:^|[/-])store\.ts$/.test(file) && !file.startsWith('dashboard/');
}
