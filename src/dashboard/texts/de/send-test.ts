import type { sendTest as english } from '../en/send-test.ts';

/** Texts of the page that sends a test. */
export const sendTest: typeof english = {
  title: 'Test senden',
  help: {
    live: 'Die E-Mail wird wirklich zugestellt, außer wenn der Empfänger im Simulator ist.',
    test: 'Nichts wird zugestellt: Der Simulator übernimmt die Rolle des Empfängers.',
  },
  from: 'Von',
  to: 'An',
  toHelp: (simulator) =>
    `Mehrere Adressen werden durch Kommas getrennt. Adressen bei ${simulator} verhalten sich, wie ihr Name sagt.`,
  subject: 'Betreff',
  subjectValue: 'Ein Test',
  template: 'Vorlage',
  noTemplate: 'keine: HTML und Text von unten',
  variables: 'Variablen',
  variablesHelp: 'Je Zeile eine, zum Beispiel firstName=Ada.',
  html: 'HTML',
  htmlHelp: 'Darf leer sein, wenn es einen Text gibt.',
  text: 'Text',
  textValue: 'Diese E-Mail wurde aus dem Dashboard gesendet.',
  send: 'Senden',
};
