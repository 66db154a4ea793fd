import type { approvals as english } from '../en/approvals.ts';

/** Texts about mail that waits for the approval of a person. */
export const approvals: typeof english = {
  title: 'Freigaben',
  one: 'Freigabe',
  help: 'Mail eines API-Schlüssels, der Freigaben verlangt, wartet hier, bis jemand entscheidet.',
  nothingWaits: 'Nichts wartet auf eine Freigabe.',
  state: 'Status',
  states: {
    pending: 'Wartet',
    approved: 'Freigegeben',
    declined: 'Abgelehnt',
    expired: 'Abgelaufen',
    withdrawn: 'Zurückgezogen',
  },
  kinds: { email: 'E-Mail', broadcast: 'Rundmail' },
  mail: 'Mail',
  from: 'Von',
  askedBy: 'Erbeten vom Schlüssel',
  askedAt: 'Erbeten',
  sendAt: 'Wird gesendet',
  atOnce: 'sobald sie freigegeben ist',
  expiresAt: 'Läuft ab',
  decidedAt: 'Entschieden',
  reason: 'Grund',
  reasonHelp: 'Für den Verfasser; das Feld darf leer bleiben.',
  content: 'Inhalt',
  preview: 'Inhalt lesen',
  decideText:
    'Sie wird gesendet, sobald Sie sie freigeben. Ändern sich Inhalt, Empfänger oder Zeit, wird erneut um Freigabe gebeten.',
  approve: 'Freigeben',
  decline: 'Ablehnen',
  declineText:
    'Eine E-Mail wird abgebrochen. Eine Rundmail ist wieder ein Entwurf, der geändert und erneut gesendet werden kann.',
  declineNow: 'Diese Mail ablehnen',
};
