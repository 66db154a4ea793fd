import type { imports as english } from '../en/imports.ts';

/** Texts about imports of mail from other servers. */
export const imports: typeof english = {
  title: (address) => `Importe nach ${address}`,
  back: 'Zum Postfach',
  caption: 'Importe von Mail',
  none: 'Noch keine Importe.',
  create: 'Mail von einem anderen Server importieren',
  introduction:
    'Alle Ordner werden per IMAP importiert, mit Markierungen und Daten. Schon importierte Nachrichten werden ausgelassen; ein späterer Import ergänzt also, was neu ist.',
  host: 'IMAP-Server',
  portHelp: 'Ohne Angabe 993 für TLS und 143 für STARTTLS',
  user: 'Benutzername dort',
  password: 'Passwort dort',
  passwordHelp: 'Es wird verschlüsselt gespeichert, am Ende des Imports gelöscht und nie angezeigt.',
  source: 'Von',
  statuses: { queued: 'wartet', running: 'läuft', completed: 'abgeschlossen', failed: 'fehlgeschlagen' },
  reasons: {
    mailbox_full: 'Das Postfach ist voll.',
    mailbox_suspended: 'Das Postfach war eine Woche lang gesperrt.',
    login_refused: 'Der Server weist die Anmeldung ab.',
    source_refused: 'Zum Server darf keine Verbindung aufgebaut werden, oder sein Zertifikat ist ungültig.',
    source_unavailable: 'Der Server war stundenlang nicht erreichbar.',
    internal: 'Ein Fehler dieses Servers.',
  },
  progress: 'Ordner',
  folders: (done, all) => `${done} von ${all}`,
  imported: 'Importiert',
  counts: (messages, bytes) => `${messages} (${bytes})`,
  known: 'Schon bekannt',
  failed: 'Fehlgeschlagen',
  createdAt: 'Begonnen',
  removeText:
    'Der Import wird mit seinem Passwort gelöscht und, falls er läuft, angehalten. Importierte Nachrichten bleiben.',
};
