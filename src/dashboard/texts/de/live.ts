import type { live as english } from '../en/live.ts';
import { email } from './email.ts';

/** Texts of the live view. */
export const live: typeof english = {
  title: 'Live-Ansicht',
  help: 'Was mit der Mail, den Kontakten und den Domains dieses Mandanten geschieht, das Neueste zuerst.',
  operatorHelp:
    'Was mit aller Mail dieser Installation geschieht, das Neueste zuerst: nur Umschläge. Die Mail der Menschen in ihren Postfächern wird nicht gezeigt.',
  lines: 'Neueste Ereignisse',
  none: 'Noch ist nichts geschehen.',
  time: 'Zeit',
  event: 'Ereignis',
  to: 'Empfänger oder worum es geht',
  from: 'Absender',
  reply: 'Antwort',
  pause: 'Anhalten',
  goOn: 'Weiter',
  connected: 'Verbunden: Neue Zeilen erscheinen von selbst.',
  lost: 'Nicht verbunden. Es wird erneut versucht.',
  paused: 'Angehalten.',
  omitted: 'Ausgelassen, weil sie zu schnell zum Lesen kamen:',
  omittedMore: 'Es wurden mehr ausgelassen, als gezählt sind.',
  events: {
    ...email.events,
    'email.received': 'Empfangen',
    'domain.verified': 'Domain bestätigt',
    'domain.failed': 'Domain fehlgeschlagen',
    'contact.created': 'Kontakt angelegt',
    'contact.updated': 'Kontakt geändert',
    'contact.deleted': 'Kontakt gelöscht',
    'contact.unsubscribed': 'Kontakt abgemeldet',
    'suppression.added': 'Sperre hinzugefügt',
    'suppression.removed': 'Sperre entfernt',
    'broadcast.sent': 'Rundmail gesendet',
    'broadcast.paused': 'Rundmail angehalten',
    'broadcast.failed': 'Rundmail fehlgeschlagen',
    'approval.requested': 'Um Freigabe gebeten',
    'approval.approved': 'Freigegeben',
    'approval.declined': 'Abgelehnt',
    'approval.expired': 'Freigabe abgelaufen',
    'approval.withdrawn': 'Freigabe zurückgezogen',
  },
};
