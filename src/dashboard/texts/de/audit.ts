import type { audit as english } from '../en/audit.ts';
import { auditActions } from './audit-actions.ts';

/** Texts of the audit log. */
export const audit: typeof english = {
  title: 'Protokoll',
  caption: 'Änderungen durch Personen',
  at: 'Zeit',
  actor: 'Wer',
  from: 'Von',
  action: 'Was',
  actions: auditActions,
  target: 'Woran',
  details: 'Werte',
  refused: 'abgelehnt',
  failed: 'fehlgeschlagen',
  unknown: 'unbekannt: Der Dienst endete währenddessen, oder es läuft noch',
  before: (value) => `vorher: ${value}`,
};
