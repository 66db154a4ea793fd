import type { audit as english } from '../en/audit.ts';

/** Texts of the audit log. */
export const audit: typeof english = {
  title: 'Protokoll',
  caption: 'Änderungen durch Personen',
  at: 'Zeit',
  actor: 'Wer',
  from: 'Von',
  action: 'Was',
  target: 'Woran',
  details: 'Werte',
};
