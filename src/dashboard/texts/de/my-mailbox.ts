import type { myMailbox as english } from '../en/my-mailbox.ts';

/** Texts of the pages for the owner of a mailbox. */
export const myMailbox: typeof english = {
  overview: 'Übersicht',
  managed:
    'Wer Ihre Postfächer verwaltet, kann dieses Passwort setzen und App-Passwörter erstellen, mit denen sich Ihre Mail lesen lässt. Alle, die es gibt, stehen unter',
  vacation: 'Automatische Antwort',
  vacationText:
    'Jeder Absender bekommt sie höchstens einmal in 7 Tagen. Mailinglisten, Programme und Spam bekommen keine, ebenso wenig Mail, die Ihre Adresse nicht in An oder Kopie nennt.',
  vacationIsOn: 'eingerichtet',
  vacationIsOff: 'nicht eingerichtet',
  from: (zone) => `Von (${zone})`,
  fromHelp: 'Ohne Angabe ab sofort',
  until: (zone) => `Bis (${zone})`,
  untilHelp: 'Ohne Angabe ohne Ende',
  subject: 'Betreff',
  subjectHelp: 'Ohne Angabe der Betreff der Nachricht mit „Auto: “ davor',
  text: 'Text der Antwort',
  vacationEnd: 'Automatische Antwort beenden',
  forwarding: 'Weiterleitung',
  forwardingText: 'Alle Mail an dieses Postfach geht auch an diese Adressen.',
  forwardTo: 'Adressen',
  forwardToHelp: 'Eine je Zeile, mit denen der Regeln zusammen höchstens 4',
  keepCopy: 'Eine Kopie in diesem Postfach behalten',
  keepCopyHelp:
    'Sonst wird weitergeleitete Mail hier nicht gespeichert, und die Regeln werden nicht angewendet.',
  security: 'Passwort und Sitzungen',
  passwordText:
    'Ein anderes Passwort trennt Mailprogramme, die noch das alte haben, und beendet alle anderen Sitzungen. App-Passwörter gelten weiter.',
};
