import type { team as english } from '../en/team.ts';

/** Texts of the pages about the people of a tenant. */
export const team: typeof english = {
  title: 'Team',
  members: 'Mitglieder',
  name: 'Name',
  email: 'E-Mail-Adresse',
  role: 'Rolle',
  roles: { owner: 'Inhaber', admin: 'Verwalter', viewer: 'Leser' },
  secondFactor: 'Einmalcodes',
  change: 'Ändern',
  setRole: 'Rolle setzen',
  remove: 'Entfernen',
  recover: 'Link für ein neues Passwort erstellen',
  operator: 'Betreiber',
  recovery: 'neues Passwort',
  invite: 'Jemanden einladen',
  open: 'Offene Einladungen',
  newestLinks: (count) =>
    `Gezeigt werden die neuesten ${count}. Ältere erscheinen, sobald diese benutzt, zurückgezogen oder abgelaufen sind.`,
  madeBy: 'Erstellt von',
  until: 'Gilt bis',
  withdraw: 'Zurückziehen',
  linkTitle: 'Der Link ist bereit',
  linkText:
    'Geben Sie ihn der Person selbst. Er gilt einmal, 30 Minuten lang, und wird nicht noch einmal gezeigt.',
  back: 'Zurück zum Team',
};
