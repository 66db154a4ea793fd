import type { suppressions as english } from '../en/suppressions.ts';

/** Texts of the pages about suppressed addresses. */
export const suppressions: typeof english = {
  title: 'Sperrliste',
  text: 'An diese Adressen wird keine Mail gesendet, in keinem der Modi.',
  none: 'Keine Adresse ist gesperrt.',
  add: 'Adressen hinzufügen',
  email: 'Adresse',
  emails: 'Adressen',
  emailsHelp: (maximum) => `Eine auf jeder Zeile, oder durch Kommas getrennt; höchstens ${maximum}`,
  fileInstead: 'Stattdessen eine Datei importieren',
  reason: 'Grund',
  reasons: {
    manual: 'von Hand hinzugefügt',
    bounce: 'unzustellbar',
    complaint: 'als Spam gemeldet',
    unsubscribe: 'abgemeldet',
  },
  source: 'Ursache',
  sourceEmail: 'E-Mail',
  createdAt: 'Seit',
  deleteText: {
    manual: 'An diese Adresse wird wieder Mail gesendet.',
    bounce:
      'An diese Adresse wird wieder Mail gesendet. Gibt es sie weiterhin nicht, ist die Mail unzustellbar, und das schadet Ihrem Ruf.',
    complaint:
      'An diese Adresse wird wieder Mail gesendet, obwohl jemand dort Mail als Spam gemeldet hat. Tun Sie das nur, wenn der Inhaber darum bittet.',
    unsubscribe:
      'An diese Adresse wird wieder Mail gesendet, obwohl sich der Inhaber abgemeldet hat. Tun Sie das nur, wenn er darum bittet.',
  },
  deleteNow: 'Wieder an diese Adresse senden',
  added: 'Adressen hinzugefügt',
  created: 'Neu',
  known: 'Schon vorher gesperrt',
  refused: 'Abgelehnt',
  error: 'Warum',
  back: 'Zurück zur Sperrliste',
  files: 'Import und Export',
  import: 'Datei importieren',
  importText: (maximum) =>
    `Eine CSV-Datei von höchstens ${maximum}, von hier oder aus einem anderen Produkt: Die Spalten für Adresse, Grund, Antwort und Zeit werden erkannt.`,
  file: 'Datei',
  defaultReason: 'Grund für Zeilen, die keinen nennen',
  export: 'In eine Datei exportieren',
  imports: 'Importe der letzten Tage',
  exports: 'Exporte der letzten Tage',
  review: 'Prüfung der Sperrlisten',
  reviewText:
    'Sperren wegen Antworten, die eine Adresse heute nicht sperren würden: Die Tabelle der Antworten hat sich geändert, oder die Fehlschläge, die zusammen gesperrt haben, sind nicht mehr gespeichert.',
  reviewNow: 'Prüfen',
  reviewNone: 'Keine Sperre muss geprüft werden.',
  reviewNoneHere:
    'Von den bisher untersuchten Sperren muss keine geprüft werden. Die nächste Seite geht weiter.',
  reviewMore: (count) => `${count} auf dieser Seite. Die nächste Seite geht mit späteren Sperren weiter.`,
  reply: 'Antwort',
  doubts: {
    row: 'diese Antwort würde heute nicht sperren',
    evidence: 'sie sperrt nach Wiederholung, von der nichts gespeichert ist',
  },
  removeThese: (count) => `Die ${count} Sperren auf dieser Seite entfernen`,
  removeTheseText: 'An diese Adressen wird wieder Mail gesendet.',
};
